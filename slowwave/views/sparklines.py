"""Tiny SVG charts, small enough for places that show short texts only.

Dagster's UI shows Markdown without a click if it has fewer than 1,000 characters (`SHOWN`), with the data URI
of its image. So a chart has no fonts, grid or styles: bars or lines, and a label at each end.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Final

from slowwave.views.section import Picture

SHOWN: Final = 1_000
"""Characters of Markdown from which Dagster's UI shows a link instead."""
_WIDTH, _HEIGHT, _LABEL = 240, 40, 11
_BLUE, _GREY = "#0072b2", "#8c959f"
Line = Sequence[float | None]


def bars(counts: Sequence[float], first: str, last: str) -> bytes:
    """Draw a bar per count, with the largest above them.

    Args:
        counts: not negative.
        first: label below the first bar.
        last: label below the last bar.
    """
    most, wide = max(counts, default=0) or 1, _WIDTH / max(len(counts), 1)
    bar = wide - min(2.0, wide / 4)
    shapes = "".join(
        f"M{at * wide:.0f} {_HEIGHT}h{bar:.0f}v-{(_HEIGHT - _LABEL) * count / most:.0f}h-{bar:.0f}z"
        for at, count in enumerate(counts)
        if count
    )
    top = f"{most:,.0f} at most" if any(counts) else ""
    return _svg(f'<path fill="{_BLUE}" d="{shapes}"/>', first, last, top)


def lines(line: Line, other: Line, first: str, last: str, top: str) -> bytes:
    """Draw a blue line and a grey one between 0 and 1; a missing value breaks them.

    Args:
        line: values in [0, 1].
        other: as many values, to compare with.
        first: label below the first value.
        last: label below the last value.
        top: label above them.
    """
    drawn = (
        f'<path fill="none" stroke="{colour}" stroke-width="2" d="{_path(values)}"/>'
        for values, colour in ((other, _GREY), (line, _BLUE))
    )
    return _svg("".join(drawn), first, last, top)


def inline(image: bytes, alt: str) -> str:
    """Return Markdown of a chart that Dagster shows without a click; "" if it is too long for that."""
    from slowwave.views.markdown import picture

    shown = picture(Picture(lambda: image, alt), SHOWN)
    return shown if len(shown) < SHOWN and "](data:" in shown else ""


def _path(values: Line) -> str:
    step = _WIDTH / max(len(values) - 1, 1)
    points = [
        None if value is None else f"{at * step:.0f} {_HEIGHT - (_HEIGHT - _LABEL) * value:.0f}"
        for at, value in enumerate(values)
    ]
    alone = [one and f"M{one}h1" for one in points[:1]]
    after = [(f"L{now}" if before else f"M{now}h1") if now else "" for before, now in pairwise(points)]
    return "".join(part for part in [*alone, *after] if part)


def _svg(shapes: str, first: str, last: str, top: str) -> bytes:
    below = _HEIGHT + _LABEL
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{below + 2}">{shapes}'
        f'<g font-size="10" fill="#56646f"><text y="9">{escape(top)}</text><text y="{below}">{escape(first)}'
        f'</text><text x="{_WIDTH}" y="{below}" text-anchor="end">{escape(last)}</text></g></svg>'
    ).encode()

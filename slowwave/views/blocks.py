"""Bars and lines of block characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

EIGHTHS = " ▏▎▍▌▋▊▉█"
HEIGHTS = " ▁▂▃▄▅▆▇█"
T = TypeVar("T")


def bar(share: float, width: int) -> str:
    """Return a bar of `share` (0 to 1) of `width` characters; anything above 0 is visible."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    eighths = max(eighths, 1) if share > 0 else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def spark(values: Sequence[float | None], most: float | None = None) -> str:
    """Return a character per value, scaled to `most` (default: the maximum); None is a dot."""
    top = most or max((value for value in values if value is not None), default=0.0) or 1.0
    return "".join("·" if value is None else _height(value / top) for value in values)


def _height(share: float) -> str:
    step = round(min(max(share, 0.0), 1.0) * 8)
    return HEIGHTS[max(step, 1) if share > 0 else 0]


def squeezed(values: Sequence[T], cells: int) -> list[Sequence[T]]:
    """Split values into at most `cells` runs of equal length, in order. The last may be shorter."""
    size = max(1, -(-len(values) // max(cells, 1)))
    return [values[at : at + size] for at in range(0, len(values), size)]

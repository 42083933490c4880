"""Plots of feedback: small frames to SVG.

Each function takes a frame of :mod:`slowwave.views.counts` and returns one SVG document, 730 pixels wide (the
width of Dagster's dialog). It is under 60 kB for any input: long ranges are drawn in steps of weeks or
months. The same frame gives the same bytes. Without data the plot says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from slowwave.scoring.intervals import wilson
from slowwave.views.counts import REASONS, TIERS, pivoted
from slowwave.views.drawing import (
    BLUE,
    GREEN,
    GREY,
    HEIGHT,
    ORANGE,
    PAPER,
    PINK,
    RED,
    SKY,
    dated,
    few_ticks,
    legend,
    nothing,
    picture,
    tenths,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_STEPS = 92  # of one plot: a quarter of a year by day
COLOURS = {
    "implicit": SKY, "quick": ORANGE, "detailed": GREEN,
    "used": BLUE, "ignored": ORANGE, "cited": GREEN, "unclear": GREY,
    "promoted": GREEN, "rate_limited": ORANGE, "tier_not_promotable": PINK, "below_threshold": GREY,
}  # fmt: skip


def acts_by_day(acts: pl.DataFrame, days: Sequence[str] = ()) -> bytes:
    """Plot feedback events by tier and day.

    Args:
        acts: `counts.acts`: day, tier, acts.
        days: all days to show, including those without events; default: from first to last of `acts`.
    """
    frame = pivoted(acts, "tier", "acts", TIERS)
    return _stacked_by_day(frame, days, title="Feedback events by tier", unit="events")


def promotions_by_day(reasons: pl.DataFrame, days: Sequence[str] = ()) -> bytes:
    """Plot promotion decisions by reason and day.

    Args:
        reasons: `counts.reasons`: day, reason, decisions.
        days: as of `acts_by_day`.
    """
    frame = pivoted(reasons, "reason", "decisions", REASONS)
    return _stacked_by_day(frame, days, title="Promotions by reason", unit="decisions")


def rates_by_day(verdicts: pl.DataFrame, days: Sequence[str] = ()) -> bytes:
    """Plot the shares of returned memories that answers used and cited, by day.

    Bands (bars if there are few points) are 95 % Wilson intervals. The lower panel has the counts.

    Args:
        verdicts: `counts.verdicts`: day, used, cited, ignored, unclear.
        days: as of `acts_by_day`.
    """
    title = "Returned memories: used, cited, ignored"
    steps = _steps(verdicts, days)
    judged = int(verdicts["used"].sum()) + int(verdicts["ignored"].sum())

    def draw(figure: Figure) -> None:
        assert steps is not None
        above, below = figure.subplots(2, sharex=True, height_ratios=(2, 1))
        _rate_lines(above, steps)
        above.set_ylim(0, 1)
        above.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        above.set_ylabel("of used + ignored")
        above.set_title(title)
        _stack(below, steps, ("used", "ignored", "unclear"))
        below.set_ylabel(steps.unit("verdicts"))
        few_ticks(below, 3, whole=steps.size == 1)
        _days_below(below, steps)
        lines, parts = above.get_lines(), below.get_legend_handles_labels()[0]
        legend(above, [*lines, *parts[1:]], ["used", "cited", "ignored", "no evidence"])

    return picture(title, draw, HEIGHT * 1.3) if steps and judged else nothing(title)


def effectiveness(distribution: pl.DataFrame) -> bytes:
    """Plot the distribution of effectiveness.

    Args:
        distribution: `counts.distribution`.
    """
    return _distribution(
        distribution, "Effectiveness of memories", "effectiveness  (0 unhelpful · 0.5 neutral · 1 helpful)",
        lambda value: GREY if value == _MIDDLE else BLUE if value > _MIDDLE else RED,
    )  # fmt: skip


def strength(distribution: pl.DataFrame) -> bytes:
    """Plot the distribution of strength.

    Args:
        distribution: `counts.distribution`.
    """
    label = "strength  (0 faded · 1 just used)"
    return _distribution(distribution, "Strength of memories", label, lambda _: GREEN)


def _rate_lines(axes: Axes, steps: _Steps) -> None:
    """Draw the rates used and cited, at the middle of each step."""
    of = [used + ignored for used, ignored in zip(steps.sums["used"], steps.sums["ignored"], strict=True)]
    filled = [number for number, all_ in enumerate(of) if all_]
    middle = [(steps.edges[number] + steps.edges[number + 1]) / 2 for number in filled]
    for name in ("used", "cited"):
        counts = steps.sums[name]
        bounds = [wilson(counts[number], of[number]) for number in filled]
        low, high = zip(*bounds, strict=True)
        if len(filled) > _FEW_DAYS:
            axes.fill_between(middle, low, high, color=COLOURS[name], alpha=0.16, linewidth=0)
        else:
            axes.vlines(middle, low, high, color=COLOURS[name], alpha=0.4)
        rate = [counts[number] / of[number] for number in filled]
        mark = "o" if len(filled) <= _FEW else ""
        axes.plot(middle, rate, color=COLOURS[name], linewidth=1.6, marker=mark, markersize=3)


# -- days ------------------------------------------------------------------------------------------

_MIDDLE = 0.5
_FEW = 40  # maximum number of points with markers
_FEW_DAYS = 9
_LABELS = 8  # dates along the axis, at most


@dataclass(frozen=True, slots=True)
class _Steps:
    """Sums over equal steps of days.

    Attributes:
        edges: ordinals of the days at which steps begin, and the end of the last.
        sums: of each column, per step (count).
        size: days in a whole step; the last may have fewer.
    """

    edges: list[int]
    sums: dict[str, list[int]]
    size: int

    def per_day(self, name: str) -> list[float]:
        """Return a column as daily means, so that an incomplete step looks no lower."""
        widths = [after - before for before, after in pairwise(self.edges)]
        return [count / width for count, width in zip(self.sums[name], widths, strict=True)]

    def unit(self, what: str) -> str:
        """Return the label of the vertical axis."""
        mean = "weekly" if self.size == 7 else f"{self.size // 7}-week"
        return f"{what} a day" if self.size == 1 else f"{what} a day,\n{mean} mean"


def _steps(frame: pl.DataFrame, days: Sequence[str]) -> _Steps | None:
    """Sum the columns of a frame over steps of 1, 7, 28 or more days; None without days."""
    named = [*days, *frame["day"]]
    if not named:
        return None
    first, last = (date.fromisoformat(pick(named)).toordinal() for pick in (min, max))
    count = last - first + 1
    size = next(size for size in _sizes() if -(-count // size) <= MAX_STEPS)
    edges = [*range(first, last + 1, size), last + 1]
    ordinal = (pl.col("day").str.to_date() - date(1, 1, 1)).dt.total_days() + 1
    summed = (
        frame.select(pl.exclude("day"), step=(ordinal - first) // size).group_by("step").agg(pl.all().sum())
    )
    every = pl.DataFrame({"step": range(len(edges) - 1)}, schema={"step": pl.Int64})
    whole = every.join(summed, on="step", how="left", maintain_order="left").fill_null(0).drop("step")
    return _Steps(edges, {name: whole[name].to_list() for name in whole.columns}, size)


def _sizes() -> Iterator[int]:
    size = 7
    yield 1
    while True:
        yield size
        size *= 4 if size == 7 else 2


def _stacked_by_day(frame: pl.DataFrame, days: Sequence[str], *, title: str, unit: str) -> bytes:
    steps = _steps(frame, days)

    def draw(figure: Figure) -> None:
        assert steps is not None
        axes = figure.subplots()
        _stack(axes, steps, list(steps.sums))
        axes.set_title(title)
        axes.set_ylabel(steps.unit(unit))
        few_ticks(axes, 5, whole=steps.size == 1)
        _days_below(axes, steps)
        legend(axes, *axes.get_legend_handles_labels())

    return nothing(title) if steps is None or not any(map(any, steps.sums.values())) else picture(title, draw)


def _stack(axes: Axes, steps: _Steps, names: Sequence[str]) -> None:
    """Draw columns on top of each other, each as one outline."""
    base = [0.0] * (len(steps.edges) - 1)
    for name in names:
        top = [low + more for low, more in zip(base, steps.per_day(name), strict=True)]
        axes.stairs(
            top, steps.edges, baseline=base, fill=True, color=COLOURS.get(name, GREY), label=_words(name)
        )
        base = top
    axes.set_ylim(0, max(base) * 1.06)
    if len(base) <= _FEW:
        axes.vlines(steps.edges, 0, max(base), color=PAPER, linewidth=1)


def _days_below(axes: Axes, steps: _Steps) -> None:
    """Label some steps with dates, the year at its first day."""
    spare = max(0, _FEW_DAYS - (steps.edges[-1] - steps.edges[0])) / 2  # keep a single day narrow
    axes.set_xlim(steps.edges[0] - spare, steps.edges[-1] + spare)
    count = len(steps.edges) - 1
    chosen = list(range(0, count, -(-count // _LABELS)))
    labels = dated([date.fromordinal(steps.edges[number]) for number in chosen])
    # The label of a single day is at the middle of its step, that of a longer step at its start.
    middle = 0.5 if steps.size == 1 else 0.0
    axes.set_xticks([steps.edges[number] + middle for number in chosen], labels)
    axes.tick_params(axis="x", length=3)


# -- distributions ---------------------------------------------------------------------------------


def _distribution(
    distribution: pl.DataFrame, title: str, label: str, colour: Callable[[float], str]
) -> bytes:
    values, counts = distribution["value"].to_list(), distribution["memories"].to_list()
    total = sum(counts)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        tenths(axes, values, counts, [colour(value) for value in values])
        axes.set_title(f"{title} ({total:,})")
        axes.set_xlabel(label)
        axes.set_ylabel("memories")

    return picture(title, draw) if total else nothing(title)


def _words(name: str) -> str:
    return name.replace("_", " ")

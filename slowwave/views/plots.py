"""Pictures of how the memory serves: small frames to SVG.

Each function takes a frame of :mod:`slowwave.views.counts` and gives one SVG document, 730 pixels wide (the
room that Dagster's dialog has), under 60 kB whatever the frame holds: long ranges are drawn in steps of weeks
or months. The same frame gives the same bytes. Without data the picture says so.
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

MOST_STEPS = 92  # of one picture, a quarter of a year day by day
COLOURS = {
    "implicit": SKY, "quick": ORANGE, "detailed": GREEN,
    "used": BLUE, "ignored": ORANGE, "cited": GREEN, "unclear": GREY,
    "promoted": GREEN, "rate_limited": ORANGE, "tier_not_promotable": PINK, "below_threshold": GREY,
}  # fmt: skip


def acts_by_day(acts: pl.DataFrame, days: Sequence[str] = ()) -> bytes:
    """Acts of feedback by tier and day.

    Args:
        acts: `counts.acts`: day, tier, acts.
        days: the days that are meant, the quiet ones with them; default: all between those of `acts`.
    """
    frame = pivoted(acts, "tier", "acts", TIERS)
    return _stacked_by_day(frame, days, title="Acts of feedback by tier", unit="acts")


def promotions_by_day(reasons: pl.DataFrame, days: Sequence[str] = ()) -> bytes:
    """Decisions about promotion by reason and day.

    Args:
        reasons: `counts.reasons`: day, reason, decisions.
        days: as of `acts_by_day`.
    """
    frame = pivoted(reasons, "reason", "decisions", REASONS)
    return _stacked_by_day(frame, days, title="Promotions by reason", unit="decisions")


def rates_by_day(verdicts: pl.DataFrame, days: Sequence[str] = ()) -> bytes:
    """Which share of the shown memories answers used and cited (the rest: ignored), and of how many, by day.

    The bands (or the bars at few points) are 95 % Wilson intervals.

    Args:
        verdicts: `counts.verdicts`: day, used, cited, ignored, unclear.
        days: as of `acts_by_day`.
    """
    title = "Shown memories: used, cited, ignored"
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
        legend(above, [*lines, *parts[1:]], ["used", "cited", "ignored", "nothing to judge by"])

    return picture(title, draw, HEIGHT * 1.3) if steps and judged else nothing(title)


def effectiveness(distribution: pl.DataFrame) -> bytes:
    """How effective the memories are of which anything is known.

    Args:
        distribution: `counts.distribution`.
    """
    return _distribution(
        distribution, "Effectiveness of memories", "effectiveness  (0 never served · .5 neutral · 1 always)",
        lambda value: GREY if value == _MIDDLE else BLUE if value > _MIDDLE else RED,
    )  # fmt: skip


def strength(distribution: pl.DataFrame) -> bytes:
    """How firmly the memories sit that answers used or ignored.

    Args:
        distribution: `counts.distribution`.
    """
    label = "strength  (0 faded · 1 just used)"
    return _distribution(distribution, "Strength of memories", label, lambda _: GREEN)


def _rate_lines(axes: Axes, steps: _Steps) -> None:
    """Used and cited of all that could be told, through the middles of the steps that have any."""
    of = [used + ignored for used, ignored in zip(steps.sums["used"], steps.sums["ignored"], strict=True)]
    told = [number for number, all_ in enumerate(of) if all_]
    middle = [(steps.edges[number] + steps.edges[number + 1]) / 2 for number in told]
    for name in ("used", "cited"):
        counts = steps.sums[name]
        bounds = [wilson(counts[number], of[number]) for number in told]
        low, high = zip(*bounds, strict=True)
        if len(told) > _FEW_DAYS:
            axes.fill_between(middle, low, high, color=COLOURS[name], alpha=0.16, linewidth=0)
        else:
            axes.vlines(middle, low, high, color=COLOURS[name], alpha=0.4)
        rate = [counts[number] / of[number] for number in told]
        mark = "o" if len(told) <= _FEW else ""
        axes.plot(middle, rate, color=COLOURS[name], linewidth=1.6, marker=mark, markersize=3)


# -- days ------------------------------------------------------------------------------------------

_MIDDLE = 0.5
_FEW = 40  # points that are marked one by one
_FEW_DAYS = 9
_LABELS = 8  # dates along the axis, at most


@dataclass(frozen=True, slots=True)
class _Steps:
    """Sums over equal steps of days.

    Attributes:
        edges: the days' ordinals at which steps begin, and the end of the last.
        sums: of each column, per step (count).
        size: days in a whole step; the last may have fewer.
    """

    edges: list[int]
    sums: dict[str, list[int]]
    size: int

    def per_day(self, name: str) -> list[float]:
        """A column as the mean of a day, so that a step that is cut off looks no lower."""
        widths = [after - before for before, after in pairwise(self.edges)]
        return [count / width for count, width in zip(self.sums[name], widths, strict=True)]

    def unit(self, what: str) -> str:
        """What the vertical axis counts."""
        mean = "weekly" if self.size == 7 else f"{self.size // 7}-week"
        return f"{what} a day" if self.size == 1 else f"{what} a day,\n{mean} mean"


def _steps(frame: pl.DataFrame, days: Sequence[str]) -> _Steps | None:
    """The columns of a frame with a day, summed over steps of 1, 7, 28 or more days; None of no day."""
    named = [*days, *frame["day"]]
    if not named:
        return None
    first, last = (date.fromisoformat(pick(named)).toordinal() for pick in (min, max))
    count = last - first + 1
    size = next(size for size in _sizes() if -(-count // size) <= MOST_STEPS)
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
    """Columns one above the other, each as one outline, whatever the number of steps."""
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
    """Dates under the middle of some steps, the year where it begins."""
    spare = max(0, _FEW_DAYS - (steps.edges[-1] - steps.edges[0])) / 2  # a day alone is no wall
    axes.set_xlim(steps.edges[0] - spare, steps.edges[-1] + spare)
    count = len(steps.edges) - 1
    chosen = list(range(0, count, -(-count // _LABELS)))
    labels = dated([date.fromordinal(steps.edges[number]) for number in chosen])
    # A single day lies under the middle of its step, a longer step under its beginning.
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

"""Plot of the quality trend: searches without learned data and with it, by week."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.scoring.evaluation.trend import FIGURES, LEAST_QUESTIONS
from slowwave.scoring.feedback.learned import USE
from slowwave.scoring.measures import MRR, Measure
from slowwave.views.drawing import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    GRID,
    HEIGHT,
    ORANGE,
    PAPER,
    RED,
    dated,
    few_ticks,
    nothing,
    picture,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_WEEKS = 26  # of one plot, half a year
A_YEAR = 53  # weeks
TITLE = "Is it getting better?"
UNUSED = "if nobody had ever rated"
"""Name of the baseline without any feedback, in pictures, tables and sentences."""
UNUSED_TITLE = f"Better than {UNUSED}?"
LEARNED_NOTHING = "without learned data"
UNUSED_STATES = {
    "applied": "as it was", "partly applied": "as it was, partly", "with it: would be": "as it would be",
}  # fmt: skip
_LABELS = 5  # maximum number of dates below each panel
_NONE = "Nothing was measured."
_POINT: dict[str, Any] = {"color": BLUE, "markerfacecoloralt": PAPER, "markersize": 4.8}
_STATES: dict[str, dict[str, Any]] = {
    "with it: would be": {"markerfacecolor": PAPER},
    "partly applied": {"fillstyle": "bottom"},
    "applied": {},
}
Rows = Sequence[dict[str, Any]]


def by_week(weeks: pl.DataFrame) -> bytes:
    """Plot hit rate at 1, MRR@5, changed searches and interleaving, by week.

    A week with too few questions has a cross at the bottom and no point, and no line passes it. A hollow
    point is what would have been: nothing learned was applied in that week. A half-filled point means partly
    applied. The bar on a point is the interval of its difference to the ranking without learned data.

    Args:
        weeks: rows of `slowwave.scoring.evaluation.trend.COLUMNS`, of one namespace and kind, in any order;
            the last `MAX_WEEKS` are shown.
    """
    rows = weeks.sort("week").tail(MAX_WEEKS).to_dicts()
    places = _places(rows)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(2, 2, sharex=True, height_ratios=(1.7, 1))
        for axes, measure in zip(panels[0], FIGURES, strict=True):
            _lines(axes, places, rows, measure)
        _changed(panels[1][0], places, rows)
        _won(panels[1][1], places, rows)
        for axes in panels[1]:
            _dates(axes, places, rows)
        _explained(figure, places, rows)

    measured = any(row["measured"] for row in rows)
    return picture(TITLE, draw, HEIGHT * 1.75) if measured else nothing(TITLE, _NONE)


def beside_unused(weeks: pl.DataFrame) -> bytes:
    """Plot MRR@5 by week: as searches were, and as they would have been without feedback.

    Args:
        weeks: rows as of `by_week`, of all use, or of one kind of learning where nothing was rated; the last
            `A_YEAR` are shown.
    """
    rows = weeks.sort("week").tail(A_YEAR).to_dicts()
    places = _places(rows)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _lines(axes, places, rows, MRR)
        axes.set_title("")
        axes.set_ylabel(f"{MRR} of the week's searches")
        _dates(axes, places, rows)
        _explained(figure, places, rows, UNUSED_STATES)

    measured = any(row[MRR.column] is not None for row in rows)
    return picture(UNUSED_TITLE, draw, HEIGHT * 1.2) if measured else nothing(UNUSED_TITLE, _NONE)


def _places(rows: Rows) -> list[int]:
    """Return the number of each week from the first, so that missing weeks are gaps."""
    return [(row["week"] - rows[0]["week"]).days // 7 for row in rows]


def _lines(axes: Axes, places: Sequence[int], rows: Rows, measure: Measure) -> None:
    """Draw a figure without learned data and with it; lines break at missing weeks."""
    name, learned = measure.column, f"{measure.column}_learned"
    measured = [(at, row) for at, row in zip(places, rows, strict=True) if row[name] is not None]
    for run in _runs(measured):
        at, without, with_it = (
            [place for place, _ in run],
            *([row[key] for _, row in run] for key in (name, learned)),
        )
        up = [after > before for before, after in zip(without, with_it, strict=True)]
        for colour, where in ((GREEN, up), (RED, [not rises for rises in up])):
            if any(where):
                axes.fill_between(
                    at, without, with_it, where=where, interpolate=True, color=colour, alpha=0.13, linewidth=0
                )
        # Wider than the other, so that both show where they are the same.
        axes.plot(at, without, color=GREY, linewidth=4, marker="" if at[1:] else "o", markersize=3)
        axes.plot(at, with_it, color=BLUE, linewidth=1.7)
    bars = [(at, row[name] + row[f"{name}_low"], row[name] + row[f"{name}_high"]) for at, row in measured]
    across = [place for at, _, _ in bars for place in (at, at, math.nan)]  # one line, broken between them
    ends = [end for _, low, high in bars for end in (low, high, math.nan)]
    axes.plot(across, ends, color=BLUE, alpha=0.45, linewidth=1.6, solid_capstyle="butt")
    for state, look in _STATES.items():
        points_of_state = [(at, row[learned]) for at, row in measured if _state(row) == state]
        points = [at for at, _ in points_of_state], [value for _, value in points_of_state]
        axes.plot(*points, "o", **_POINT, **look)
    if few := [at for at, row in zip(places, rows, strict=True) if row[name] is None]:
        axes.plot(few, [0.02] * len(few), "x", color=FAINT, markersize=4, clip_on=False)
    axes.set_title(str(measure))
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 1.04)  # a marker at 1 is whole
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}".removeprefix("0") or "0")


def _state(row: dict[str, Any]) -> str:
    """Return how much of the learned data was applied in a week."""
    if not row["applied"]:
        return "with it: would be"
    return "partly applied" if row["would_change"] else "applied"


def _runs(weeks: list[tuple[int, dict[str, Any]]]) -> list[list[tuple[int, dict[str, Any]]]]:
    """Split weeks into runs without a gap."""
    runs: list[list[tuple[int, dict[str, Any]]]] = []
    for at, row in weeks:
        if runs and runs[-1][-1][0] == at - 1:
            runs[-1].append((at, row))
        else:
            runs.append([(at, row)])
    return runs


def _changed(axes: Axes, places: Sequence[int], rows: Rows) -> None:
    """Draw the shares of judged searches that learning changed, or would have."""
    changed, would = (
        _every(places, [100 * row[name] / row["measured"] if row["measured"] else 0.0 for row in rows])
        for name in ("changed", "would_change")
    )
    both = [share + more for share, more in zip(changed, would, strict=True)]
    _columns(axes, changed, color=BLUE)
    _columns(axes, both, changed, color=BLUE, alpha=0.25)
    pale = " (pale: would be)" if any(row["would_change"] for row in rows) else ""
    axes.set_title(f"Judged searches changed by learning{pale}")
    axes.set_ylim(0, max(*both, 4.0) * 1.25)
    few_ticks(axes, 3, whole=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")


def _won(axes: Axes, places: Sequence[int], rows: Rows) -> None:
    """Draw interleaved searches: whose results were used more."""
    wins, losses = (_every(places, [float(row[name]) for row in rows]) for name in ("wins", "losses"))
    _columns(axes, wins, color=GREEN)
    _columns(axes, [-count for count in losses], color=ORANGE)
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.set_title(f"Interleaved: {sum(wins):,.0f} won ▴ {sum(losses):,.0f} lost ▾")
    most = max(*wins, *losses, 1) * 1.2
    axes.set_ylim(-most, most)
    few_ticks(axes, 4, whole=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")


def _every(places: Sequence[int], values: Sequence[float]) -> list[float]:
    """Return a value for every week, 0 for missing ones."""
    by_place = dict(zip(places, values, strict=True))
    return [by_place.get(place, 0.0) for place in range(places[-1] + 1)]


def _columns(axes: Axes, tops: Sequence[float], base: Sequence[float] | None = None, **how: Any) -> None:  # noqa: ANN401
    """Draw a column per week, all in one outline."""
    edges = [place - 0.5 for place in range(len(tops) + 1)]
    axes.stairs(tops, edges, baseline=0.0 if base is None else base, fill=True, linewidth=0, **how)


def _dates(axes: Axes, places: Sequence[int], rows: Rows) -> None:
    """Label some weeks with their Monday, the year at its first one."""
    count = places[-1] + 1
    spare = max(0, 8 - count) / 2  # keep a single week narrow
    axes.set_xlim(-0.7 - spare, count - 0.3 + spare)
    chosen = range(0, count, math.ceil((count + 2 * spare) / _LABELS))  # a label is as wide as a fifth
    axes.set_xticks(list(chosen), dated([rows[0]["week"] + timedelta(weeks=place) for place in chosen]))
    axes.tick_params(axis="x", length=3)


def _explained(
    figure: Figure, places: Sequence[int], rows: Rows, names: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Draw the legend of the marks in use, and shade an unfinished week.

    Args:
        names: other names of the states of a week.
    """
    without = UNUSED if any(row.get("kind") == USE for row in rows) else LEARNED_NOTHING
    marks: list[tuple[str, dict[str, Any]]] = [(without, {"color": GREY, "linewidth": 4})]
    measured = [row for row in rows if row[FIGURES[0].column] is not None]
    states = {_state(row) for row in measured}
    marks += [
        (names.get(name, name), {"marker": "o", **_POINT, **look})
        for name, look in _STATES.items()
        if name in states
    ]
    if len(measured) < len(rows):
        few = {"color": FAINT, "marker": "x", "markersize": 4, "linestyle": ""}
        marks.append((f"under {LEAST_QUESTIONS} questions", few))
    if not rows[-1]["over"]:
        marks.append(("not over", {"color": GRID, "linewidth": 7}))
        for axes in figure.axes:
            axes.axvspan(places[-1] - 0.5, places[-1] + 0.5, color=GRID, alpha=0.5, linewidth=0, zorder=0)
    handles = [figure.axes[0].plot([], [], **how)[0] for _, how in marks]
    figure.legend(
        handles, [name for name, _ in marks], loc="outside lower left", ncols=len(marks), fontsize=8
    )

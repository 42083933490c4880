"""A picture of weeks: what searches were worth without what was learned and with it, and what it changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.scoring.evaluation.trend import FIGURES, LEAST_QUESTIONS
from slowwave.scoring.measures import Measure
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

MOST_WEEKS = 26  # of one picture, half a year
TITLE = "Is it getting better?"
_LABELS = 5  # dates under each of the panels, at most
_NONE = "Nothing was measured."
_POINT: dict[str, Any] = {"color": BLUE, "markerfacecoloralt": PAPER, "markersize": 4.8}
_STATES: dict[str, dict[str, Any]] = {
    "with it: would be": {"markerfacecolor": PAPER},
    "in part applied": {"fillstyle": "bottom"},
    "applied": {},
}
Rows = Sequence[dict[str, Any]]


def by_week(weeks: pl.DataFrame) -> bytes:
    """Hit rate at 1, MRR@5, the searches that learning changed, and comparisons, by week.

    A week with too few questions has a cross at the bottom and no point, and no line leads past it. A hollow
    point is what it would have been: nothing that was learned was applied in that week; one that is half full
    is so in part. The bar on a point is
    the interval of its difference to the ranking without what was learned.

    Args:
        weeks: rows of `slowwave.scoring.evaluation.trend.COLUMNS`, of one namespace and kind, in any order;
            the last `MOST_WEEKS` are shown.
    """
    rows = weeks.sort("week").tail(MOST_WEEKS).to_dicts()
    places = _places(rows)

    def draw(figure: Figure) -> None:
        panels = figure.subplots(2, 2, sharex=True, height_ratios=(1.7, 1))
        for axes, one in zip(panels[0], FIGURES, strict=True):
            _lines(axes, places, rows, one)
        _changed(panels[1][0], places, rows)
        _won(panels[1][1], places, rows)
        for axes in panels[1]:
            _dates(axes, places, rows)
        for axes in panels.flat:
            if not rows[-1]["over"]:
                axes.axvspan(places[-1] - 0.5, places[-1] + 0.5, color=GRID, alpha=0.5, linewidth=0, zorder=0)
        _explained(figure, panels[0][0], rows)

    measured = any(row["measured"] for row in rows)
    return picture(TITLE, draw, HEIGHT * 1.75) if measured else nothing(TITLE, _NONE)


def _places(rows: Rows) -> list[int]:
    """Weeks from the first, so that one in which nothing happened is seen as a gap."""
    return [(row["week"] - rows[0]["week"]).days // 7 for row in rows]


def _lines(axes: Axes, places: Sequence[int], rows: Rows, one: Measure) -> None:
    """A figure without what was learned and with it; broken where there is none."""
    name, learned = one.column, f"{one.column}_learned"
    told = [(at, row) for at, row in zip(places, rows, strict=True) if row[name] is not None]
    for run in _runs(told):
        at, without, with_it = (
            [place for place, _ in run],
            *([row[key] for _, row in run] for key in (name, learned)),
        )
        up = [after > before for before, after in zip(without, with_it, strict=True)]
        for colour, where in ((GREEN, up), (RED, [not one for one in up])):
            if any(where):
                axes.fill_between(
                    at, without, with_it, where=where, interpolate=True, color=colour, alpha=0.13, linewidth=0
                )
        axes.plot(at, without, color=GREY, linewidth=1.6, marker="" if at[1:] else "o", markersize=3)
        axes.plot(at, with_it, color=BLUE, linewidth=1.7)
    bars = [(at, row[name] + row[f"{name}_low"], row[name] + row[f"{name}_high"]) for at, row in told]
    across = [place for at, _, _ in bars for place in (at, at, math.nan)]  # one line, broken between them
    ends = [end for _, low, high in bars for end in (low, high, math.nan)]
    axes.plot(across, ends, color=BLUE, alpha=0.45, linewidth=1.6, solid_capstyle="butt")
    for state, look in _STATES.items():
        mine = [(at, row[learned]) for at, row in told if _state(row) == state]
        points = [at for at, _ in mine], [value for _, value in mine]
        axes.plot(*points, "o", **_POINT, **look)
    if few := [at for at, row in zip(places, rows, strict=True) if row[name] is None]:
        axes.plot(few, [0.02] * len(few), "x", color=FAINT, markersize=4, clip_on=False)
    axes.set_title(str(one))
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}".removeprefix("0") or "0")


def _state(row: dict[str, Any]) -> str:
    """How much of what was learned had an effect in a week."""
    if not row["applied"]:
        return "with it: would be"
    return "in part applied" if row["would_change"] else "applied"


def _runs(told: list[tuple[int, dict[str, Any]]]) -> list[list[tuple[int, dict[str, Any]]]]:
    """Weeks that follow one another."""
    found: list[list[tuple[int, dict[str, Any]]]] = []
    for at, row in told:
        if found and found[-1][-1][0] == at - 1:
            found[-1].append((at, row))
        else:
            found.append([(at, row)])
    return found


def _changed(axes: Axes, places: Sequence[int], rows: Rows) -> None:
    """Shares of the judged searches that learning changed, or would have."""
    changed, would = (
        _every(places, [100 * row[name] / row["measured"] if row["measured"] else 0.0 for row in rows])
        for name in ("changed", "would_change")
    )
    both = [one + more for one, more in zip(changed, would, strict=True)]
    _columns(axes, changed, color=BLUE)
    _columns(axes, both, changed, color=BLUE, alpha=0.25)
    axes.set_title("Judged searches that it changed")
    axes.set_ylim(0, max(*both, 4.0) * 1.25)
    few_ticks(axes, 3, whole=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")


def _won(axes: Axes, places: Sequence[int], rows: Rows) -> None:
    """Searches that showed both in turn: whose results were used more."""
    wins, losses = (_every(places, [float(row[name]) for row in rows]) for name in ("wins", "losses"))
    _columns(axes, wins, color=GREEN)
    _columns(axes, [-one for one in losses], color=ORANGE)
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.set_title(f"Shown in turn: {sum(wins):,.0f} won ▴ {sum(losses):,.0f} lost ▾")
    most = max(*wins, *losses, 1) * 1.2
    axes.set_ylim(-most, most)
    few_ticks(axes, 4, whole=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")


def _every(places: Sequence[int], values: Sequence[float]) -> list[float]:
    """A value for every week, 0 where there is none."""
    known = dict(zip(places, values, strict=True))
    return [known.get(place, 0.0) for place in range(places[-1] + 1)]


def _columns(axes: Axes, tops: Sequence[float], base: Sequence[float] | None = None, **how: Any) -> None:  # noqa: ANN401
    """A column a week, all in one outline."""
    edges = [place - 0.5 for place in range(len(tops) + 1)]
    axes.stairs(tops, edges, baseline=0.0 if base is None else base, fill=True, linewidth=0, **how)


def _dates(axes: Axes, places: Sequence[int], rows: Rows) -> None:
    """The Monday of some weeks, the year where it begins."""
    count = places[-1] + 1
    spare = max(0, 8 - count) / 2  # a week alone is no wall
    axes.set_xlim(-0.7 - spare, count - 0.3 + spare)
    chosen = range(0, count, -(-count // _LABELS))
    axes.set_xticks(list(chosen), dated([rows[0]["week"] + timedelta(weeks=place) for place in chosen]))
    axes.tick_params(axis="x", length=3)


def _explained(figure: Figure, axes: Axes, rows: Rows) -> None:
    """What the marks mean, of those that are there."""
    marks: list[tuple[str, dict[str, Any]]] = [
        ("without what was learned", {"color": GREY}),
    ]
    told = [row for row in rows if row[FIGURES[0].column] is not None]
    there = {_state(row) for row in told}
    marks += [(name, {"marker": "o", **_POINT, **look}) for name, look in _STATES.items() if name in there]
    if len(told) < len(rows):
        few = {"color": FAINT, "marker": "x", "markersize": 4, "linestyle": ""}
        marks.append((f"under {LEAST_QUESTIONS} questions", few))
    if not rows[-1]["over"]:
        marks.append(("not over", {"color": GRID, "linewidth": 7}))
    handles = [axes.plot([], [], **how)[0] for _, how in marks]
    figure.legend(
        handles, [name for name, _ in marks], loc="outside lower left", ncols=len(marks), fontsize=8
    )

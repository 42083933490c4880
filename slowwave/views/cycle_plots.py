"""Plots of an evaluation cycle: policies, queries, channels, and quality by cycle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.views import counts
from slowwave.views.cycle import LOGGED, MAIN, METRICS, CycleReport
from slowwave.views.drawing import BLUE, FAINT, GREEN, GREY, GRID, ORANGE, RED, SKY, legend, nothing, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from slowwave.scoring.evaluation import Comparison

VERDICT_COLOURS = {"better": GREEN, "worse": RED, "equivalent": BLUE, "insufficient evidence": GREY}
_NONE = "Nothing was measured."
_TITLE = METRICS[MAIN]
_LONG = 26  # characters of a name beside a picture


def differences(report: CycleReport) -> bytes:
    """Plot each variant's difference to the served ranking, with interval and margin band."""
    title = f"{_TITLE}: difference to the returned results, 95 %"
    compared = [variant for variant in report.variants if MAIN in variant.against]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        _forest(
            axes, [(variant.against[MAIN], variant.role == "baseline") for variant in compared], report.margin
        )
        labels = [
            _short(variant.name) + (" (baseline)" if variant.role == "baseline" else "")
            for variant in compared
        ]
        axes.set_yticks(range(len(compared)), labels)
        axes.set_title(title)
        axes.set_xlabel(f"worse  ◂  {_TITLE}  ▸  better     (band: margin ± {report.margin:g})")
        named = [
            name
            for name in VERDICT_COLOURS
            if name in {variant.against[MAIN].verdict for variant in compared}
        ]
        handles = [axes.plot([], [], "o", color=VERDICT_COLOURS[name], markersize=5)[0] for name in named]
        figure.legend(handles, named, loc="outside lower left", ncols=len(named), fontsize=8.5)

    return picture(title, draw, _tall(len(compared)) + 0.3) if compared else nothing(title, _NONE)


def _tall(rows: int) -> float:
    """Return the height (inches) of a plot with `rows` lines."""
    return 1.2 + 0.24 * rows


def _forest(axes: Axes, lines: Sequence[tuple[Comparison | None, bool]], margin: float) -> None:
    """Draw differences with their intervals, one below the other, over the margin band.

    Args:
        axes: to draw on.
        lines: comparison (None: an empty line), and whether its point is hollow.
        margin: half the width of the band.
    """
    axes.axvspan(-margin, margin, color=GRID, alpha=0.6, linewidth=0)
    axes.axvline(0, color=FAINT, linewidth=0.8)
    for place, (comparison, hollow) in enumerate(lines):
        if comparison is not None:
            colour = VERDICT_COLOURS[comparison.verdict]
            axes.hlines(place, comparison.low, comparison.high, color=colour, linewidth=2)
            filled = "white" if hollow else colour
            axes.plot(
                [comparison.difference], [place], "o", color=colour, markerfacecolor=filled, markersize=5.5
            )
    _rows_below(axes, len(lines))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:+.3g}" if value else "0")


def _rows_below(axes: Axes, count: int) -> None:
    """Set up axes whose lines are one below the other."""
    axes.set_ylim(count - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")


def distribution(report: CycleReport) -> bytes:
    """Plot the number of queries by quality of the returned results."""
    title = f"Queries by {_TITLE} of the returned results"
    logged = report.scores.filter(pl.col("variant") == LOGGED)[MAIN]
    shown = counts.distribution(logged)
    values, numbers = shown["value"].to_list(), shown["memories"].to_list()

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        bars = axes.bar(
            values, numbers, width=0.085, color=[RED if value < 0.05 else SKY for value in values]
        )
        axes.bar_label(bars, [f"{count:,}" if count else "" for count in numbers], padding=2, fontsize=8)
        axes.set_title(f"{title} ({logged.len():,})")
        axes.set_xlabel(f"{_TITLE}  (0 nothing relevant in the first ten · 1 ideal)")
        axes.set_ylabel("queries")

    return picture(title, draw) if logged.len() else nothing(title, _NONE)


def channels(report: CycleReport) -> bytes:
    """Plot the exclusive share of each channel, and the loss without it."""
    title = "Contribution of the channels"
    without = {
        variant.without[0]: variant.against[MAIN]
        for variant in report.variants
        if variant.role == "channel" and len(variant.without) == 1 and MAIN in variant.against
    }
    names = list(dict.fromkeys([*report.channels["channel"], *without]))
    rates = dict(report.channels.select("channel", "ecr").iter_rows())
    bounds = {row[0]: row[1:] for row in report.channels.select("channel", "ecr_low", "ecr_high").iter_rows()}

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        shares = [100 * (rates.get(name) or 0.0) for name in names]
        bars = left.barh(range(len(names)), shares, height=0.55, color=SKY)
        labels = ["unknown" if rates.get(name) is None else f"{100 * rates[name]:.1f} %" for name in names]
        left.bar_label(bars, labels, padding=3, fontsize=8)
        for place, (low, high) in enumerate(bounds.get(name, (None, None)) for name in names):
            if low is not None and high is not None:
                left.hlines(place + 0.36, 100 * low, 100 * high, color=BLUE, linewidth=1.6)
        left.set_title("Found by this channel alone")
        left.set_xlabel("% of the top ten")
        left.set_xlim(0, max(*shares, 1.0) * 1.3)
        _forest(right, [(without.get(name), False) for name in names], report.margin)
        right.set_title(f"{_TITLE} without it")
        right.set_xlabel("difference to the returned results, 95 %")
        left.set_yticks(range(len(names)), names)
        _rows_below(left, len(names))
        for axes in (left, right):
            axes.locator_params(axis="x", nbins=5)

    return picture(title, draw, 1.3 + 0.3 * len(names)) if names else nothing(title, _NONE)


def course(report: CycleReport) -> bytes:
    """Plot quality of the returned results by cycle. Each cycle has its own queries."""
    title = f"{_TITLE} of the returned results, by cycle"
    points = report.course

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        places = points["number"].to_list()
        axes.vlines(places, points["low"], points["high"], color=BLUE, alpha=0.5, linewidth=2)
        axes.plot(places, points["mean"], color=BLUE, linewidth=1.4, marker="o", markersize=5)
        here = points.filter(pl.col("number") == report.number)
        axes.plot(here["number"], here["mean"], "o", color=ORANGE, markersize=7)
        most = -(-len(places) // 8)
        rows = list(points.select("number", "closed_on", "queries").iter_rows())[::-1][::most]
        axes.set_xticks(
            [number for number, _, _ in rows],
            [f"{number}\n{closed or 'open'}\n{queries:,} queries" for number, closed, queries in rows],
        )
        axes.set_xlim(places[0] - 0.6, places[-1] + 0.6)
        axes.set_ylim(0, 1)
        axes.set_title(title)
        axes.set_ylabel(_TITLE)
        handles = [axes.plot([], [], "o", color=colour)[0] for colour in (ORANGE, BLUE)]
        legend(axes, handles[: min(len(places), 2)], ["this cycle", "previous cycles"][: min(len(places), 2)])

    return picture(title, draw) if not points.is_empty() else nothing(title, _NONE)


def _short(name: str) -> str:
    return name if len(name) <= _LONG else name[: _LONG - 1] + "…"

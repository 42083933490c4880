"""Feedback report as sections, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.common.pluralize import counted
from slowwave.views import plots, trend
from slowwave.views.blocks import bar, spark, squeezed
from slowwave.views.counts import REASON_ORDER
from slowwave.views.feedback import FeedbackReport
from slowwave.views.html import page
from slowwave.views.moments import since
from slowwave.views.section import (
    ANY,
    Column,
    Drawing,
    Mark,
    Paragraph,
    Part,
    Picture,
    Section,
    Table,
    in_terminal,
    numbers,
    on_page,
    text_of,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_NAMED_DAYS = 3  # unprocessed days that are named
UNKNOWN = "(not in this memory)"
TIERS = {"implicit": "answers observed", "quick": "results rated", "detailed": "projects ended"}
_NOTHING = (
    "No feedback has been processed. `slowwave feedback` and `slowwave observe` record it, `slowwave night` "
    "processes it."
)
_SIDE = 24  # characters of a bar with its figure
_CHART = 60  # characters of a chart, at most
_WIDE = 96  # characters of a terminal that fits ids
_ID = "memory_id"
_HEADINGS = {_ID: "memory", "feedback_count": "events", "last_at": "last verdict", "to_tier": "to"}


def sections(report: FeedbackReport, *, width: int = ANY) -> list[Part]:
    """Return all sections of the report.

    Args:
        report: the report.
        width: available characters; a narrow terminal gets fewer columns.
    """
    nothing = report.acts.is_empty() and not report.rated
    as_of = f"{period(report)}, as of {report.as_of:%Y-%m-%d %H:%M} UTC"
    promotions = Picture(
        partial(plots.promotions_by_day, report.reasons, report.days), "Promotion decisions by day"
    )
    return [
        on_page(Paragraph(as_of, "faint")),
        Paragraph(summary(report)),
        Paragraph(waiting(report), "waits"),
        in_terminal(Paragraph(_NOTHING if nothing else "")),
        in_terminal(trend.section(report.trend, width=width)),
        on_page(trend.section(report.trend, most=trend.ON_A_PAGE, drawn=True)),
        *_acts(report, width),
        *_rates(report, width),
        *_distributions(report),
        *listings(report, ids=width >= _WIDE),
        on_page(promotions),
    ]


def feedback_page(report: FeedbackReport) -> str:
    """Render the report as one HTML page: embedded plots, no script, no network access.

    Raises:
        SlowwaveError: Matplotlib or Jinja2 is not installed.
    """
    return page(f"Feedback of namespace {report.namespace}", sections(report))


def period(report: FeedbackReport) -> str:
    """Return the days that are counted."""
    count = len(report.days)
    return report.first if count == 1 else f"{report.first} to {report.last} ({count:,} days)"


def summary(report: FeedbackReport) -> str:
    """Return the counts of searches and feedback events in a line."""
    acts = int(report.acts["acts"].sum())
    searches = counted(report.searches, "search", "searches")
    if report.searches:
        searches += f" ({report.abstained:,} without results)"
    with_feedback = counted(report.searches_with_feedback, "search", "searches")
    feedback = f"{counted(acts, 'feedback event')} on {with_feedback}"
    imports = [
        f"{name} {count:,}"
        for name, count in report.imports.select("imported_from", "acts").iter_rows()
        if name
    ]
    if imports:
        imported = int(report.acts["imported"].sum())
        feedback += f"; {_percent(imported / acts)} of them imported ({', '.join(imports)})"
    return f"{searches}; {feedback}."


def waiting(report: FeedbackReport) -> str:
    """Return a line about unprocessed events, or ""."""
    if report.waiting.is_empty():
        return ""
    days = report.waiting["day"].sort().to_list()
    named = ", ".join(days[:MAX_NAMED_DAYS]) + (" …" if len(days) > MAX_NAMED_DAYS else "")
    entries = counted(int(report.waiting["entries"].sum()), "event")
    whole = counted(len(days), "day")
    return f"Not counted yet: {entries} of {whole} ({named}). `slowwave night` processes them."


# -- feedback events -------------------------------------------------------------------------------


def _acts(report: FeedbackReport, width: int) -> Iterator[Part]:
    """Yield the events by tier and verdict: by day as a plot or block characters."""
    total = int(report.acts["acts"].sum())
    if total:
        lines = Table(
            [Column("tier", whole=True), Column("", whole=True), *numbers("events", "share", "max per day")],
            [row for tier in _tiers(report.acts) for row in _acts_of(report, tier, total, _chart(width))],
        )
        yield in_terminal(Section(f"Feedback events ({total:,})", [lines]))
    by_verdict = report.acts.group_by("tier", "verdict").agg(pl.col("acts", "imported").sum())
    cells = [
        [tier, verdict, acts, _percent(acts / total), imported]
        for tier, verdict, acts, imported in by_verdict.sort(
            "tier", "acts", "verdict", descending=[False, True, False]
        ).iter_rows()
    ]
    yield on_page(
        Picture(partial(plots.acts_by_day, report.acts, report.days), "Feedback events by tier and day"),
        Table(["tier", "verdict", "events", Column("share", "number"), "imported"], cells),
    )


def _tiers(acts: pl.DataFrame) -> list[str]:
    """Return the tiers with an event, known ones first."""
    present = set(acts["tier"])
    return [*(tier for tier in TIERS if tier in present), *sorted(present - set(TIERS))]


def _acts_of(report: FeedbackReport, tier: str, total: int, cells: int) -> list[list[object]]:
    """Return the two terminal rows of a tier."""
    own = report.acts.filter(pl.col("tier") == tier)
    by_day = dict(own.group_by("day").agg(pl.col("acts").sum()).iter_rows())
    runs = squeezed([by_day.get(day, 0) for day in report.days], cells)
    line = _wide(spark([sum(run) / len(run) for run in runs]), len(report.days), cells)
    acts, mark = sum(by_day.values()), tier if tier in TIERS else "plain"
    verdicts = own.group_by("verdict").agg(pl.col("acts").sum()).sort("acts", "verdict", descending=True)
    verdict_counts = " · ".join(f"{name} {count:,}" for name, count in verdicts.iter_rows())
    return [
        [Mark(tier, mark), Mark(line, mark), acts, _percent(acts / total), max(by_day.values())],
        ["", Mark(verdict_counts if tier != "implicit" else TIERS[tier], "faint")],
    ]


# -- use of returned results --------------------------------------------------------------------------


def _rates(report: FeedbackReport, width: int) -> Iterator[Part]:
    """Yield the rates used, ignored and cited with intervals, as a plot or as bars."""
    rated = [row for row in report.rates.iter_rows(named=True) if row["rate"] is not None]
    if not report.verdicts.is_empty():
        yield in_terminal(
            Section("Returned memories in answers", [_bars(report, rated, _chart(width))], judged(report))
        )
    picture = Picture(
        partial(plots.rates_by_day, report.verdicts, report.days),
        "Returned memories used, cited and ignored by day",
    )
    yield on_page(picture)
    if rated:
        cells = [
            [row["what"], _percent(row["rate"]), f"{100 * row['low']:.1f} – {_percent(row['high'])}",
             row["count"]]
            for row in rated
        ]  # fmt: skip
        columns = [Column(""), *numbers("share", "95 % interval", "memories")]
        together = Paragraph(f"All days together: {judged(report)}.", "faint")
        yield on_page(together, Table(columns, cells))


def _bars(report: FeedbackReport, rated: Sequence[dict[str, Any]], cells: int) -> Table:
    """Return the rates as bars, and the rate used by day."""
    rows: list[list[object]] = [
        [
            Mark(row["what"], row["what"]), Mark(bar(row["rate"], cells), row["what"]),
            _percent(row["rate"]), f"{_percent(row['low'])} – {_percent(row['high'])}", row["count"],
        ]
        for row in rated
    ]  # fmt: skip
    if report.rates["of"][0] and len(report.days) > 1:
        line = Mark(_used_by_day(report, cells), "used")
        rows.append([Mark("used", "used"), line, "", Mark("by day, 0 – 100 %", "faint")])
    columns = [Column("", whole=True), Column("", whole=True), *numbers("share", "95 %", "memories")]
    return Table(columns, rows)


def _used_by_day(report: FeedbackReport, cells: int) -> str:
    used = dict(report.verdicts.select("day", "used").iter_rows())
    ignored = dict(report.verdicts.select("day", "ignored").iter_rows())
    shares = []
    for run in squeezed(report.days, cells):
        took = sum(used.get(day, 0) for day in run)
        judged_count = took + sum(ignored.get(day, 0) for day in run)
        shares.append(took / judged_count if judged_count else None)
    return _wide(spark(shares, 1.0), len(report.days), cells)


def judged(report: FeedbackReport) -> str:
    """Return the number of verdicts that the rates are based on."""
    unclear = int(report.verdicts["unclear"].sum())
    more = f"; {unclear:,} more without evidence" if unclear else ""
    return f"{counted(report.rates['of'][0], 'verdict')}{more}"


# -- memories --------------------------------------------------------------------------------------


def _distributions(report: FeedbackReport) -> Iterator[Part]:
    """Yield the distributions of effectiveness and strength."""
    strong = int(report.strength["memories"].sum())
    shown = [
        (f"{name} ({counted(count, 'memory', 'memories')})", frame, style)
        for name, count, frame, style in (
            ("Effectiveness", report.rated, report.effectiveness, "dodger_blue2"),
            ("Strength now", strong, report.strength, "green3"),
        )
        if frame["memories"].sum()
    ]
    if shown:
        yield in_terminal(Section("", [Drawing(partial(_histograms, shown))]))
    yield on_page(
        Picture(partial(plots.effectiveness, report.effectiveness), "Memories by effectiveness"),
        Picture(partial(plots.strength, report.strength), "Memories by current strength"),
    )


def _histograms(shown: Sequence[tuple[str, pl.DataFrame, str]]) -> RenderableType:
    """Return distributions side by side."""
    from rich.table import Table as Grid

    side_by_side = Grid.grid(padding=(0, 4))
    side_by_side.add_row(*(f"[bold]{title}[/]" for title, _, _ in shown))
    side_by_side.add_row(*(_histogram(frame, style) for _, frame, style in shown))
    return side_by_side


def _histogram(frame: pl.DataFrame, style: str) -> RenderableType:
    from rich.table import Table as Grid

    most = max(frame["memories"])
    lines = Grid.grid(padding=(0, 1))
    lines.add_column(justify="right", style="dim")
    for value, count in frame.iter_rows():
        label = f"{value:.0f}" if value in (0, 1) else f"{value:.1f}".removeprefix("0")
        lines.add_row(label, f"[{style}]{bar(count / most, _SIDE)}[/] {count:,}" if count else "")
    return lines


def listings(report: FeedbackReport, *, ids: bool = True) -> list[Section]:
    """Return the lists of a report that have rows, each a section with a table.

    Args:
        report: has them.
        ids: show the ids of memories; without, only memories without a title show theirs.
    """
    state = ("effectiveness", "feedback_count", "used", "ignored", _ID)
    promotions = report.promotions.with_columns(pl.col("reason", "detail").str.replace_all("_", " "))
    lists = (
        ("Most used", "by answers of these days", report.most_used,
         ("title", "used", "cited", "ignored", "helpful", "unhelpful", _ID)),
        ("Most effective", "above 0.5; of all days", report.best, ("title", *state)),
        ("Least effective", "below 0.5; of all days", report.worst, ("title", *state)),
        ("Fading", "the weakest; fading never removes a memory", report.fading,
         ("title", "strength", "used", "ignored", "last_at", _ID)),
        ("Promotions", _reasons(report), promotions,
         ("day", "title", "to_tier", "reason", "useful", "detail", _ID)),
    )  # fmt: skip
    return [
        Section(title, [_listed(rows, [name for name in names if ids or name != _ID], report.as_of)], note)
        for title, note, rows, names in lists
        if not rows.is_empty()
    ]


def _reasons(report: FeedbackReport) -> str:
    """Return promotion decisions by reason, in a line."""
    sums = report.reasons.group_by("reason").agg(pl.col("decisions").sum())
    rows = sums.sort(REASON_ORDER, "reason").iter_rows()
    return " · ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in rows)


def _listed(rows: pl.DataFrame, names: list[str], as_of: datetime) -> Table:
    """Return the table of some columns of rows about memories."""
    columns = [_column(name, numeric=rows[name].dtype.is_numeric()) for name in names]
    cells = []
    for row in rows.iter_rows(named=True):
        nameless = row["title"] == row[_ID] and _ID in names
        shown = row | {"title": UNKNOWN} if nameless else row
        cells.append([_cell(shown[name], as_of) for name in names])
    return Table(columns, cells)


def _column(name: str, *, numeric: bool) -> Column:
    if name == "title":
        return Column(name, whole=True, cut=True, least=12, most=60)
    return Column(_HEADINGS.get(name, name.replace("_", " ")), "number" if numeric else "", whole=True)


def _cell(value: object, as_of: datetime) -> str:
    if isinstance(value, datetime):
        return since(min(value, as_of), as_of)
    return f"{value:.2f}" if isinstance(value, float) else " ".join(text_of(value).split())


# -- charts of characters --------------------------------------------------------------------------


def _chart(width: int) -> int:
    """Return the width of a chart (characters)."""
    return max(10, min(_CHART, width - 44))


def _wide(line: str, days: int, cells: int) -> str:
    """Return a line with up to three characters per day, as they fit."""
    return "".join(character * max(1, min(3, cells // days)) for character in line)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

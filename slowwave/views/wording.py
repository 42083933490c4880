"""The words and lists of a feedback report, the same in the terminal and on its page."""

from __future__ import annotations

from datetime import datetime

import polars as pl

from slowwave.common.plurals import counted
from slowwave.views.counts import REASON_ORDER
from slowwave.views.feedback import FeedbackReport
from slowwave.views.moments import since
from slowwave.views.section import Column, Section, Table, text_of

NAMED_DAYS = 3  # of those that wait
UNKNOWN = "(not in this memory)"
_ID = "memory_id"
_HEADINGS = {_ID: "memory", "feedback_count": "events", "last_at": "last verdict", "to_tier": "to"}


def period(report: FeedbackReport) -> str:
    """The days that are counted."""
    count = len(report.days)
    return report.first if count == 1 else f"{report.first} to {report.last} ({count:,} days)"


def summary(report: FeedbackReport) -> str:
    """What there was, in a line."""
    acts = int(report.acts["acts"].sum())
    searches = counted(report.searches, "search", "searches")
    if report.searches:
        searches += f" ({report.abstained:,} found nothing)"
    about = counted(report.searches_with_feedback, "search", "searches")
    given = f"{counted(acts, 'act')} of feedback on {about}"
    imports = [
        f"{name} {count:,}"
        for name, count in report.imports.select("imported_from", "acts").iter_rows()
        if name
    ]
    if imports:
        imported = int(report.acts["imported"].sum())
        given += f"; {100 * imported / acts:.1f} % of the acts were imported ({', '.join(imports)})"
    return f"{searches}; {given}."


def waiting(report: FeedbackReport) -> str:
    """What no night has taken in yet and how to, or nothing."""
    if report.waiting.is_empty():
        return ""
    days = report.waiting["day"].sort().to_list()
    named = ", ".join(days[:NAMED_DAYS]) + (" …" if len(days) > NAMED_DAYS else "")
    entries = counted(int(report.waiting["entries"].sum()), "entry", "entries")
    whole = counted(len(days), "day")
    return f"Not counted yet: {entries} of {whole} ({named}). `slowwave night` takes them in."


def judged(report: FeedbackReport) -> str:
    """Of how many verdicts rates are told."""
    unclear = int(report.verdicts["unclear"].sum())
    more = f"; {unclear:,} more had nothing to judge by" if unclear else ""
    return f"{counted(report.rates['of'][0], 'verdict')}{more}"


def reasons(report: FeedbackReport) -> str:
    """Decisions about promotion by reason, in a line."""
    sums = report.reasons.group_by("reason").agg(pl.col("decisions").sum())
    rows = sums.sort(REASON_ORDER, "reason").iter_rows()
    return " · ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in rows)


def listings(report: FeedbackReport, *, ids: bool = True) -> list[Section]:
    """The lists of a report that have a row, each a section with a table.

    Args:
        report: has them.
        ids: with the ids of memories; without, for narrow places, only what has no title goes by its id.
    """
    state = ("effectiveness", "feedback_count", "used", "ignored", _ID)
    promotions = report.promotions.with_columns(pl.col("reason", "detail").str.replace_all("_", " "))
    lists = (
        ("Most used", "by answers of these days", report.most_used,
         ("title", "used", "cited", "ignored", "helpful", "unhelpful", _ID)),
        ("Most effective", "above .5; of all days", report.best, ("title", *state)),
        ("Least effective", "below .5; of all days", report.worst, ("title", *state)),
        ("Fading", "the weakest; nothing is ever removed for it", report.fading,
         ("title", "strength", "used", "ignored", "last_at", _ID)),
        ("Promotions", reasons(report), promotions,
         ("day", "title", "to_tier", "reason", "useful", "detail", _ID)),
    )  # fmt: skip
    return [
        Section(title, [_listed(rows, [one for one in names if ids or one != _ID], report.as_of)], note)
        for title, note, rows, names in lists
        if not rows.is_empty()
    ]


def _listed(rows: pl.DataFrame, names: list[str], as_of: datetime) -> Table:
    """Some columns of rows about memories."""
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

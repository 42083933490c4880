"""The words and lists of a feedback report, the same in the terminal and on its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import polars as pl

from slowwave.views.counts import REASON_ORDER
from slowwave.views.feedback import FeedbackReport

NAMED_DAYS = 3  # of those that wait
UNKNOWN = "(not in this memory)"
_ID = "memory_id"


@dataclass(frozen=True, slots=True)
class Listing:
    """A few memories as a table.

    Attributes:
        title: what it lists.
        note: what to know of it.
        rows: has the columns, and more.
        columns: those that are shown, in order.
        as_of: the moment from which times are told.
    """

    title: str
    note: str
    rows: pl.DataFrame
    columns: tuple[str, ...]
    as_of: datetime

    def without_ids(self) -> Listing:
        """The same for narrow places: only what has no title goes by its id."""
        return replace(self, columns=tuple(name for name in self.columns if name != _ID))

    def cells(self) -> Iterator[list[str]]:
        """The shown columns of every row, as text."""
        for row in self.rows.iter_rows(named=True):
            nameless = row["title"] == row[_ID] and _ID in self.columns
            shown = row | {"title": UNKNOWN} if nameless else row
            yield [self._text(shown[name]) for name in self.columns]

    def numeric(self) -> list[int]:
        """Places of the columns of numbers."""
        return [number for number, name in enumerate(self.columns) if self.rows[name].dtype.is_numeric()]

    def _text(self, value: object) -> str:
        if isinstance(value, datetime):
            days = (self.as_of - value).total_seconds() / 86_400
            return f"{days:,.0f} days ago" if days >= 2 else f"{max(days, 0) * 24:.0f} hours ago"
        if isinstance(value, float):
            return f"{value:.2f}"
        if isinstance(value, int):
            return f"{value:,}"
        return "" if value is None else " ".join(str(value).split())


def headings(columns: tuple[str, ...]) -> list[str]:
    """How columns are called."""
    names = {
        _ID: "memory", "feedback_count": "events", "last_at": "last verdict", "to_tier": "to",
    }  # fmt: skip
    return [names.get(name, name.replace("_", " ")) for name in columns]


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


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


def listings(report: FeedbackReport) -> list[Listing]:
    """The lists of a report that have a row."""
    state = ("effectiveness", "feedback_count", "used", "ignored", "memory_id")
    found = [
        Listing(
            "Most used", "by answers of these days", report.most_used,
            ("title", "used", "cited", "ignored", "helpful", "unhelpful", "memory_id"), report.as_of,
        ),
        Listing("Most effective", "above .5; of all days", report.best, ("title", *state), report.as_of),
        Listing("Least effective", "below .5; of all days", report.worst, ("title", *state), report.as_of),
        Listing(
            "Fading", "the weakest; nothing is ever removed for it", report.fading,
            ("title", "strength", "used", "ignored", "last_at", "memory_id"), report.as_of,
        ),
        Listing(
            "Promotions", reasons(report),
            report.promotions.with_columns(pl.col("reason", "detail").str.replace_all("_", " ")),
            ("day", "title", "to_tier", "reason", "useful", "detail", "memory_id"), report.as_of,
        ),
    ]  # fmt: skip
    return [one for one in found if not one.rows.is_empty()]

"""Export of a namespace's searches and feedback as logs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from slowwave.common import ids, progress
from slowwave.evaluation.exchange.payloads import line_of
from slowwave.evaluation.exchange.ubi_export import documents_of
from slowwave.evaluation.exchange.values import ExchangeError, parse_day
from slowwave.home.visibility import is_open
from slowwave.journal import FEEDBACK_KINDS, Entry, Journal
from slowwave.journal.entry_builders import entries_in
from slowwave.journal.kinds.search import considered, results_in
from slowwave.scoring.days import day_of

FORMATS = ("jsonl", "ubi")
"""Export forms."""

_KINDS = ("search", *FEEDBACK_KINDS)
_ABOUT_A_SEARCH = ("feedback", "observation")
_PAGE = 500  # entries in memory at a time


@dataclass(slots=True)
class ExportReport:
    """Counts of one export.

    Attributes:
        searches: Searches.
        events: Ratings, observations and outcomes.
        earlier: Searches before the first day, exported because an event of these days is about them.
        lines: Lines written.
        left_out: Events that the form has no document for.
        withheld: Searches not written because of secret memories.
    """

    searches: int = 0
    events: int = 0
    earlier: int = 0
    lines: int = 0
    left_out: int = 0
    withheld: int = 0


def export(
    journal: Journal,
    namespace: str,
    write: Callable[[bytes], object],
    *,
    form: str = "jsonl",
    first: str = "",
    last: str = "",
    closed: Collection[str] | None = None,
) -> ExportReport:
    """Write the searches and feedback events of some days, one per line, in time order.

    An older search that an event of these days is about is written as well.

    Args:
        journal: Journal of the home.
        namespace: The tenant.
        write: Writes a line, including its end.
        form: One of `FORMATS`.
        first: First day (YYYY-MM-DD, UTC); empty is the first one of the journal.
        last: Last day; empty is the last one of the journal.
        closed: Ids of secret memories, and of queries that returned them. A search for secret memories, for
            one of these queries, or with such a candidate is left out with its feedback. None writes
            everything.

    Raises:
        ExchangeError: an unknown form, or an invalid day.
    """
    if form not in FORMATS:
        raise ExchangeError(f"The form {form!r} is unknown; use one of {', '.join(FORMATS)}.")
    first, last = parse_day(first), parse_day(last)
    search_days = journal.days(_KINDS).filter(pl.col("namespace") == namespace)
    days = [
        day for day in sorted(search_days["day"]) if (not first or day >= first) and (not last or day <= last)
    ]
    lines_of = documents_of if form == "ubi" else lambda entry, _: [line_of(entry)]
    report = ExportReport()
    earlier: set[str] = set()
    projects: list[set[str]] = []  # computed once, with the first outcome
    with progress.task(
        "exporting", int(search_days.filter(pl.col("day").is_in(days))["entries"].sum())
    ) as advance:
        for page in _pages(journal, namespace, days):
            searches = _searches(journal, page) if first or form == "ubi" or closed is not None else {}
            for entry in page:
                search = searches.get(entry.subject)
                if closed is not None and is_withheld(search or entry, closed):
                    report.withheld += entry.kind == "search"
                    continue
                if closed is not None and entry.kind == "outcome":
                    projects = projects or [withheld_projects(journal, namespace, closed)]
                    if entry.subject in projects[0]:
                        continue
                older = [search] if search is not None and day_of(search.occurred_at) < first else []
                for item in [
                    *(search_entry for search_entry in older if search_entry.event_id not in earlier),
                    entry,
                ]:
                    _write(item, lines_of(item, searches.get(item.subject)), write, report)
                earlier.update(search_entry.event_id for search_entry in older)
            advance(len(page))
    report.earlier = len(earlier)
    return report


def is_withheld(search: Entry, closed: Collection[str]) -> bool:
    """Return whether a search asked for secret memories or had one as a candidate."""
    labels = search.payload.get("filters", {}).get("sensitivity", ())
    result_ids = {row["memory_id"] for row in results_in(search.payload)}
    result_ids |= {ids.memory_of(chunk) for chunk in considered(search.payload)}
    result_ids.add(ids.query_id(search.namespace, search.payload.get("query") or ""))
    return not all(map(is_open, labels)) or not result_ids.isdisjoint(closed)


def withheld_projects(journal: Journal, namespace: str, closed: Collection[str]) -> set[str]:
    """Return the projects whose searches are all withheld."""
    withheld: dict[str, bool] = {}
    days = journal.days(["search"]).filter(pl.col("namespace") == namespace)["day"].to_list()
    for entry in (item for page in _pages(journal, namespace, days, kinds=("search",)) for item in page):
        withheld[entry.origin] = withheld.get(entry.origin, True) and is_withheld(entry, closed)
    return {project for project, every in withheld.items() if every}


def _searches(journal: Journal, page: Sequence[Entry]) -> dict[str, Entry]:
    """Return the searches that events are about, including those of the page."""
    on_page = {entry.event_id: entry for entry in page if entry.kind == "search"}
    return on_page | journal.entries(
        {entry.subject for entry in page if entry.kind in _ABOUT_A_SEARCH} - on_page.keys()
    )


def _write(
    entry: Entry, lines: Iterable[Mapping[str, Any]], write: Callable[[bytes], object], report: ExportReport
) -> None:
    lines = list(lines)
    report.searches += entry.kind == "search"
    report.events += entry.kind != "search"
    report.left_out += not lines
    report.lines += len(lines)
    write(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def _pages(
    journal: Journal, namespace: str, days: Sequence[str], *, kinds: Sequence[str] = _KINDS
) -> Iterator[list[Entry]]:
    for day in days:
        for page in journal.pages(kinds=kinds, days=[day], namespace=namespace, size=_PAGE):
            yield entries_in(page)

"""Writing the searches and the feedback of a namespace as logs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from slowwave.common import ids, progress
from slowwave.evaluation.exchange.errors import ExchangeError
from slowwave.evaluation.exchange.moments import parse_day
from slowwave.evaluation.exchange.payloads import line_of
from slowwave.evaluation.exchange.ubi_export import documents_of
from slowwave.home.visibility import is_open
from slowwave.journal import FEEDBACK_KINDS, Entry, Journal
from slowwave.journal.entry_builders import entries_in
from slowwave.journal.kinds.search import considered, results_in
from slowwave.scoring.days import day_of

FORMATS = ("jsonl", "ubi")
"""Forms that an export may have."""

_KINDS = ("search", *FEEDBACK_KINDS)
_ABOUT_A_SEARCH = ("feedback", "observation")
_PAGE = 500  # entries in memory at a time


@dataclass(slots=True)
class ExportReport:
    """Counts of one export.

    Attributes:
        searches: searches.
        events: ratings, observations and outcomes.
        earlier: of the searches, those from before the first day that acts of these days are about.
        lines: lines written.
        left_out: acts that the form has no document for.
        withheld: searches that are not written, because of what is secret.
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
    """Write every search and every act of feedback of some days, a line each; later ones as they happened.

    A search that an act of these days is about is written with it, also when it is older.

    Args:
        journal: of the home.
        namespace: the tenant.
        write: takes lines, with their ends.
        form: one of `FORMATS`.
        first: the first day (YYYY-MM-DD, UTC); empty is the first there is.
        last: the last day; empty is the last there is.
        closed: ids of secret memories, and of queries that they were shown for. A search that asked for what
            is secret, or for one of these, or found one is left out with what was said of it. None writes
            everything.

    Raises:
        ExchangeError: an unknown form, or a day that is none.
    """
    if form not in FORMATS:
        raise ExchangeError(f"The form {form!r} is unknown; use one of {', '.join(FORMATS)}.")
    first, last = parse_day(first), parse_day(last)
    known = journal.days(_KINDS).filter(pl.col("namespace") == namespace)
    days = [day for day in sorted(known["day"]) if (not first or day >= first) and (not last or day <= last)]
    lines_of = documents_of if form == "ubi" else lambda entry, _: [line_of(entry)]
    report = ExportReport()
    earlier: set[str] = set()
    projects: list[set[str]] = []  # looked for once, with the first outcome
    with progress.task("exporting", int(known.filter(pl.col("day").is_in(days))["entries"].sum())) as advance:
        for page in _pages(journal, namespace, days):
            searches = _searches(journal, page) if first or form == "ubi" or closed is not None else {}
            for entry in page:
                about = searches.get(entry.subject)
                if closed is not None and _withheld(about or entry, closed):
                    report.withheld += entry.kind == "search"
                    continue
                if closed is not None and entry.kind == "outcome":
                    projects = projects or [_withheld_projects(journal, namespace, closed)]
                    if entry.subject in projects[0]:
                        continue
                before = [about] if about is not None and day_of(about.occurred_at) < first else []
                for one in [*(old for old in before if old.event_id not in earlier), entry]:
                    _write(one, lines_of(one, searches.get(one.subject)), write, report)
                earlier.update(old.event_id for old in before)
            advance(len(page))
    report.earlier = len(earlier)
    return report


def _withheld(search: Entry, closed: Collection[str]) -> bool:
    """Whether a search asked for what is secret, or found something that is."""
    asked = search.payload.get("filters", {}).get("sensitivity", ())
    found = {row["memory_id"] for row in results_in(search.payload)}
    found |= {ids.memory_of(chunk) for chunk in considered(search.payload)}
    found.add(ids.query_id(search.namespace, search.payload.get("query") or ""))
    return not all(map(is_open, asked)) or not found.isdisjoint(closed)


def _withheld_projects(journal: Journal, namespace: str, closed: Collection[str]) -> set[str]:
    """Projects of which every search is withheld."""
    known: dict[str, bool] = {}
    days = journal.days(["search"]).filter(pl.col("namespace") == namespace)["day"].to_list()
    for entry in (one for page in _pages(journal, namespace, days, kinds=("search",)) for one in page):
        known[entry.origin] = known.get(entry.origin, True) and _withheld(entry, closed)
    return {project for project, every in known.items() if every}


def _searches(journal: Journal, page: Sequence[Entry]) -> dict[str, Entry]:
    """The searches that acts are about, those of the page with them."""
    here = {entry.event_id: entry for entry in page if entry.kind == "search"}
    return here | journal.entries(
        {entry.subject for entry in page if entry.kind in _ABOUT_A_SEARCH} - here.keys()
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

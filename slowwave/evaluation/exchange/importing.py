"""Log import: read everything, reject invalid lines, then write what is new to the journal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, Protocol

from slowwave.common import progress
from slowwave.common.batches import gathered
from slowwave.evaluation.exchange.frame import LineProblem, NotTaken, read_each
from slowwave.evaluation.exchange.lines import read_lines
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.staging import Fact, Staging
from slowwave.evaluation.exchange.values import ExchangeError, Malformed
from slowwave.journal import Entry, Journal, JournalEntryError
from slowwave.scoring.days import day_of, day_start, from_microseconds, to_microseconds

BATCH = 1_000
"""Facts written at a time; a search and its feedback stay together."""

PATIENCE = 100
"""Maximum invalid lines at the start of a file before it is rejected as another form."""

ORIGIN = "imported_from"
"""Payload field with the form that the event was imported from."""


class Reading(NamedTuple):
    """Parsed line: its search, its time, and content in the form's own encoding."""

    search: str
    at: datetime
    content: bytes


class ImportedEvent(NamedTuple):
    """Fields of a future entry (without the namespace), and the fact it comes from."""

    fields: dict[str, Any]
    fact: Fact


def act_of(
    fact: Fact, kind: str, event_id: str, subject: str, at: datetime, principal: str,
    payload: dict[str, Any], origin: str = "",
) -> ImportedEvent:  # fmt: skip
    """Build the imported event of a fact."""
    fields = {
        "event_id": event_id, "kind": kind, "subject": subject, "occurred_at": at, "principal": principal,
        "origin": origin, "payload": payload,
    }  # fmt: skip
    return ImportedEvent(fields, fact)


class Form(Protocol):
    """Reader of one log form."""

    name: str
    expected: str

    def read(self, text: bytes, report: LogImportReport) -> Reading | NotTaken:
        """Parse a line; the report counts events that are no feedback. Raises `Malformed`."""

    def build(
        self, facts: Sequence[Fact], known: Entry | None, report: LogImportReport
    ) -> Iterator[ImportedEvent]:
        """Yield the events of one search from its facts and its existing journal entry."""


@dataclass(frozen=True, slots=True)
class LogImportOptions:
    """Options of a log import.

    Attributes:
        namespace: The tenant.
        first_day: First partition of the nightly job (`night.first_day`).
        today: Events after this day (UTC) are rejected.
        since: Searches before this day are left out; empty is none.
        dry_run: Do everything but write.
    """

    namespace: str
    first_day: str
    today: date
    since: str = ""
    dry_run: bool = False


def import_logs(
    journal: Journal,
    form: Form,
    files: Sequence[str],
    options: LogImportOptions,
    is_memory: Callable[[Sequence[str]], Collection[str]],
) -> LogImportReport:
    """Write the history of logs to the journal; existing entries stay unchanged.

    Nothing is written before every file was read. An interrupted import can be repeated.

    Args:
        journal: Journal of the home.
        form: Form of the logs.
        files: Paths, or `-` for standard input.
        options: Options of the import.
        is_memory: Returns the ids that are memories of the namespace.

    Raises:
        ExchangeError: a file is damaged or of another form, or the logs begin before the first partition.
        OSError: a file cannot be read.
        JournalError: the journal cannot be written; entries written before that stay.
    """
    report = LogImportReport(dry_run=options.dry_run)
    with closing(Staging()) as staging:
        for file in files:
            _read(file, form, options, staging, report)
        if options.since:
            report.left_out = staging.leave_out(to_microseconds(day_start(options.since)))
        _require_partitions(staging, options)
        _write(journal, form, options, staging, report)
        for memories in staging.seen():
            report.objects += len(memories)
            report.unknown += len(memories) - len(is_memory(memories))
    return report


def _read(
    file: str, form: Form, options: LogImportOptions, staging: Staging, report: LogImportReport
) -> None:
    def read(text: bytes) -> Reading | NotTaken:
        reading = form.read(text, report)
        if isinstance(reading, Reading) and (day := reading.at.astimezone(UTC).date()) > options.today:
            raise Malformed(f"{day} is in the future (days are UTC)")
        return reading

    def otherwise(problem: LineProblem) -> str:
        detail = f"line {problem.line} of {problem.file}: {problem.reason.rstrip('.')}"
        return f"{file} is no {form.name}; nothing was written. Expected: {form.expected}. But {detail}."

    for line, reading in read_each(read_lines(file), read, report, otherwise, patience=PATIENCE):
        staging.add(
            Fact(reading.search, to_microseconds(reading.at), line.file, line.number, reading.content)
        )


def _require_partitions(staging: Staging, options: LogImportOptions) -> None:
    first = staging.earliest()
    if first is None:
        return
    day = day_of(from_microseconds(first.at))
    if day < options.first_day:
        raise ExchangeError(
            f"{first.file}, line {first.line} is of {day}, before the first partition {options.first_day}; "
            f'nothing was written. Set night.first_day = "{day}" in slowwave.toml, or leave out what is '
            f"older with --from {options.first_day}."
        )


def _write(
    journal: Journal, form: Form, options: LogImportOptions, staging: Staging, report: LogImportReport
) -> None:
    with progress.task("writing the journal", len(staging)) as advance:
        for groups in gathered(staging.groups(), BATCH):
            searches = journal.entries([group[0].search for group in groups])
            events: dict[str, tuple[Entry, Fact]] = {}
            for group in groups:
                search = searches.get(group[0].search)
                if search is not None and (search.namespace, search.kind) != (options.namespace, "search"):
                    for fact in group:
                        report.refuse(fact.file, fact.line, _id_conflict(search, options))
                    continue
                for event in form.build(group, search, report):
                    _collect(event, events, options, report)
            _append(journal, events, options, staging, report)
            advance(sum(map(len, groups)))


def _id_conflict(existing: Entry, options: LogImportOptions) -> str:
    if existing.namespace != options.namespace:
        return f"another namespace has a search with the id {existing.event_id}"
    return f"the id {existing.event_id} is not of a search, but of a {existing.kind}"


def _collect(
    event: ImportedEvent,
    events: dict[str, tuple[Entry, Fact]],
    options: LogImportOptions,
    report: LogImportReport,
) -> None:
    try:
        entry = Entry(namespace=options.namespace, **event.fields)
    except JournalEntryError as error:
        report.refuse(event.fact.file, event.fact.line, str(error))
        return
    first, fact = events.setdefault(entry.event_id, (entry, event.fact))
    if first is entry:
        return
    if _alike(first, entry):
        report.repeated += 1
    else:
        reason = f"line {fact.line} of {fact.file} is the same event with other content, which stays"
        report.refuse(event.fact.file, event.fact.line, reason)


def _append(
    journal: Journal,
    events: Mapping[str, tuple[Entry, Fact]],
    options: LogImportOptions,
    staging: Staging,
    report: LogImportReport,
) -> None:
    existing = journal.entries(list(events))
    new = []
    for event_id, (entry, fact) in events.items():
        previous = existing.get(event_id)
        if previous is None:
            new.append(entry)
        elif not _alike(previous, entry) and entry.kind != "search":
            reason = f"the journal has this event with other content, as {_described(previous)}, which stays"
            report.refuse(fact.file, fact.line, reason)
            continue
        else:
            report.already += 1
            report.kept += not _alike(previous, entry)
        report.count(entry)
        staging.see(_memories(entry.payload))
    report.new += len(new)
    if not options.dry_run:
        journal.append(new)


def _alike(first: Entry, second: Entry) -> bool:
    """Return whether two entries are one event, however it came into the journal."""
    if (first.kind, first.namespace, first.subject) != (second.kind, second.namespace, second.subject):
        return False
    first_payload, second_payload = ({**entry.payload, ORIGIN: ""} for entry in (first, second))
    return first_payload == second_payload


def _described(entry: Entry) -> str:
    payload = entry.payload
    verdicts = [payload.get("rating", ""), *(row["verdict"] for row in payload.get("verdicts", ()))]
    return f"{entry.kind} ({', '.join(filter(None, verdicts))})"


def _memories(payload: Mapping[str, Any]) -> list[str]:
    rows = [payload, *payload.get("shown", ()), *payload.get("verdicts", ())]
    return [row["memory_id"] for row in rows if "memory_id" in row]

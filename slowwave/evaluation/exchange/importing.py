"""One import: read everything, refuse what cannot be, then write to the journal what is new."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, Protocol

from slowwave.common import progress
from slowwave.common.batches import gathered
from slowwave.evaluation.exchange.errors import ExchangeError, Malformed
from slowwave.evaluation.exchange.frame import LineProblem, NotTaken, read_each
from slowwave.evaluation.exchange.lines import read_lines
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.staging import Fact, Staging
from slowwave.journal import Entry, Journal, JournalEntryError
from slowwave.scoring.days import day_of, day_start, from_microseconds, to_microseconds

BATCH = 1_000
"""Facts that are turned into entries and written at a time; a search and all about it stay together."""

PATIENCE = 100
"""Lines that may be wrong at the beginning of a file before it is taken for something else."""

ORIGIN = "imported_from"
"""Field of a payload that names the form in which the act came."""


class Reading(NamedTuple):
    """What a line says: about which search, when, and the form's own account of it."""

    search: str
    at: datetime
    content: bytes


class ImportedEvent(NamedTuple):
    """The fields of an entry to be (but the namespace), and what it comes from."""

    fields: dict[str, Any]
    fact: Fact


def act_of(
    fact: Fact, kind: str, event_id: str, subject: str, at: datetime, principal: str,
    payload: dict[str, Any], origin: str = "",
) -> ImportedEvent:  # fmt: skip
    """The act of an entry that comes from a fact."""
    fields = {
        "event_id": event_id, "kind": kind, "subject": subject, "occurred_at": at, "principal": principal,
        "origin": origin, "payload": payload,
    }  # fmt: skip
    return ImportedEvent(fields, fact)


class Form(Protocol):
    """How the lines of a log are read, and what they come to."""

    name: str
    expected: str

    def read(self, text: bytes, report: LogImportReport) -> Reading | NotTaken:
        """What a line says; the report counts what is no feedback. Raises `Malformed`."""

    def build(
        self, facts: Sequence[Fact], known: Entry | None, report: LogImportReport
    ) -> Iterator[ImportedEvent]:
        """The acts of one search: of all that was said of it, and the search as the journal has it."""


@dataclass(frozen=True, slots=True)
class LogImportOptions:
    """What is imported, and what is not.

    Attributes:
        namespace: the tenant whose history it is.
        first_day: the first partition of the night (`night.first_day`).
        today: acts of later days are refused (UTC).
        since: searches before this day are left out; empty is none.
        dry_run: do everything but write.
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
    """Write the history that logs hold to the journal; what is there already is left as it is.

    Nothing is written before every file was read. An import that is killed is run again.

    Args:
        journal: of the home.
        form: of the logs.
        files: paths, or `-` for standard input.
        options: what is imported.
        is_memory: which of these ids are memories of the namespace.

    Raises:
        ExchangeError: a file is damaged or of another form, or the logs begin before the first partition.
        OSError: a file cannot be read.
        JournalError: the journal cannot be written; what was written until then stays.
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
        found = form.read(text, report)
        if isinstance(found, Reading) and (day := found.at.astimezone(UTC).date()) > options.today:
            raise Malformed(f"{day} is in the future (days are UTC)")
        return found

    def otherwise(one: LineProblem) -> str:
        said = f"line {one.line} of {one.file}: {one.reason.rstrip('.')}"
        return f"{file} is no {form.name}; nothing was written. Expected: {form.expected}. But {said}."

    for line, found in read_each(read_lines(file), read, report, otherwise, patience=PATIENCE):
        staging.add(Fact(found.search, to_microseconds(found.at), line.file, line.number, found.content))


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
            acts: dict[str, tuple[Entry, Fact]] = {}
            for group in groups:
                known = searches.get(group[0].search)
                if known is not None and (known.namespace, known.kind) != (options.namespace, "search"):
                    for fact in group:
                        report.refuse(fact.file, fact.line, _taken(known, options))
                    continue
                for act in form.build(group, known, report):
                    _collect(act, acts, options, report)
            _append(journal, acts, options, staging, report)
            advance(sum(map(len, groups)))


def _taken(known: Entry, options: LogImportOptions) -> str:
    if known.namespace != options.namespace:
        return f"another namespace has a search with the id {known.event_id}"
    return f"the id {known.event_id} is not of a search, but of a {known.kind}"


def _collect(
    act: ImportedEvent,
    acts: dict[str, tuple[Entry, Fact]],
    options: LogImportOptions,
    report: LogImportReport,
) -> None:
    try:
        entry = Entry(namespace=options.namespace, **act.fields)
    except JournalEntryError as error:
        report.refuse(act.fact.file, act.fact.line, str(error))
        return
    first, fact = acts.setdefault(entry.event_id, (entry, act.fact))
    if first is entry:
        return
    if _alike(first, entry):
        report.repeated += 1
    else:
        reason = f"line {fact.line} of {fact.file} is the same act with other content; that stays"
        report.refuse(act.fact.file, act.fact.line, reason)


def _append(
    journal: Journal,
    acts: Mapping[str, tuple[Entry, Fact]],
    options: LogImportOptions,
    staging: Staging,
    report: LogImportReport,
) -> None:
    there = journal.entries(list(acts))
    new = []
    for event_id, (entry, fact) in acts.items():
        before = there.get(event_id)
        if before is None:
            new.append(entry)
        elif not _alike(before, entry) and entry.kind != "search":
            reason = f"the journal has this act with other content, as {_of(before)}; that stays"
            report.refuse(fact.file, fact.line, reason)
            continue
        else:
            report.already += 1
            report.kept += not _alike(before, entry)
        report.count(entry)
        staging.see(_memories(entry.payload))
    report.new += len(new)
    if not options.dry_run:
        journal.append(new)


def _alike(one: Entry, other: Entry) -> bool:
    """Whether they are one act, however it came into the journal."""
    if (one.kind, one.namespace, one.subject) != (other.kind, other.namespace, other.subject):
        return False
    ours, theirs = ({**entry.payload, ORIGIN: ""} for entry in (one, other))
    return ours == theirs


def _of(entry: Entry) -> str:
    payload = entry.payload
    said = [payload.get("rating", ""), *(row["verdict"] for row in payload.get("verdicts", ()))]
    return f"{entry.kind} ({', '.join(filter(None, said))})"


def _memories(payload: Mapping[str, Any]) -> list[str]:
    rows = [payload, *payload.get("shown", ()), *payload.get("verdicts", ())]
    return [row["memory_id"] for row in rows if "memory_id" in row]

"""What an import found and did, in numbers, with the first of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from slowwave.imports.model import Unread

MOST_SHOWN = 10
"""Examples of each kind that a report keeps (count)."""
EXCERPT = 160
"""Characters of an example."""


@dataclass(frozen=True, slots=True)
class Example:
    """One item: when it was said, its kind, how it begins, its key; why it stays out, if it does."""

    day: str
    kind: str
    text: str
    key: str
    why: str = ""


@dataclass(slots=True)
class NoteImportReport:
    """One import, or what it would do.

    Attributes:
        source: form of the export.
        namespace: where it goes.
        dry_run: nothing was written.
        gate: what the save gate does now: off, warn (and from when it refuses) or enforce.
        found: items that were read, by kind.
        skipped: what is none of what is asked for, by reason.
        left_out: turns of conversations that are no memories, by the gate's reason.
        already: items that were taken in before.
        changed: of the new ones those that replace an earlier text.
        kept: items that are left as they are here, by reason: forgotten, erased, edited, older.
        new: items that enter, or would, by kind.
        first_day: of the new ones (UTC); empty: none has a date.
        last_day: the same.
        undated: of the new ones those without a date: they get that of the import.
        warned: of the new ones, what the gate has against them, by reason; it refuses them once it enforces.
        refused: what the gate refuses, or would, by reason: it goes to quarantine.
        status: what became of them: live, merged, superseded, quarantined; empty in a dry run.
        unread: records that cannot be read (count).
        problems: the first of them.
        entering: the first that enter, by date.
        staying_out: the first that do not.
        notes: what a person should know.
    """

    source: str
    namespace: str
    dry_run: bool
    gate: str = ""
    found: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    already: int = 0
    changed: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    first_day: str = ""
    last_day: str = ""
    undated: int = 0
    warned: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    status: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    problems: list[Unread] = field(default_factory=list)
    entering: list[Example] = field(default_factory=list)
    staying_out: list[Example] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def problem(self, place: str, why: str) -> None:
        """Count a record that cannot be read; the first are kept."""
        self.unread += 1
        if len(self.problems) < MOST_SHOWN:
            self.problems.append(Unread(place, why))

    def add(self, more: NoteImportReport) -> None:
        """Count what another part of the same import came to, too."""
        for name in ("found", "skipped", "left_out", "kept", "new", "warned", "refused", "status"):
            getattr(self, name).update(getattr(more, name))
        self.gate = more.gate
        self.already += more.already
        self.changed += more.changed
        self.undated += more.undated
        for day in filter(None, (more.first_day, more.last_day)):
            self.dated(day)
        self.unread += more.unread
        self.problems += more.problems[: MOST_SHOWN - len(self.problems)]
        self.entering += more.entering[: MOST_SHOWN - len(self.entering)]
        self.staying_out += more.staying_out[: MOST_SHOWN - len(self.staying_out)]

    def stays_out(self, one: Example) -> None:
        """Keep it if it is one of the first."""
        if len(self.staying_out) < MOST_SHOWN:
            self.staying_out.append(one)

    def dated(self, day: str) -> None:
        """Count the day of a new item."""
        if not day:
            self.undated += 1
            return
        self.first_day = min(self.first_day or day, day)
        self.last_day = max(self.last_day, day)

"""Report of an import: counts, with the first examples of each kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from slowwave.imports.model import Unread

MAX_EXAMPLES = 10
"""Maximum examples of each kind (count)."""
EXCERPT = 160
"""Maximum characters of an example."""


@dataclass(frozen=True, slots=True)
class Example:
    """Item of a report: day, kind, beginning of its text, key; the reason if it stays out."""

    day: str
    kind: str
    text: str
    key: str
    why: str = ""


@dataclass(slots=True)
class NoteImportReport:
    """Report of an import or its dry run.

    Attributes:
        source: Form of the export.
        namespace: Target.
        dry_run: Nothing was written.
        gate: State of the save gate: off, warn (and until when) or enforce.
        found: Items read, by kind.
        skipped: Records skipped, by reason.
        left_out: Conversation turns that are no memories, by the gate's reason.
        already: Items imported before.
        changed: New items that replace an earlier text.
        kept: Existing memories left unchanged, by reason: forgotten, erased, edited, older.
        new: Items that enter, or would, by kind.
        first_day: Of the new ones (UTC); empty: none has a date.
        last_day: The same.
        undated: New items without a date; they get that of the import.
        warned: Faults of new items, by reason; the gate will refuse them once it enforces.
        refused: Items that the gate refuses, or would, by reason: they go to quarantine.
        status: Of saved items: live, merged, superseded, quarantined; empty in a dry run.
        unread: Unreadable records (count).
        problems: The first of them.
        entering: The first items that enter, by date.
        staying_out: The first that do not.
        notes: Remarks for a person.
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
        """Count an unreadable record; the first are kept."""
        self.unread += 1
        if len(self.problems) < MAX_EXAMPLES:
            self.problems.append(Unread(place, why))

    def add(self, more: NoteImportReport) -> None:
        """Add the counts of another part of the same import."""
        for name in ("found", "skipped", "left_out", "kept", "new", "warned", "refused", "status"):
            getattr(self, name).update(getattr(more, name))
        self.gate = more.gate
        self.already += more.already
        self.changed += more.changed
        self.undated += more.undated
        for day in filter(None, (more.first_day, more.last_day)):
            self.dated(day)
        self.unread += more.unread
        self.problems += more.problems[: MAX_EXAMPLES - len(self.problems)]
        self.entering += more.entering[: MAX_EXAMPLES - len(self.entering)]
        self.staying_out += more.staying_out[: MAX_EXAMPLES - len(self.staying_out)]

    def stays_out(self, example: Example) -> None:
        """Keep an example if it is among the first."""
        if len(self.staying_out) < MAX_EXAMPLES:
            self.staying_out.append(example)

    def dated(self, day: str) -> None:
        """Widen the range of dates by a day; count an item without one."""
        if not day:
            self.undated += 1
            return
        self.first_day = min(self.first_day or day, day)
        self.last_day = max(self.last_day, day)

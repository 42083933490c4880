"""Entries of the journal, and the vaults that are scanned for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from slowwave.journal.errors import JournalEntryError
from slowwave.scoring.days import MICROSECOND

SOURCE_KINDS = ("save", "forget", "unreadable")
"""Kinds of events on a source: its text, its removal, or that it could not be read."""

WORDS = ("undo", "accept")
"""Kinds of a user's settlement of a decision: it is undone, or its proposal is carried out."""

DISCARD = "discard"
"""Kind of a user's discard of a quarantined note, and of its undo."""

FEEDBACK_KINDS = ("feedback", "observation", "outcome")
"""Kinds of feedback: a rating, an observed answer, the outcome of a project."""

JUDGMENT = "judgment"
"""Kind of a relevance judgment of a memory for a query, by a person or a judge."""

UPGRADE = "upgrade"
"""Kind of a schema upgrade of the journal itself."""

LEARNING = "learning"
"""Kind of a learning decision: approval, withdrawal, rollback, regression."""

ERASURE = "erasure"
"""Kind of the beginning and end of an erasure."""

ERASED = "erased"
"""Kind of an erased entry: only its moment and namespace are left."""

RECORD = "record"
"""Kind of a change of a table, from which the table can be rebuilt."""

WORK = "work"
"""Kind of the beginning or end of a maintenance operation, such as a restore."""

GATE = "gate"
"""Kind of a change of the save gate's start, for the home as a whole."""

KINDS = (
    *SOURCE_KINDS, *WORDS, DISCARD, "search", *FEEDBACK_KINDS, JUDGMENT, LEARNING, ERASURE, ERASED, UPGRADE,
    RECORD, WORK, GATE,
)  # fmt: skip
"""Every kind of entry."""

EVERYBODY = "*"
"""Namespace of entries about the home as a whole; no tenant can have this name."""

OF_TENANTS = tuple(kind for kind in KINDS if kind not in (UPGRADE, RECORD, WORK, GATE, ERASED))
"""Kinds that belong to a tenant; the others are about the home as a whole, or erased."""

# Together they fit the 2,704 bytes that PostgreSQL allows in one row of an index.
MAX_TEXT_BYTES = {"event_id": 1024, "namespace": 256, "subject": 1024, "origin": 1024}
"""Longest values of the fields that are indexed (bytes of UTF-8), the same for every database."""

LAST_YEAR = 9_000
"""Latest year of a moment; later events need room for later moments."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Event of the journal.

    Attributes:
        event_id: Unique name of the event; appending it again is a no-op.
        kind: One of `KINDS`.
        namespace: The tenant it belongs to.
        subject: Of a save, forget or unreadable: the source (vault path or caller's key); of an undo:
            the decision's id; of a discard: the quarantine id; of a search, a feedback or an observation:
            the search's id; of an outcome: the project; of a judgment: the query's id; of learning: the
            action; of an erasure: its id; of an erased entry: a name without content.
        occurred_at: When it happened (aware; kept to the microsecond, as UTC).
        principal: Acting user.
        digest: Hash of a save's raw bytes.
        content_hash: Hash of a save's normalised content.
        origin: Name of a save's vault, of a search's project, or of a judgment's kind of source; else
            empty.
        payload: Everything else, as JSON types.
        seq: Place in the journal, given by the database; ignored when appending.
        ordered_at: Its moment among all events, given by the database; ignored when appending. It is
            `occurred_at`, or the microsecond after the previous event if the clock stood behind that
            one. So a later event is always later by it; `occurred_at` is for people and days.

    Raises:
        JournalEntryError: A naive time or one after the year 9000, an unknown kind, or an empty event id
            or namespace. Or text that is too long (`MAX_TEXT_BYTES`), not valid Unicode, or has a NUL
            character (PostgreSQL cannot keep one).
    """

    event_id: str
    kind: str
    namespace: str
    subject: str
    occurred_at: datetime
    principal: str
    digest: str = ""
    content_hash: str = ""
    origin: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    seq: int | None = None
    ordered_at: datetime | None = None

    def __post_init__(self) -> None:
        if not self.event_id:
            raise JournalEntryError(
                f"an entry of kind {self.kind!r} has an empty event id; give it a unique one"
            )
        if not self.namespace:
            raise JournalEntryError(f"entry {self.event_id!r} has an empty namespace; give it one")
        require_kinds((self.kind,))
        if self.occurred_at.utcoffset() is None:
            raise JournalEntryError(
                f"entry {self.event_id!r} has occurred_at {self.occurred_at!r} without a time zone; "
                "give an aware datetime, for instance datetime.now(UTC)"
            )
        if self.occurred_at.year > LAST_YEAR:
            raise JournalEntryError(
                f"entry {self.event_id!r} has occurred_at {self.occurred_at.isoformat()}; "
                f"give a moment before the end of the year {LAST_YEAR}"
            )
        for name in _TEXTS:
            text = getattr(self, name)
            if len(text) > _SHORT or not text.isascii() or "\0" in text:  # hardly any: a fast check
                _require_text(self.event_id, name, text)

    def placed(self, seq: int, ordered_at: datetime) -> Entry:
        """Return the entry with its place, in UTC; what was checked is not checked again."""
        entry = object.__new__(Entry)
        for name in _COPIED:
            object.__setattr__(entry, name, getattr(self, name))
        object.__setattr__(entry, "occurred_at", self.occurred_at.astimezone(UTC))
        object.__setattr__(entry, "seq", seq)
        object.__setattr__(entry, "ordered_at", ordered_at)
        return entry


_TEXTS = ("event_id", "namespace", "subject", "principal", "digest", "content_hash", "origin")
_COPIED = (*_TEXTS, "kind", "payload")
_SHORT = min(MAX_TEXT_BYTES.values())


@dataclass(frozen=True, slots=True)
class WatchedVault:
    """Vault that is scanned for notes.

    Attributes:
        namespace: Tenant that its notes belong to.
        name: Unique in the namespace; its notes' sources begin with it.
        uri: Place of the vault.
        added_at: Aware, UTC.
        principal: User who added it.
    """

    namespace: str
    name: str
    uri: str
    added_at: datetime
    principal: str


class AppendResult(NamedTuple):
    """Result of an append.

    Attributes:
        appended: New entries (count).
        already: Entries that were in the journal before, or repeated within the batch (count).
    """

    appended: int
    already: int


def require_kinds(kinds: Iterable[str]) -> None:
    """Refuse a kind that no entry can have.

    Raises:
        JournalEntryError: One of `kinds` is not in `KINDS`.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise JournalEntryError(f"unknown kind {kind!r}; use one of {', '.join(KINDS)}")


def require_days(days: Iterable[str]) -> None:
    """Refuse a day that is not in the journal's format.

    Raises:
        JournalEntryError: One of `days` is not YYYY-MM-DD.
    """
    for day in days:
        try:
            written = date.fromisoformat(day).isoformat()
        except ValueError:
            written = ""
        if written != day:
            raise JournalEntryError(f"{day!r} is not a day; write it as YYYY-MM-DD, for instance 2026-01-31")


def not_before(now: datetime, corrected: Entry | None) -> datetime:
    """Return the moment of a correction: now, or just after the corrected entry.

    Days of feedback are aggregated by the moments of their events, and a clock may stand behind the last
    one.
    """
    return now if corrected is None else max(now, corrected.occurred_at + MICROSECOND)


def _require_text(event_id: str, name: str, text: str) -> None:
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise JournalEntryError(
            f"entry {event_id!r} has {name} {text!r}, which is not valid Unicode (character {error.start}); "
            "a file's name may need to be changed to UTF-8"
        ) from error
    if size > MAX_TEXT_BYTES.get(name, size):
        raise JournalEntryError(
            f"entry {event_id[:80]!r} has {name} {text[:80]!r}… of {size} bytes; "
            f"shorten it to {MAX_TEXT_BYTES[name]} bytes"
        )
    if "\0" in text:
        raise JournalEntryError(f"entry {event_id!r} has {name} {text!r} with a NUL character; remove it")

"""What the journal holds: entries, and the vaults that are scanned for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from slowwave.journal.errors import JournalEntryError
from slowwave.scoring.days import MICROSECOND

SOURCE_KINDS = ("save", "forget", "unreadable")
"""Kinds that say something about a source: its text, its absence, or that it could not be read."""

WORDS = ("undo", "accept")
"""Kinds that are a person's word about a decision: it is taken back, or what it proposes is carried out."""

FEEDBACK_KINDS = ("feedback", "observation", "outcome")
"""Kinds that say how a memory served: a rating, an answer that was looked at, how a project ended."""

JUDGMENT = "judgment"
"""Kind that says how well a memory answers a query, by a person or a judge."""

UPGRADE = "upgrade"
"""Kind that says that the journal itself was changed; of no namespace's memories."""

LEARNING = "learning"
"""Kind that says what was decided about learning: approval, withdrawal, rollback, regression."""

ERASURE = "erasure"
"""Kind that says that something was erased, and that this is finished."""

ERASED = "erased"
"""Kind of an act that was erased: that it was, when and in which namespace, and nothing else."""

RECORD = "record"
"""Kind that says what changed in a table, so that the table can be made again."""

WORK = "work"
"""Kind that says that a work on the tables has begun or ended, such as a restore."""

GATE = "gate"
"""Kind that says when the save gate begins to refuse; of the home as a whole."""

KINDS = (
    *SOURCE_KINDS, *WORDS, "search", *FEEDBACK_KINDS, JUDGMENT, LEARNING, ERASURE, ERASED, UPGRADE, RECORD,
    WORK, GATE,
)  # fmt: skip
"""Every kind of entry."""

EVERYBODY = "*"
"""Namespace of what is about a home and not about a tenant of it; no tenant can have this name."""

OF_TENANTS = tuple(kind for kind in KINDS if kind not in (UPGRADE, RECORD, WORK, GATE, ERASED))
"""Kinds of what is a tenant's, on the day on which it happened; the others are about the home as a whole, or
say nothing any more."""

# Together they fit the 2,704 bytes that PostgreSQL allows in one row of an index.
MAX_TEXT_BYTES = {"event_id": 1024, "namespace": 256, "subject": 1024, "origin": 1024}
"""Longest values of the fields that are indexed (bytes of UTF-8), the same for every database."""

LAST_YEAR = 9_000
"""Of a moment in the journal: what comes after an act is later, so there has to be room."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One act, as it happened.

    Attributes:
        event_id: Unique name of the act; appending it again is a no-op.
        kind: One of `KINDS`.
        namespace: The tenant it belongs to.
        subject: Of a save, forget or unreadable: the source (vault path or caller's key); of an undo: the
            decision's id; of a search, a feedback or an observation: the search's id; of an outcome: the
            project; of a judgment: the query's id; of learning: the act; of an erasure: its id; of what was
            erased: a name that says nothing.
        occurred_at: When it happened (aware; kept to the microsecond, as UTC).
        principal: Who did it.
        digest: Hash of a save's raw bytes.
        content_hash: Hash of a save's normalised content.
        origin: Name of the vault that a save came from, of the project that a search was for, or of what kind
            of source a judgment is; else empty.
        payload: Everything else, as JSON types.
        seq: Place in the journal, given by the database; ignored when appending.
        ordered_at: The moment that it has among all acts, given by the database; ignored when appending. It
            is `occurred_at`, or the microsecond after the act before it where the clock stood behind that
            one. Whatever a later act changes, it is later by this, and `occurred_at` is for people and days.

    Raises:
        JournalEntryError: A naive time or one after the year 9000, an unknown kind, an empty event id or
            namespace, or text that is too long (`MAX_TEXT_BYTES`), not valid Unicode, or holds a NUL
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
        for name in ("event_id", "namespace", "subject", "principal", "digest", "content_hash", "origin"):
            _require_text(self.event_id, name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class WatchedVault:
    """A vault that is scanned for saves.

    Attributes:
        namespace: The tenant its notes belong to.
        name: What it is called; its notes' sources begin with it. One of a name per namespace.
        uri: Where it is.
        added_at: When it was added (aware, UTC).
        principal: Who added it.
    """

    namespace: str
    name: str
    uri: str
    added_at: datetime
    principal: str


class AppendResult(NamedTuple):
    """What an append did.

    Attributes:
        appended: Entries that are new (count).
        already: Entries that were there before, or repeated within the batch (count).
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
    """Refuse a day that is not written as the journal writes it.

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
    """The moment of a word that corrects another one: now, or just after that one.

    Days of feedback are folded by the moments of what was said, and a clock may stand behind the last word.
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

"""The journal: an append-only outbox of saves, forgets, searches and feedback.

It is the source of truth by day. What a caller was told is saved is on disk in here before the call returns;
the night reads it by day and folds it into the store. Appending is idempotent by event id, so every
writer may repeat itself, and several processes may write at once.

Importing this package loads neither the database library nor Polars; opening a `Journal` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slowwave.journal.codec import payload_of
from slowwave.journal.entry import FEEDBACK_KINDS, KINDS, SOURCE_KINDS, WORDS, AppendResult, Entry, Source
from slowwave.journal.errors import JournalConflictError, JournalEntryError, JournalError, JournalMovedError

if TYPE_CHECKING:
    from slowwave.journal.journal import Journal

__all__ = [
    "FEEDBACK_KINDS",
    "KINDS",
    "SOURCE_KINDS",
    "WORDS",
    "AppendResult",
    "Entry",
    "Journal",
    "JournalConflictError",
    "JournalEntryError",
    "JournalError",
    "JournalMovedError",
    "Source",
    "payload_of",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    if name == "Journal":
        from slowwave.journal.journal import Journal

        return Journal
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Journal: an append-only log of saves, forgets, searches and feedback, and the source of truth.

A confirmed event is on disk here before the call returns. The nightly job reads the journal by day and
updates the tables. Appending is idempotent by event id, so every writer may repeat an append, and several
processes may write at once.

Importing this package loads neither the database library nor Polars; opening a `Journal` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.journal.codec import payload_of
from slowwave.journal.entry import (
    FEEDBACK_KINDS,
    KINDS,
    SOURCE_KINDS,
    WORDS,
    AppendResult,
    Entry,
    WatchedVault,
)
from slowwave.journal.errors import JournalConflictError, JournalEntryError, JournalError, JournalMovedError
from slowwave.scoring.lazy_exports import lazy_exports

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
    "WatchedVault",
    "payload_of",
]

__getattr__ = lazy_exports(__name__, {"journal": "Journal"})

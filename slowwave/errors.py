"""Errors for a person: what was wrong, with which value, what to do."""

from __future__ import annotations


class SlowwaveError(Exception):
    """Base of every error that Slowwave raises on purpose; its message is for a person.

    Attributes:
        exit_code: Exit code of a command that raised it.
    """

    exit_code = 1


class ArgumentError(SlowwaveError, ValueError):
    """Invalid argument: wrong type, out of range, or text that cannot be stored."""


class SettingsError(SlowwaveError):
    """Invalid setting, or an unreadable settings file."""


class StoreError(SlowwaveError):
    """Store failure: missing, of a newer version, interrupted, or refused."""


class HomeMovedError(StoreError):
    """Home moved since this process began; a new process finds it."""


class OverdueError(StoreError):
    """Cancelled network call: it worked for too long, or its client disconnected."""


class TakenInLaterError(StoreError):
    """Failure after the event was journalled: the next nightly job applies it to the tables."""

    exit_code = 4


class ModelError(SlowwaveError):
    """Embedding model that is unknown, missing, damaged, or not that of the store."""


class EngineError(SlowwaveError):
    """Unreachable or lost workers of an engine; committed results stay."""


class NotFoundError(SlowwaveError):
    """Missing memory, checkpoint or source in this namespace."""


class JournalError(SlowwaveError, RuntimeError):
    """Journal that cannot be opened, read or written; the message says which, why, and what to do."""


class JournalEntryError(JournalError, ValueError):
    """Entry or query argument with a value that the journal does not accept."""


class JournalConflictError(JournalError):
    """Event id that exists with other content; nothing of the batch was written."""


class JournalMovedError(JournalConflictError):
    """Source that changed since it was read (optimistic concurrency); nothing was written."""


class BackupError(SlowwaveError):
    """Backup that cannot be made, read or restored; the message says what to do."""

"""Errors a person can act on: what was wrong, with which value, what to do."""

from __future__ import annotations


class SlowwaveError(Exception):
    """Base of every error that Slowwave raises on purpose; its message is meant for a person.

    Attributes:
        exit_code: with which a command ends that raised it.
    """

    exit_code = 1


class ArgumentError(SlowwaveError, ValueError):
    """An argument has the wrong type, is out of range, or is text that cannot be stored."""


class SettingsError(SlowwaveError):
    """A setting has a value that is not allowed, or a settings file cannot be read."""


class StoreError(SlowwaveError):
    """The store cannot do what was asked: missing, of a newer version, interrupted, or refused."""


class HomeMovedError(StoreError):
    """The home was moved since this process began; started again it finds the home."""


class OverdueError(StoreError):
    """A call over a network worked for too long, or nobody waits for its answer; its work was ended."""


class TakenInLaterError(StoreError):
    """The act is in the journal, and the tables could not follow: the next night takes it in."""

    exit_code = 4


class ModelError(SlowwaveError):
    """An embedding model is unknown, missing, damaged, or not the one the store was built with."""


class EngineError(SlowwaveError):
    """The workers of an engine cannot be reached, or died; what was committed until then stays."""


class NotFoundError(SlowwaveError):
    """No such memory, checkpoint or source in this namespace."""


class JournalError(SlowwaveError, RuntimeError):
    """The journal cannot be opened, read or written; the message says which one, why, and what to do."""


class JournalEntryError(JournalError, ValueError):
    """An entry, or an argument of a query, has a value that the journal does not take."""


class JournalConflictError(JournalError):
    """An event id was appended before with other content; nothing of the batch was written."""


class JournalMovedError(JournalConflictError):
    """Something else was said of a source since it was looked at; nothing was written."""


class BackupError(SlowwaveError):
    """A backup cannot be made, read or restored, or is damaged; the message says what to do."""

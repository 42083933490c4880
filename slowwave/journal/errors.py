"""Errors of the journal, with advice for the user."""

from __future__ import annotations

from slowwave.errors import JournalConflictError, JournalEntryError, JournalError, JournalMovedError

__all__ = ["JournalConflictError", "JournalEntryError", "JournalError", "JournalMovedError", "explain"]

# Parts of the databases' own messages (lower case), and what to do about each.
_ADVICE = (
    (("locked", "lock timeout"), "another process has held it for too long: end that process, or try again"),
    (("full", "no space"), "the disk is full: free some space and repeat the call; nothing was written"),
    (
        ("readonly", "read-only", "permission denied"),
        "it may not be written: check who owns the file and its folder",
    ),
    (
        ("unable to open",),
        "check that its folder exists and may be written, and that enough files may be open (ulimit -n)",
    ),
    (
        ("not a database", "malformed"),
        "the file is damaged or is not a journal: restore a complete copy of it, or set it aside and rebuild "
        "a new one from the tables: slowwave rebuild --journal",
    ),
    (
        ("connection", "could not translate", "name resolution", "authentication"),
        "check that the server runs and that host, port, user and password are right",
    ),
    (
        ("disk i/o",),
        "the disk is full, or failed to read or write: check it, and that the file was not moved; "
        "nothing was written",
    ),
)


def explain(cause: BaseException, url: str) -> JournalError:
    """Return the error to raise for a database error; `url` names the journal, without password."""
    # The driver's message only: the library's wrapper adds the statement with its parameters.
    words = " ".join(str(getattr(cause, "orig", None) or cause).split())
    for marks, advice in _ADVICE:
        if any(mark in words.lower() for mark in marks):
            return JournalError(f"journal {url}: {words}; {advice}")
    return JournalError(f"journal {url}: {words}; run `slowwave doctor` to check it")

"""What can go wrong with a journal, told so that a person can act on it."""

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
        "the file is damaged or is not a journal: put a whole copy of it back, or set it aside and let a new "
        "one know what the tables do: slowwave rebuild --journal",
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
    """The error to raise in place of a database's own: `url` names the journal (without password)."""
    # The driver's words alone: the library's wrapper adds the statement with a row of parameters.
    words = " ".join(str(getattr(cause, "orig", None) or cause).split())
    for marks, advice in _ADVICE:
        if any(mark in words.lower() for mark in marks):
            return JournalError(f"journal {url}: {words}; {advice}")
    return JournalError(f"journal {url}: {words}; run `slowwave doctor` to check it")

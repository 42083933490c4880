"""Files of notes in a vault: digests, names of JSONL lines, and failures."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from datetime import datetime

from slowwave.common import ids
from slowwave.journal import JournalEntryError
from slowwave.notes.closing import HEAD_BYTES, closed_source
from slowwave.notes.dates import date_of_file
from slowwave.notes.model import Note, NoteFailure, VaultFile

_FILE_OF_LINE = re.compile(r"(.*?\.jsonl)#", re.IGNORECASE | re.DOTALL)
NAME_CHARACTERS = 200
"""Longest path in a warning (characters)."""


def file_of(subject: str) -> str:
    """Return the file of a note; of a JSONL line without its id."""
    line = _FILE_OF_LINE.match(subject)
    return subject if line is None else line[1]


def raw_digest(file: VaultFile, data: bytes | None) -> str:
    """Return the digest by which scans know a file's bytes."""
    if data is None:
        return ids.digest("size", str(file.size), str(file.mtime_ns))
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def failure_of(note: Note, error: Exception) -> NoteFailure:
    """Return the failure for a note that cannot be stored, under a valid name."""
    file = _FILE_OF_LINE.match(note.source)
    source = note.source if file is None else f"{file[1]}#{ids.digest('line', note.source)[:12]}"
    named = isinstance(error, JournalEntryError)
    message = str(error) if named else f"{type(error).__name__}: {str(error)[:NAME_CHARACTERS]}"
    size = len(note.content.encode("utf-8", "replace"))
    return NoteFailure(source, "bad_name" if named else "unexpected", message, note.content[:500], size)


def too_large(file: VaultFile, limit: int) -> NoteFailure:
    """Return the failure for a file above the size limit."""
    try:
        with file.path.open("rb") as stream:
            data = stream.read(HEAD_BYTES)
        head = data[:500].decode("utf-8", "replace")
    except OSError as error:
        data, head = b"", f"({error.strerror})"
    closes = closed_source(data, file.source)
    message = f"{file.size:,} bytes; the limit notes.max_bytes is {limit:,}. Split it or raise the limit."
    return NoteFailure(file.source, "too_large", message, excerpt=head, size_bytes=file.size, closes=closes)


def dated(note: Note, file: VaultFile, *, is_new: bool, until: datetime) -> Note:
    """Return the note with the date of its file, if it states none.

    Its last modification counts for a note that is new. A change of a known note is as old as its
    scan, and the memory keeps its creation time.

    Args:
        note: As read.
        file: Its file.
        is_new: Whether the vault has no text of it.
        until: Moment of the scan; a later date is none.
    """
    if note.created_at is not None:
        return note
    date = date_of_file(file.source, file.mtime_ns if is_new else None, until=until)
    return replace(note, created_at=date)

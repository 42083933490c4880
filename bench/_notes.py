"""Folders of notes for benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from _report import UnusableError

from slowwave.notes.folder import iter_vault
from slowwave.notes.model import Note
from slowwave.notes.reading import read_notes

MAX_BYTES = 4 << 20  # of a note


def vault_notes(folder: Path, *, most: int = 0, least: int = 0) -> list[Note]:
    """The notes of a folder that can be read.

    Args:
        folder: of files.
        most: only of the first so many files; 0: of all.
        least: only those with so many characters.

    Raises:
        UnusableError: there is none.
    """
    found = [note for note in _notes(folder, most) if len(note.content) >= least]
    if not found:
        said = f" of at least {least} characters" if least else ""
        raise UnusableError(f"{folder} has no note{said} that can be read")
    return found


def _notes(folder: Path, most: int) -> Iterator[Note]:
    for number, one in enumerate(iter_vault(folder)):
        if most and number == most:
            return
        for note in read_notes(one.path.read_bytes(), one.source, max_bytes=MAX_BYTES):
            if isinstance(note, Note):
                yield note

"""What one backup is made of: which pieces make which file, table and page of the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from slowwave.errors import BackupError

FORMAT = 1
JOURNAL, SETTINGS = "journal", "settings"


@dataclass(frozen=True, slots=True)
class File:
    """A file in pieces.

    Attributes:
        name: of it, within its table or the home.
        size: in bytes.
        pieces: names of the pieces that it is, in order.
        mark: what changes at its place when it does.
        mode: who may do what with it; of files of the home.
    """

    name: str
    size: int
    pieces: tuple[str, ...]
    mark: str = ""
    mode: int = 0o600


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Rows of the journal between two places.

    Attributes:
        first: seq that the first of them may have.
        last: seq that the last of them may have.
        rows: how many there are (count).
        pieces: names of the pieces that they are, in order.
    """

    first: int
    last: int
    rows: int
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JournalPart:
    """The journal up to a place.

    Attributes:
        until: seq of the last act.
        rows: up to it (count).
        erasures: how much had been erased (count).
        schema: version of its schema.
        last: hash of the last row.
        pages: all of it.
        sources: the watched vaults, a row each.
    """

    until: int
    rows: int
    erasures: int
    schema: int
    last: str
    pages: tuple[JournalPage, ...]
    sources: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class TablePart:
    """A table at one version, and at those that its checkpoints have.

    Attributes:
        version: that is restored as the last one.
        files: all that these versions need.
    """

    version: int
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup.

    Attributes:
        name: of it; it sorts by time.
        at: when its state was taken.
        home: id of the home.
        folder: of the home, for people.
        places: where the home keeps its tables and its journal, without passwords.
        slowwave: version that made it.
        journal: the acts.
        tables: by physical name.
        files: of the home beside them; the settings file is one of them.
        size: of the files as they are in the home, and of the journal's pages that were read anew (bytes).
        sent: what was stored for it that was not there (bytes).
        seconds: that it took.
    """

    name: str
    at: datetime
    home: str
    folder: str
    places: Mapping[str, str]
    slowwave: str
    journal: JournalPart
    tables: Mapping[str, TablePart]
    files: tuple[File, ...]
    size: int = 0
    sent: int = 0
    seconds: float = 0.0
    format: int = field(default=FORMAT)

    def pieces(self) -> Iterator[tuple[str, str]]:
        """(piece, what it is of) for every piece, in words for a person."""
        for page in self.journal.pages:
            yield from ((piece, f"journal, acts {page.first:,} to {page.last:,}") for piece in page.pieces)
        tables = [(f"table {name},", file) for name, table in self.tables.items() for file in table.files]
        for where, file in [*tables, *(("file", file) for file in self.files)]:
            yield from ((piece, f"{where} {file.name}") for piece in file.pieces)


_ADAPTER = TypeAdapter(Backup)


def written(backup: Backup) -> bytes:
    """A backup as JSON."""
    return orjson.dumps(backup, option=orjson.OPT_SORT_KEYS)


def read(content: bytes) -> Backup:
    """A backup from JSON.

    Raises:
        BackupError: a newer Slowwave wrote it.
    """
    told = orjson.loads(content)
    if told.get("format") != FORMAT:
        raise BackupError(
            f"A backup has format {told.get('format')}, and this Slowwave reads {FORMAT}: use a newer "
            f"Slowwave."
        )
    try:
        return _ADAPTER.validate_python(told, strict=False)
    except ValidationError as error:
        raise BackupError(f"A backup cannot be understood: {error.errors()[0]['msg']}.") from None

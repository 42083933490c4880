"""Data model of a backup: the pieces of each file, table and journal page."""

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
    """File in a backup.

    Attributes:
        name: Within its table or the home.
        size: In bytes.
        pieces: Names of its pieces, in order.
        mark: Change marker at its source.
        mode: Permissions, for files of the home.
    """

    name: str
    size: int
    pieces: tuple[str, ...]
    mark: str = ""
    mode: int = 0o600


@dataclass(frozen=True, slots=True)
class JournalPage:
    """Page of the journal.

    Attributes:
        first: First seq of the page's range.
        last: Last seq of the page's range.
        rows: Rows in it (count).
        pieces: Names of its pieces, in order.
    """

    first: int
    last: int
    rows: int
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JournalPart:
    """Journal in a backup, up to a position.

    Attributes:
        until: Seq of the last entry.
        rows: Up to it (count).
        erasures: Erasures up to it (count).
        schema: Schema version.
        last: Hash of the last row.
        pages: All pages.
        sources: Watched vaults, one row each.
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
    """Table in a backup, at one version and those of its checkpoints.

    Attributes:
        version: Restored as the latest.
        files: All files that these versions need.
    """

    version: int
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Backup:
    """Manifest of one backup.

    Attributes:
        name: Sorts by time.
        at: Time of its state.
        home: Id of the home.
        folder: Of the home, for people.
        places: Places of the home's tables and journal, without passwords.
        slowwave: Version that made it.
        journal: Journal part.
        tables: By physical name.
        files: Other files of the home, including the settings file.
        size: Of the files in the home, and of new journal pages (bytes).
        sent: Newly stored (bytes).
        seconds: Duration.
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
        """Yield (piece, description for a person) for every piece."""
        for page in self.journal.pages:
            yield from ((piece, f"journal, entries {page.first:,} to {page.last:,}") for piece in page.pieces)
        tables = [(f"table {name},", file) for name, table in self.tables.items() for file in table.files]
        for where, file in [*tables, *(("file", file) for file in self.files)]:
            yield from ((piece, f"{where} {file.name}") for piece in file.pieces)


_ADAPTER = TypeAdapter(Backup)


def written(backup: Backup) -> bytes:
    """Serialise a backup as JSON."""
    return orjson.dumps(backup, option=orjson.OPT_SORT_KEYS)


def read(content: bytes) -> Backup:
    """Parse a backup from JSON.

    Raises:
        BackupError: A newer Slowwave wrote it.
    """
    values = orjson.loads(content)
    if values.get("format") != FORMAT:
        raise BackupError(
            f"The backup has format {values.get('format')}, but this Slowwave reads {FORMAT}. Use a newer "
            f"Slowwave."
        )
    try:
        return _ADAPTER.validate_python(values, strict=False)
    except ValidationError as error:
        raise BackupError(f"Cannot parse the backup: {error.errors()[0]['msg']}.") from None

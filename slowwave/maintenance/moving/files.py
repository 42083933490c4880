"""The files of the tables from one place to another, compared by their hashes.

All files of all tables go along: so versions, tags, checkpoints and indexes are what they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from slowwave.backup.storage import FileStorage, StoredFile
from slowwave.common import progress
from slowwave.errors import StoreError

PART_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """What was carried of one table.

    Attributes:
        files: it consists of (count).
        size: of them, in bytes.
        digest: hash of their names and contents, read at the new place.
    """

    files: int
    size: int
    digest: str


def of_tables(place: FileStorage) -> dict[str, StoredFile]:
    """The files of the tables at a place."""
    return {name: found for name, found in place.list().items() if ".lance/" in f"{name}"}


def carry(source: FileStorage, target: FileStorage) -> dict[str, CopiedTable]:
    """Let a place have the files of another one, and no others; each is read again where it has come to.

    Raises:
        StoreError: a file is another one after it was written.
    """
    wanted, there = of_tables(source), of_tables(target)

    def one(name: str) -> str:
        was = _hash(source.parts(name, PART_BYTES))
        if name not in there or there[name].size != wanted[name].size or _at(target, name) != was:
            content = source.parts(name, PART_BYTES)
            target.put(name, next(content) if wanted[name].size <= PART_BYTES else content)
            if _at(target, name) != was:
                raise StoreError(f"{target.uri}: {name} is another file than it was at {source.uri}.")
        return was

    # What a version is made of comes before it, and the table that says what all the others are comes last.
    names = sorted(wanted, key=lambda name: (name.startswith("meta.lance/"), "/_" in name, name))
    hashes = dict(zip(names, progress.map_in_threads("tables", one, names), strict=True))
    target.delete(sorted(there.keys() - wanted.keys()))  # of an attempt before the source went on
    return _by_table(wanted, hashes)


def _at(place: FileStorage, name: str) -> str:
    return _hash(place.parts(name, PART_BYTES))


def _hash(content: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for part in content:
        digest.update(part)
    return digest.hexdigest()


def _by_table(files: dict[str, StoredFile], hashes: dict[str, str]) -> dict[str, CopiedTable]:
    found = {}
    for table in sorted({name.split(".lance/")[0] for name in files}):
        mine = sorted(name for name in files if name.startswith(f"{table}.lance/"))
        lines = "".join(f"{hashes[name]}  {name}\n" for name in mine)
        size = sum(files[name].size for name in mine)
        found[table] = CopiedTable(len(mine), size, hashlib.sha256(lines.encode()).hexdigest())
    return found

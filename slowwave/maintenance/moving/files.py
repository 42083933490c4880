"""Copy of the tables' files to another place, verified by hashes.

All files of all tables are copied, so versions, tags, checkpoints and indexes stay the same.
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
    """Files copied of one table.

    Attributes:
        files: Count.
        size: Total, in bytes.
        digest: Hash of names and contents, read at the new place.
    """

    files: int
    size: int
    digest: str


def of_tables(place: FileStorage) -> dict[str, StoredFile]:
    """Return the files of the tables at a place, by name."""
    return {name: file for name, file in place.list().items() if ".lance/" in f"{name}"}


def carry(source: FileStorage, target: FileStorage) -> dict[str, CopiedTable]:
    """Mirror the table files of a place to another one; each is verified by reading it back.

    Raises:
        StoreError: A file differs after it was written.
    """
    wanted, existing = of_tables(source), of_tables(target)

    def copy(name: str) -> str:
        digest = _hash(source.parts(name, PART_BYTES))
        if (
            name not in existing
            or existing[name].size != wanted[name].size
            or _digest_at(target, name) != digest
        ):
            content = source.parts(name, PART_BYTES)
            target.put(name, next(content) if wanted[name].size <= PART_BYTES else content)
            if _digest_at(target, name) != digest:
                raise StoreError(
                    f"{target.uri}: {name} differs from {source.uri} after the copy. Run it again."
                )
        return digest

    # Data files come before the version that names them; meta, which describes all tables, comes last.
    names = sorted(wanted, key=lambda name: (name.startswith("meta.lance/"), "/_" in name, name))
    hashes = dict(zip(names, progress.map_in_threads("tables", copy, names), strict=True))
    target.delete(sorted(existing.keys() - wanted.keys()))  # left by an earlier attempt
    return _by_table(wanted, hashes)


def _digest_at(place: FileStorage, name: str) -> str:
    return _hash(place.parts(name, PART_BYTES))


def _hash(content: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for part in content:
        digest.update(part)
    return digest.hexdigest()


def _by_table(files: dict[str, StoredFile], hashes: dict[str, str]) -> dict[str, CopiedTable]:
    tables = {}
    for table in sorted({name.split(".lance/")[0] for name in files}):
        own_files = sorted(name for name in files if name.startswith(f"{table}.lance/"))
        lines = "".join(f"{hashes[name]}  {name}\n" for name in own_files)
        size = sum(files[name].size for name in own_files)
        tables[table] = CopiedTable(len(own_files), size, hashlib.sha256(lines.encode()).hexdigest())
    return tables

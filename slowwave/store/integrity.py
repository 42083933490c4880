"""Tables that are missing, half-written or cannot be read, and the command that makes them again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slowwave.common.error_translation import without_panic
from slowwave.errors import StoreError
from slowwave.store.connection import TableConnection

ERRORS = (RuntimeError, OSError, ValueError)
"""What LanceDB raises when it cannot read or write."""
_OTHER_CAUSES = (
    "commit conflict",
    "no space",
    "permission denied",
    "read-only",
    "too many open files",
    "quota",
)
_LAST_VERSION = 2**64 - 1  # manifests are named by how far they are from it


class DamageError(StoreError):
    """A table is missing or cannot be read; the message names the command that makes it again."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A table that is not as it should be.

    Attributes:
        table: its name.
        problem: what is wrong with it, in words.
    """

    table: str
    problem: str

    @property
    def command(self) -> str:
        """What makes it again."""
        return f"slowwave rebuild {self.table}"

    def error(self) -> DamageError:
        """What every command says of it."""
        return DamageError(
            f"The table {self.table} {self.problem}. Make it again from the journal: {self.command}"
        )


def missing_files(store: TableConnection, among: Set[str] | None = None) -> list[Damage]:
    """Tables that are not there, and those whose newest version is gone; only folders are looked at.

    Args:
        store: has the tables.
        among: names of those that are looked at; all where None.
    """
    there = set(store.bare_db.list_tables().tables)
    found = []
    for name in store.specs if among is None else store.specs.keys() & among:
        physical = store.physical(name)
        if physical not in there:
            found.append(Damage(name, "is missing"))
        elif (problem := _lost_version(store, physical)) is not None:
            found.append(Damage(name, problem))
    return found


def examine_table(store: TableConnection) -> Iterator[Damage]:
    """Read every table and index file, whole; what is wrong with them."""
    lacking = missing_files(store)
    yield from lacking
    for name in store.specs.keys() - {one.table for one in lacking}:
        if (problem := probe(store, name)) is not None:
            yield Damage(name, problem)


def probe(store: TableConnection, name: str) -> str | None:
    """What is wrong with a table, found by reading all of it; None where nothing is."""
    try:
        return _problem(store, name)
    except BaseException as raised:
        error = without_panic(raised)
        if not isinstance(error, ERRORS):
            raise
        return f"cannot be read ({_first_line(error)})"


def _problem(store: TableConnection, name: str) -> str | None:
    table = store.bare_db.open_table(store.physical(name))
    dataset = table.to_lance()
    for _ in dataset.to_batches():
        pass
    if lacking := set(store.specs[name].schema.names) - set(table.schema.names):
        return f"lacks the columns {sorted(lacking)}"
    for index in table.list_indices():
        if problem := _index_problem(store, dataset, index):
            return problem
    return None


def explain_error(store: TableConnection, name: str, error: Exception) -> DamageError | None:
    """The damage behind an error; None where it has another cause, such as a full disk."""
    words = str(error).lower()
    if any(cause in words for cause in _OTHER_CAUSES):
        return None
    if lacking := missing_files(store, {name}):
        return lacking[0].error()
    problem = probe(store, name)
    return None if problem is None else Damage(name, problem).error()


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:160]


def folder_of(store: TableConnection, physical: str) -> Path | None:
    """Where a table's files are; None in an object store."""
    return None if "://" in store.uri else Path(store.uri) / f"{physical}.lance"


def _lost_version(store: TableConnection, physical: str) -> str | None:
    """That the newest version that was written is not there any more: Lance would open an older one."""
    folder = folder_of(store, physical)
    if folder is None:
        return None
    versions = folder / "_versions"
    known = [int(one.stem) for one in versions.glob("*.manifest") if one.stem.isdigit()]
    if not known:
        return "has no manifest"
    try:
        hint = int(json.loads((versions / "latest_version_hint.json").read_text())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    newest = max(_LAST_VERSION - one if one > 2**63 else one for one in known)
    return f"has lost its version {hint}, the newest left is {newest}" if newest < hint else None


def _index_problem(store: TableConnection, dataset: Any, index: Any) -> str | None:  # noqa: ANN401 - Lance's
    """What is wrong with the files of an index."""
    from lance.file import LanceFileReader

    folder = folder_of(store, store.physical(""))
    if folder is None:
        return None
    uuids = [one["uuid"] for one in dataset.list_indices() if one["name"] == index.name]
    for uuid in uuids:
        place = Path(dataset.uri.removeprefix("file://")) / "_indices" / uuid
        files = sorted(place.glob("*.lance")) + sorted(place.glob("*.idx"))
        if not files:
            return f"lacks the files of its index {index.name}"
        for file in files:
            if file.suffix != ".lance":
                continue
            reader = LanceFileReader(str(file))
            for _ in reader.read_all().to_batches():
                pass
            parts = (reader.metadata().schema.metadata or {}).get(b"partitions")
            if file.name == "metadata.lance" and parts:
                wanted = {f"part_{part}_{kind}.lance" for part in json.loads(parts) for kind in _PARTS}
                if lost := sorted(wanted - {one.name for one in files}):
                    return f"lacks {', '.join(lost)} of its index {index.name}"
    return None


_PARTS = ("docs", "invert", "tokens")

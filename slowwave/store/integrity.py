"""Detection of missing, partial or unreadable tables, with the command that rebuilds them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slowwave.common.error_translation import without_panic
from slowwave.errors import StoreError
from slowwave.store.connection import TableConnection

ERRORS = (RuntimeError, OSError, ValueError)
"""Errors that LanceDB raises when it cannot read or write."""
_OTHER_CAUSES = (
    "commit conflict",
    "no space",
    "permission denied",
    "read-only",
    "too many open files",
    "quota",
)
_LAST_VERSION = 2**64 - 1  # manifests are named by this minus their version


class DamageError(StoreError):
    """Missing or unreadable table; the message names the command that rebuilds it."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Damaged table.

    Attributes:
        table: Name.
        problem: Damage in words, as the predicate of a sentence.
    """

    table: str
    problem: str

    @property
    def command(self) -> str:
        """Command that rebuilds the table."""
        return f"slowwave rebuild {self.table}"

    def error(self) -> DamageError:
        """Return the error that every command raises for it."""
        return DamageError(
            f"The table {self.table} {self.problem}. Run `{self.command}` to recreate it from the journal."
        )


def missing_files(store: TableConnection, among: Set[str] | None = None) -> list[Damage]:
    """Return missing tables, and those whose newest version is gone; checks folders only.

    Args:
        store: Has the tables.
        among: Tables to check; None is all.
    """
    existing = set(store.table_names())
    damages = []
    for name in store.specs if among is None else store.specs.keys() & among:
        physical = store.physical(name)
        if physical not in existing:
            damages.append(Damage(name, "is missing"))
        elif (problem := _lost_version(store, physical)) is not None:
            damages.append(Damage(name, problem))
    return damages


def examine_table(store: TableConnection) -> Iterator[Damage]:
    """Read every table, and the local index files; yield each damage."""
    lacking = missing_files(store)
    yield from lacking
    for name in store.specs.keys() - {damage.table for damage in lacking}:
        if (problem := probe(store, name)) is not None:
            yield Damage(name, problem)


def probe(store: TableConnection, name: str) -> str | None:
    """Return the damage of a table, found by reading all of it; None if it is sound."""
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
        return f"is missing the columns {sorted(lacking)}"
    for index in table.list_indices():
        if problem := _index_problem(store, dataset, index):
            return problem
    return None


def explain_error(store: TableConnection, name: str, error: Exception) -> DamageError | None:
    """Return the damage behind an error; None for another cause, such as a full disk."""
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
    """Return the folder of a table's files; None in an object store."""
    return None if "://" in store.uri else Path(store.uri) / f"{physical}.lance"


def _lost_version(store: TableConnection, physical: str) -> str | None:
    """Return the damage if the newest written version is gone: Lance would open an older one."""
    folder = folder_of(store, physical)
    if folder is None:
        return None
    versions = f"{folder}/_versions"  # plain names: every opening of a home checks some thirty tables
    try:
        names = os.listdir(versions)  # noqa: PTH208
    except OSError:
        names = []
    stems = [name.removesuffix(".manifest") for name in names if name.endswith(".manifest")]
    numbers = [int(stem) for stem in stems if stem.isdigit()]
    if not numbers:
        return "has no manifest"
    try:
        with open(f"{versions}/latest_version_hint.json", encoding="utf-8") as file:  # noqa: PTH123
            hint = int(json.load(file)["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    newest = max(_LAST_VERSION - number if number > 2**63 else number for number in numbers)
    return f"has lost its version {hint}, the newest left is {newest}" if newest < hint else None


def _index_problem(store: TableConnection, dataset: Any, index: Any) -> str | None:  # noqa: ANN401 - Lance's
    """Return the damage of an index's files; None if they are sound."""
    from lance.file import LanceFileReader

    folder = folder_of(store, store.physical(""))
    if folder is None:
        return None
    uuids = [entry["uuid"] for entry in dataset.list_indices() if entry["name"] == index.name]
    for uuid in uuids:
        place = Path(dataset.uri.removeprefix("file://")) / "_indices" / uuid
        files = sorted(place.glob("*.lance")) + sorted(place.glob("*.idx"))
        if not files:
            return f"is missing the files of its index {index.name}"
        for file in files:
            if file.suffix != ".lance":
                continue
            reader = LanceFileReader(str(file))
            for _ in reader.read_all().to_batches():
                pass
            parts = (reader.metadata().schema.metadata or {}).get(b"partitions")
            if file.name == "metadata.lance" and parts:
                wanted = {f"part_{part}_{kind}.lance" for part in json.loads(parts) for kind in _PARTS}
                if lost := sorted(wanted - {file.name for file in files}):
                    return f"is missing {', '.join(lost)} of its index {index.name}"
    return None


_PARTS = ("docs", "invert", "tokens")

"""Named checkpoints over all tables: create, list, restore.

A checkpoint is a Lance tag on each table. Lance commits are per table, so a restore is a sequence; it is
announced in ``meta`` first and the announcement is removed last, so that one that was killed is seen
by ``slowwave doctor`` and is finished by running it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slowwave.errors import NotFoundError, StoreError
from slowwave.store.database import Store
from slowwave.store.frames import quote

_PREFIX = "checkpoint-"
_RESTORING = "restoring"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A restorable state of every table."""

    name: str
    created_at: datetime
    tables: Mapping[str, int]  # physical table name -> version


def create_checkpoint(store: Store, name: str, as_of: datetime) -> Checkpoint:
    """Tag every table's present version.

    Raises:
        StoreError: the name is taken or has characters that a tag cannot have.
    """
    if not _NAME.fullmatch(name):
        raise StoreError(f"Checkpoint name {name!r}: use letters, digits, '.', '_' and '-', at most 64.")
    if name in {checkpoint.name for checkpoint in list_checkpoints(store)}:
        raise StoreError(f"There is a checkpoint {name!r} already. Choose another name.")
    versions: dict[str, int] = {}
    for table_name in _table_names(store):
        table = store.db.open_table(table_name)
        version = int(table.version)
        if _PREFIX + name in table.tags.list():  # left by a checkpoint that was killed half-way
            table.tags.update(_PREFIX + name, version)
        else:
            table.tags.create(_PREFIX + name, version)
        versions[table_name] = version
    store.put_meta(_PREFIX + name, {"created_at": as_of.isoformat(), "tables": versions})
    return Checkpoint(name, as_of, versions)


def ensure_checkpoint(store: Store, name: str, as_of: datetime) -> Checkpoint:
    """The checkpoint of this name, made now when there is none.

    Raises:
        StoreError: the name has characters that a tag cannot have.
    """
    known = {checkpoint.name: checkpoint for checkpoint in list_checkpoints(store)}
    return known[name] if name in known else create_checkpoint(store, name, as_of)


def list_checkpoints(store: Store) -> list[Checkpoint]:
    """All complete checkpoints, oldest first."""
    found = [
        Checkpoint(name, datetime.fromisoformat(value["created_at"]), value["tables"])
        for name, value in store.list_meta(_PREFIX).items()
    ]
    return sorted(found, key=lambda checkpoint: (checkpoint.created_at, checkpoint.name))


def restore_checkpoint(
    store: Store,
    name: str,
    *,
    only: Sequence[str] | None = None,
    records: Mapping[str, Any] | None = None,
) -> Checkpoint:
    """Bring tables back to a checkpoint (all of them, or `only` these); later checkpoints stay listed.

    Args:
        store: the tables.
        name: of the checkpoint.
        only: physical names of tables.
        records: the list of checkpoints as `listed_records` gave it before: what was killed may have taken
            some off the list.

    Raises:
        NotFoundError: no such checkpoint.
    """
    records = listed_records(store) if records is None else records
    store.put_metas({_PREFIX + listed: record for listed, record in records.items()}, keep=True)
    checkpoint = named(store, name)
    tables = [table for table in checkpoint.tables if only is None or table in only]
    store.put_meta(_RESTORING, {"name": name})
    for table_name in sorted(tables, key=lambda table: table == "meta"):
        table = store.db.open_table(table_name)
        table.checkout(_PREFIX + name)
        table.restore()
    store.refresh()
    # Restoring meta took later checkpoints off the list.
    store.put_metas({_PREFIX + listed: record for listed, record in records.items()})
    store.delete("meta", f"name = {quote(_RESTORING)}")
    return checkpoint


def listed_records(store: Store) -> dict[str, dict[str, Any]]:
    """What the store knows of its checkpoints, by name."""
    return store.list_meta(_PREFIX)


def delete_checkpoint(store: Store, name: str) -> None:
    """Remove a checkpoint, so that maintenance may free what only it holds.

    Raises:
        NotFoundError: no such checkpoint.
    """
    named(store, name)
    for table_name in _table_names(store):
        table = store.db.open_table(table_name)
        if _PREFIX + name in table.tags.list():
            table.tags.delete(_PREFIX + name)
    store.delete("meta", f"name = {quote(_PREFIX + name)}")


def interrupted_restore(store: Store) -> str | None:
    """Name of the checkpoint whose restore was killed before its end, or None."""
    pending = store.get_meta(_RESTORING)
    return None if pending is None else str(pending["name"])


@contextmanager
def checkpointed(store: Store, name: str, as_of: datetime, tables: Sequence[str]) -> Iterator[Checkpoint]:
    """Run a change with a checkpoint before it: when it fails, `tables` come back and the error goes on."""
    checkpoint = create_checkpoint(store, name, as_of)
    try:
        yield checkpoint
    except BaseException:
        restore_checkpoint(store, name, only=tables)
        raise


def named(store: Store, name: str) -> Checkpoint:
    """The checkpoint of this name.

    Raises:
        NotFoundError: there is none.
    """
    known = {checkpoint.name: checkpoint for checkpoint in list_checkpoints(store)}
    if name not in known:
        raise NotFoundError(f"No checkpoint {name!r}. There are: {', '.join(known) or 'none'}.")
    return known[name]


def _table_names(store: Store) -> list[str]:
    return sorted(store.db.list_tables().tables)

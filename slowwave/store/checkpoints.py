"""Named checkpoints over all tables: create, list, restore.

A checkpoint is a Lance tag on each table. Lance commits are per table, so a restore is a sequence. It is
announced in ``meta`` first, and the announcement is removed last. So ``slowwave doctor`` reports a killed
restore, and running it again finishes it.
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
    """Restorable state of every table."""

    name: str
    created_at: datetime
    tables: Mapping[str, int]  # physical table name -> version


def create_checkpoint(store: Store, name: str, as_of: datetime) -> Checkpoint:
    """Tag the present version of every table.

    Raises:
        StoreError: The name is taken or has characters that a tag cannot have.
    """
    if not _NAME.fullmatch(name):
        raise StoreError(f"Checkpoint name {name!r}: use letters, digits, '.', '_' and '-', at most 64.")
    if name in {checkpoint.name for checkpoint in list_checkpoints(store)}:
        raise StoreError(f"Checkpoint {name!r} exists already. Choose another name.")
    versions: dict[str, int] = {}
    for table_name in _table_names(store):
        table = store.db.open_table(table_name)
        version = int(table.version)
        if _PREFIX + name in table.tags.list():  # left by a killed checkpoint
            table.tags.update(_PREFIX + name, version)
        else:
            table.tags.create(_PREFIX + name, version)
        versions[table_name] = version
    store.put_meta(_PREFIX + name, {"created_at": as_of.isoformat(), "tables": versions})
    return Checkpoint(name, as_of, versions)


def ensure_checkpoint(store: Store, name: str, as_of: datetime) -> Checkpoint:
    """Return the checkpoint of this name; create it if it is missing.

    Raises:
        StoreError: The name has characters that a tag cannot have.
    """
    existing = {checkpoint.name: checkpoint for checkpoint in list_checkpoints(store)}
    return existing[name] if name in existing else create_checkpoint(store, name, as_of)


def list_checkpoints(store: Store) -> list[Checkpoint]:
    """Return all complete checkpoints, the oldest first."""
    checkpoints = [
        Checkpoint(name, datetime.fromisoformat(value["created_at"]), value["tables"])
        for name, value in store.list_meta(_PREFIX).items()
    ]
    return sorted(checkpoints, key=lambda checkpoint: (checkpoint.created_at, checkpoint.name))


def restore_checkpoint(
    store: Store,
    name: str,
    *,
    only: Sequence[str] | None = None,
    records: Mapping[str, Any] | None = None,
) -> Checkpoint:
    """Restore tables to a checkpoint; later checkpoints stay listed.

    Args:
        name: Of the checkpoint.
        only: Physical table names; None is all.
        records: Result of `listed_records` before a restore that was killed: it may have removed later
            checkpoints from the list.

    Raises:
        NotFoundError: No such checkpoint.
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
    # Restoring meta removed later checkpoints from the list.
    store.put_metas({_PREFIX + listed: record for listed, record in records.items()})
    store.delete("meta", f"name = {quote(_RESTORING)}")
    return checkpoint


def listed_records(store: Store) -> dict[str, dict[str, Any]]:
    """Return the records of the checkpoints in ``meta``, by name."""
    return store.list_meta(_PREFIX)


def delete_checkpoint(store: Store, name: str) -> None:
    """Delete a checkpoint, so that maintenance may remove versions that only it keeps.

    Raises:
        NotFoundError: No such checkpoint.
    """
    named(store, name)
    for table_name in _table_names(store):
        table = store.db.open_table(table_name)
        if _PREFIX + name in table.tags.list():
            table.tags.delete(_PREFIX + name)
    store.delete("meta", f"name = {quote(_PREFIX + name)}")


def interrupted_restore(store: Store) -> str | None:
    """Return the name of the checkpoint whose restore was killed, or None."""
    pending = store.get_meta(_RESTORING)
    return None if pending is None else str(pending["name"])


@contextmanager
def checkpointed(store: Store, name: str, as_of: datetime, tables: Sequence[str]) -> Iterator[Checkpoint]:
    """Run a change after a checkpoint; restore `tables` and raise if it fails."""
    checkpoint = create_checkpoint(store, name, as_of)
    try:
        yield checkpoint
    except BaseException:
        restore_checkpoint(store, name, only=tables)
        raise


def named(store: Store, name: str) -> Checkpoint:
    """Return the checkpoint of this name.

    Raises:
        NotFoundError: There is none.
    """
    existing = {checkpoint.name: checkpoint for checkpoint in list_checkpoints(store)}
    if name not in existing:
        raise NotFoundError(f"No checkpoint {name!r}. Checkpoints: {', '.join(existing) or 'none'}.")
    return existing[name]


def _table_names(store: Store) -> list[str]:
    return sorted(store.db.list_tables().tables)

"""Schema migrations: tables become those that are declared, with a checkpoint before each step.

Declared tables that are missing are made and declared columns that are missing are added, without a value: a
step of its own (`Migration`) needs only what changes rows that exist. A step that fails is undone (its tables
return to the checkpoint) and the store stays at the version before it. Each one must be repeatable: it may
have been killed after its last write and before the version was recorded. Searches go on meanwhile: a reader
keeps the version it opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from slowwave.errors import StoreError
from slowwave.store.checkpoints import (
    checkpointed,
    create_checkpoint,
    delete_checkpoint,
    list_checkpoints,
)
from slowwave.store.database import Store
from slowwave.store.frames import quote
from slowwave.store.tables import SCHEMA_VERSION

OLDEST = 12
"""Version of the oldest tables that are upgraded; a fixture home has it."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step to ``version``: its tables get their declared columns, and then `apply` changes rows.

    Attributes:
        tables: that it changes; they return to the checkpoint where it fails.
    """

    version: int
    name: str
    tables: tuple[str, ...]
    apply: Callable[[Store], None]


def _forget_days(prefix: str) -> Callable[[Store], None]:
    """A change after which the next night does every day again whose record in ``meta`` begins so."""
    return lambda store: store.delete("meta", f"starts_with(name, '{prefix}')")


# A step for rows that exist has the schema version that its columns raise; see `store.tables.SCHEMA_VERSION`.
MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        13, "search keys", ("learned_matches", "learned_effect", "learning_gate", "learning_log"),
        _forget_days("evaluated-"),
    ),
    Migration(14, "questions", ("usage_signals", "learned_effect"), _forget_days("fold-")),
)  # fmt: skip

BEFORE = "before-upgrade"
"""Checkpoint of all tables as they were before the last upgrade."""
_UNDER_WAY = "upgrading"


def pending(store: Store, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Steps that the store has not had, in order; the last one adds what is declared beyond them.

    Raises:
        StoreError: the tables are older than `OLDEST`.
    """
    recorded = store.get_meta("schema")
    version = recorded["version"] if recorded else SCHEMA_VERSION
    if version < OLDEST:
        raise StoreError(
            f"The store at {store.uri} has schema version {version}; this Slowwave upgrades those from "
            f"{OLDEST} on. Open it with an older Slowwave first."
        )
    steps = sorted((step for step in migrations if step.version > version), key=lambda step: step.version)
    if max([version, *(step.version for step in steps)]) < SCHEMA_VERSION:
        steps.append(_additions(store))
    return steps


def _additions(store: Store) -> Migration:
    """The step that adds every declared table and column that is missing."""
    existing = set(store.bare_db.list_tables().tables)
    tables = [name for name in store.specs if store.physical(name) not in existing]
    columns = {name: _lacking(store, name) for name in store.specs if name not in tables}
    names = [*tables, *(f"{name}.{field.name}" for name, fields in columns.items() for field in fields)]
    changed = tuple(name for name, fields in columns.items() if fields)
    return Migration(SCHEMA_VERSION, ", ".join(names), changed, lambda _: None)


def _lacking(store: Store, name: str) -> list[pa.Field]:
    """Declared columns that a table does not have."""
    existing = set(store.bare_db.open_table(store.physical(name)).schema.names)
    return [field for field in store.specs[name].schema if field.name not in existing]


def _add_declared(store: Store, names: Sequence[str]) -> None:
    """Make every declared table that is missing, and add the missing columns of these."""
    existing = set(store.bare_db.list_tables().tables)
    for name, spec in store.specs.items():
        if store.physical(name) not in existing or spec.full_text:  # an index may be missing still
            store.create_table(spec, store.physical(name))
    for name in names:
        if fields := _lacking(store, name):
            store.table(name).add_columns(fields)


def migrate(store: Store, as_of: datetime, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Apply what is pending; returns what was applied.

    A checkpoint of all tables as they were is kept (`BEFORE`), and the last checkpoint of each step.
    """
    applied, steps = [], pending(store, migrations)
    begun = {"to": steps[-1].version} if steps else None
    if begun is not None and store.get_meta(_UNDER_WAY) != begun:  # what was killed keeps its own
        if BEFORE in {checkpoint.name for checkpoint in list_checkpoints(store)}:
            delete_checkpoint(store, BEFORE)
        create_checkpoint(store, BEFORE, as_of)
        store.put_meta(_UNDER_WAY, begun)
    for step in steps:
        name = f"before-migration-{step.version}"
        if name in {checkpoint.name for checkpoint in list_checkpoints(store)}:
            delete_checkpoint(store, name)  # of an attempt that was killed or failed
        with checkpointed(store, name, as_of, [store.physical(table) for table in step.tables]):
            _add_declared(store, step.tables)
            step.apply(store)
        store.put_meta("schema", {"version": step.version})
        store.refresh()
        applied.append(step)
    if steps:
        store.delete("meta", f"name = {quote(_UNDER_WAY)}")
    return applied

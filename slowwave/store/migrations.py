"""Schema migrations: tables get their declared schema, with a checkpoint before each step.

Missing declared tables are created, and missing declared columns are added as nulls. Only changes of
existing rows need a step of their own (`Migration`). A failed step is undone: its tables return to the
checkpoint, and the store stays at the previous version. Each step must be idempotent: it may be killed after
its last write and before the version is recorded. Searches continue meanwhile: a reader keeps the version it
opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from slowwave.store.search_texts import add_pieces
from slowwave.store.tables import SCHEMA_VERSION

MIN_VERSION = 12
"""Oldest schema version that can be upgraded; a fixture home has it."""


@dataclass(frozen=True, slots=True)
class Migration:
    """Migration step to ``version``: declared columns are added, then `apply` changes rows.

    Attributes:
        tables: Tables that it changes; they return to the checkpoint if it fails.
    """

    version: int
    name: str
    tables: tuple[str, ...]
    apply: Callable[[Store], None]


def _forget_days(prefix: str) -> Callable[[Store], None]:
    """Return a change that makes every day stale whose record in ``meta`` has this prefix."""
    return lambda store: store.delete("meta", f"starts_with(name, '{prefix}')")


# A step for existing rows has the schema version that its columns raise; see `store.tables.SCHEMA_VERSION`.
MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        13, "search keys", ("learned_matches", "learned_effect", "learning_gate", "learning_log"),
        _forget_days("evaluated-"),
    ),
    Migration(14, "questions", ("usage_signals", "learned_effect"), _forget_days("fold-")),
    Migration(18, "pieces of words", ("chunks",), add_pieces),
)  # fmt: skip

BEFORE = "before-upgrade"
"""Checkpoint of all tables before the last upgrade."""
_UNDER_WAY = "upgrading"


def pending(store: Store, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Return the pending steps in order; the last one adds further declared columns.

    Raises:
        StoreError: The tables are older than `MIN_VERSION`.
    """
    recorded = store.get_meta("schema")
    version = recorded["version"] if recorded else SCHEMA_VERSION
    if version < MIN_VERSION:
        raise StoreError(
            f"The store at {store.uri} has schema version {version}; this Slowwave upgrades those from "
            f"{MIN_VERSION} on. Open it with an older Slowwave first."
        )
    steps = sorted((step for step in migrations if step.version > version), key=lambda step: step.version)
    if version >= SCHEMA_VERSION:
        return steps
    added = _additions(store)
    if steps and steps[-1].version >= SCHEMA_VERSION:  # no step follows that would add what else is missing
        steps[-1] = replace(steps[-1], tables=tuple(dict.fromkeys((*steps[-1].tables, *added.tables))))
    else:
        steps.append(added)
    return steps


def _additions(store: Store) -> Migration:
    """Return the step that adds every declared table and column that is missing."""
    existing = set(store.table_names())
    tables = [name for name in store.specs if store.physical(name) not in existing]
    columns = {name: _missing(store, name) for name in store.specs if name not in tables}
    names = [*tables, *(f"{name}.{field.name}" for name, fields in columns.items() for field in fields)]
    changed = tuple(name for name, fields in columns.items() if fields)
    return Migration(SCHEMA_VERSION, ", ".join(names), changed, lambda _: None)


def _missing(store: Store, name: str) -> list[pa.Field]:
    """Return the declared columns that a table is missing."""
    existing = set(store.bare_db.open_table(store.physical(name)).schema.names)
    return [field for field in store.specs[name].schema if field.name not in existing]


def _add_declared(store: Store, names: Sequence[str]) -> None:
    """Create every missing declared table, and add the missing columns of these tables."""
    existing = set(store.table_names())
    for name, spec in store.specs.items():
        if store.physical(name) not in existing or spec.full_text:  # an index may still be missing
            store.create_table(spec, store.physical(name))
    for name in names:
        if fields := _missing(store, name):
            store.table(name).add_columns(fields)


def migrate(store: Store, as_of: datetime, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Apply the pending steps; return them.

    Keeps a checkpoint of all tables before the upgrade (`BEFORE`), and the last checkpoint of each step.
    """
    applied, steps = [], pending(store, migrations)
    begun = {"to": steps[-1].version} if steps else None
    if begun is not None and store.get_meta(_UNDER_WAY) != begun:  # a killed upgrade keeps its own checkpoint
        if BEFORE in {checkpoint.name for checkpoint in list_checkpoints(store)}:
            delete_checkpoint(store, BEFORE)
        create_checkpoint(store, BEFORE, as_of)
        store.put_meta(_UNDER_WAY, begun)
    for step in steps:
        name = f"before-migration-{step.version}"
        if name in {checkpoint.name for checkpoint in list_checkpoints(store)}:
            delete_checkpoint(store, name)  # of a killed or failed attempt
        with checkpointed(store, name, as_of, [store.physical(table) for table in step.tables]):
            _add_declared(store, step.tables)
            step.apply(store)
        store.put_meta("schema", {"version": step.version})
        store.refresh()
        applied.append(step)
    if steps:
        store.delete("meta", f"name = {quote(_UNDER_WAY)}")
    return applied

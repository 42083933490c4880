"""Upgrade of a home to the schema of this version: preview, run and undo.

Opening a home upgrades it without a question: each step adds what is new, keeps a checkpoint, and can be run
again. A checkpoint of all tables is kept, with which the previous version opens the home again. This module
previews the upgrade and undoes it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.common.pluralize import counted
from slowwave.errors import StoreError
from slowwave.home.connections import bare_store
from slowwave.journal import schema
from slowwave.journal.entry import UPGRADE
from slowwave.settings import Settings
from slowwave.store import Store
from slowwave.store.checkpoints import list_checkpoints, restore_checkpoint
from slowwave.store.connection import Identity
from slowwave.store.migrations import BEFORE, pending
from slowwave.store.tables import SCHEMA_VERSION

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


_NO_ACTS = (UPGRADE, "work", "record", "search")
"""Entries that do not block an undo: those that an upgrade writes, and searches, which test it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an upgrade.

    Attributes:
        part: Always `tables`.
        version: Schema version after the step.
        name: Short description.
        tables: Changed tables with their rows (count).
    """

    part: str
    version: int
    name: str
    tables: dict[str, int]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Schema versions of a home, and the pending steps.

    Attributes:
        tables: Version of the tables' schema.
        journal: Version of the journal's schema.
        steps: Pending, in order.
        undoable: Whether the last upgrade can be undone.
    """

    tables: int
    journal: int
    steps: tuple[Step, ...]
    undoable: bool


def look(settings: Settings) -> Upgrade:
    """Return what an upgrade would change; nothing is written.

    Raises:
        StoreError: There is no home, or this version cannot open it.
    """
    store = _bare(settings)
    existing = store.bare_db.list_tables().tables
    if "meta" not in existing:
        raise StoreError(f"There are no tables at {settings.store_uri}; there is nothing to upgrade.")
    fact = store.get_meta("schema")
    tables = SCHEMA_VERSION if fact is None else int(fact["version"])
    journal = _journal_version(settings)
    for part, version, latest in (
        ("tables", tables, SCHEMA_VERSION),
        ("journal", journal, schema.SCHEMA_VERSION),
    ):
        if version > latest:
            raise StoreError(
                f"The schema version of the {part} is {version}; this Slowwave supports up to {latest}. "
                f"Install a newer Slowwave, or restore a backup of an older one."
            )
    if journal < schema.SCHEMA_VERSION:
        raise StoreError(
            f"The schema version of the journal is {journal}; this Slowwave supports version "
            f"{schema.SCHEMA_VERSION}. Open it with an older Slowwave first."
        )
    steps = list[Step]()
    for step in pending(store):
        rows = {name: _rows(store, name) for name in step.tables if store.physical(name) in existing}
        steps.append(Step("tables", step.version, step.name, rows))
    undoable = BEFORE in {checkpoint.name for checkpoint in list_checkpoints(store)}
    return Upgrade(tables, journal, tuple(steps), undoable)


def upgrade(settings: Settings) -> Upgrade:
    """Upgrade a home; after a kill, the same call resumes.

    Raises:
        StoreError: As in `look`.
    """
    from slowwave.home.workspace import Workspace

    pending_upgrade = look(settings)
    if pending_upgrade.steps:
        with closing(Workspace(settings)) as space:
            space.open_store()
    return pending_upgrade


def undo(settings: Settings) -> Upgrade:
    """Undo the last upgrade, so that the previous version opens the home.

    Raises:
        StoreError: There was none, or events came since, which the previous tables would not have.
    """
    state = look(settings)
    if not state.undoable:
        raise StoreError("There is no upgrade to undo.")
    from slowwave.home.workspace import Workspace

    space = Workspace(settings)
    with closing(space.journal):
        _refuse_acts_since(space)
        with space.exclusively():
            restore_checkpoint(_bare(settings), BEFORE)
    return look(settings)


def _refuse_acts_since(space: Workspace) -> None:
    made = next(c for c in list_checkpoints(_bare(space.settings)) if c.name == BEFORE).created_at
    since = made.timestamp() * 1e6
    acts = sum(_is_act_since(since, row) for page in space.journal.rows.pages() for row in page)
    if acts:
        raise StoreError(
            f"The journal has {counted(acts, 'event')} since the upgrade, which the previous tables would "
            f"lose. Restore a backup into another folder, or keep this version."
        )


def _is_act_since(moment: float, row: tuple[Any, ...]) -> bool:
    from slowwave.journal.transfer import COLUMNS

    values = dict(zip(COLUMNS, row, strict=True))
    return values["kind"] not in _NO_ACTS and int(values["occurred_at"]) > moment


def _bare(settings: Settings) -> Store:
    uri = settings.store_uri
    if "://" not in uri and not Path(uri).is_dir():
        raise StoreError(f"There are no tables at {uri}; there is nothing to upgrade.")
    store = bare_store(settings)
    fact = store.get_meta("embedding")
    return store if fact is None else Store.bare(uri, Identity.read(fact), settings.store.storage_options)


def _rows(store: Store, name: str) -> int:
    return int(store.bare_db.open_table(store.physical(name)).count_rows())


def _journal_version(settings: Settings) -> int:
    import sqlalchemy as sa

    from slowwave.journal.connection import Connections

    if not settings.journal.url:
        if not settings.journal_file.exists():
            return schema.SCHEMA_VERSION
        uri = f"{settings.journal_file.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as raw:
            row = raw.execute("SELECT value FROM journal_meta WHERE key = 'schema_version'").fetchone()
            return int(row[0])
    query = sa.select(schema.meta.c.value).where(schema.meta.c.key == "schema_version")
    url = settings.journal.url
    with closing(Connections(url, "normal")) as connections, connections.reading() as connection:
        return int(connection.execute(query).scalar_one())

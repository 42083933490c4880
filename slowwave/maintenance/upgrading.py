"""The upgrade of a home to the schema of this Slowwave: seen before, done, and taken back.

Whoever opens a home upgrades it, without a question: each step adds what is new, keeps a checkpoint, and can
be run again. A checkpoint of all tables and a copy of the journal's file are kept before it, by which the
former Slowwave opens the home again. Here the upgrade is seen beforehand, and taken back.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.common.pluralize import counted
from slowwave.errors import StoreError
from slowwave.home.connections import bare_store, journal_files
from slowwave.journal import schema
from slowwave.journal.entry import UPGRADE
from slowwave.journal.legacy_copy import former, readonly
from slowwave.settings import Settings
from slowwave.store import Store
from slowwave.store.checkpoints import list_checkpoints, restore_checkpoint
from slowwave.store.connection import Identity
from slowwave.store.migrations import BEFORE, pending
from slowwave.store.tables import SCHEMA_VERSION

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


_NO_ACTS = (UPGRADE, "work", "record", "search")
"""Kinds of entries that an upgrade writes itself, and searches, by which people see whether it works."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an upgrade.

    Attributes:
        part: of the home: tables or journal.
        version: that it leads to.
        name: what it is about.
        tables: that it changes, with their rows (count).
    """

    part: str
    version: int
    name: str
    tables: dict[str, int]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What stands between a home and this Slowwave.

    Attributes:
        tables: version of the tables' schema.
        journal: version of the journal's schema.
        steps: to come, in their order.
        undoable: whether the upgrade before can be taken back.
    """

    tables: int
    journal: int
    steps: tuple[Step, ...]
    undoable: bool


def look(settings: Settings) -> Upgrade:
    """What an upgrade would change; nothing is written.

    Raises:
        StoreError: there is no home, or it is of a newer Slowwave.
    """
    store = _bare(settings)
    there = store.bare_db.list_tables().tables
    if "meta" not in there:
        raise StoreError(f"There are no tables at {settings.store_uri}; there is nothing to upgrade.")
    known = store.get_meta("schema")
    tables = SCHEMA_VERSION if known is None else int(known["version"])
    journal = _journal_version(settings)
    for what, version, most in (
        ("tables", tables, SCHEMA_VERSION),
        ("journal", journal, schema.SCHEMA_VERSION),
    ):
        if version > most:
            raise StoreError(
                f"The {what} have schema version {version}, this Slowwave knows up to {most}. Install a "
                f"newer Slowwave, or restore a backup that an older one made."
            )
    steps = list[Step]()
    if journal != schema.SCHEMA_VERSION:
        steps.append(Step("journal", schema.SCHEMA_VERSION, "order of acts", {}))
    for step in pending(store):
        rows = {name: _rows(store, name) for name in step.tables if store.physical(name) in there}
        steps.append(Step("tables", step.version, step.name, rows))
    undoable = BEFORE in {one.name for one in list_checkpoints(store)}
    return Upgrade(tables, journal, tuple(steps), undoable)


def upgrade(settings: Settings) -> Upgrade:
    """Upgrade a home; killed, the same call goes on.

    Raises:
        StoreError: as in `look`, or the journal cannot be copied here.
    """
    from slowwave.home.workspace import Workspace

    found = look(settings)
    if found.steps:
        with closing(Workspace(settings)) as space:
            space.open_store()
    return found


def undo(settings: Settings) -> Upgrade:
    """Take the last upgrade back, so that the former Slowwave opens the home.

    Raises:
        StoreError: there was none, or acts came since, which the former tables would not have.
    """
    found = look(settings)
    if not found.undoable:
        raise StoreError("No upgrade is known here, so there is none to take back.")
    from slowwave.home.workspace import Workspace

    space = Workspace(settings)
    with closing(space.journal):
        _refuse_acts_since(space)
        with space.exclusively():
            restore_checkpoint(_bare(settings), BEFORE)
    copy = former(settings.journal_file)
    if not settings.journal.url and copy.exists() and not _is_of_an_earlier_one(settings.journal_file):
        for beside in journal_files(settings.journal_file)[1:]:
            beside.unlink(missing_ok=True)
        copy.replace(settings.journal_file)
    return look(settings)


def _refuse_acts_since(space: Workspace) -> None:
    made = next(one for one in list_checkpoints(_bare(space.settings)) if one.name == BEFORE).created_at
    since = made.timestamp() * 1e6
    acts = sum(_is_act_since(since, row) for page in space.journal.rows.pages() for row in page)
    if acts:
        raise StoreError(
            f"{counted(acts, 'act')} came since the upgrade, and the former tables would not have them. "
            f"Restore a backup into another folder, or keep this Slowwave."
        )


def _is_of_an_earlier_one(journal: Path) -> bool:
    """Whether the copy of a journal lacks acts that the journal has: an earlier upgrade left it."""
    with closing(readonly(former(journal))) as copy, closing(readonly(journal)) as now:
        (last,) = copy.execute("SELECT coalesce(max(seq), 0) FROM journal_entries").fetchone()
        since = now.execute("SELECT DISTINCT kind FROM journal_entries WHERE seq > ?", (last,)).fetchall()
    return not {kind for (kind,) in since}.issubset(_NO_ACTS)


def _is_act_since(moment: float, row: tuple[Any, ...]) -> bool:
    from slowwave.journal.transfer import COLUMNS

    told = dict(zip(COLUMNS, row, strict=True))
    return told["kind"] not in _NO_ACTS and int(told["occurred_at"]) > moment


def _bare(settings: Settings) -> Store:
    uri = settings.store_uri
    if "://" not in uri and not Path(uri).is_dir():
        raise StoreError(f"There are no tables at {uri}; there is nothing to upgrade.")
    store = bare_store(settings)
    known = store.get_meta("embedding")
    return store if known is None else Store.bare(uri, Identity.read(known), settings.store.storage_options)


def _rows(store: Store, name: str) -> int:
    return int(store.bare_db.open_table(store.physical(name)).count_rows())


def _journal_version(settings: Settings) -> int:
    import sqlalchemy as sa

    from slowwave.journal.connection import Connections

    if not settings.journal.url:
        if not settings.journal_file.exists():
            return schema.SCHEMA_VERSION
        with closing(readonly(settings.journal_file)) as raw:
            row = raw.execute("SELECT value FROM journal_meta WHERE key = 'schema_version'").fetchone()
            return int(row[0])
    query = sa.select(schema.meta.c.value).where(schema.meta.c.key == "schema_version")
    url = settings.journal.url
    with closing(Connections(url, "normal")) as connections, connections.reading() as connection:
        return int(connection.execute(query).scalar_one())

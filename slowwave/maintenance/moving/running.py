"""One move of a home, from the announcement to the switch of its settings.

The order is what makes it safe to kill: the move is announced in the old journal, the tables are copied
under the locks, then the journal, which takes no more acts from then on; both are compared; and one
replacement of the settings file lets the home be at its new place. Before it, the home is whole at the old
place, after it at the new one, and the same command goes on in both cases.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.backup.storage import FileStorage
from slowwave.common import progress
from slowwave.errors import StoreError
from slowwave.home.connections import bare_store, open_journal
from slowwave.home.embedding_model import is_new
from slowwave.home.relocation import places, require_current
from slowwave.index.mmap_snapshot import FOLDER as SNAPSHOTS
from slowwave.ipc.pidfile import is_acquired
from slowwave.journal import maintenance_ops as underway
from slowwave.maintenance import upgrading
from slowwave.maintenance.moving import cutover
from slowwave.maintenance.moving.files import CopiedTable, carry, of_tables
from slowwave.maintenance.moving.targets import MoveTargets
from slowwave.settings import Settings
from slowwave.store import Store

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal

WHAT = "the move of this home"
_BACK = "the giving up of the move of this home"
_GIVE_UP = "slowwave move --give-up"


@dataclass(frozen=True, slots=True)
class MoveResult:
    """What a move did, or would do.

    Attributes:
        source: where each part was, without a password.
        target: where it is now.
        tables: by table, what was carried; empty where they stayed, and for what was not done.
        rows: of each table (count).
        size: of the tables' files, in bytes.
        acts: of the journal that were carried (count).
        digest: hash of these acts, the same at both places; empty where the journal stayed.
        done: whether anything was written.
    """

    source: dict[str, str]
    target: dict[str, str]
    tables: dict[str, CopiedTable]
    rows: dict[str, int]
    size: int
    acts: int
    digest: str
    done: bool


def move(space: Workspace, targets: MoveTargets, *, dry_run: bool = False) -> MoveResult:
    """Move a home, or say what would be moved.

    Args:
        space: the home as its settings are now.
        targets: where its parts go.
        dry_run: only look.

    Raises:
        StoreError: there is no home, the target has something, somebody uses or has moved the home, the home
            has left something elsewhere before, the copy is another one, or the look would write.
        UnfinishedError: another work on the whole home has begun and not ended.
    """
    _refuse_no_home(space.settings)
    going = targets.elsewhere()
    if dry_run:
        _refuse_to_open(space.settings)
        begun = _refuse_what_is_in_the_way(space, going)
        if not going.parts:
            return _there(targets)
        underway.require_none_pending(space.journal, but=targets.command if begun is None else begun.command)
        return _would(space, going)
    if not going.parts and _begun(space.journal) is None:
        return _there(targets)
    if is_acquired(space.settings.home):
        raise StoreError(
            "Something runs on this home (slowwave up, page, or mcp). Stop it, then run it again."
        )
    with space.exclusively():  # another move may have ended while this one waited
        begun = _refuse_what_is_in_the_way(space, going)
        command = targets.command if begun is None else begun.command
        if going.parts:
            underway.require_none_pending(space.journal, but=command)
            return _moved(space, going, command)
        if begun is not None:  # it was killed after the switch
            cutover.settle(space.settings)
            _end(space.journal, command, space.now())
        return _there(targets, done=begun is not None)


def give_up(space: Workspace) -> dict[str, str]:
    """End a move that was begun: the home stays where it is; where it would have gone, by part.

    Raises:
        StoreError: none was begun, or the home has come to its new place already.
    """
    _refuse_no_home(space.settings)
    journal, now = space.journal, space.now()
    with space.exclusively():
        begun = _begun(space.journal)
        if begun is None:
            return _given_up(space, now)
        was, to = dict(begun.facts["from"]), dict(begun.facts["to"])
        if _has_come(space.settings, begun):
            raise StoreError(
                f"This home is at {', '.join(to.values())} already; there is nothing to give up. Let the "
                f"move end: {begun.command}"
            )
        journal.rows.reopen()
        # Else whoever has the tables open would be told that they are at the new place.
        with underway.maintenance_op(journal, _BACK, _GIVE_UP, now, facts={"from": to, "to": was}):
            cutover.settle(space.settings)
            _end(journal, begun.command, now)
    return to


def _given_up(space: Workspace, now: datetime) -> dict[str, str]:
    """End a giving up that was killed."""
    journal = space.journal
    back = next((work for work in underway.pending_op(journal) if work.what == _BACK), None)
    if back is None:
        raise StoreError("No move was begun here; there is nothing to give up.")
    with underway.maintenance_op(journal, _BACK, _GIVE_UP, now):
        cutover.settle(space.settings)
        return dict(back.facts["from"])


def remove_source(space: Workspace) -> dict[str, str]:
    """Remove what is left where the home was before, while nobody moves it; the places, by part.

    Raises:
        StoreError: nothing is left, or it is not this home's.
    """
    _refuse_no_home(space.settings)
    with space.journal.exclusive("night", progress.task("waiting for a night")):
        require_current(space.settings)
        return cutover.remove(space.settings)


def _refuse_no_home(settings: Settings) -> None:
    """Whoever opens a home makes it where there is none, and there is nothing to move then."""
    require_current(settings)  # where it was, there may be nothing any more
    if is_new(settings):
        raise StoreError(
            f"There is no home at {settings.home}: it has neither tables nor a journal. Nothing was done."
        )


def _refuse_to_open(settings: Settings) -> None:
    """A look writes nothing, and whoever opens a journal makes a missing one and upgrades an older one."""
    if not settings.journal.url and not settings.journal_file.exists():
        raise StoreError(
            f"There is no journal at {settings.journal_file}. Nothing was written: slowwave doctor says more."
        )
    if upgrading.look(settings).steps:
        raise StoreError(
            "An earlier version wrote this home, and to look at it would upgrade it. Nothing was written: "
            "slowwave upgrade first."
        )


def _refuse_what_is_in_the_way(space: Workspace, going: MoveTargets) -> underway.MaintenanceOp | None:
    """The move that goes on, if one was begun; refuses what stands against what is to be moved."""
    begun, to = _begun(space.journal), going.places()
    if begun is None:
        cutover.refuse_second(space.settings, going.parts)
        if going.parts:
            _refuse_what_is_there(going)
    elif begun.facts["to"] != to and (to or not _has_come(space.settings, begun)):
        raise StoreError(
            f"A move to {', '.join(begun.facts['to'].values())} was begun and has not ended. Finish it: "
            f"{begun.command} - or give it up: {_GIVE_UP}"
        )
    return begun


def _begun(journal: Journal) -> underway.MaintenanceOp | None:
    """The move that has begun and not ended, as the journal of where the home is knows it."""
    return next((work for work in underway.pending_op(journal) if work.what == WHAT), None)


def _has_come(settings: Settings, begun: underway.MaintenanceOp) -> bool:
    """Whether the home is where a move took it that has not ended."""
    to = begun.facts["to"]
    return bool(places(settings, tuple(to)) == to)


def _end(journal: Journal, command: str, now: datetime) -> None:
    with underway.maintenance_op(journal, WHAT, command, now):
        pass


def _there(targets: MoveTargets, *, done: bool = False) -> MoveResult:
    to = targets.places()
    return MoveResult(to, to, {}, {}, 0, 0, "", done=done)


def _refuse_what_is_there(targets: MoveTargets) -> None:
    settings = targets.settings
    if "tables" in targets.parts:
        place = FileStorage(settings.store_uri, settings.store.storage_options)
        if there := [name for name in place.list() if not name.startswith(f"{SNAPSHOTS}/")]:  # made again
            raise StoreError(
                f"{place.uri} is not empty ({sorted(there)[0]}): another home may be there. Give an "
                f"empty place; one that this home has left is emptied by slowwave move --remove-source."
            )
    if "journal" in targets.parts and _has_acts(settings):
        raise StoreError(
            f"The journal {targets.places()['journal']} has acts already: it is of another home. Give an "
            f"empty one; one that this home has left is emptied by slowwave move --remove-source."
        )


def _has_acts(settings: Settings) -> bool:
    """Whether a journal has any, asked without opening it as one: that would make its tables."""
    import sqlalchemy as sa

    from slowwave.journal.connection import Connections
    from slowwave.journal.schema import entries

    url = settings.journal.url or sa.URL.create("sqlite", database=str(settings.journal_file))
    if str(url).startswith("sqlite"):
        file = Path(sa.make_url(url).database or "")
        if not file.is_file() or not file.stat().st_size:
            return False
    with closing(Connections(url, "full")) as connections, connections.reading() as connection:
        known = sa.inspect(connection).has_table(entries.name)
        return known and connection.execute(sa.select(entries.c.seq).limit(1)).first() is not None


def _counts(store: Store) -> dict[str, int]:
    names = sorted(store.bare_db.list_tables().tables)
    return {name: int(store.bare_db.open_table(name).count_rows()) for name in names}


def _would(space: Workspace, targets: MoveTargets) -> MoveResult:
    settings, size = space.settings, 0
    rows: dict[str, int] = {}
    if "tables" in targets.parts:
        found = of_tables(FileStorage(settings.store_uri, settings.store.storage_options))
        size = sum(one.size for one in found.values())
        if found:  # looked at as files: to open them as the home's would bring them up to date
            rows = _counts(bare_store(settings))
    acts = space.journal.rows.count() if "journal" in targets.parts else 0
    return MoveResult(places(settings, targets.parts), targets.places(), {}, rows, size, acts, "", done=False)


def _moved(space: Workspace, targets: MoveTargets, command: str) -> MoveResult:
    journal, now = space.journal, space.now()
    was, to = places(space.settings, targets.parts), targets.places()
    facts = {"from": was, "to": to}
    tables: dict[str, CopiedTable] = {}
    rows: dict[str, int] = {}
    acts, digest = 0, ""
    with ExitStack() as stack:
        if "tables" in targets.parts:
            space.open_store(during=command).settle()
        if "journal" in targets.parts:  # its end is written to the new journal alone: the old one stays shut
            underway.begin_op(journal, WHAT, command, now, facts)
        else:
            stack.enter_context(underway.maintenance_op(journal, WHAT, command, now, facts=facts))
        if "tables" in targets.parts:
            tables, rows = _tables(space, targets.settings)
        if "journal" in targets.parts:
            acts, digest = _acts(space, targets, now)
        cutover.switch(space.settings, targets)
    size = sum(one.size for one in tables.values())
    return MoveResult(was, to, tables, rows, size, acts, digest, done=True)


def _tables(space: Workspace, settings: Settings) -> tuple[dict[str, CopiedTable], dict[str, int]]:
    from slowwave.common.permissions import make_private

    if "://" not in settings.store_uri:
        make_private(Path(settings.store_uri), settings.home, folder=True)
    own = space.settings
    carried = carry(
        FileStorage(own.store_uri, own.store.storage_options),
        FileStorage(settings.store_uri, settings.store.storage_options, make=True),
    )
    rows = _counts(space.store)
    there = Store.bare(settings.store_uri, space.store.identity, settings.store.storage_options)
    if (found := _counts(there)) != rows:
        other = next(name for name in rows if found.get(name) != rows[name])
        raise StoreError(
            f"The table {other} has {found.get(other, 0):,} rows at {settings.store_uri} and {rows[other]:,} "
            f"where it was. Nothing was switched; run it again."
        )
    return carried, rows


def _acts(space: Workspace, targets: MoveTargets, now: datetime) -> tuple[int, str]:
    source = space.journal.rows
    with open_journal(targets.settings, "full") as journal:
        total = source.count()
        with progress.task("journal", total) as advance:
            last = 0
            for page in source.pages():
                journal.rows.put(page)
                last = int(page[-1][0])
                advance(len(page))
        # Searches write their acts without a lock; from here on they are refused.
        with source.closing():
            for page in source.pages(after=last):
                journal.rows.put(page)
        journal.rows.put_sources(source.sources())
        until, count, digest = source.last_seq(), source.count(), source.digest()
        there = journal.rows
        if (there.count(until=until), there.digest(until=until)) != (count, digest):
            raise StoreError(
                f"The journal {targets.places()['journal']} is another one than that of the home: somebody "
                f"wrote to it. Nothing was switched; give an empty one."
            )
        if (begun := _begun(journal)) is not None:
            _end(journal, begun.command, now)
    return count, digest

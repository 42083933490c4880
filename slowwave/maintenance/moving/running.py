"""Move of a home, from the begin event to the cutover of its settings.

The order makes it safe to kill. The move is recorded in the old journal, then the tables are copied under the
locks. Then the journal is copied, and the old one accepts no more entries. Both are compared, and one atomic
replacement of the settings file switches the home to its new place. Before it the home is complete at the old
place, after it at the new one; in both cases the same command resumes.
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
_BACK = "the cancellation of the move of this home"
_GIVE_UP = "slowwave move --give-up"


@dataclass(frozen=True, slots=True)
class MoveResult:
    """Result of a move, or of its dry run.

    Attributes:
        source: Previous place of each part, without a password.
        target: New place of each part.
        tables: Copied files by table; empty if the tables stayed, and for a dry run.
        rows: Of each table (count).
        size: Of the tables' files, in bytes.
        acts: Journal entries copied (count).
        digest: Hash of these entries, equal at both places; empty if the journal stayed.
        done: Whether anything was written.
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
    """Move a home, or report what a move would do.

    Args:
        space: The home at its current place.
        targets: New places of its parts.
        dry_run: Write nothing.

    Raises:
        StoreError: There is no home, the target is not empty, the home is in use or was moved meanwhile, a
            previous place still has data, the copy differs, or a dry run would write.
        PendingOpError: Another operation on the whole home has begun and not ended.
    """
    _refuse_no_home(space.settings)
    going = targets.elsewhere()
    if dry_run:
        _refuse_to_open(space.settings)
        begun = _refuse_conflicts(space, going)
        if not going.parts:
            return _at_target(targets)
        underway.require_none_pending(space.journal, but=targets.command if begun is None else begun.command)
        return _dry_run(space, going)
    if not going.parts and _pending_move(space.journal) is None:
        return _at_target(targets)
    if is_acquired(space.settings.home):
        raise StoreError(
            "The home is in use (slowwave up, page, or mcp). Stop that process, then run it again."
        )
    with space.exclusively():  # another move may have ended meanwhile
        begun = _refuse_conflicts(space, going)
        command = targets.command if begun is None else begun.command
        if going.parts:
            underway.require_none_pending(space.journal, but=command)
            return _run_move(space, going, command)
        if begun is not None:  # it was killed after the cutover
            cutover.settle(space.settings)
            _end(space.journal, command, space.now())
        return _at_target(targets, done=begun is not None)


def give_up(space: Workspace) -> dict[str, str]:
    """Cancel a move that has begun: the home stays. Return the places it would have gone to, by part.

    Raises:
        StoreError: No move has begun, or the home is at its new place already.
    """
    _refuse_no_home(space.settings)
    journal, now = space.journal, space.now()
    with space.exclusively():
        begun = _pending_move(space.journal)
        if begun is None:
            return _finish_cancellation(space, now)
        was, to = dict(begun.facts["from"]), dict(begun.facts["to"])
        if _has_come(space.settings, begun):
            raise StoreError(
                f"This home is at {', '.join(to.values())} already, so the move cannot be cancelled. "
                f"Finish it: {begun.command}"
            )
        journal.rows.reopen()
        # Else a process with open tables would look for them at the new place.
        with underway.maintenance_op(journal, _BACK, _GIVE_UP, now, facts={"from": to, "to": was}):
            cutover.settle(space.settings)
            _end(journal, begun.command, now)
    return to


def _finish_cancellation(space: Workspace, now: datetime) -> dict[str, str]:
    """Finish a cancellation that was killed."""
    journal = space.journal
    back = next((work for work in underway.pending_op(journal) if work.what == _BACK), None)
    if back is None:
        raise StoreError("No move has begun here; there is nothing to cancel.")
    with underway.maintenance_op(journal, _BACK, _GIVE_UP, now):
        cutover.settle(space.settings)
        return dict(back.facts["from"])


def remove_source(space: Workspace) -> dict[str, str]:
    """Remove the data at the home's previous place. Return the places, by part.

    Raises:
        StoreError: Nothing is left, or it is not this home's.
    """
    _refuse_no_home(space.settings)
    with space.journal.exclusive("night", progress.task("waiting for a nightly run")):
        require_current(space.settings)
        return cutover.remove(space.settings)


def _refuse_no_home(settings: Settings) -> None:
    """Refuse a missing home, because opening it would create one."""
    require_current(settings)  # a moved home may have nothing at its old place
    if is_new(settings):
        raise StoreError(
            f"There is no home at {settings.home}: it has neither tables nor a journal. Nothing was done."
        )


def _refuse_to_open(settings: Settings) -> None:
    """Refuse a dry run that would write: opening creates a missing journal and upgrades an old one."""
    if not settings.journal.url and not settings.journal_file.exists():
        raise StoreError(
            f"There is no journal at {settings.journal_file}. Nothing was written. For details run slowwave "
            "doctor."
        )
    if upgrading.look(settings).steps:
        raise StoreError(
            "An earlier version wrote this home, and opening it would upgrade it. Nothing was written. Run "
            "slowwave upgrade first."
        )


def _refuse_conflicts(space: Workspace, going: MoveTargets) -> underway.MaintenanceOp | None:
    """Return the pending move to resume, if any; refuse a conflict with what is to be moved."""
    begun, to = _pending_move(space.journal), going.places()
    if begun is None:
        cutover.refuse_second(space.settings, going.parts)
        if going.parts:
            _refuse_nonempty(going)
    elif begun.facts["to"] != to and (to or not _has_come(space.settings, begun)):
        raise StoreError(
            f"A move to {', '.join(begun.facts['to'].values())} has begun and not ended. Finish it: "
            f"{begun.command} - or cancel it: {_GIVE_UP}"
        )
    return begun


def _pending_move(journal: Journal) -> underway.MaintenanceOp | None:
    """Return the pending move, from the journal at the home's current place."""
    return next((work for work in underway.pending_op(journal) if work.what == WHAT), None)


def _has_come(settings: Settings, begun: underway.MaintenanceOp) -> bool:
    """Whether the home is already at the target of a pending move."""
    to = begun.facts["to"]
    return bool(places(settings, tuple(to)) == to)


def _end(journal: Journal, command: str, now: datetime) -> None:
    with underway.maintenance_op(journal, WHAT, command, now):
        pass


def _at_target(targets: MoveTargets, *, done: bool = False) -> MoveResult:
    to = targets.places()
    return MoveResult(to, to, {}, {}, 0, 0, "", done=done)


def _refuse_nonempty(targets: MoveTargets) -> None:
    settings = targets.settings
    if "tables" in targets.parts:
        place = FileStorage(settings.store_uri, settings.store.storage_options)
        if existing := [name for name in place.list() if not name.startswith(f"{SNAPSHOTS}/")]:  # recreated
            raise StoreError(
                f"{place.uri} is not empty ({sorted(existing)[0]}): another home may be there. Choose an "
                f"empty place. To empty a previous place of this home: slowwave move --remove-source"
            )
    if "journal" in targets.parts and _has_entries(settings):
        raise StoreError(
            f"The journal {targets.places()['journal']} has entries: it belongs to another home. Choose an "
            f"empty one. To empty a previous place of this home: slowwave move --remove-source"
        )


def _has_entries(settings: Settings) -> bool:
    """Whether a journal has entries; it is not opened as a journal, which would create its tables."""
    import sqlalchemy as sa

    from slowwave.journal.connection import Connections
    from slowwave.journal.schema import entries

    url = settings.journal.url or sa.URL.create("sqlite", database=str(settings.journal_file))
    if str(url).startswith("sqlite"):
        file = Path(sa.make_url(url).database or "")
        if not file.is_file() or not file.stat().st_size:
            return False
    with closing(Connections(url, "full")) as connections, connections.reading() as connection:
        exists = sa.inspect(connection).has_table(entries.name)
        return exists and connection.execute(sa.select(entries.c.seq).limit(1)).first() is not None


def _counts(store: Store) -> dict[str, int]:
    names = store.table_names()
    return {name: int(store.bare_db.open_table(name).count_rows()) for name in names}


def _dry_run(space: Workspace, targets: MoveTargets) -> MoveResult:
    settings, size = space.settings, 0
    rows: dict[str, int] = {}
    if "tables" in targets.parts:
        found_files = of_tables(FileStorage(settings.store_uri, settings.store.storage_options))
        size = sum(file.size for file in found_files.values())
        if found_files:  # read as plain tables: opening the store would upgrade them
            rows = _counts(bare_store(settings))
    acts = space.journal.rows.count() if "journal" in targets.parts else 0
    return MoveResult(places(settings, targets.parts), targets.places(), {}, rows, size, acts, "", done=False)


def _run_move(space: Workspace, targets: MoveTargets, command: str) -> MoveResult:
    journal, now = space.journal, space.now()
    was, to = places(space.settings, targets.parts), targets.places()
    facts = {"from": was, "to": to}
    tables: dict[str, CopiedTable] = {}
    rows: dict[str, int] = {}
    acts, digest = 0, ""
    with ExitStack() as stack:
        if "tables" in targets.parts:
            space.open_store(during=command).settle()
        if "journal" in targets.parts:  # only the new journal gets the end event: the old one stays closed
            underway.begin_op(journal, WHAT, command, now, facts)
        else:
            stack.enter_context(underway.maintenance_op(journal, WHAT, command, now, facts=facts))
        if "tables" in targets.parts:
            tables, rows = _tables(space, targets.settings)
        if "journal" in targets.parts:
            acts, digest = _acts(space, targets, now)
        cutover.switch(space.settings, targets)
    size = sum(copied.size for copied in tables.values())
    return MoveResult(was, to, tables, rows, size, acts, digest, done=True)


def _tables(space: Workspace, settings: Settings) -> tuple[dict[str, CopiedTable], dict[str, int]]:
    from slowwave.common.permissions import make_private

    if "://" not in settings.store_uri:
        make_private(Path(settings.store_uri), settings.home, folder=True)
    own = space.settings
    copied = carry(
        FileStorage(own.store_uri, own.store.storage_options),
        FileStorage(settings.store_uri, settings.store.storage_options, make=True),
    )
    rows = _counts(space.store)
    target = Store.bare(settings.store_uri, space.store.identity, settings.store.storage_options)
    if (target_rows := _counts(target)) != rows:
        other = next(name for name in rows if target_rows.get(name) != rows[name])
        raise StoreError(
            f"The table {other} has {target_rows.get(other, 0):,} rows at {settings.store_uri} and "
            f"{rows[other]:,} at its old place. Nothing was switched. Run it again."
        )
    return copied, rows


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
        # Searches append events without a lock; from here on they are refused.
        with source.closing():
            for page in source.pages(after=last):
                journal.rows.put(page)
        journal.rows.put_sources(source.sources())
        until, count, digest = source.last_seq(), source.count(), source.digest()
        copied = journal.rows
        if (copied.count(until=until), copied.digest(until=until)) != (count, digest):
            raise StoreError(
                f"The journal {targets.places()['journal']} differs from that of the home: another process "
                f"wrote to it. Nothing was switched. Choose an empty one."
            )
        if (begun := _pending_move(journal)) is not None:
            _end(journal, begun.command, now)
    return count, digest

"""Opening the tables of a home, and seeing that they are whole and the journal is theirs."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.change_log import Recorder, backfill_existing
from slowwave.change_log.recorder import has_records, recorded_tables
from slowwave.common import ids
from slowwave.common.permissions import mask_of
from slowwave.common.pluralize import counted
from slowwave.errors import StoreError
from slowwave.home.connections import bare_store
from slowwave.home.relocation import MoveWatch
from slowwave.store import Store
from slowwave.store.integrity import ERRORS, Damage, DamageError, missing_files, probe
from slowwave.store.migrations import migrate, pending
from slowwave.store.wal import WriteAheadLog, beside

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.journal import Journal
    from slowwave.settings import Settings

MEND_JOURNAL = "slowwave rebuild --journal"


def open_store(settings: Settings, embedder: Embedder, journal: Journal, now: datetime) -> Store:
    """The tables of a home; new ones where there never were any.

    Args:
        settings: say where they are.
        embedder: whose vectors they hold.
        journal: of the home.
        now: the present moment.

    Raises:
        DamageError: a table is missing or cannot be read, or the journal ends before the tables do.
        StoreError: they were written by a newer Slowwave.
        ModelError: they are of another embedding model.
    """
    bare = bare_store(settings, embedder)
    _never_replace(bare, journal)
    try:
        store = Store(
            settings.store_uri,
            model=embedder.name,
            dimension=embedder.dimension,
            storage_options=settings.store.storage_options,
        )
    except ERRORS as error:
        if (problem := probe(bare, "meta")) is not None:
            raise Damage("meta", problem).error() from error
        raise
    steps = pending(store)
    if steps:
        _refuse_lost(store, journal)
        migrate(store, now)
    for damage in missing_files(store):
        raise damage.error()
    if (problem := journal_problem(store, journal)) is not None:
        raise DamageError(problem)
    if steps and has_records(journal):
        backfill_existing(store, journal)
    store.recorder = Recorder(journal)
    store.refuse_stale = MoveWatch(settings)
    if not store.elsewhere:
        store.wal = WriteAheadLog(beside(store.uri), lambda: store.specs, mask_of(settings.home))
    return store


def _never_replace(bare: Store, journal: Journal) -> None:
    """Where tables were, no empty ones are made: what they held would seem never to have been."""
    there = bare.bare_db.list_tables().tables
    if "meta" in there:  # it is the first that is made
        for damage in missing_files(bare, {"meta"}) if len(there) > 1 else ():
            raise damage.error()
        return
    if there:
        raise Damage("meta", "is missing").error()
    if has_records(journal):
        raise DamageError(
            f"The tables at {bare.uri} are gone, and the journal has what they held. "
            f"Make them again: slowwave rebuild"
        )


def _refuse_lost(store: Store, journal: Journal) -> None:
    """An upgrade makes tables that are new, and none in the place of one that is lost: that is damage."""
    if lost := missing_files(store):
        existed = recorded_tables(journal)
        for damage in lost:
            if damage.table in existed or not store.specs[damage.table].recorded:
                raise damage.error()


def journal_problem(store: Store, journal: Journal, *, thoroughly: bool = False) -> str | None:
    """That the journal does not know what the tables do, in words with the command; None where it does.

    Args:
        store: the tables.
        journal: of the home.
        thoroughly: look at every memory; else at those that were written last.
    """
    name = "memories"
    with store.explaining(name):
        dataset = store.table(name).to_lance()
        columns = ["memory_id", "revision"]
        if thoroughly:
            found = dataset.to_table(columns=columns)
        else:
            last = max(dataset.get_fragments(), key=lambda one: one.fragment_id, default=None)
            found = None if last is None else last.to_table(columns=columns)
    rows = [] if found is None else zip(*(found.column(one).to_pylist() for one in columns), strict=True)
    written = sorted((revision, memory) for memory, revision in rows if revision)
    events = {
        ids.event_of(revision): memory for revision, memory in (written if thoroughly else written[-3:])
    }
    lost = events.keys() - journal.entries(events).keys()
    if lost:  # an erasure takes a memory out of the journal first; it is finished by its own command
        erased = _erased(journal)
        lost = {event for event in lost if events[event] not in erased}
    if lost and not _mended(journal, lost):
        return (
            f"The journal {journal.where} ends before the tables do: {counted(len(lost), 'act')} that "
            f"memories came from are not in it. Is it the journal of these tables (journal.url, or the "
            f"variable SLOWWAVE_JOURNAL__URL)? If so, put a whole copy of it back, or let it know what the "
            f"tables do: {MEND_JOURNAL}"
        )
    return None


def _mended(journal: Journal, lost: set[str]) -> bool:
    """Whether the journal has been told of the acts that it lost."""
    return not lost - lost_acts(journal)


def _erased(journal: Journal) -> set[str]:
    """Every memory that a person erased or began to erase."""
    from slowwave.journal import payload_of
    from slowwave.journal.entry import ERASURE
    from slowwave.journal.kinds.erasure import memories_in

    return {
        memory
        for payload in journal.read(kinds=[ERASURE])["payload"]
        for memory in memories_in(payload_of(payload))
    }


def lost_acts(journal: Journal) -> set[str]:
    """Event ids of acts that the journal lost and the tables told it of."""
    from slowwave.journal import payload_of
    from slowwave.journal.entry import EVERYBODY, WORK
    from slowwave.journal.kinds.home import lost_in

    told: set[str] = set()
    with contextlib.suppress(StoreError):
        for payload in journal.read(kinds=[WORK], namespace=EVERYBODY)["payload"]:
            told |= set(lost_in(payload_of(payload)))
    return told

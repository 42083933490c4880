"""Opening of a home's tables, with checks that they are complete and match the journal."""

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

FIX_JOURNAL = "slowwave rebuild --journal"


def open_store(settings: Settings, embedder: Embedder, journal: Journal, now: datetime) -> Store:
    """Open the tables of a home; create them if it never had any.

    Args:
        embedder: Model of their vectors.

    Raises:
        DamageError: A table is missing or unreadable, or the journal ends before the tables do.
        StoreError: They were written by a newer Slowwave.
        ModelError: They were built with another embedding model.
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
    """Refuse to create empty tables where tables were: their content would seem lost."""
    existing = bare.bare_db.list_tables().tables
    if "meta" in existing:  # it is created first
        for damage in missing_files(bare, {"meta"}) if len(existing) > 1 else ():
            raise damage.error()
        return
    if existing:
        raise Damage("meta", "is missing").error()
    if has_records(journal):
        raise DamageError(
            f"The tables at {bare.uri} are missing, and the journal has their content. "
            f"Run `slowwave rebuild` to recreate them."
        )


def _refuse_lost(store: Store, journal: Journal) -> None:
    """Refuse an upgrade while a table is lost: it creates new tables, never replaces lost ones."""
    if lost := missing_files(store):
        existed = recorded_tables(journal)
        for damage in lost:
            if damage.table in existed or not store.specs[damage.table].recorded:
                raise damage.error()


def journal_problem(store: Store, journal: Journal, *, thoroughly: bool = False) -> str | None:
    """Describe in words, with the command, why the journal misses events of the tables; else None.

    Args:
        thoroughly: Check every memory, not only those of the last fragment.
    """
    name = "memories"
    with store.explaining(name):
        dataset = store.table(name).to_lance()
        columns = ["memory_id", "revision"]
        if thoroughly:
            table = dataset.to_table(columns=columns)
        else:
            last = max(dataset.get_fragments(), key=lambda fragment: fragment.fragment_id, default=None)
            table = None if last is None else last.to_table(columns=columns)
    rows = [] if table is None else zip(*(table.column(name).to_pylist() for name in columns), strict=True)
    written = sorted((revision, memory) for memory, revision in rows if revision)
    events = {
        ids.event_of(revision): memory for revision, memory in (written if thoroughly else written[-3:])
    }
    lost = events.keys() - journal.entries(events).keys()
    if lost:  # an erasure removes a memory from the journal first; its own command finishes it
        erased = _erased(journal)
        lost = {event for event in lost if events[event] not in erased}
    if lost and not _recorded_as_lost(journal, lost):
        return (
            f"The journal {journal.where} ends before the tables do: {counted(len(lost), 'event')} of "
            f"memories are missing from it. Is it the journal of these tables (journal.url, or the "
            f"variable SLOWWAVE_JOURNAL__URL)? If so, restore a complete copy of it, or run "
            f"`{FIX_JOURNAL}` to restore the events from the tables."
        )
    return None


def _recorded_as_lost(journal: Journal, lost: set[str]) -> bool:
    """Whether the journal has a record of the events that it lost."""
    return not lost - lost_acts(journal)


def _erased(journal: Journal) -> set[str]:
    """Return every memory that a user erased or began to erase."""
    from slowwave.journal import payload_of
    from slowwave.journal.entry import ERASURE

    return {
        memory
        for payload in journal.read(kinds=[ERASURE])["payload"]
        for memory in payload_of(payload).get("memories", ())
    }


def lost_acts(journal: Journal) -> set[str]:
    """Return the ids of lost events that the tables restored to the journal."""
    from slowwave.journal import payload_of
    from slowwave.journal.entry import EVERYBODY, WORK

    restored: set[str] = set()
    with contextlib.suppress(StoreError):
        for payload in journal.read(kinds=[WORK], namespace=EVERYBODY)["payload"]:
            restored |= set(payload_of(payload).get("lost", ()))
    return restored

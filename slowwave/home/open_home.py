"""Open home: store, journal, embedder and other parts, opened lazily and shared."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from slowwave.common.permissions import make_private
from slowwave.errors import SlowwaveError
from slowwave.home.relocation import MoveWatch
from slowwave.journal import maintenance_ops as underway
from slowwave.journal.entry import EVERYBODY, WORK
from slowwave.settings import Settings
from slowwave.telemetry import begin

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.embedding.reranking import Reranker
    from slowwave.engine import Engine
    from slowwave.journal import Journal
    from slowwave.notes.chunking import Chunker
    from slowwave.store import Store

T = TypeVar("T")


def utc_now() -> datetime:
    """Return the present moment (UTC)."""
    return datetime.now(UTC)


class _Turn(threading.local):
    """State of one thread's current call.

    Attributes:
        held: Whether the thread holds the writing lock.
        looked: Whether this call has checked that the home was not moved.
    """

    held = False
    looked = False


class OpenHome:
    """Store, journal, embedder and chunker of one home.

    Args:
        clock: Gives the present moment (aware); for replays and tests.
        namespace: Namespace that a new home's settings file names for the command line; empty: that of
            `settings`.
    """

    def __init__(
        self, settings: Settings, *, clock: Callable[[], datetime] = utc_now, namespace: str = ""
    ) -> None:
        begin(logs=settings.telemetry.logs)
        self.settings = settings
        self._namespace = namespace or settings.namespace
        self.now = clock
        self._turn = _Turn()
        self._works = 0
        self._refuse_stale = MoveWatch(settings)
        self._parts: dict[str, Any] = {}

    @cached_property
    def model(self) -> str:
        """Name of the embedding model: from the settings, else the tables, else the default."""
        from slowwave.home.embedding_model import model_of

        return model_of(self.settings)

    @cached_property
    def engine(self) -> Engine:
        """Engine that runs long computations."""
        from slowwave.engine import open_engine

        return open_engine(self.settings.engine)

    @cached_property
    def embedder(self) -> Embedder:
        """Embedding model of the home."""
        from slowwave.embedding import load_embedder
        from slowwave.embedding.distributed import distribute

        chosen = self.settings.embedding.model_copy(update={"model": self.model})
        return distribute(load_embedder(chosen), chosen, self.settings.engine, self.engine)

    def _make_home(self) -> None:
        from slowwave.home.embedding_model import make, refuse_half_restored

        refuse_half_restored(self.settings.home)
        make(self.settings, self._namespace, lambda: self.embedder)

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run one call of this thread; check once that the home was not moved.

        The check runs when the call begins. It runs again when a caller gets the writing lock, opens a part,
        or fails to read.
        """
        turn = self._turn
        if turn.looked:
            yield
            return
        self._refuse_stale()
        turn.looked = True
        try:
            yield
        finally:
            turn.looked = False

    def _check_moved(self) -> None:
        """Refuse a process whose home was moved, unless this call has checked already."""
        if not self._turn.looked:
            self._refuse_stale()

    @property
    def store(self) -> Store:
        """Tables of the home, created if missing; refused if the home was moved.

        Raises:
            PendingOpError: A maintenance operation on them has begun and not ended.
            StoreError: The home was moved; else see `slowwave.store.Store`.
            DamageError: A table is missing, or the journal ends before the tables do.
            ModelError: They were built with another embedding model.
        """
        self._check_moved()
        store: Store | None = self.__dict__.get("store")  # another thread may remove it meanwhile
        return self.open_store() if store is None else store

    def open_store(self, *, during: str = "") -> Store:
        """Open the tables again; during a maintenance operation only for the command named `during`."""
        from slowwave.home.opening import open_store

        self._refuse_stale()
        self._make_home()
        if "://" not in self.settings.store_uri:
            make_private(Path(self.settings.store_uri), self.settings.home, folder=True)
        works = self.journal.count(EVERYBODY, WORK)
        underway.require_none_pending(self.journal, but=during)
        self.__dict__["store"] = store = open_store(self.settings, self.embedder, self.journal, self.now())
        self._works = works  # only now: a caller refused above must be refused the next time too
        return store

    def reopen(self) -> None:
        """Drop the open tables and what was read from them: others may be in their place."""
        self._close_parts()
        for name in ("store", "thresholds", "gate_policy"):
            self.__dict__.pop(name, None)

    def part(self, name: str, make: Callable[[], T]) -> T:
        """Return an object that another package opens on these tables; created once per opening.

        Args:
            name: Name of the part.
            make: Creates it.
        """
        if name not in self._parts:
            self._parts[name] = make()
        part: T = self._parts[name]
        return part

    def _close_parts(self) -> None:
        while self._parts:
            part = self._parts.popitem()[1]
            if hasattr(part, "close"):
                part.close()

    def refresh_if_changed(self) -> None:
        """Reopen the tables if a maintenance operation began or ended since they were opened.

        Raises:
            PendingOpError: One has begun and not ended.
            StoreError: The home was moved.
        """
        if "store" in self.__dict__ and self._works != self.journal.count(EVERYBODY, WORK):
            underway.require_none_pending(self.journal)
            underway.require_not_moved(self.journal, self.settings.store_uri)
            self.open_store()
            opened = self.__dict__["store"]
            self.reopen()
            self.__dict__["store"] = opened

    @property
    def journal(self) -> Journal:
        """Journal of the home, created if missing; refused if the home was moved.

        Raises:
            StoreError: The home was moved.
            JournalError: It cannot be opened.
        """
        self._check_moved()
        journal: Journal | None = self.__dict__.get("journal")
        if journal is None:
            self.__dict__["journal"] = journal = self._open_journal()
        return journal

    def _open_journal(self) -> Journal:
        from slowwave.home.connections import open_journal
        from slowwave.home.embedding_model import refuse_half_restored

        if self.settings.journal.url:
            refuse_half_restored(self.settings.home)
        else:
            self._make_home()
        return open_journal(self.settings, self.settings.journal.durability)

    @cached_property
    def chunker(self) -> Chunker:
        """Chunker that splits notes."""
        from slowwave.notes.chunking import Chunker

        return Chunker(self.settings.chunks.min_words, self.settings.chunks.max_words)

    @cached_property
    def reranker(self) -> Reranker:
        """Cross-encoder for policies that give it a weight."""
        from slowwave.embedding.reranking import load_reranker

        return load_reranker(self.settings.embedding.threads)

    @contextmanager
    def writing(
        self,
        waiting: AbstractContextManager[object] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> Iterator[bool]:
        """Hold the writing lock: one writer of the memories at a time, over all processes.

        The lock is reentrant: the thread that holds it may enter again.

        Args:
            waiting: Entered while another writer holds the lock.
            until: Polled while waiting; once it is true, waiting ends without the lock.

        Yields:
            Whether the lock is held; false if `until` came true first.
        """
        turn = self._turn
        if turn.held:
            yield True
            return
        with self.journal.exclusive("memories", waiting, until) as held:
            looked = turn.looked
            try:
                if held:
                    self._refuse_stale()
                    turn.looked = True  # no home is moved while the lock is held
                    self.refresh_if_changed()
                turn.held = held
                yield held
            finally:
                turn.held, turn.looked = False, looked

    @contextmanager
    def one_night(self, waiting: AbstractContextManager[object] | None = None) -> Iterator[None]:
        """Hold the night lock: one process at a time aggregates days.

        Args:
            waiting: Entered while another process holds it.
        """
        with self.journal.exclusive("night", waiting):
            self.refresh_if_changed()
            yield

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold all write locks, for maintenance operations that change whole tables.

        Raises:
            StoreError: The home was moved while this process waited.
        """
        with self.journal.exclusive("night"), self.journal.exclusive():
            self._refuse_stale()
            yield

    def _commit_waiting(self) -> None:
        """Commit the rows of the write-ahead log, so that short processes leave few files."""
        if self.store.logged():
            with self.writing():
                self.store.settle()
                self.keep_fresh()

    def keep_fresh(self) -> None:
        """Maintain the tables written since the last call; the caller holds the writing lock."""
        from slowwave.index.incremental_snapshot import most_snapshot_rows
        from slowwave.store.maintenance import keep_fresh

        most = most_snapshot_rows(self.store, int(self.settings.store.snapshot_mb * 2**20))
        keep_fresh(self.store, indexed_from=most + 1)

    def close(self) -> None:
        """Commit waiting rows; release connections and threads of the opened parts."""
        if "store" in self.__dict__:
            # On failure the next process that opens the home commits them.
            with suppress(SlowwaveError, OSError, RuntimeError):
                self._commit_waiting()
        if "journal" in self.__dict__:
            self.__dict__["journal"].close()
        self._close_parts()

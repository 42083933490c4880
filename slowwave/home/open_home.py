"""The parts of one home, opened when they are first needed and shared by all who use it."""

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
    """The present moment."""
    return datetime.now(UTC)


class _Turn(threading.local):
    """What a thread holds and has looked at.

    Attributes:
        held: whether it is the one writer of the memories.
        looked: whether it knows, for this call, that the home was not moved.
    """

    held = False
    looked = False


class OpenHome:
    """Store, journal, embedder and chunker of one home.

    Args:
        settings: of the home.
        clock: gives the present moment (aware); for replays and tests.
        namespace: that a new home's settings file names for the command line; empty: that of the settings.
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
        """Name of the embedding model: that of the settings, else that of the tables, else the default."""
        from slowwave.home.embedding_model import model_of

        return model_of(self.settings)

    @cached_property
    def engine(self) -> Engine:
        """Where long work is computed."""
        from slowwave.engine import open_engine

        return open_engine(self.settings.engine)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
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
        """One call of this thread: what it rests on is looked at once.

        Whether the home was moved is asked as the call begins, and again by whoever gets the turn to write,
        opens a part, or fails to read.
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

    def _look(self) -> None:
        """Refuse whoever has left this home, unless the call has looked."""
        if not self._turn.looked:
            self._refuse_stale()

    @property
    def store(self) -> Store:
        """The tables, made when they are not there, and given to nobody whose home has left them.

        Raises:
            UnfinishedError: a work on them has begun and not ended.
            StoreError: the home was moved; else see `slowwave.store.Store`.
            DamageError: one of them is missing, or the journal ends before they do.
            ModelError: they are of another embedding model.
        """
        self._look()
        store: Store | None = self.__dict__.get("store")  # another thread may take it away just now
        return self.open_store() if store is None else store

    def open_store(self, *, during: str = "") -> Store:
        """The tables, newly opened; while a work is under way only for the command that finishes it."""
        from slowwave.home.opening import open_store

        self._refuse_stale()
        self._make_home()
        if "://" not in self.settings.store_uri:
            make_private(Path(self.settings.store_uri), self.settings.home, folder=True)
        works = self.journal.count(EVERYBODY, WORK)
        underway.require_none_pending(self.journal, but=during)
        self.__dict__["store"] = store = open_store(self.settings, self.embedder, self.journal, self.now())
        self._works = works  # not before: who is refused now has to be refused the next time
        return store

    def reopen(self) -> None:
        """Forget the open tables and what was read from them: others may be in their place."""
        self._close_parts()
        for name in ("store", "thresholds", "gate_policy"):
            self.__dict__.pop(name, None)

    def part(self, name: str, make: Callable[[], T]) -> T:
        """What another room opens on these tables, made once and kept as long as they are the same.

        Args:
            name: of the part.
            make: makes it.
        """
        if name not in self._parts:
            self._parts[name] = make()
        found: T = self._parts[name]
        return found

    def _close_parts(self) -> None:
        while self._parts:
            part = self._parts.popitem()[1]
            if hasattr(part, "close"):
                part.close()

    def refresh_if_changed(self) -> None:
        """See whether a work on the tables began or ended since they were opened; then open them again.

        Raises:
            UnfinishedError: one has begun and not ended.
            StoreError: the home was moved.
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
        """The journal, made when it is not there, and given to nobody whose home has left it.

        Raises:
            StoreError: the home was moved.
            JournalError: it cannot be opened.
        """
        self._look()
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
        """How notes are cut."""
        from slowwave.notes.chunking import Chunker

        return Chunker(self.settings.chunks.min_words, self.settings.chunks.max_words)

    @cached_property
    def reranker(self) -> Reranker:
        """The cross-encoder, for policies that give it a share."""
        from slowwave.embedding.reranking import load_reranker

        return load_reranker(self.settings.embedding.threads)

    @contextmanager
    def writing(
        self,
        waiting: AbstractContextManager[object] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> Iterator[bool]:
        """The one writer of the memories at a time, over all processes that have this home open.

        A thread that is the one writer may ask again.

        Args:
            waiting: entered for as long as another one writes.
            until: asked meanwhile; once it is true there is nothing to wait for.

        Yields:
            Whether this is the one writer: not, if what `until` asks came true first.
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
                    turn.looked = True  # no home is moved under the one writer
                    self.refresh_if_changed()
                turn.held = held
                yield held
            finally:
                turn.held, turn.looked = False, looked

    @contextmanager
    def one_night(self, waiting: AbstractContextManager[object] | None = None) -> Iterator[None]:
        """The one who folds days at a time, over all processes that have this home open.

        Args:
            waiting: entered for as long as another one does.
        """
        with self.journal.exclusive("night", waiting):
            self.refresh_if_changed()
            yield

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Nobody else writes to the tables or folds days, for works that change them as a whole.

        Raises:
            StoreError: the home was moved while this one waited.
        """
        with self.journal.exclusive("night"), self.journal.exclusive():
            self._refuse_stale()
            yield

    def _leave_in_order(self) -> None:
        """Commit what waits; who saves in a process of its own each time leaves few files, too."""
        from slowwave.store.maintenance import keep_fresh

        if self.store.logged():
            with self.writing():
                self.store.settle()
                keep_fresh(self.store)

    def close(self) -> None:
        """Commit what waits, release connections and threads of the parts that were opened."""
        if "store" in self.__dict__:
            with suppress(SlowwaveError, OSError, RuntimeError):  # else whoever opens it next commits it
                self._leave_in_order()
        if "journal" in self.__dict__:
            self.__dict__["journal"].close()
        self._close_parts()

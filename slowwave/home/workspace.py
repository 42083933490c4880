"""The parts of one home, opened when they are first needed and shared by all who use it.

It is one file because it is one list: each part says in a few lines what it is opened with.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from slowwave.common.permissions import make_private
from slowwave.errors import SettingsError, SlowwaveError, StoreError
from slowwave.home.moved import Watch
from slowwave.journal import works as underway
from slowwave.quality.gate_policy import GatePolicy
from slowwave.quality.reconsolidation import Thresholds
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.ranking import RankingPolicy
from slowwave.settings import Settings
from slowwave.settings.ranking_file import read_policy
from slowwave.telemetry import begin

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.embedding.reranking import Reranker
    from slowwave.engine import Engine
    from slowwave.journal import Journal
    from slowwave.notes.chunking import Chunker
    from slowwave.quality.admission import AdmissionPolicy
    from slowwave.quality.learning_bounds import GateBounds
    from slowwave.scoring.feedback.policy import KeyTeaching, LearningPolicy
    from slowwave.scoring.feedback.usage import UsagePolicy
    from slowwave.scoring.key_policy import KeyPolicy
    from slowwave.store import Store

_NO_PARAMETERS = {"candidates", "policy_file"}  # settings of the ranking that are not of its policy
GATE_ACTIVATED = "gate-activated"
RECONSOLIDATION_CHECKPOINT = "before-reconsolidation"

T = TypeVar("T")


def utc_now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


class Workspace:
    """Store, journal, embedder, chunker and policies of one home.

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
        self._checkpointed = False
        self._turn = threading.local()
        self._works = 0
        self._refuse_stale = Watch(settings)
        self._parts: dict[str, Any] = {}

    @cached_property
    def model(self) -> str:
        """Name of the embedding model: that of the settings, else that of the tables, else the default."""
        from slowwave.home.model import model_of

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
        from slowwave.embedding.spread import shared_out

        chosen = self.settings.embedding.model_copy(update={"model": self.model})
        return shared_out(load_embedder(chosen), chosen, self.settings.engine, self.engine)

    def _make_home(self) -> None:
        from slowwave.home.model import make, refuse_half_restored

        refuse_half_restored(self.settings.home)
        make(self.settings, self._namespace, lambda: self.embedder)

    @property
    def store(self) -> Store:
        """The tables, made when they are not there, and given to nobody whose home has left them.

        Raises:
            UnfinishedError: a work on them has begun and not ended.
            StoreError: the home was moved; else see `slowwave.store.Store`.
            DamageError: one of them is missing, or the journal ends before they do.
            ModelError: they are of another embedding model.
        """
        self._refuse_stale()
        store: Store | None = self.__dict__.get("store")  # another thread may take it away just now
        return self.open_store() if store is None else store

    def open_store(self, *, during: str = "") -> Store:
        """The tables, newly opened; while a work is under way only for the command that finishes it."""
        from slowwave.home.opening import open_store

        self._refuse_stale()
        self._make_home()
        if "://" not in self.settings.store_uri:
            make_private(Path(self.settings.store_uri), self.settings.home, folder=True)
        works = underway.changes(self.journal)
        underway.refuse(self.journal, but=during)
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

    def keep_up(self) -> None:
        """See whether a work on the tables began or ended since they were opened; then open them again.

        Raises:
            UnfinishedError: one has begun and not ended.
            StoreError: the home was moved.
        """
        if "store" in self.__dict__ and self._works != underway.changes(self.journal):
            underway.refuse(self.journal)
            underway.refuse_moved(self.journal, self.settings.store_uri)
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
        self._refuse_stale()
        journal: Journal | None = self.__dict__.get("journal")
        if journal is None:
            self.__dict__["journal"] = journal = self._open_journal()
        return journal

    def _open_journal(self) -> Journal:
        from slowwave.home.model import refuse_half_restored
        from slowwave.journal import Journal

        journal = self.settings.journal
        if journal.url:
            refuse_half_restored(self.settings.home)
            return Journal(journal.url, durability=journal.durability)
        self._make_home()
        make_private(self.settings.journal_file, self.settings.home)
        return Journal.open_path(self.settings.journal_file, durability=journal.durability)

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
        if getattr(self._turn, "held", False):
            yield True
            return
        with self.journal.exclusive("memories", waiting, until) as held:
            if held:
                self.keep_up()
            self._turn.held = held
            try:
                yield held
            finally:
                self._turn.held = False

    @contextmanager
    def one_night(self, waiting: AbstractContextManager[object] | None = None) -> Iterator[None]:
        """The one who folds days at a time, over all processes that have this home open.

        Args:
            waiting: entered for as long as another one does.
        """
        with self.journal.exclusive("night", waiting):
            self.keep_up()
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

    def activate_gate(self) -> None:
        """Begin the fortnight in which a gate of mode warn only warns, if it has not begun (rule 1).

        Called before notes are judged; the store remembers the moment.
        """
        self.look_at_gate()
        if self.settings.gate.mode == "warn" and self.gate_policy.activated_at is None:
            self.store.put_meta(GATE_ACTIVATED, {"at": self.now().isoformat()}, keep=True)
            self.__dict__.pop("gate_policy", None)  # another thread may have been here

    def look_at_gate(self) -> None:
        """See whether anybody has said since when the gate is to begin, in this process or another one."""
        from slowwave.home.gate_moves import said

        if "gate_policy" in self.__dict__ and len(self.gate_policy.moved) != said(self.journal):
            self.__dict__.pop("gate_policy", None)

    @cached_property
    def gate_policy(self) -> GatePolicy:
        """The save gate's settings, when it was activated, and what was said about when it begins."""
        from slowwave.home.gate_moves import moved

        gate = self.settings.gate
        activated = self.store.get_meta(GATE_ACTIVATED)
        return GatePolicy(
            mode=gate.mode,
            score=gate.score,
            min_characters=gate.min_characters,
            min_quality=gate.min_quality,
            activated_at=None if activated is None else datetime.fromisoformat(activated["at"]),
            warn_days=gate.warn_days,
            echo_window=timedelta(hours=gate.echo_hours),
            moved=moved(self.journal),
        )

    @cached_property
    def thresholds(self) -> Thresholds:
        """Cosine thresholds: the settings, else the calibration of the model, else its profile (rule 2.4).

        Raises:
            SettingsError: together they are out of order.
        """
        from slowwave.home.thresholds import stored_thresholds

        known, given = stored_thresholds(self.store), self.settings.reconsolidation
        own = given.model_dump(include={"duplicate", "merge", "conflict"}, exclude_none=True)
        try:
            return replace(known, **own)
        except ValueError as error:
            raise SettingsError(
                f"The thresholds of reconsolidation are out of order: {error}. Set are {', '.join(own)}; the "
                f"others are those of {self.store.identity.model}. Set them all, or none."
            ) from None

    def admission(self) -> tuple[AdmissionPolicy, tuple[str, ...]]:
        """How notes enter, and what a person should know of it.

        The first time that reconsolidation is on, every table gets a checkpoint; when that fails it stays off
        (rule 2.5).
        """
        from slowwave.quality.admission import AdmissionPolicy
        from slowwave.store.checkpoints import ensure_checkpoint

        given = self.settings.reconsolidation
        policy = AdmissionPolicy(
            gate=self.gate_policy.mode != "off",
            reconsolidation=given.policy,
            thresholds=self.thresholds,
            neighbours=given.neighbours,
        )
        if given.policy == "off" or self._checkpointed:
            return policy, ()
        try:
            with self.writing():  # or two processes would make it at once
                ensure_checkpoint(self.store, RECONSOLIDATION_CHECKPOINT, self.now())
        except (StoreError, RuntimeError, OSError, ValueError) as error:
            warning = (
                f"Reconsolidation stays off: no checkpoint of the tables could be made before it ({error}). "
                f"Nothing was merged or superseded."
            )
            return replace(policy, reconsolidation="off"), (warning,)
        self._checkpointed = True
        return policy, ()

    @cached_property
    def feedback_policy(self) -> FeedbackPolicy:
        """What feedback counts."""
        return FeedbackPolicy(**self.settings.feedback.model_dump(exclude={"used_ratio"}))

    @cached_property
    def learning_policy(self) -> LearningPolicy:
        """What selections may teach."""
        from slowwave.scoring.feedback.policy import LearningPolicy

        names = {part.name for part in fields(LearningPolicy)}
        return LearningPolicy(**self.settings.learning.model_dump(include=names))

    @cached_property
    def key_teaching(self) -> KeyTeaching:
        """What searches teach as keys."""
        from slowwave.scoring.feedback.policy import KeyTeaching

        names = {part.name for part in fields(KeyTeaching)}
        return KeyTeaching(**self.settings.search_keys.model_dump(include=names))

    @cached_property
    def key_policy(self) -> KeyPolicy:
        """How keys lift: by what the ranking in force lets them add."""
        from slowwave.scoring.key_policy import KeyPolicy

        names = {part.name for part in fields(KeyPolicy)} - {"weight"}
        return KeyPolicy(weight=self.policy.key_weight, **self.settings.search_keys.model_dump(include=names))

    @cached_property
    def gate_bounds(self) -> GateBounds:
        """What the learning gate asks for."""
        from slowwave.quality.learning_bounds import GateBounds

        names = {part.name for part in fields(GateBounds)}
        return GateBounds(**self.settings.learning.model_dump(include=names))

    @cached_property
    def usage_policy(self) -> UsagePolicy:
        """When an answer has used a memory."""
        from slowwave.scoring.feedback.usage import UsagePolicy

        ratio = self.settings.feedback.used_ratio
        return UsagePolicy(used_ratio=ratio, grey_ratio=min(ratio, UsagePolicy().grey_ratio))

    @cached_property
    def model_policy(self) -> RankingPolicy:
        """The default ranking with what is known of the embedding model."""
        from slowwave.embedding import profile

        model = profile(self.model)
        return replace(
            RankingPolicy(),
            vector_weight=model.vector_weight,
            cosine_floor=model.cosine_floor,
            sparse_distance=model.recall_distance,
            abstention_floor=model.abstention_floor,
        )

    def policy_of(self, file: Path) -> RankingPolicy:
        """The policy of a file that the settings name; what it leaves out is as in `model_policy`."""
        return read_policy(self.settings.in_home(file), self.model_policy)

    @cached_property
    def policy(self) -> RankingPolicy:
        """The ranking in force: the settings, over the policy file, over what is known of the model."""
        ranking = self.settings.ranking
        policy = self.model_policy if ranking.policy_file is None else self.policy_of(ranking.policy_file)
        return replace(policy, **ranking.model_dump(exclude=_NO_PARAMETERS, exclude_none=True))

    @cached_property
    def interleaved_policy(self) -> RankingPolicy | None:
        """The ranking whose results searches show in turn with those of the one in force, if any."""
        file = self.settings.evaluation.interleave
        other = None if file is None else self.policy_of(file)
        return None if other is None or other.version == self.policy.version else other

    def _leave_in_order(self) -> None:
        """Commit what waits; who saves in a process of its own each time leaves few files, too."""
        from slowwave.store.upkeep import keep_fresh

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

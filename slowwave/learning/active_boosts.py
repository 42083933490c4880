"""Learned words (rule 5) and search keys (rule 7) in effect on a search.

Rows are read once per table version. Every search of a namespace with such rows checks the journal for new
decisions, because another process may just have withdrawn or rolled back something. Rule 3.10 bounds the cost
per search; `bench/learned_overhead.py` measures it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import polars as pl

from slowwave.errors import SlowwaveError
from slowwave.feedback.questions import question_indexes
from slowwave.feedback.text_attribution import in_force, of_text, texts_in
from slowwave.index.table_cache import TableCache
from slowwave.journal.errors import JournalError
from slowwave.learning import events
from slowwave.learning.isolation import QUESTIONS, IsolationWatch
from slowwave.learning.search_keys import KeyIndex, LedTo, key_rules
from slowwave.scoring.days import day_end, day_start
from slowwave.scoring.feedback.learned import KEYS, LESSON, WORDS, Kind, Rollback, live
from slowwave.scoring.feedback.policy import LearningPolicy
from slowwave.scoring.ranking.learned import Learned, LearnedTerms
from slowwave.scoring.ranking_policy import RankingPolicy
from slowwave.store import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.embedding.base import Vectors
    from slowwave.home.workspace import Workspace

_KEY: Final = ("namespace", "memory_id", "term")
_COLUMNS = [*_KEY, "text", "added_at", "expires_at", "question", "principal", "search_id"]
_VIEW = [
    "namespace", "memory_id", "search_id", "query_id", "principal", "at", "expires_at", "taken", "examined",
    "text",
]  # fmt: skip
TABLES: Final[Mapping[Kind, str]] = {WORDS: "learned_triggers", KEYS: "search_keys"}
"""Table of each kind of learning."""
T = TypeVar("T")


Version = tuple[tuple[int, ...], tuple[int, tuple[str, ...]]]
"""Versions of the learning tables, and of the memories."""


@dataclass(frozen=True, slots=True)
class _CachedLearning(Generic[T]):
    """Cached learning of a namespace.

    Attributes:
        version: Versions of the table and of the memories, whose texts may change.
        taken_back: Rollbacks at that time.
        since: Start of the validity.
        until: End of the validity: a later lesson starts to count.
        learned: The cached object.
        texts: Text ids of its memories, where not the first.
        memories: Ids of its memories.
    """

    version: Version
    taken_back: tuple[Rollback, ...]
    since: datetime
    until: datetime | None
    learned: T
    texts: Mapping[str, str]
    memories: Sequence[str]

    def serves(self, table: tuple[int, ...], taken_back: tuple[Rollback, ...], now: datetime) -> bool:
        """Return whether the cache is valid now, provided the texts of memories are unchanged."""
        same = (self.version[0], self.taken_back) == (table, taken_back)
        return same and self.since <= now and (self.until is None or now <= self.until)


class _GatedLearning(ABC, Generic[T]):
    """Learning of a kind behind its preconditions: approval, rollbacks, isolation proof.

    For a past day it is what was learned by its end and still exists, if approved then. Later rollbacks and
    deleted expired rows apply to past searches as well.

    Args:
        space: Workspace of the home; its journal is read only if there are rows.
        until: Last day that counts; None is today.
    """

    kind: Kind

    def __init__(self, space: Workspace, until: date | None = None) -> None:
        self._space, self._store, self._texts, self._until = space, space.store, texts_in(space), until
        self._table = TABLES[self.kind]
        self._watch = IsolationWatch(self._store, self._table)
        self._lock = threading.Lock()
        self._has_any = TableCache(lambda _: self._version(), self._has_rows)
        self._acts = TableCache(
            lambda namespace: events.mark(space.journal, namespace),
            self._read_acts,
        )
        self._held: dict[str, _CachedLearning[T]] = {}
        self._refused: dict[str, str] = {}

    def doubts(self, namespace: str) -> tuple[str, ...]:
        """Return the reason why approved learning was not used by the last match here."""
        why = self._refused.get(namespace)
        return (f"Learning is not used: {why}",) if why else ()

    def _in_effect(self, namespace: str, now: datetime) -> T | None:
        """Return what is in effect on a search at a moment, or None."""
        self._refused.pop(namespace, None)
        try:
            return self._behind_the_gate(namespace, now)
        except JournalError as error:
            self._refused[namespace] = f"the journal cannot be read for the approval: {error}"
        except SlowwaveError as error:  # a damaged table disables learning, not searches
            self._refused[namespace] = str(error)
        return None

    def _behind_the_gate(self, namespace: str, now: datetime) -> T | None:
        version = self._version()
        memories_version = self._store.mark("memories")
        if not self._has_any.of(namespace):
            return None
        approved, taken_back = self._decided(namespace, now)
        if not approved:
            return None
        if problems := self._watch.problems():
            self._refused[namespace] = (
                f"full-text search may reach learned text: {'; '.join(problems)}. "
                f"Run `slowwave doctor --repair` to fix it."
            )
            return None
        with self._lock:
            cached = self._held.get(namespace)
            if cached is None or not cached.serves(version, taken_back, now):
                cached = self._build(namespace, (version, memories_version), taken_back, now)
            elif (
                cached.version[1] != memories_version
            ):  # memories changed; rebuild only if a taught memory has another text
                if self._current_texts(cached.memories) == cached.texts:
                    cached = replace(cached, version=(version, memories_version))
                else:
                    cached = self._build(namespace, (version, memories_version), taken_back, now)
            self._held[namespace] = cached
        return cached.learned

    def _version(self) -> tuple[int, ...]:
        """Return the versions of the source tables."""
        return (self._store.version(self._table),)

    @abstractmethod
    def _build(
        self, namespace: str, version: Version, taken_back: tuple[Rollback, ...], now: datetime
    ) -> _CachedLearning[T]:
        """Build what is in effect at a moment, with its period of validity."""

    def _where(self, namespace: str) -> str:
        where = within(namespace)
        return where if self._until is None else f"{where} AND day <= {quote(self._until.isoformat())}"

    def _has_rows(self, namespace: str, *_: object) -> bool:
        return self._store.count(self._table, self._where(namespace)) > 0

    def _read_acts(
        self, namespace: str, *_: object
    ) -> tuple[list[events.LearningEvent], tuple[Rollback, ...]]:
        """Read the decisions and the rollbacks, including those after a past day."""
        decided = events.learning_events(self._space.journal, namespace)
        return decided, tuple(events.rollbacks(decided, self.kind))

    def _decided(self, namespace: str, now: datetime) -> tuple[bool, tuple[Rollback, ...]]:
        """Return whether learning is approved, and the rollbacks."""
        decided, taken_back = self._acts.of(namespace)
        earlier = [event for event in decided if self._until is None or event.at <= now]
        return events.approved(earlier, self.kind), taken_back

    def _current_texts(self, memories: Sequence[str]) -> Mapping[str, str]:
        """Return the current text ids of memories, where not the first.

        What one text was taught does not apply to another (rule 7.6).
        """
        as_of = None if self._until is None else day_end(self._until)
        return in_force(self._texts(memories), as_of)

    def _standing(
        self, namespace: str, columns: list[str], moment: str, taken_back: tuple[Rollback, ...]
    ) -> tuple[pl.DataFrame, Sequence[str], Mapping[str, str]]:
        """Return rows of the memories' current texts that are not rolled back.

        Args:
            namespace: Namespace of the rows.
            columns: Columns of the table.
            moment: Column with the time of learning.
            taken_back: Rollbacks to apply, whatever their clock time.

        Returns:
            The rows, all memories with rows, and their texts.
        """
        rows = self._store.scan(self._table, self._where(namespace), columns=columns)
        memories = rows["memory_id"].unique().sort().to_list()
        texts = self._current_texts(memories)
        rows = of_text(rows, texts).with_columns(taught_at=moment)
        for rollback in taken_back:
            rows = rows.filter(~rollback.hits())
        return rows, memories, texts


class LearnedTriggers(_GatedLearning[LearnedTerms]):
    """Learned terms in effect.

    Args:
        space: Workspace of the home.
        until: Last day that counts; None is today.
    """

    kind = WORDS

    def __init__(self, space: Workspace, until: date | None = None) -> None:
        super().__init__(space, until)
        self._policy = space.learning_policy

    def match(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        """Return the memories of a namespace that approved learned terms match.

        Args:
            namespace: the tenant.
            query: the question.
            now: moment of the search.
        """
        terms = self._in_effect(namespace, now)
        return {} if terms is None else terms.match(query, now)

    def _build(
        self, namespace: str, version: Version, taken_back: tuple[Rollback, ...], now: datetime
    ) -> _CachedLearning[LearnedTerms]:
        lessons, memories, texts = self._standing(namespace, _COLUMNS, "added_at", taken_back)
        to_come = lessons.filter(pl.col("taught_at") >= now)["taught_at"].min()
        assert to_come is None or isinstance(to_come, datetime)
        terms = live_terms(lessons, now, self._policy)
        learned = LearnedTerms(terms, self._policy.ttl)
        return _CachedLearning(version, taken_back, now, to_come, learned, texts, memories)


class SearchKeys(_GatedLearning[KeyIndex]):
    """Search keys in effect, as of the start of a search's day.

    Args:
        space: Workspace of the home.
        until: Last day that counts; None is today.
    """

    kind = KEYS

    def __init__(self, space: Workspace, until: date | None = None) -> None:
        super().__init__(space, until)
        self._rules, self._indexes = key_rules(space), question_indexes(space)

    def _version(self) -> tuple[int, ...]:
        """Return the versions of the source tables."""
        return self._store.version(self._table), self._store.version(QUESTIONS)

    def led(self, namespace: str, vector: Vectors, now: datetime) -> Mapping[str, LedTo]:
        """Return the query boosts of approved search keys for a question.

        Args:
            namespace: the tenant.
            vector: Unit vector of the question, (dimension,).
            now: moment of the search.
        """
        keys = self._in_effect(namespace, now)
        return {} if keys is None else keys.led(vector)

    def _build(
        self, namespace: str, version: Version, taken_back: tuple[Rollback, ...], now: datetime
    ) -> _CachedLearning[KeyIndex]:
        begin = day_start(now.astimezone(UTC).date())
        until = day_end(now.astimezone(UTC).date())
        rows, memories, texts = self._standing(namespace, _VIEW, "at", taken_back)
        views = rows.filter(pl.col("taught_at") < begin, pl.col("expires_at") > begin)
        index = KeyIndex(views, self._indexes.of(namespace), begin, self._rules)
        return _CachedLearning(version, taken_back, begin, until, index, texts, memories)


def in_use(space: Workspace, kind: Kind) -> bool:
    """Return whether the settings let a kind of learning take effect."""
    learning, policy = space.settings.learning, space.policy
    on = learning.words and policy.learned_cap != 0 if kind == WORDS else learning.keys and policy.key_weight
    return learning.enabled and bool(on)


def without(policy: RankingPolicy, kind: Kind) -> RankingPolicy:
    """Return the policy without a kind of learning."""
    return replace(policy, learned_cap=0.0) if kind == WORDS else replace(policy, key_weight=0.0)


def learned_triggers(space: Workspace, until: date | None = None) -> LearnedTriggers | None:
    """Return the learned terms for searches; None if the settings turn them off.

    Args:
        space: the home.
        until: Last day that counts; None is today.
    """
    return LearnedTriggers(space, until) if in_use(space, WORDS) else None


def search_keys(space: Workspace, until: date | None = None) -> SearchKeys | None:
    """Return the search keys for searches; None if the settings turn them off.

    Args:
        space: the home.
        until: Last day that counts; None is today.
    """
    return SearchKeys(space, until) if in_use(space, KEYS) else None


def learned_boost(space: Workspace) -> Callable[[Learned], float]:
    """Return the function that computes the boost of learned terms (rule 3.8)."""
    return lambda learned: learned.boost(space.policy.learned_cap, space.learning_policy.coefficient)


def lessons_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of ``learned_triggers`` as lessons."""
    return rows.rename({"added_at": "taught_at"}).select(
        pl.col(name).cast(kind) for name, kind in LESSON.items()
    )


def live_terms(lessons: pl.DataFrame, now: datetime, policy: LearningPolicy) -> pl.DataFrame:
    """Return the terms in effect at a moment, each with the moment ``until`` which.

    A term ends before its last lesson expires if too few questions or users remain.

    Args:
        lessons: Standing lessons, as in `slowwave.scoring.feedback.learned.live`.
        now: Moment of the search.
        policy: Bounds.
    """
    open_ = lessons.filter(pl.col("taught_at") < now, pl.col("expires_at") > now)
    ends = live(lessons, now, policy)
    for by, least in (("question", policy.min_queries), ("principal", policy.min_users)):
        last = open_.group_by(*_KEY, by).agg(pl.col("expires_at").max())
        kth = pl.col("expires_at").sort(descending=True).get(max(least, 1) - 1, null_on_oob=True)
        ends = ends.join(last.group_by(_KEY).agg(kth.alias(f"until_{by}")), on=_KEY, how="left")
    return ends.with_columns(until=pl.min_horizontal("until_question", "until_principal"))

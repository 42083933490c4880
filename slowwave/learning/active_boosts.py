"""What was learned, as far as it has an effect on a search: words (rule 5) and search keys (rule 7).

The rows of its table are read once for every version of it. For every search of a namespace
that has such rows the journal is asked whether anything new was decided about learning: another process may
have withdrawn it or taken something back a moment ago. What that costs a search is bounded by
rule 3.10 and measured by `bench/learned_overhead.py`.
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
from slowwave.feedback.text_attribution import Texts, in_force, of_text, texts_in
from slowwave.index.questions import QuestionIndexes
from slowwave.index.table_cache import TableCache
from slowwave.journal.errors import JournalError
from slowwave.learning import events
from slowwave.learning.isolation import QUESTIONS, IsolationWatch
from slowwave.learning.search_keys import KeyIndex, KeyRules, LedTo, key_rules
from slowwave.scoring.days import day_end, day_start
from slowwave.scoring.feedback.learned import KEYS, LESSON, WORDS, Kind, Rollback, live
from slowwave.scoring.feedback.policy import LearningPolicy
from slowwave.scoring.ranking.learned import Learned, LearnedTerms
from slowwave.scoring.ranking_policy import RankingPolicy
from slowwave.store import Store, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.embedding.base import Vectors
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal

_KEY: Final = ("namespace", "memory_id", "term")
_COLUMNS = [*_KEY, "text", "added_at", "expires_at", "question", "principal", "search_id"]
_VIEW = [
    "namespace", "memory_id", "search_id", "query_id", "principal", "at", "expires_at", "taken", "examined",
    "text",
]  # fmt: skip
TABLES: Final[Mapping[Kind, str]] = {WORDS: "learned_triggers", KEYS: "search_keys"}
"""Where what was learned of each kind is."""
T = TypeVar("T")


Version = tuple[tuple[int, ...], tuple[int, tuple[str, ...]]]
"""Of the tables of what was learned, and what the memories are."""


@dataclass(frozen=True, slots=True)
class _CachedLearning(Generic[T]):
    """What was learned in a namespace as it was put together.

    Attributes:
        version: of the table, and of the memories: they may say something else.
        taken_back: what was taken back by then.
        since: from which on it is what would be put together.
        until: from which it has to be put together again: something taught later begins to count.
        learned: what was put together.
        texts: names of the texts that its memories have, where they are not their first.
        memories: that it is about.
    """

    version: Version
    taken_back: tuple[Rollback, ...]
    since: datetime
    until: datetime | None
    learned: T
    texts: Mapping[str, str]
    memories: Sequence[str]

    def serves(self, table: tuple[int, ...], taken_back: tuple[Rollback, ...], now: datetime) -> bool:
        """Whether it is what would be put together now, if memories say what they said."""
        same = (self.version[0], self.taken_back) == (table, taken_back)
        return same and self.since <= now and (self.until is None or now <= self.until)


class _Behind(ABC, Generic[T]):
    """What was learned of a kind, behind everything that has to be so before it has an effect.

    Of a past day: what was learned by its end and is still there, if it was approved then. What was taken
    back since has no effect on searches of the past either, nor has what expired and was swept.

    Args:
        store: has what was learned.
        journal: opens what knows the approvals; asked where there is anything.
        until: the last day that counts; None is today.
        texts: gives the texts of memories: what one was taught, another one does not know (rule 7.6).
    """

    kind: Kind

    def __init__(
        self,
        store: Store,
        journal: Callable[[], Journal],
        until: date | None = None,
        texts: Texts | None = None,
    ) -> None:
        self._texts, self._store, self._journal, self._until = texts, store, journal, until
        self._table = TABLES[self.kind]
        self._watch = IsolationWatch(store, self._table)
        self._lock = threading.Lock()
        self._has_any = TableCache(lambda _: self._version(), self._look_for_any)
        self._acts = TableCache(
            lambda namespace: events.mark(self._journal(), namespace),
            self._read_acts,
        )
        self._held: dict[str, _CachedLearning[T]] = {}
        self._refused: dict[str, str] = {}

    def doubts(self, namespace: str) -> tuple[str, ...]:
        """Why the last match in this namespace used nothing although it may be approved, for people."""
        why = self._refused.get(namespace)
        return (f"Nothing that was learned is used: {why}",) if why else ()

    def _in_effect(self, namespace: str, now: datetime) -> T | None:
        """What has an effect on a search at a moment; None: nothing has."""
        self._refused.pop(namespace, None)
        try:
            return self._behind_the_gate(namespace, now)
        except JournalError as error:
            self._refused[namespace] = f"the journal cannot say whether it is approved: {error}"
        except SlowwaveError as error:  # a damaged table costs what was learned, and no search
            self._refused[namespace] = str(error)
        return None

    def _behind_the_gate(self, namespace: str, now: datetime) -> T | None:
        version = self._version()
        said = self._store.mark("memories")
        if not self._has_any.of(namespace):
            return None
        approved, taken_back = self._decided(namespace, now)
        if not approved:
            return None
        if problems := self._watch.problems():
            self._refused[namespace] = (
                f"it is not proven that no full-text search reaches it: {'; '.join(problems)}. "
                f"`slowwave doctor --repair` mends it."
            )
            return None
        with self._lock:
            held = self._held.get(namespace)
            if held is None or not held.serves(version, taken_back, now):
                held = self._put_together(namespace, (version, said), taken_back, now)
            elif (
                held.version[1] != said
            ):  # someone saved; it matters where a memory that was taught says else
                if self._named(held.memories) == held.texts:
                    held = replace(held, version=(version, said))
                else:
                    held = self._put_together(namespace, (version, said), taken_back, now)
            self._held[namespace] = held
        return held.learned

    def _version(self) -> tuple[int, ...]:
        """Of the tables that it is put together from."""
        return (self._store.version(self._table),)

    @abstractmethod
    def _put_together(
        self, namespace: str, version: Version, taken_back: tuple[Rollback, ...], now: datetime
    ) -> _CachedLearning[T]:
        """What has an effect at a moment, with the moments between which it is the same."""

    def _where(self, namespace: str) -> str:
        mine = within(namespace)
        return mine if self._until is None else f"{mine} AND day <= {quote(self._until.isoformat())}"

    def _look_for_any(self, namespace: str, *_: object) -> bool:
        return self._store.count(self._table, self._where(namespace)) > 0

    def _read_acts(
        self, namespace: str, *_: object
    ) -> tuple[list[events.LearningEvent], tuple[Rollback, ...]]:
        """Read the decisions, and what was taken back, also after a past day."""
        decided = events.learning_events(self._journal(), namespace)
        return decided, tuple(events.rollbacks(decided, self.kind))

    def _decided(self, namespace: str, now: datetime) -> tuple[bool, tuple[Rollback, ...]]:
        """Whether learning is approved, and what was taken back."""
        decided, taken_back = self._acts.of(namespace)
        then = [act for act in decided if self._until is None or act.at <= now]
        return events.approved(then, self.kind), taken_back

    def _named(self, memories: Sequence[str]) -> Mapping[str, str]:
        """The texts that memories have, where they are not their first."""
        if self._texts is None:
            return {}
        as_of = None if self._until is None else day_end(self._until)
        return in_force(self._texts(memories), as_of)

    def _standing(
        self, namespace: str, columns: list[str], moment: str, taken_back: tuple[Rollback, ...]
    ) -> tuple[pl.DataFrame, Sequence[str], Mapping[str, str]]:
        """Rows that belong to the text which their memory has and that were not taken back.

        Args:
            namespace: whose rows.
            columns: of the table.
            moment: the one of them that says when it was taught.
            taken_back: whatever the clock of the machine said that it was taken back on.

        Returns:
            The rows, all memories that there are rows of, and their texts.
        """
        rows = self._store.scan(self._table, self._where(namespace), columns=columns)
        memories = rows["memory_id"].unique().sort().to_list()
        texts = self._named(memories)
        rows = (rows if self._texts is None else of_text(rows, texts)).with_columns(taught_at=moment)
        for act in taken_back:
            rows = rows.filter(~act.hits())
        return rows, memories, texts


class LearnedTriggers(_Behind[LearnedTerms]):
    """Terms that were learned.

    Args:
        store: has the terms.
        journal: opens what knows the approvals.
        policy: bounds.
        until: the last day that counts; None is today.
        texts: gives the texts of memories.
    """

    kind = WORDS

    def __init__(
        self,
        store: Store,
        journal: Callable[[], Journal],
        policy: LearningPolicy,
        until: date | None = None,
        texts: Texts | None = None,
    ) -> None:
        super().__init__(store, journal, until, texts)
        self._policy = policy

    def match(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        """Memories of a namespace that approved learned terms bring to mind.

        Args:
            namespace: the tenant.
            query: the question.
            now: moment of the search.
        """
        terms = self._in_effect(namespace, now)
        return {} if terms is None else terms.match(query, now)

    def _put_together(
        self, namespace: str, version: Version, taken_back: tuple[Rollback, ...], now: datetime
    ) -> _CachedLearning[LearnedTerms]:
        lessons, memories, texts = self._standing(namespace, _COLUMNS, "added_at", taken_back)
        to_come = lessons.filter(pl.col("taught_at") >= now)["taught_at"].min()
        assert to_come is None or isinstance(to_come, datetime)
        terms = live_terms(lessons, now, self._policy)
        learned = LearnedTerms(terms, self._policy.ttl)
        return _CachedLearning(version, taken_back, now, to_come, learned, texts, memories)


class SearchKeys(_Behind[KeyIndex]):
    """Past questions that lead somewhere, as they were known at the beginning of a search's day.

    Args:
        store: has the keys.
        journal: opens what knows the approvals.
        rules: that decide where keys lead.
        indexes: find past questions.
        until: the last day that counts; None is today.
        texts: gives the texts of memories.
    """

    kind = KEYS

    def __init__(
        self,
        store: Store,
        journal: Callable[[], Journal],
        rules: KeyRules,
        indexes: QuestionIndexes,
        until: date | None = None,
        texts: Texts | None = None,
    ) -> None:
        super().__init__(store, journal, until, texts)
        self._rules, self._indexes = rules, indexes

    def _version(self) -> tuple[int, ...]:
        """Of the tables that it is put together from."""
        return self._store.version(self._table), self._store.version(QUESTIONS)

    def led(self, namespace: str, vector: Vectors, now: datetime) -> Mapping[str, LedTo]:
        """Memories of a namespace that approved search keys lead a question to.

        Args:
            namespace: the tenant.
            vector: of the question, of length 1, (dimension,).
            now: moment of the search.
        """
        keys = self._in_effect(namespace, now)
        return {} if keys is None else keys.led(vector)

    def _put_together(
        self, namespace: str, version: Version, taken_back: tuple[Rollback, ...], now: datetime
    ) -> _CachedLearning[KeyIndex]:
        begin = day_start(now.astimezone(UTC).date())
        until = day_end(now.astimezone(UTC).date())
        rows, memories, texts = self._standing(namespace, _VIEW, "at", taken_back)
        views = rows.filter(pl.col("taught_at") < begin, pl.col("expires_at") > begin)
        index = KeyIndex(views, self._indexes.of(namespace), begin, self._rules)
        return _CachedLearning(version, taken_back, begin, until, index, texts, memories)


def in_use(space: Workspace, kind: Kind) -> bool:
    """Whether the settings let what was learned of a kind have an effect."""
    learning, policy = space.settings.learning, space.policy
    on = learning.words and policy.learned_cap != 0 if kind == WORDS else learning.keys and policy.key_weight
    return learning.enabled and bool(on)


def without(policy: RankingPolicy, kind: Kind) -> RankingPolicy:
    """A ranking that knows nothing of what was learned of a kind."""
    return replace(policy, learned_cap=0.0) if kind == WORDS else replace(policy, key_weight=0.0)


def learned_triggers(space: Workspace, until: date | None = None) -> LearnedTriggers | None:
    """Terms that were learned, as searches see them; None where the settings say that none are.

    Args:
        space: the home.
        until: the last day that counts; None is today.
    """
    if not in_use(space, WORDS):
        return None
    return LearnedTriggers(space.store, lambda: space.journal, space.learning_policy, until, texts_in(space))


def search_keys(space: Workspace, until: date | None = None) -> SearchKeys | None:
    """Search keys as searches see them; None where the settings say that there are none.

    Args:
        space: the home.
        until: the last day that counts; None is today.
    """
    if not in_use(space, KEYS):
        return None
    return SearchKeys(
        space.store, lambda: space.journal, key_rules(space), question_indexes(space), until, texts_in(space)
    )


def learned_boost(space: Workspace) -> Callable[[Learned], float]:
    """What it adds to the score of a memory that learned terms bring it to mind (rule 3.8)."""
    return lambda learned: learned.boost(space.policy.learned_cap, space.learning_policy.coefficient)


def lessons_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of ``learned_triggers`` as lessons."""
    return rows.rename({"added_at": "taught_at"}).select(
        pl.col(name).cast(kind) for name, kind in LESSON.items()
    )


def live_terms(lessons: pl.DataFrame, now: datetime, policy: LearningPolicy) -> pl.DataFrame:
    """Terms that have an effect at a moment, with the moment ``until`` which they have.

    A term loses its effect before its last lesson expires: when too few questions or people are left that
    taught it.

    Args:
        lessons: standing ones, as `slowwave.scoring.feedback.learned.live` takes them.
        now: the moment.
        policy: bounds.
    """
    open_ = lessons.filter(pl.col("taught_at") < now, pl.col("expires_at") > now)
    ends = live(lessons, now, policy)
    for by, least in (("question", policy.least_queries), ("principal", policy.least_principals)):
        last = open_.group_by(*_KEY, by).agg(pl.col("expires_at").max())
        kth = pl.col("expires_at").sort(descending=True).get(max(least, 1) - 1, null_on_oob=True)
        ends = ends.join(last.group_by(_KEY).agg(kth.alias(f"until_{by}")), on=_KEY, how="left")
    return ends.with_columns(until=pl.min_horizontal("until_question", "until_principal"))

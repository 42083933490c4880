"""What was learned, as far as it has an effect on a search (rule 5).

The rows of ``learned_triggers`` are read once for every version of the table. For every search of a namespace
that has such rows the journal is asked whether anything new was decided about learning: another process may
have withdrawn it or taken something back a moment ago. What that costs a search is bounded by
rule 3.10 and measured by `bench/learned_overhead.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.feedback.texts import Texts, in_force, of_text, texts_in
from slowwave.journal.entry import ERASURE, LEARNING
from slowwave.journal.errors import JournalError
from slowwave.learning import acts
from slowwave.learning.isolation import TABLE, Watch
from slowwave.scoring.days import day_end
from slowwave.scoring.feedback.learned import LESSON, Rollback, live
from slowwave.scoring.feedback.policy import LearningPolicy
from slowwave.scoring.ranking.learned import Learned, LearnedTerms
from slowwave.store import Store, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal

_KEY: Final = ("namespace", "memory_id", "term")
_COLUMNS = [*_KEY, "text", "added_at", "expires_at", "question", "principal", "search_id"]


Version = tuple[int, tuple[int, tuple[str, ...]]]
"""Of the table of terms, and what the memories are."""


@dataclass(frozen=True, slots=True)
class _Held:
    """Terms of a namespace as they were put together.

    Attributes:
        version: of the table, and of the memories: they may say something else.
        taken_back: what was taken back by then.
        since: the moment at which they were put together.
        until: from which they have to be put together again: something taught later begins to count.
    """

    version: Version
    taken_back: tuple[Rollback, ...]
    since: datetime
    until: datetime | None
    terms: LearnedTerms

    def serves(self, version: Version, taken_back: tuple[Rollback, ...], now: datetime) -> bool:
        """Whether they are what would be put together now."""
        same = (self.version, self.taken_back) == (version, taken_back)
        return same and self.since <= now and (self.until is None or now <= self.until)


class LearnedTriggers:
    """Terms that were learned, behind everything that has to be so before they have an effect.

    Of a past day: what was learned by its end and is still there, if it was approved then. What was taken
    back since has no effect on searches of the past either, nor has what expired and was swept.

    Args:
        store: has the terms.
        journal: opens what knows the approvals; asked where there are terms.
        policy: bounds.
        until: the last day that counts; None is today.
        texts: gives the texts of memories: what one was taught, another one does not know (rule 7.6).
    """

    def __init__(
        self,
        store: Store,
        journal: Callable[[], Journal],
        policy: LearningPolicy,
        until: date | None = None,
        texts: Texts | None = None,
    ) -> None:
        self._texts = texts
        self._store, self._journal, self._policy, self._until = store, journal, policy, until
        self._watch = Watch(store)
        self._lock = threading.Lock()
        self._there: tuple[int, dict[str, bool]] = (-1, {})
        self._acts: dict[str, tuple[tuple[tuple[int, ...], datetime | None], bool, tuple[Rollback, ...]]] = {}
        self._held: dict[str, _Held] = {}
        self._refused: dict[str, str] = {}

    def match(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        """Memories of a namespace that approved learned terms bring to mind.

        Args:
            namespace: the tenant.
            query: the question.
            now: moment of the search.
        """
        self._refused.pop(namespace, None)
        try:
            return self._match(namespace, query, now)
        except JournalError as error:
            self._refused[namespace] = f"the journal cannot say whether it is approved: {error}"
            return {}

    def _match(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        version = self._store.version(TABLE)
        said = self._store.mark("memories")
        if not self._has_any(namespace, version):
            return {}
        approved, taken_back = self._decided(namespace, now)
        if not approved:
            return {}
        if problems := self._watch.problems():
            self._refused[namespace] = (
                f"it is not proven that no full-text search reaches it: {'; '.join(problems)}. "
                f"`slowwave doctor --repair` mends it."
            )
            return {}
        with self._lock:
            held = self._held.get(namespace)
            if held is None or not held.serves((version, said), taken_back, now):
                held = self._held[namespace] = self._put_together(namespace, (version, said), taken_back, now)
        return held.terms.match(query, now)

    def doubts(self, namespace: str) -> tuple[str, ...]:
        """Why the last match in this namespace used nothing although it may be approved, for people."""
        why = self._refused.get(namespace)
        return (f"Nothing that was learned is used: {why}",) if why else ()

    def _where(self, namespace: str) -> str:
        mine = within(namespace)
        return mine if self._until is None else f"{mine} AND day <= {quote(self._until.isoformat())}"

    def _has_any(self, namespace: str, version: int) -> bool:
        with self._lock:
            if self._there[0] != version:
                self._there = (version, {})
            known = self._there[1]
            if namespace not in known:
                known[namespace] = self._store.count(TABLE, self._where(namespace)) > 0
            return known[namespace]

    def _decided(self, namespace: str, now: datetime) -> tuple[bool, tuple[Rollback, ...]]:
        """Whether learning is approved, and what was taken back."""
        # Entries only come, or are erased: as many of both as before are the same.
        counts = tuple(self._journal().count(namespace, kind) for kind in (LEARNING, ERASURE))
        mark = (counts, now if self._until else None)
        known = self._acts.get(namespace)
        if known is None or known[0] != mark:
            decided = acts.acts(self._journal(), namespace, until=mark[1])
            known = self._acts[namespace] = (mark, acts.approved(decided), tuple(acts.rollbacks(decided)))
        return known[1:]

    def _put_together(
        self, namespace: str, version: Version, taken_back: tuple[Rollback, ...], now: datetime
    ) -> _Held:
        rows = self._store.scan(TABLE, self._where(namespace), columns=_COLUMNS)
        if self._texts is not None:
            as_of = None if self._until is None else day_end(self._until)
            rows = of_text(rows, in_force(self._texts(rows["memory_id"].unique().to_list()), as_of))
        lessons = rows.rename({"added_at": "taught_at"})
        to_come = lessons.filter(pl.col("taught_at") >= now)["taught_at"].min()
        assert to_come is None or isinstance(to_come, datetime)
        for act in taken_back:  # whatever the clock of the machine said that it was taken back on
            lessons = lessons.filter(~act.hits())
        terms = live_terms(lessons, now, self._policy)
        return _Held(version, taken_back, now, to_come, LearnedTerms(terms, self._policy.ttl))


def in_use(space: Workspace) -> bool:
    """Whether the settings let what was learned have an effect."""
    return space.settings.learning.enabled and space.policy.learned_cap != 0


def learned_triggers(space: Workspace, until: date | None = None) -> LearnedTriggers | None:
    """What was learned, as searches see it; None where the settings say that nothing is.

    Args:
        space: the home.
        until: the last day that counts; None is today.
    """
    if not in_use(space):
        return None
    return LearnedTriggers(space.store, lambda: space.journal, space.learning_policy, until, texts_in(space))


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

"""Contextual feedback of a namespace: what ratings of similar questions say of memories (rule 8)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.embedding import profile
from slowwave.feedback.questions import question_indexes
from slowwave.feedback.text_attribution import Texts, in_force, of_text, texts_in
from slowwave.index.questions import QuestionIndex, QuestionIndexes
from slowwave.index.table_cache import TableCache
from slowwave.scoring.days import DAY, day_end
from slowwave.scoring.feedback.contextual import (
    SIGNAL,
    Ratings,
    contextual,
    fold_ratings,
    ratings_of,
)
from slowwave.scoring.feedback.influence_limits import count_first_seen_users
from slowwave.scoring.nearness import question_nearness
from slowwave.scoring.validation import CROWD
from slowwave.store.frames import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.embedding.base import Vectors
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.feedback.policy import FeedbackPolicy
    from slowwave.store import Store

_COLUMNS: Final = [*SIGNAL, "namespace", "day", "query_id", "text"]


@dataclass(frozen=True, slots=True)
class RatedFor:
    """Feedback on a memory for questions near to a query.

    Attributes:
        effectiveness: in [0, 1], 0.5 is neutral.
        count: votes and uses behind it (count).
        not_useful: moment and nearness in (0, 1] of each not-useful vote that counts.
        nearest: cosine of the query and the nearest of these questions.
        question: id of that one.
        text: what it asked.
        at: moment of the last feedback on it.
    """

    effectiveness: float
    count: int
    not_useful: tuple[tuple[datetime, float], ...]
    nearest: float
    question: str
    text: str
    at: datetime


class ContextualFeedback:
    """Ratings of one namespace, found by the vector of a question.

    Args:
        signals: rows of ``usage_signals`` that count, with ``query_id``.
        voices: of the namespace (count).
        index: finds the questions of the namespace.
        same: cosine of two questions up to which a rating does not count, and from which in full.
        policy: what feedback counts.
    """

    def __init__(
        self,
        signals: pl.DataFrame,
        voices: int,
        index: QuestionIndex,
        same: tuple[float, float],
        policy: FeedbackPolicy,
    ) -> None:
        self._index, self._same, self._policy = index, same, policy
        known = signals.filter(pl.col("query_id").is_in(list(index.questions.names)))
        # A day that is being folded has its effect as of its end, like the effectiveness of a memory.
        self._least = day_end(str(known["day"].max())) if known.height else None
        folded = fold_ratings(known, voices, policy)
        self._memories: list[str] = folded["memory_id"].unique().sort().to_list()
        memory = {name: at for at, name in enumerate(self._memories)}
        self._ratings: Ratings = ratings_of(folded, index.questions.number, memory)
        self._has = self._ratings.starts[1:] > self._ratings.starts[:-1]

    def of(self, vector: Vectors, among: Collection[str], moment: datetime) -> dict[str, RatedFor]:
        """Return the feedback on some memories for similar questions.

        Args:
            vector: of the question, of length 1, (dimension,).
            among: ids of the memories.
            moment: to which feedback has faded.
        """
        if not len(self._memories):
            return {}
        low, high = self._same
        question, cosine = self._index.near(vector, low)
        rated = self._has[question] & (cosine > low)
        most = self._policy.nearest_questions
        question, cosine = question[rated][:most], cosine[rated][:most]
        if not len(question):
            return {}
        as_of = int(max(moment, self._least or moment).timestamp() * 1e6)
        made = contextual(self._ratings, question, question_nearness(cosine, low, high), as_of, self._policy)
        cosines = dict(zip(question.tolist(), cosine.tolist(), strict=True))
        doubts: dict[int, list[tuple[datetime, float]]] = {}
        for at, when, near in zip(
            made.doubted.tolist(), made.doubted_at.tolist(), made.doubted_near.tolist(), strict=True
        ):
            doubts.setdefault(at, []).append((datetime.fromtimestamp(when, UTC), near))
        names, texts = self._index.questions.names, self._index.questions.texts
        rows = zip(
            made.memory.tolist(), made.effectiveness.tolist(), made.count.tolist(), made.nearest.tolist(),
            made.last.tolist(), strict=True,
        )  # fmt: skip
        return {
            self._memories[memory]: RatedFor(
                effectiveness, count, tuple(sorted(doubts.get(at, ()))), cosines[nearest], names[nearest],
                texts[nearest], datetime.fromtimestamp(last / 1e6, UTC),
            )
            for at, (memory, effectiveness, count, nearest, last) in enumerate(rows)
            if self._memories[memory] in among
        }  # fmt: skip


class ContextualStates:
    """Contextual feedback of every namespace of a home, read again when its tables have changed.

    Args:
        store: has it.
        indexes: find past questions.
        same: as of `ContextualFeedback`.
        policy: what feedback counts.
        until: the last day that counts; None is today.
        clock: says which day that is.
        texts: gives the texts of memories: what one earned, another one does not have (rule 7.6).
    """

    def __init__(
        self,
        store: Store,
        indexes: QuestionIndexes,
        same: tuple[float, float],
        policy: FeedbackPolicy,
        texts: Texts,
        until: date | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store, self._indexes, self._same, self._policy = store, indexes, same, policy
        self._texts, self._until, self._clock = texts, until, clock
        self._feedback = TableCache(self._mark, self._read)

    def rated(self, namespace: str, vector: Vectors, among: Collection[str]) -> Mapping[str, RatedFor]:
        """Return the feedback on some memories of a namespace for questions near to one.

        Args:
            namespace: the tenant.
            vector: of the question, of length 1, (dimension,); of zeros where nothing knows its language.
            among: ids of the memories.
        """
        if not vector.any():
            return {}
        # Feedback fades from day to day; of a day that is not over, the end of the one before counts.
        moment = day_end(self._until or self._clock().astimezone(UTC).date() - DAY)
        return self._feedback.of(namespace).of(vector, among, moment)

    def _mark(self, namespace: str) -> tuple[int, int]:
        # The state of memories is written last: what it was made from is whole by then.
        return self._indexes.version(namespace), self._store.version("memory_state")

    def _read(self, namespace: str, *_: object) -> ContextualFeedback:
        """Read the feedback of a namespace, and its questions."""
        until = None if self._until is None else f"day <= {quote(self._until.isoformat())}"
        rows = self._store.scan("usage_signals", within(namespace, until), columns=_COLUMNS)
        voices = min(count_first_seen_users(rows).height, CROWD)
        rows = rows.filter(pl.col("query_id").is_not_null())
        as_of = None if self._until is None else day_end(self._until)
        rows = of_text(rows, in_force(self._texts(rows["memory_id"].unique().to_list()), as_of))
        index = self._indexes.of(namespace)
        return ContextualFeedback(rows, voices, index, self._same, self._policy)


def contextual_states(space: Workspace, until: date | None = None) -> ContextualStates:
    """Contextual feedback of a home as searches see it.

    Args:
        space: the home.
        until: the last day that counts; None is today.
    """
    return ContextualStates(
        space.store, question_indexes(space), profile(space.model).same_question, space.feedback_policy,
        texts_in(space), until, space.now,
    )  # fmt: skip

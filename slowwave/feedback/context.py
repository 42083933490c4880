"""Contextual feedback of a namespace: what ratings of similar questions say of memories (rule 8)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.embedding import profile
from slowwave.feedback.questions import question_indexes
from slowwave.feedback.text_attribution import in_force, of_text, texts_in
from slowwave.index.questions import QuestionIndex
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
from slowwave.scoring.validation import MIN_USERS
from slowwave.store.frames import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.embedding.base import Vectors
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.feedback.policy import FeedbackPolicy

_COLUMNS: Final = [*SIGNAL, "namespace", "day", "query_id", "text"]


@dataclass(frozen=True, slots=True)
class RatedFor:
    """Feedback on a memory for questions similar to a query.

    Attributes:
        effectiveness: In [0, 1], 0.5 is neutral.
        count: Votes and uses behind it (count).
        not_useful: Moment and nearness in (0, 1] of each not-useful vote that counts.
        nearest: Cosine of the query and the nearest of these questions.
        question: Id of the nearest question.
        text: Text of the nearest question.
        at: Time of the last feedback on it.
    """

    effectiveness: float
    count: int
    not_useful: tuple[tuple[datetime, float], ...]
    nearest: float
    question: str
    text: str
    at: datetime


class ContextualFeedback:
    """Ratings of one namespace by question vector.

    Args:
        signals: Rows of ``usage_signals`` that count, with ``query_id``.
        num_users: Users of the namespace (count).
        index: Question index of the namespace.
        same: Cosines of two questions at which a rating starts to count, and counts in full.
        policy: Feedback policy.
    """

    def __init__(
        self,
        signals: pl.DataFrame,
        num_users: int,
        index: QuestionIndex,
        same: tuple[float, float],
        policy: FeedbackPolicy,
    ) -> None:
        self._index, self._same, self._policy = index, same, policy
        counted = signals.filter(pl.col("query_id").is_in(list(index.questions.names)))
        # Feedback of an unfinished day counts as of its end, like a memory's effectiveness.
        self._least = day_end(str(counted["day"].max())) if counted.height else None
        ratings = fold_ratings(counted, num_users, policy)
        self._memories: list[str] = ratings["memory_id"].unique().sort().to_list()
        memory = {name: at for at, name in enumerate(self._memories)}
        self._ratings: Ratings = ratings_of(ratings, index.questions.number, memory)
        self._has = self._ratings.starts[1:] > self._ratings.starts[:-1]

    def of(self, vector: Vectors, among: Collection[str], moment: datetime) -> dict[str, RatedFor]:
        """Return the feedback on some memories for similar questions.

        Args:
            vector: Unit vector of the question, (dimension,).
            among: Ids of the memories.
            moment: Moment to which feedback has decayed.
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
        result = contextual(
            self._ratings, question, question_nearness(cosine, low, high), as_of, self._policy
        )
        cosines = dict(zip(question.tolist(), cosine.tolist(), strict=True))
        doubts: dict[int, list[tuple[datetime, float]]] = {}
        for at, when, near in zip(
            result.doubted.tolist(), result.doubted_at.tolist(), result.doubted_near.tolist(), strict=True
        ):
            doubts.setdefault(at, []).append((datetime.fromtimestamp(when, UTC), near))
        names, texts = self._index.questions.names, self._index.questions.texts
        rows = zip(
            result.memory.tolist(), result.effectiveness.tolist(), result.count.tolist(),
            result.nearest.tolist(), result.last.tolist(), strict=True,
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
    """Contextual feedback of every namespace of a home, cached per table version.

    Args:
        space: Workspace of the home.
        until: Last day that counts; None is today.
    """

    def __init__(self, space: Workspace, until: date | None = None) -> None:
        self._store, self._texts, self._clock, self._until = space.store, texts_in(space), space.now, until
        self._indexes, self._policy = question_indexes(space), space.feedback_policy
        self._same = profile(space.model).same_question
        self._feedback = TableCache(self._mark, self._read)

    def rated(self, namespace: str, vector: Vectors, among: Collection[str]) -> Mapping[str, RatedFor]:
        """Return the feedback on some memories of a namespace for similar questions.

        Args:
            namespace: the tenant.
            vector: Unit vector of the question, (dimension,); zeros if the model does not know its language.
            among: Ids of the memories.
        """
        if not vector.any():
            return {}
        # Feedback decays from day to day; during a day, the end of the previous one counts.
        moment = day_end(self._until or self._clock().astimezone(UTC).date() - DAY)
        return self._feedback.of(namespace).of(vector, among, moment)

    def _mark(self, namespace: str) -> tuple[int, int]:
        # ``memory_state`` is written last, so its inputs are complete by then.
        return self._indexes.version(namespace), self._store.version("memory_state")

    def _read(self, namespace: str, *_: object) -> ContextualFeedback:
        """Read the feedback of a namespace, and its questions."""
        until = None if self._until is None else f"day <= {quote(self._until.isoformat())}"
        rows = self._store.scan("usage_signals", within(namespace, until), columns=_COLUMNS)
        num_users = min(count_first_seen_users(rows).height, MIN_USERS)
        rows = rows.filter(pl.col("query_id").is_not_null())
        as_of = None if self._until is None else day_end(self._until)
        # Feedback on one text does not apply to another (rule 7.6).
        rows = of_text(rows, in_force(self._texts(rows["memory_id"].unique().to_list()), as_of))
        index = self._indexes.of(namespace)
        return ContextualFeedback(rows, num_users, index, self._same, self._policy)

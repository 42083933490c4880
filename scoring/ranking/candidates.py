"""What one search found (rule 3.1), and what is known of the memories that it found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from slowwave.scoring.arrays import Floats, Integers
from slowwave.scoring.ranking.confidence import Confidence

VECTOR = "vector"
BM25 = "bm25"
TRIGGER = "trigger"
LEARNED = "learned"
KEYS = "keys"
TITLE = "title"
RATED = "ratings"
"""Feedback on memories; it finds none, but a search can be ranked without it."""

_QUERY_CHARACTERS = 60  # of a past query, that are shown


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What use has taught of a memory; one that nobody used yet has none and is neutral.

    Attributes:
        effectiveness: in [0, 1], .5 is neutral (rule 4.3).
        feedback_count: data points behind it (count).
        not_useful_at: moments of not-useful votes (rule 3.7), any order.
        learned: boost of learned triggers for this query, in [0, 1] (rule 5).
        key: what search keys add for this query, at most `key_weight` (rule 7.3).
        strength: in [0, 1]; shown, without weight in a ranking (rule 4.2).
        question_effectiveness: of feedback on questions near to this query, in [0, 1] (rule 8.1).
        question_count: votes and uses behind it (count).
        question_not_useful: moment of each not-useful vote on such a question, and its nearness in (0, 1].
    """

    effectiveness: float = 0.5
    feedback_count: int = 0
    not_useful_at: tuple[datetime, ...] = ()
    learned: float = 0.0
    strength: float = 1.0
    key: float = 0.0
    question_effectiveness: float = 0.5
    question_count: int = 0
    question_not_useful: tuple[tuple[datetime, float], ...] = ()


NEUTRAL = MemoryState()


@dataclass(frozen=True, slots=True)
class _NearQuestions:
    """Evidence from past questions near to a query, for people; no ranking needs it.

    Attributes:
        count: of what the class is about (count).
        nearest: greatest cosine of this query and one of theirs.
        query: text of the nearest, where who asks now may see it; else empty.
        at: its moment; None where nobody knows.
    """

    count: int
    nearest: float
    query: str = ""
    at: datetime | None = None

    @property
    def quoted(self) -> str:
        """The nearest question in quotation marks and its day; a long one is cut, none is empty."""
        query = _short(self.query)
        if not query or self.at is None:
            return f"“{query}”" if query else ""
        day = self.at.astimezone(UTC)
        return f"“{query}”, {day.day} {day:%B}"


class Led(_NearQuestions):
    """Why search keys lift a memory (rule 7.5): `count` past searches like this one led to it."""

    __slots__ = ()

    def describe(self) -> str:
        """In a few words; a long query is cut."""
        said = f"{self.count:,} similar search{'' if self.count == 1 else 'es'}, nearest {self.nearest:.2f}"
        return f"{said} ({self.quoted})" if self.quoted else said


class QuestionRating(_NearQuestions):
    """Feedback on a memory for questions near to this query (rule 8.2): `count` votes and uses."""

    __slots__ = ()

    def describe(self, others: int) -> str:
        """The counts in a few words; a long query is cut.

        Args:
            others: votes and uses of the memory on other questions (count).
        """
        text = f"{self.count:,} rating{'' if self.count == 1 else 's'} on questions like this"
        nearest = f"nearest {self.nearest:.2f}" + (f": {self.quoted}" if self.quoted else "")
        rest = f"; {others:,} on others" if others > 0 else ""
        return f"{text} ({nearest}){rest}"


OPTIONAL: Final = {"title": 0.0, "coverage": 0.0, "rerank": math.nan}
"""Columns of `Candidates` that are not kept where they have nothing but this value."""
_ABSENT: Final = {"ordinal": 0, "chunk_count": 1, **OPTIONAL}  # what a column has that is not given
KINDS: Final[dict[str, type]] = {
    **dict.fromkeys(("cosine", "bm25"), np.float64),
    **dict.fromkeys(("vector_rank", "bm25_rank", "ordinal", "chunk_count"), np.int64),
    **dict.fromkeys(OPTIONAL, np.float64),
}
"""Columns of numbers of `Candidates`, with their types."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """n candidate chunks, one row each chunk, whichever channels found it.

    Attributes:
        chunk_ids: n distinct ids.
        memory_ids: n ids of the memories that the chunks belong to.
        cosine: (n,) cosine of query and chunk; NaN where there is no vector.
        bm25: (n,) BM25 score; NaN where the full-text channel did not find the chunk.
        vector_rank: (n,) rank from 1 in the vector channel; 0 where that channel did not find it.
        bm25_rank: (n,) rank from 1 in the full-text channel; 0 where that channel did not find it.
        ordinal: (n,) place of the chunk in its memory, from 0; zeros where not given.
        chunk_count: (n,) chunks that its memory has; ones where not given.
        title: (n,) share of the words of a title that somebody gave that the query has, in [0, 1]; 0 where it
            is only the first words of the text, zeros where not given.
        coverage: (n,) share of the query's words that the chunk has, in [0, 1]; 0 where it was not looked
            at, which is beyond the best of each channel.
        rerank: (n,) relevance by the cross-encoder, in [0, 1]; NaN where it was not asked.
        triggers: phrase of each memory that the query triggered, and how strongly, in (0, 1].
        follows: the memory that a memory comes after, as a turn of a chat does; only where it does.
        states: what use has taught, by memory; absent is neutral.
        confidence: by memory; absent is medium.
        superseded: memories that a newer one has superseded; only where they were asked for.
        led: why search keys lift a memory, where they do; for people alone, so it is not kept.
        rated: feedback on a memory for questions near to this one; for people alone, so it is not kept.
        vector_say: how well the embedding model knows the query's language, in [0, 1]; the vector channel
            has so much of its weight.
        bm25_bound: BM25 that no chunk exceeds for this query (`Bm25.scores`); NaN where nobody knows.
    """

    chunk_ids: Sequence[str]
    memory_ids: Sequence[str]
    cosine: Floats
    bm25: Floats
    vector_rank: Integers
    bm25_rank: Integers
    ordinal: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    chunk_count: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    title: Floats = field(default_factory=lambda: np.zeros(0))
    coverage: Floats = field(default_factory=lambda: np.zeros(0))
    rerank: Floats = field(default_factory=lambda: np.zeros(0))
    triggers: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    follows: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, MemoryState] = field(default_factory=dict)
    confidence: Mapping[str, Confidence] = field(default_factory=dict)
    superseded: Set[str] = frozenset()
    led: Mapping[str, Led] = field(default_factory=dict)
    rated: Mapping[str, QuestionRating] = field(default_factory=dict)
    vector_say: float = 1.0
    bm25_bound: float = math.nan

    def __post_init__(self) -> None:
        size = len(self.chunk_ids)
        for name, value in _ABSENT.items():
            if len(getattr(self, name)) == 0:
                object.__setattr__(self, name, np.full(size, value))
        for name in ("memory_ids", *KINDS):
            if len(getattr(self, name)) != size:
                raise ValueError(f"{name} has {len(getattr(self, name))} values for {size} candidates")

    def __len__(self) -> int:
        """Number of candidate chunks."""
        return len(self.chunk_ids)

    def channels(self, at: int) -> tuple[str, ...]:
        """Every channel that found the candidate."""
        state = self.states.get(self.memory_ids[at], NEUTRAL)
        found = (
            (VECTOR, self.vector_rank[at] > 0),
            (BM25, self.bm25_rank[at] > 0),
            (TRIGGER, self.memory_ids[at] in self.triggers),
            (LEARNED, state.learned > 0),
            (KEYS, state.key > 0),
        )
        return tuple(name for name, here in found if here)

    def origins(
        self, best: Sequence[int], chunks: Sequence[Sequence[int]]
    ) -> list[tuple[tuple[str, ...], dict[str, float]]]:
        """Channels that found any chunk of each result, by name, and the scores of its best chunk.

        Args:
            best: the best chunk of each result; scores that no channel gave it are absent.
            chunks: all of its chunks.
        """
        columns = {"cosine": self.cosine, "bm25": self.bm25, "rerank": self.rerank}
        return [
            (
                tuple(sorted({name for row in rows for name in self.channels(row)})),
                {name: float(column[at]) for name, column in columns.items() if not np.isnan(column[at])},
            )
            for at, rows in zip(best, chunks, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold and `from_dict` takes back exactly; without `led` and `rated`."""
        return {
            "chunk_id": list(self.chunk_ids),
            "memory_id": list(self.memory_ids),
            **{name: self._kept(name) for name in KINDS},
            "triggers": {memory: list(found) for memory, found in self.triggers.items()},
            "follows": dict(self.follows),
            "states": {memory: _state_data(state) for memory, state in self.states.items()},
            "confidence": {memory: list(one) for memory, one in self.confidence.items()},
            "superseded": sorted(self.superseded) or None,
            "vector_say": None if self.vector_say == 1.0 else self.vector_say,
            "bm25_bound": None if math.isnan(self.bm25_bound) else self.bm25_bound,
        }

    def _kept(self, name: str) -> list[float | None] | None:
        """A column as `to_dict` has it; None where it has nothing but what an absent one has."""
        column = getattr(self, name)
        if name in OPTIONAL and np.array_equal(column, np.full(len(self), OPTIONAL[name]), equal_nan=True):
            return None
        return [None if math.isnan(value) else value for value in column.tolist()]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Candidates:
        """The candidates that `to_dict` gave."""
        columns: dict[str, Any] = {
            name: np.array(data[name] or [], dtype=kind) for name, kind in KINDS.items()
        }
        return cls(
            chunk_ids=data["chunk_id"],
            memory_ids=data["memory_id"],
            **columns,
            triggers={memory: (str(phrase), float(s)) for memory, (phrase, s) in data["triggers"].items()},
            follows=data["follows"],
            states={memory: _state(one) for memory, one in data["states"].items()},
            confidence={memory: Confidence(*one) for memory, one in data["confidence"].items()},
            superseded=frozenset(data["superseded"] or ()),
            vector_say=1.0 if data["vector_say"] is None else float(data["vector_say"]),
            bm25_bound=math.nan if data["bm25_bound"] is None else float(data["bm25_bound"]),
        )


def _short(query: str) -> str:
    """A query on one line, cut where it is long."""
    query = " ".join(query.split())
    if len(query) > _QUERY_CHARACTERS:
        return f"{query[: _QUERY_CHARACTERS - 1].rstrip()}…"
    return query


def _state_data(state: MemoryState) -> dict[str, Any]:
    data: dict[str, Any] = {
        "effectiveness": state.effectiveness,
        "feedback_count": state.feedback_count,
        "not_useful_at": [moment.isoformat() for moment in state.not_useful_at],
        "learned": state.learned,
        "strength": state.strength,
    }
    if state.key:
        data["key"] = state.key
    if state.question_count:
        data["question_effectiveness"] = state.question_effectiveness
        data["question_count"] = state.question_count
        data["question_not_useful"] = [
            [moment.isoformat(), near] for moment, near in state.question_not_useful
        ]
    return data


def _state(data: Mapping[str, Any]) -> MemoryState:
    moments = tuple(datetime.fromisoformat(moment) for moment in data["not_useful_at"])
    doubts = tuple(
        (datetime.fromisoformat(moment), float(near)) for moment, near in data.get("question_not_useful", ())
    )
    return MemoryState(**{**data, "not_useful_at": moments, "question_not_useful": doubts})

"""Candidates of one search (rule 3.1), with the feedback state of their memories."""

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
"""Feedback on memories. It finds no candidates, but `Columns.without` can leave it out."""

_QUERY_CHARACTERS = 60  # shown of a past query


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Feedback and learning state of a memory; the default is neutral.

    Attributes:
        effectiveness: in [0, 1], .5 is neutral (rule 4.3).
        feedback_count: data points behind it (count).
        not_useful_at: moments of not-useful votes (rule 3.7), in any order.
        learned: boost of learned terms for this query, in [0, 1] (rule 5).
        key: query boost of search keys, at most `key_weight` (rule 7.3).
        strength: in [0, 1]; shown, without weight in ranking (rule 4.2).
        question_effectiveness: effectiveness for questions near this query, in [0, 1] (rule 8.1).
        question_count: votes and uses behind that (count).
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
    """Past questions near a query, shown to users; ranking does not read it.

    Attributes:
        count: searches or ratings, as the subclass says (count).
        nearest: greatest cosine of this query and a past one.
        query: text of the nearest one if the user may see it; else empty.
        at: its moment; None if unknown.
    """

    count: int
    nearest: float
    query: str = ""
    at: datetime | None = None

    @property
    def quoted(self) -> str:
        """Return the nearest question in quotation marks with its day, shortened; empty without one."""
        query = _short(self.query)
        if not query or self.at is None:
            return f"“{query}”" if query else ""
        day = self.at.astimezone(UTC)
        return f"“{query}”, {day.day} {day:%B}"


class Led(_NearQuestions):
    """Evidence of a query boost: `count` similar past searches led to the memory (rule 7.3)."""

    __slots__ = ()

    def describe(self) -> str:
        """Describe the evidence in a few words."""
        text = f"{self.count:,} similar search{'' if self.count == 1 else 'es'}, nearest {self.nearest:.2f}"
        return f"{text} ({self.quoted})" if self.quoted else text


class QuestionRating(_NearQuestions):
    """Feedback on a memory for questions near this query (rule 8.1): `count` votes and uses."""

    __slots__ = ()

    def describe(self, others: int) -> str:
        """Describe the counts in a few words.

        Args:
            others: votes and uses of the memory for other questions (count).
        """
        text = f"{self.count:,} rating{'' if self.count == 1 else 's'} on questions like this"
        nearest = f"nearest {self.nearest:.2f}" + (f": {self.quoted}" if self.quoted else "")
        rest = f"; {others:,} on others" if others > 0 else ""
        return f"{text} ({nearest}){rest}"


OPTIONAL: Final = {"title": 0.0, "coverage": 0.0, "rerank": math.nan}
"""Columns of `Candidates` that `to_dict` omits where every row has this value."""
_ABSENT: Final = {"ordinal": 0, "chunk_count": 1, **OPTIONAL}  # value of a column that is not given
KINDS: Final[dict[str, type]] = {
    **dict.fromkeys(("cosine", "bm25"), np.float64),
    **dict.fromkeys(("vector_rank", "bm25_rank", "ordinal", "chunk_count"), np.int64),
    **dict.fromkeys(OPTIONAL, np.float64),
}
"""Numeric columns of `Candidates`, with their types."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidate chunks of one search, one row a chunk, from all channels.

    Attributes:
        chunk_ids: n distinct ids.
        memory_ids: memory of each chunk.
        cosine: (n,) cosine of query and chunk; NaN where there is no vector.
        bm25: (n,) BM25 score; NaN where the full-text channel did not find the chunk.
        vector_rank: (n,) rank from 1 in the vector channel; 0 where that channel did not find it.
        bm25_rank: (n,) rank from 1 in the full-text channel; 0 where that channel did not find it.
        ordinal: (n,) place of the chunk in its memory, from 0; zeros where not given.
        chunk_count: (n,) chunks that its memory has; ones where not given.
        title: (n,) share of the words of a title that the query has, in [0, 1]; 0 for a title that is only
            the first words of the text, zeros where not given.
        coverage: (n,) share of the query's words that the chunk has, in [0, 1]; computed for the best of each
            channel only, else 0.
        rerank: (n,) relevance by the cross-encoder, in [0, 1]; NaN where it did not read the chunk.
        triggers: triggered phrase of each memory, and its strength in (0, 1], or more of an identifier.
        aliases: alias that the title share of a memory comes from; shown only, not in `to_dict`.
        follows: the memory before a memory, as turns of a chat follow each other.
        same_as: the memory with the same words that a duplicate is grouped with, by memory.
        times: how well a memory answers the time that the query asks for, in (0, 1]; empty without one.
        time_words: the query's words for it; shown only, not in `to_dict`.
        outdated: the memory with the next value, by memory with an earlier value of it (rule 3.12).
        maybe_outdated: a newer memory that may replace it, by memory.
        states: feedback state by memory; absent is neutral.
        confidence: by memory; absent is medium.
        superseded: memories that a newer one superseded; present only if the search includes them.
        led: evidence of query boosts, by memory; shown only, not in `to_dict`.
        rated: feedback for near questions, by memory; shown only, not in `to_dict`.
        vector_say: how well the embedding model knows the query's language, in [0, 1]; the weight of the
            vector channel is multiplied with it.
        bm25_bound: BM25 that no chunk exceeds for this query (`Bm25.scores`); NaN if unknown.
        query_words: content words of the query (count); 0 if unknown.
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
    aliases: Mapping[str, str] = field(default_factory=dict)
    follows: Mapping[str, str] = field(default_factory=dict)
    same_as: Mapping[str, str] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)
    time_words: str = ""
    outdated: Mapping[str, str] = field(default_factory=dict)
    maybe_outdated: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, MemoryState] = field(default_factory=dict)
    confidence: Mapping[str, Confidence] = field(default_factory=dict)
    superseded: Set[str] = frozenset()
    led: Mapping[str, Led] = field(default_factory=dict)
    rated: Mapping[str, QuestionRating] = field(default_factory=dict)
    vector_say: float = 1.0
    bm25_bound: float = math.nan
    query_words: int = 0

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
        """Return every channel that found the candidate."""
        state = self.states.get(self.memory_ids[at], NEUTRAL)
        channels = (
            (VECTOR, self.vector_rank[at] > 0),
            (BM25, self.bm25_rank[at] > 0),
            (TRIGGER, self.memory_ids[at] in self.triggers),
            (LEARNED, state.learned > 0),
            (KEYS, state.key > 0),
        )
        return tuple(name for name, present in channels if present)

    def origins(
        self, best: Sequence[int], chunks: Sequence[Sequence[int]]
    ) -> list[tuple[tuple[str, ...], dict[str, float]]]:
        """Return the channels and the channel scores of each result.

        A result has every channel that found any of its chunks, by name, and the scores of its best chunk.
        Scores that no channel gave are absent.

        Args:
            best: best chunk of each result.
            chunks: all chunks of each result.
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
        """Return plain JSON data that `from_dict` restores exactly; without what is shown only."""
        return {
            "chunk_id": list(self.chunk_ids),
            "memory_id": list(self.memory_ids),
            **{name: self._kept(name) for name in KINDS},
            "triggers": {memory: list(trigger) for memory, trigger in self.triggers.items()},
            "follows": dict(self.follows),
            "same_as": dict(self.same_as),
            "times": dict(self.times) or None,
            "outdated": dict(self.outdated),
            "maybe_outdated": dict(self.maybe_outdated) or None,
            "states": {memory: _state_data(state) for memory, state in self.states.items()},
            "confidence": {memory: list(confidence) for memory, confidence in self.confidence.items()},
            "superseded": sorted(self.superseded) or None,
            "vector_say": None if self.vector_say == 1.0 else self.vector_say,
            "bm25_bound": None if math.isnan(self.bm25_bound) else self.bm25_bound,
            "query_words": self.query_words or None,
        }

    def _kept(self, name: str) -> list[float | None] | None:
        """Return a column for `to_dict`; None where all rows have the default."""
        column = getattr(self, name)
        if name in OPTIONAL and np.array_equal(column, np.full(len(self), OPTIONAL[name]), equal_nan=True):
            return None
        values: list[float | None] = column.tolist()
        if column.dtype.kind == "f":
            for at in np.flatnonzero(np.isnan(column)).tolist():
                values[at] = None
        return values

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Candidates:
        """Restore candidates from the data of `to_dict`."""
        columns: dict[str, Any] = {
            name: np.array(data[name] or [], dtype=kind) for name, kind in KINDS.items()
        }
        return cls(
            chunk_ids=data["chunk_id"],
            memory_ids=data["memory_id"],
            **columns,
            triggers={memory: (str(phrase), float(s)) for memory, (phrase, s) in data["triggers"].items()},
            follows=data["follows"],
            same_as=data.get("same_as") or {},
            times=data.get("times") or {},
            outdated=data.get("outdated") or {},
            maybe_outdated=data.get("maybe_outdated") or {},
            states={memory: _state(entry) for memory, entry in data["states"].items()},
            confidence={memory: Confidence(*entry) for memory, entry in data["confidence"].items()},
            superseded=frozenset(data["superseded"] or ()),
            vector_say=1.0 if data["vector_say"] is None else float(data["vector_say"]),
            bm25_bound=math.nan if data["bm25_bound"] is None else float(data["bm25_bound"]),
            query_words=int(data.get("query_words") or 0),
        )


def _short(query: str) -> str:
    """Return a query on one line, shortened."""
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

"""Columnar candidates of n searches, read by every ranking rule.

Chunks are sorted by (search, memory id, place in the document), memories by (search, memory id). So the
chunks of a memory are adjacent. One search is a batch of one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Flags, Floats, Integers
from slowwave.scoring.ranking.candidates import BM25, KEYS, LEARNED, RATED, TRIGGER, VECTOR, Candidates

Codes = npt.NDArray[np.uint8]

CHANNELS = (BM25, KEYS, LEARNED, TRIGGER, VECTOR)
"""Every channel, by name. The first is bit 1 of a code, the next bit 2, and so on."""
PAIRS = {
    "follows": ("follower", "followed"),
    "same_as": ("duplicate", "original"),
    "outdated": ("outdated", "newest"),
    "maybe_outdated": ("earlier", "later"),
}
"""Maps of `Candidates` from memory to memory, with their columns."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Candidate columns: c chunks of m memories that n searches found.

    Attributes:
        starts: (n + 1,) first memory of each search, and m at the end; a search may have none.
        first: (m + 1,) first chunk of each memory, and c at the end; every memory has a chunk.
        as_of: (n,) moment of each search, in seconds since 1970.
        phrase_said: (n,) whether the query contains a whole trigger phrase.
        vector_say, bm25_bound, query_words: (n,) as in `Candidates`.
        position: (c,) place of the chunk in the given candidates.
        cosine, bm25, vector_rank, bm25_rank, chunk_count, title, coverage, rerank: (c,) as in `Candidates`.
        number: (m,) place of the memory's id in the list returned with the columns.
        trigger: (m,) strength of the triggered phrase or of the identifier, 0 without one.
        time: (m,) as `times` of `Candidates`, 0 where absent.
        effectiveness, feedback_count, question_effectiveness, question_count, learned, key: (m,) as in
            `MemoryState`.
        points: (m,) confidence points.
        superseded: (m,) whether a newer memory superseded it.
        voted: (v,) memory of each not-useful vote.
        voted_at: (v,) its moment, in seconds since 1970.
        doubted: (d,) memory of each not-useful vote on a question near the search's.
        doubted_at: (d,) its moment, in seconds since 1970.
        doubted_near: (d,) nearness of that question, in (0, 1].
        follower: (f,) a memory that follows another one of the same search.
        followed: (f,) the memory before it.
        duplicate: (d,) a memory with the same words as another one of the same search.
        original: (d,) the memory that its group is named by.
        outdated: (u,) a memory with an earlier value than another one of the same search.
        newest: (u,) the memory with the newest value.
        earlier: (e,) a memory that another one of the same search may replace.
        later: (e,) that newer memory.
    """

    starts: Integers
    first: Integers
    as_of: Floats
    phrase_said: Flags
    vector_say: Floats
    bm25_bound: Floats
    query_words: Integers
    position: Integers
    cosine: Floats
    bm25: Floats
    vector_rank: Integers
    bm25_rank: Integers
    chunk_count: Integers
    title: Floats
    coverage: Floats
    rerank: Floats
    number: Integers
    trigger: Floats
    time: Floats
    effectiveness: Floats
    feedback_count: Integers
    question_effectiveness: Floats
    question_count: Integers
    learned: Floats
    key: Floats
    points: Floats
    superseded: Flags
    voted: Integers
    voted_at: Floats
    doubted: Integers
    doubted_at: Floats
    doubted_near: Floats
    follower: Integers
    followed: Integers
    duplicate: Integers
    original: Integers
    outdated: Integers
    newest: Integers
    earlier: Integers
    later: Integers

    def __len__(self) -> int:
        """Number of searches."""
        return len(self.as_of)

    @cached_property
    def count(self) -> Integers:
        """Count the chunks of each memory, (m,)."""
        return self.first[1:] - self.first[:-1]

    @cached_property
    def memory(self) -> Integers:
        """Return the memory of each chunk, (c,)."""
        return np.repeat(np.arange(len(self.count)), self.count)

    @cached_property
    def search(self) -> Integers:
        """Return the search of each memory, (m,)."""
        return np.repeat(np.arange(len(self)), self.starts[1:] - self.starts[:-1])

    @cached_property
    def say(self) -> Floats:
        """Return `vector_say` for each chunk, (c,)."""
        return self.vector_say[self.search][self.memory]

    @cached_property
    def chunk_starts(self) -> Integers:
        """Return the first chunk of each search, and c at the end, (n + 1,)."""
        return self.first[self.starts]

    @cached_property
    def found_by(self) -> Codes:
        """Return the channels that found each chunk as bits in the order of `CHANNELS`, (c,)."""
        taught = (self.learned > 0) * _bit(LEARNED) | (self.key > 0) * _bit(KEYS)
        of_memory = taught | (self.trigger > 0) * _bit(TRIGGER)
        own = (self.bm25_rank > 0) * _bit(BM25) | (self.vector_rank > 0) * _bit(VECTOR)
        return own | of_memory[self.memory]

    def without(self, channels: Collection[str]) -> Columns:
        """Return the candidates that these searches would have without some channels.

        Chunks that no other channel found are dropped. The others lose the scores and ranks of these
        channels. Words, titles, neighbours and the cross-encoder's scores stay.

        Raises:
            ValueError: a channel is unknown.
        """
        if unknown := sorted(set(channels).difference(CHANNELS, [RATED])):
            raise ValueError(
                f"{', '.join(unknown)}: unknown channel. Use one of: {', '.join((*CHANNELS, RATED))}"
            )
        if RATED in channels:
            return self.unrated().without([name for name in channels if name != RATED])
        if not channels:
            return self
        taken = np.bitwise_or.reduce([_bit(name) for name in channels])
        kept = self._only((self.found_by == 0) | (self.found_by & ~taken != 0))
        return kept._filled(
            {name: value for channel in channels for name, value in _CHANNEL_DEFAULTS[channel].items()}
        )

    def unrated(self) -> Columns:
        """Return the candidates without ratings (rule 8.3); learned terms and search keys stay."""
        votes = ("voted", "voted_at", "doubted", "doubted_at", "doubted_near")
        return replace(self._filled(_UNRATED), **{name: getattr(self, name)[:0] for name in votes})

    def _filled(self, values: Mapping[str, float]) -> Columns:
        """Return a copy in which some columns have one value in every row."""
        columns = {name: np.full_like(getattr(self, name), value) for name, value in values.items()}
        return replace(self, **columns)

    def _only(self, chunks: Flags) -> Columns:
        """Return a copy with some chunks and the memories that have one of them."""
        if chunks.all():
            return self
        count = np.add.reduceat(chunks, self.first[:-1], dtype=np.int64) if len(chunks) else self.count
        present = count > 0
        new_place = np.cumsum(present) - 1
        votes, doubts = present[self.voted], present[self.doubted]
        pairs: dict[str, Any] = {}
        for names in PAIRS.values():
            both = np.stack([getattr(self, name) for name in names])
            pairs |= zip(names, new_place[both[:, present[both].all(axis=0)]], strict=True)
        return replace(
            self,
            starts=np.concatenate([[0], np.cumsum(present)])[self.starts],
            first=np.concatenate([[0], np.cumsum(count[present])]),
            **{name: getattr(self, name)[chunks] for name in _OF_CHUNKS},
            **{name: getattr(self, name)[present] for name in _OF_MEMORIES},
            voted=new_place[self.voted[votes]],
            voted_at=self.voted_at[votes],
            doubted=new_place[self.doubted[doubts]],
            doubted_at=self.doubted_at[doubts],
            doubted_near=self.doubted_near[doubts],
            **pairs,
        )


_OF_SEARCHES = ("as_of", "phrase_said", "vector_say", "bm25_bound", "query_words")
_OF_CHUNKS = (
    "position", "cosine", "bm25", "vector_rank", "bm25_rank", "chunk_count", "title", "coverage", "rerank",
)  # fmt: skip
_OF_MEMORIES = (
    "number", "trigger", "time", "effectiveness", "feedback_count", "question_effectiveness",
    "question_count", "learned", "key", "points", "superseded",
)  # fmt: skip
_CHANNEL_DEFAULTS: dict[str, dict[str, float]] = {
    VECTOR: {"cosine": np.nan, "vector_rank": 0},
    BM25: {"bm25": np.nan, "bm25_rank": 0},
    TRIGGER: {"trigger": 0.0, "phrase_said": False},
    LEARNED: {"learned": 0.0},
    KEYS: {"key": 0.0},
}
"""Columns of each channel, with the value for a chunk that it did not find."""
_UNRATED = {
    "effectiveness": 0.5, "feedback_count": 0, "question_effectiveness": 0.5, "question_count": 0,
}  # fmt: skip
_UNKNOWN = {**_UNRATED, "trigger": 0.0, "time": 0.0, "learned": 0.0, "key": 0.0, "points": 0.0}
_POINTERS = ("voted", "doubted", *chain.from_iterable(PAIRS.values()))


def _kind(column: str) -> type[np.generic]:
    """Return the declared value type of a column."""
    kinds = {"Floats": np.float64, "Integers": np.int64, "Flags": np.bool_}
    return kinds[Columns.__annotations__[column]]


def _bit(channel: str) -> np.uint8:
    return np.uint8(1 << CHANNELS.index(channel))


def columns_of(candidates: Candidates, as_of: datetime) -> tuple[Columns, list[str]]:
    """Return the columns of one search, and its memory ids in their order."""
    ids, ordinal = candidates.memory_ids, candidates.ordinal.tolist()
    rows = sorted(zip(ids, ordinal, candidates.chunk_ids, range(len(ids)), strict=True))
    in_order = [row[0] for row in rows]
    names = list(dict.fromkeys(in_order))
    place = dict(zip(names, range(len(names)), strict=True))
    memory = np.array([place[name] for name in in_order], dtype=np.int64)
    size = len(names)
    filled = {name: np.full(size, value) for name, value in _UNKNOWN.items()}
    for name, (_, strength) in candidates.triggers.items():
        if name in place:
            filled["trigger"][place[name]] = strength
    for name, share in candidates.times.items():
        if name in place:
            filled["time"][place[name]] = share
    for name, confidence in candidates.confidence.items():
        if confidence.points and name in place:
            filled["points"][place[name]] = confidence.points
    votes, doubts = [], []
    for name, state in candidates.states.items():
        if name in place:
            at = place[name]
            for column in (*_UNRATED, "learned", "key"):
                filled[column][at] = getattr(state, column)
            doubts += [(at, when.timestamp(), near) for when, near in state.question_not_useful]
            votes += [(at, when.timestamp()) for when in state.not_useful_at]
    position = np.array([row[3] for row in rows], dtype=np.int64)
    columns = Columns(
        starts=np.array([0, size]),
        first=np.flatnonzero(first_of_each(np.append(memory, -1))),
        as_of=np.array([as_of.timestamp()]),
        phrase_said=np.array([any(strength >= 1.0 for _, strength in candidates.triggers.values())]),
        vector_say=np.array([candidates.vector_say]),
        bm25_bound=np.array([candidates.bm25_bound]),
        query_words=np.array([candidates.query_words]),
        position=position,
        **{name: getattr(candidates, name)[position] for name in _OF_CHUNKS[1:]},
        number=np.arange(size),
        **filled,
        superseded=np.array([name in candidates.superseded for name in names], dtype=np.bool_),
        voted=np.array([at for at, _ in votes], dtype=np.int64),
        voted_at=np.array([when for _, when in votes], dtype=np.float64),
        doubted=np.array([at for at, _, _ in doubts], dtype=np.int64),
        doubted_at=np.array([when for _, when, _ in doubts], dtype=np.float64),
        doubted_near=np.array([near for _, _, near in doubts], dtype=np.float64),
        **_pairs(candidates, place),
    )
    return columns, names


def _pairs(candidates: Candidates, place: Mapping[str, int]) -> dict[str, Any]:
    """Return the columns of the pairs of which both memories are candidates."""
    columns: dict[str, Any] = {}
    for field, names in PAIRS.items():
        by_memory = getattr(candidates, field).items()
        pairs = [(place[a], place[b]) for a, b in by_memory if {a, b} <= place.keys()]
        columns |= zip(names, np.array(pairs, dtype=np.int64).reshape(-1, 2).T, strict=True)
    return columns


def concatenated(batches: Sequence[Columns]) -> Columns:
    """Concatenate several batches."""
    memories = np.cumsum([0, *(len(batch.count) for batch in batches)])
    chunks = np.cumsum([0, *(len(batch.cosine) for batch in batches)])

    def moved(name: str, by: Integers) -> Integers:
        parts = [getattr(batch, name) + add for batch, add in zip(batches, by, strict=False)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def ends(name: str, by: Integers) -> Integers:
        parts = [getattr(batch, name)[1:] + add for batch, add in zip(batches, by, strict=False)]
        return np.concatenate([np.zeros(1, dtype=np.int64), *parts])

    plain = (*_OF_SEARCHES, *_OF_CHUNKS, *_OF_MEMORIES[1:], "voted_at", "doubted_at", "doubted_near")
    joined: dict[str, Any] = {
        name: np.concatenate([np.zeros(0, dtype=_kind(name)), *(getattr(batch, name) for batch in batches)])
        for name in plain
    }
    joined |= {name: moved(name, memories) for name in ("number", *_POINTERS)}
    return Columns(starts=ends("starts", memories), first=ends("first", chunks), **joined)


def greatest(values: Floats, starts: Integers, initial: float = 0.0) -> Floats:
    """Return the maximum of each of n ranges, at least `initial`; ranges may be empty.

    Args:
        values: (c,) of all ranges.
        starts: (n + 1,) first value of each range, and c at the end.
        initial: value of an empty range.
    """
    maxima = np.full(len(starts) - 1, initial)
    filled = np.flatnonzero(starts[1:] != starts[:-1])
    if len(filled):
        maxima[filled] = np.maximum(np.maximum.reduceat(values, starts[filled]), initial)
    return maxima


def first_of_each(labels: Integers) -> Flags:
    """Mark the first of each run of equal labels, (k,)."""
    begins = np.ones(len(labels), dtype=np.bool_)
    begins[1:] = labels[1:] != labels[:-1]
    return begins

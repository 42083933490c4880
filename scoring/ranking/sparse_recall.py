"""Recall of short memories: one that is very near gets a place, though long ones outscore it (rule 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slowwave.scoring.ranking.candidates import Floats, Integers
from slowwave.scoring.ranking.columns import Columns, Flags, first_of_each
from slowwave.scoring.ranking.policy import RankingPolicy

REASON = "sparse_doc_recall"
_ROUNDING = 1e-6  # cosines come from single precision: a distance of .20 is one of .2000001


@dataclass(frozen=True, slots=True)
class Injection:
    """A memory that was given a place.

    Attributes:
        memory_id: the memory.
        chunk_id: its chunk that is so near.
        distance: cosine distance of that chunk to the query.
        displaced: the memory whose place it took; None where there was a free one.
        reason: always ``sparse_doc_recall``.
    """

    memory_id: str
    chunk_id: str
    distance: float
    displaced: str | None = None
    reason: str = REASON


@dataclass(frozen=True, slots=True)
class Recalled:
    """The k memories that are given a place, one a search at most.

    Attributes:
        memory: (k,) the memory, by its place in the columns.
        chunk: (k,) its chunk that is so near.
        displaced: (k,) the memory whose place it takes; -1 where there was a free one.
    """

    memory: Integers
    chunk: Integers
    displaced: Integers


_NONE = np.zeros(0, dtype=np.int64)
NOBODY = Recalled(_NONE, _NONE, _NONE)


def near_and_short(columns: Columns, policy: RankingPolicy, limit: Integers) -> Integers:
    """Chunks of short memories that are so near that their memory has a right to a place.

    Args:
        columns: of n searches.
        policy: bounds of the rule.
        limit: (n,) results asked for.
    """
    places = np.maximum(3 * limit, policy.sparse_top) * (limit > 0)
    rank = columns.vector_rank
    right = (
        (rank > 0)
        & (rank <= places[columns.search][columns.memory])
        & (columns.chunk_count <= policy.sparse_chunks)
        & (1.0 - columns.say * columns.cosine <= policy.sparse_distance + _ROUNDING)
    )
    return np.flatnonzero(right)


def distance(columns: Columns) -> Floats:
    """Cosine distance of each chunk to its query, (c,); NaN where there is no vector."""
    return 1.0 - columns.cosine


def recall(
    columns: Columns, policy: RankingPolicy, shown: Integers, limit: Integers, barred: Flags
) -> Recalled:
    """The one memory of each search that is to be given a place, and whose place it takes.

    Args:
        columns: of n searches.
        policy: bounds of the rule.
        shown: memories of the results after the cut, search after search, best first.
        limit: (n,) results asked for.
        barred: (m,) memories that are not to be shown for their length: votes have pushed them down, or a
            newer one has superseded them.
    """
    if not policy.sparse_recall:
        return NOBODY
    right = near_and_short(columns, policy, limit)
    short, out = np.zeros(len(barred), dtype=np.bool_), ~barred
    short[columns.memory[right]] = True
    out[shown] = False
    missing = right[out[columns.memory[right]]]
    if not len(missing):
        return NOBODY
    memory = columns.memory[missing]
    search = columns.search[memory]
    nearest = np.lexsort((columns.position[missing], memory, distance(columns)[missing], search))
    found = nearest[first_of_each(search[nearest])]
    last = np.full(len(columns), -1)
    of = columns.search[shown]
    place = np.arange(len(shown)) - np.searchsorted(of, of)
    longer = shown[~short[shown] & (place >= policy.sparse_keeps)]
    last[columns.search[longer]] = longer  # of several the last one stays
    full = np.bincount(columns.search[shown], minlength=len(columns)) >= limit
    displaced = np.where(full, last, -1)[search[found]]
    can = (displaced >= 0) | ~full[search[found]]
    return Recalled(memory[found][can], missing[found][can], displaced[can])

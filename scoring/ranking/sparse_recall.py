"""Recall of short memories: one that is very near gets a place, though long ones outscore it (rule 3.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slowwave.scoring.arrays import Flags, Floats, Integers, places
from slowwave.scoring.ranking.columns import Columns
from slowwave.scoring.ranking_policy import RankingPolicy

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
    """The k memories that are given a place, search after search, nearest first.

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
    most = np.maximum(policy.sparse_limit_factor * limit, policy.sparse_top) * (limit > 0)
    rank = columns.vector_rank
    right = (
        (rank > 0)
        & (rank <= most[columns.search][columns.memory])
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
    """The memories of each search that are to be given a place, and whose place each takes.

    The nearest come first; each takes a free place, else that of the lowest result that may be taken away.

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
    _, first = np.unique(memory[nearest], return_index=True)
    found = nearest[np.sort(first)]  # the nearest chunk of each memory
    found = found[places(search[found]) < policy.sparse_max_injections]
    search, of = search[found], columns.search[shown]
    free = limit - np.bincount(of, minlength=len(columns))
    over = places(search) - free[search]  # how many before it took a place from another; below 0: one is free
    longer = shown[~short[shown] & (places(of) >= policy.sparse_keeps)]
    lowest = np.searchsorted(columns.search[longer], search, side="right") - 1 - over
    can = (over < 0) | (lowest >= np.searchsorted(columns.search[longer], search))
    takes = can & (over >= 0)
    displaced = np.full(len(found), -1)
    displaced[takes] = longer[lowest[takes]]
    return Recalled(memory[found][can], missing[found][can], displaced[can])

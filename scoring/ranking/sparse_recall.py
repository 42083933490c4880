"""Recall of short memories: a place for a very near one that longer ones outscore (rule 3.5)."""

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
    """Short memory that was given a place in the results.

    Attributes:
        chunk_id: its nearest chunk.
        distance: cosine distance of that chunk to the query.
        displaced: memory whose place it took; None for a free place.
        reason: always ``sparse_doc_recall``.
    """

    memory_id: str
    chunk_id: str
    distance: float
    displaced: str | None = None
    reason: str = REASON


@dataclass(frozen=True, slots=True)
class Recalled:
    """Short memories that are given a place: k of them, search by search, nearest first.

    Attributes:
        memory: (k,) place in the columns.
        chunk: (k,) its nearest chunk.
        displaced: (k,) memory whose place it takes; -1 for a free place.
    """

    memory: Integers
    chunk: Integers
    displaced: Integers


_NONE = np.zeros(0, dtype=np.int64)
NOBODY = Recalled(_NONE, _NONE, _NONE)


def near_and_short(columns: Columns, policy: RankingPolicy, limit: Integers) -> Integers:
    """Return the chunks of short memories near enough for a guaranteed place.

    Args:
        columns: candidates of n searches.
        policy: bounds of the rule.
        limit: (n,) requested results.
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
    """Return the cosine distance of each chunk to its query, (c,); NaN without a vector."""
    return 1.0 - columns.cosine


def recall(
    columns: Columns, policy: RankingPolicy, shown: Integers, limit: Integers, barred: Flags
) -> Recalled:
    """Choose the short memories that get a place, and the results they displace.

    The nearest come first. Each takes a free place, else that of the lowest result without protection.

    Args:
        columns: candidates of n searches.
        policy: bounds of the rule.
        shown: results after the cut, search by search, best first.
        limit: (n,) requested results.
        barred: (m,) memories without the right to a place: votes pushed them down, or a newer one superseded
            them.
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
    chosen = nearest[np.sort(first)]  # the nearest chunk of each memory
    chosen = chosen[places(search[chosen]) < policy.sparse_max_injections]
    search, of = search[chosen], columns.search[shown]
    free = limit - np.bincount(of, minlength=len(columns))
    over = places(search) - free[search]  # results displaced before it; below 0: a place is free
    longer = shown[~short[shown] & (places(of) >= policy.sparse_keeps)]
    lowest = np.searchsorted(columns.search[longer], search, side="right") - 1 - over
    can = (over < 0) | (lowest >= np.searchsorted(columns.search[longer], search))
    takes = can & (over >= 0)
    displaced = np.full(len(chosen), -1)
    displaced[takes] = longer[lowest[takes]]
    return Recalled(memory[chosen][can], missing[chosen][can], displaced[can])

"""Recall of short memories: one that is very near gets a place, though long ones outscore it (rule 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.ranking.candidates import Candidates
from scoring.ranking.policy import RankingPolicy

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


def near_and_short(candidates: Candidates, policy: RankingPolicy, limit: int) -> dict[str, tuple[float, int]]:
    """Distance and position of the nearest chunk of every short memory that has a right to a place."""
    distance = 1.0 - candidates.cosine
    rank = candidates.vector_rank
    right = (
        (rank > 0)
        & (rank <= max(3 * limit, policy.sparse_top))
        & (candidates.chunk_count <= policy.sparse_chunks)
        & (distance <= policy.sparse_distance + _ROUNDING)
    )
    found: dict[str, tuple[float, int]] = {}
    for at in np.flatnonzero(right).tolist():
        memory, here = candidates.memory_ids[at], (float(distance[at]), at)
        if memory not in found or here < found[memory]:
            found[memory] = here
    return found


def recall(
    candidates: Candidates, policy: RankingPolicy, shown: Sequence[str], limit: int, barred: frozenset[str]
) -> Injection | None:
    """The one memory that is to be given a place, and whose place it takes.

    Args:
        candidates: of the search.
        policy: bounds of the rule.
        shown: memories of the results, best first, after the cut.
        limit: results asked for.
        barred: memories that votes have pushed down: they lost their place by use, not by their length.
    """
    if not policy.sparse_recall or limit == 0:
        return None
    short = near_and_short(candidates, policy, limit)
    missing = sorted(
        (distance, memory, at)
        for memory, (distance, at) in short.items()
        if memory not in shown and memory not in barred
    )
    if not missing:
        return None
    distance, memory, at = missing[0]
    found = Injection(memory, candidates.chunk_ids[at], distance)
    if len(shown) < limit:
        return found
    last = next((one for one in reversed(shown) if one not in short), None)
    return None if last is None else Injection(found.memory_id, found.chunk_id, distance, last)

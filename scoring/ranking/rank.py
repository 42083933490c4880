"""From candidate chunks to ranked memories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scoring.ranking.candidates import Candidates
from scoring.ranking.fusion import FUSIONS
from scoring.ranking.policy import RankingPolicy


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """One memory of a ranking.

    Attributes:
        rank: from 1.
        score: in [0, 1]; the sum of `contributions`.
        best: position in the candidates of the chunk that gives the score.
        chunks: positions of all its candidate chunks, in document order.
        contributions: what each channel adds, by channel.
    """

    rank: int
    memory_id: str
    score: float
    best: int
    chunks: tuple[int, ...]
    contributions: dict[str, float]


def rank(candidates: Candidates, policy: RankingPolicy, limit: int) -> list[RankedMemory]:
    """Rank memories by their best chunk; ties are broken by memory id, so the order is always the same.

    Args:
        candidates: what the channels found.
        policy: how scores are made.
        limit: memories wanted; 0 gives none.

    Raises:
        ValueError: `limit` is negative.
    """
    if limit < 0:
        raise ValueError(f"limit = {limit}: ask for 0 or more results")
    if limit == 0 or len(candidates) == 0:
        return []
    vector, text = FUSIONS[policy.fusion](candidates, policy)
    score = vector + text
    chunks: dict[str, list[int]] = {}
    for at, memory in enumerate(candidates.memory_ids):
        chunks.setdefault(memory, []).append(at)
    best = {
        memory: min(rows, key=lambda at: (-score[at], candidates.chunk_ids[at]))
        for memory, rows in chunks.items()
    }
    ordered = sorted(best, key=lambda memory: (-score[best[memory]], memory))[:limit]
    return [
        RankedMemory(
            rank=place,
            memory_id=memory,
            score=float(np.clip(score[best[memory]], 0.0, 1.0)),
            best=best[memory],
            chunks=tuple(sorted(chunks[memory], key=lambda at: candidates.chunk_ids[at])),
            contributions={"vector": float(vector[best[memory]]), "bm25": float(text[best[memory]])},
        )
        for place, memory in enumerate(ordered, start=1)
    ]

"""Fusion of channel scores into one score in [0, 1] (rule 3.2)."""

from __future__ import annotations

import numpy as np

from slowwave.scoring.arrays import Floats, Integers, bounded, finite
from slowwave.scoring.ranking.columns import Columns, greatest
from slowwave.scoring.ranking_policy import RankingPolicy


def normalised_cosine(cosine: Floats, floor: float) -> Floats:
    """Scale cosines so that `floor` is 0 and 1 is 1, (n,); missing and lower values are 0.

    The scale is absolute: it does not depend on the other candidates, so a query without an answer keeps low
    scores.
    """
    return bounded((finite(cosine, -1.0) - floor) / (1 - floor), 0.0, 1.0)


def normalised_bm25(
    bm25: Floats, starts: Integers | None = None, bound: Floats | None = None, reach: float = np.inf
) -> Floats:
    """Divide BM25 by the query's best, or by ``bound / reach`` if greater, (n,); 0 where not found.

    With the bound the scale is absolute, as the cosine's: the best of a query without an answer is not 1.

    The theoretical minimum, 0, and the per-query maximum: Bruch, Gai and Ingber, "An Analysis of Fusion
    Functions for Hybrid Retrieval" (2023).

    Args:
        bm25: of the candidates of one query, or of several one after the other.
        starts: first candidate of each query, and n at the end; one query where not given.
        bound: BM25 that no text exceeds, for each query; NaN if unknown, then the best counts 1.
        reach: see `RankingPolicy`.
    """
    scores = finite(bm25)
    starts = np.array([0, len(scores)]) if starts is None else starts
    best = greatest(scores, starts)
    over = best if bound is None else np.fmax(best, bound / reach)
    each = np.repeat(over, starts[1:] - starts[:-1])
    scaled: Floats = np.divide(scores, each, out=np.zeros_like(scores), where=each > 0)
    return scaled


def convex_combination(columns: Columns, policy: RankingPolicy) -> tuple[Floats, Floats]:
    """Return the contribution of each channel: (vector part, full-text part), (c,) each.

    Where the model does not know the query's language, the full-text channel gets the weight of the vector
    channel.
    """
    weight = policy.vector_weight * columns.say
    text = normalised_bm25(columns.bm25, columns.chunk_starts, columns.bm25_bound, policy.bm25_reach)
    return weight * normalised_cosine(columns.cosine, policy.cosine_floor), (1 - weight) * text


def reciprocal_rank(columns: Columns, policy: RankingPolicy) -> tuple[Floats, Floats]:
    """Return contributions by reciprocal rank fusion, (c,) each; 1 for rank 1 in both channels.

    Cormack, Clarke and Büttcher (2009). It reads ranks only, so the score has no absolute meaning. Both
    channels have the same weight if the model knows the query's language.
    """
    weight = columns.say / 2

    def part(rank: np.ndarray) -> Floats:
        return np.where(rank > 0, (policy.rrf_k + 1) / (policy.rrf_k + np.maximum(rank, 1)), 0)

    return weight * part(columns.vector_rank), (1 - weight) * part(columns.bm25_rank)


FUSIONS = {"convex": convex_combination, "rrf": reciprocal_rank}

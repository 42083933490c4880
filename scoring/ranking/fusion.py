"""Fusion of the channels' scores into one score in [0, 1] (rule 3.2)."""

from __future__ import annotations

import numpy as np

from slowwave.scoring.arrays import Floats, Integers, bounded, finite
from slowwave.scoring.ranking.columns import Columns, greatest
from slowwave.scoring.ranking_policy import RankingPolicy


def normalised_cosine(cosine: Floats, floor: float) -> Floats:
    """Cosine scaled so that `floor` is 0 and 1 is 1; missing and lower values are 0. Shape (n,).

    The scale is absolute: it does not depend on the other candidates, so a query that nothing answers
    keeps low scores.
    """
    return bounded((finite(cosine, -1.0) - floor) / (1 - floor), 0.0, 1.0)


def normalised_bm25(
    bm25: Floats, starts: Integers | None = None, bound: Floats | None = None, reach: float = np.inf
) -> Floats:
    """BM25 over the best of the query, or over ``bound / reach`` if that is more; 0 where not found, (n,).

    So it has an absolute meaning as the cosine has: the best of a query that nothing answers is not 1.

    The theoretical minimum, 0, and the per-query maximum: Bruch, Gai and Ingber, "An Analysis of Fusion
    Functions for Hybrid Retrieval" (2023).

    Args:
        bm25: of the candidates of one query, or of several one after the other.
        starts: where each query begins, and n at the end; one query where not given.
        bound: what no text can exceed, of each query; NaN where nobody knows, and the best counts 1.
        reach: see `RankingPolicy`.
    """
    found = finite(bm25)
    starts = np.array([0, len(found)]) if starts is None else starts
    best = greatest(found, starts)
    over = best if bound is None else np.fmax(best, bound / reach)
    each = np.repeat(over, starts[1:] - starts[:-1])
    scaled: Floats = np.divide(found, each, out=np.zeros_like(found), where=each > 0)
    return scaled


def convex_combination(columns: Columns, policy: RankingPolicy) -> tuple[Floats, Floats]:
    """What each channel contributes to each candidate: (vector part, full-text part), each (c,).

    What the vector channel has not to say of a query in a language that its model does not know, the
    full-text channel has.
    """
    weight = policy.vector_weight * columns.say
    said = normalised_bm25(columns.bm25, columns.chunk_starts, columns.bm25_bound, policy.bm25_reach)
    return weight * normalised_cosine(columns.cosine, policy.cosine_floor), (1 - weight) * said


def reciprocal_rank(columns: Columns, policy: RankingPolicy) -> tuple[Floats, Floats]:
    """Reciprocal rank fusion, scaled so that first place in both channels is 1.

    Cormack, Clarke and Büttcher (2009). It only knows ranks: the score has no absolute meaning. The channels
    weigh the same where the model knows the language of the query.
    """
    weight = columns.say / 2

    def part(rank: np.ndarray) -> Floats:
        return np.where(rank > 0, (policy.rrf_k + 1) / (policy.rrf_k + np.maximum(rank, 1)), 0)

    return weight * part(columns.vector_rank), (1 - weight) * part(columns.bm25_rank)


FUSIONS = {"convex": convex_combination, "rrf": reciprocal_rank}

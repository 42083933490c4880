"""Metrics of a ranking at a cutoff, equal to trec_eval or ir_measures (rule 6.3).

A document is relevant when its grade is above 0. Each function returns (n,) values in [0, 1], one a query.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from slowwave.scoring.arrays import Floats
from slowwave.scoring.evaluation.graded_rankings import GradedRankings
from slowwave.scoring.measures import Metric


def reciprocal_rank(graded: GradedRankings, k: int) -> Floats:
    """Return 1 / rank of the first relevant result; 0 if none is in the first k.

    Its mean is MRR@k.

    Source: Voorhees, "The TREC-8 Question Answering Track Report" (1999).
    """
    hit = graded.grades[:, :k] > 0
    return np.where(hit.any(axis=1), 1 / (hit.argmax(axis=1) + 1), 0.0)


def ndcg(graded: GradedRankings, k: int) -> Floats:
    """Return discounted cumulative gain over that of the ideal order of all judgments.

    The gain is the grade (0 below 0), the discount log2(1 + rank), as in trec_eval's ``ndcg_cut``. Source:
    Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques" (2002).
    """
    gains = np.maximum(np.nan_to_num(graded.grades[:, :k]), 0.0)
    discount = 1 / np.log2(np.arange(2, gains.shape[1] + 2))
    value: Floats = (gains * discount).sum(axis=1) / (graded.ideal[:, :k] * discount).sum(axis=1)
    return value


def recall(graded: GradedRankings, k: int) -> Floats:
    """Return relevant results in the first k over relevant documents of the judgment list."""
    return _hits(graded, k) / graded.relevant


def hit_rate(graded: GradedRankings, k: int) -> Floats:
    """Return 1 if a relevant result is in the first k, else 0; trec_eval's ``success``."""
    return (_hits(graded, k) > 0).astype(np.float64)


def precision(graded: GradedRankings, k: int) -> Floats:
    """Return relevant results in the first k over k, however many results there are."""
    return _hits(graded, k) / k


def judged(graded: GradedRankings, k: int) -> Floats:
    """Return the share of the first k results that have a grade, 0 included.

    With fewer than k results, the share of all; 0 without results. It shows how far the other figures can be
    trusted: they count an unjudged result as not relevant.
    """
    shown = np.minimum(graded.retrieved, k)
    share: Floats = (~np.isnan(graded.grades[:, :k])).sum(axis=1) / np.maximum(shown, 1)
    return share


def _hits(graded: GradedRankings, k: int) -> Floats:
    hits: Floats = (graded.grades[:, :k] > 0).sum(axis=1).astype(np.float64)
    return hits


METRICS: dict[Metric, Callable[[GradedRankings, int], Floats]] = {
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
    "recall": recall,
    "hit_rate": hit_rate,
    "precision": precision,
    "judged": judged,
}

"""Measures of a ranking: metric and cutoff.

Tables, marts, reports and the learning gate take names, columns and order from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Metric = Literal["mrr", "ndcg", "recall", "hit_rate", "precision", "judged"]

_SPELLING: dict[Metric, str] = {
    "mrr": "MRR",
    "ndcg": "nDCG",
    "recall": "Recall",
    "hit_rate": "HitRate",
    "precision": "Precision",
    "judged": "Judged",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric over the first `k` results; written as ``nDCG@10``.

    Attributes:
        metric: ``mrr``, ``ndcg``, ``recall``, ``hit_rate``, ``precision`` or ``judged``.
        k: cutoff, from 1.
    """

    metric: Metric
    k: int

    def __post_init__(self) -> None:
        if self.metric not in get_args(Metric):
            raise ValueError(f"metric = {self.metric!r} is not one of {', '.join(get_args(Metric))}")
        if self.k < 1:
            raise ValueError(f"k = {self.k}: a cutoff is 1 or more")

    def __str__(self) -> str:
        return f"{_SPELLING[self.metric]}@{self.k}"

    @property
    def column(self) -> str:
        """Return the column name, such as ``ndcg_10``."""
        return f"{self.metric}_{self.k}"


MRR, NDCG = Measure("mrr", 5), Measure("ndcg", 10)
QUALITY = (MRR, NDCG, Measure("recall", 20), Measure("hit_rate", 1))
"""Quality measures (rule 6.3); higher is better."""

JUDGED = Measure("judged", 10)
"""Share of judged results, not a quality; below 1 the other measures are lower bounds."""

MEASURES = (*QUALITY, JUDGED)

OF_LEARNING = (MRR, NDCG)
"""Measures that compare searches with and without what was learned."""

EFFECT_COLUMNS = tuple(name for one in OF_LEARNING for name in (one.column, f"{one.column}_learned"))

"""Figures of the recall of short memories, and diagnosis of those not found (rule 3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

BY_ID: Final = 1.0
"""Minimum share of its questions that find a short memory when it alone is searched; below, ingestion failed.
"""
BY_SEARCH: Final = 0.9
"""Minimum share of its questions that find it among all memories."""

Diagnosis = Literal["passes", "ingestion_failure", "retrieval_regression"]


@dataclass(frozen=True, slots=True)
class SparseRecall:
    """Figures of the places that short memories were given.

    Attributes:
        sparse_recall_injections: injections (count).
        judged: injections with a verdict (count).
        hits: judged injections that were used or relevant (count).
    """

    sparse_recall_injections: int
    judged: int
    hits: int

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures by name; rates are of judged injections, None without any."""
        rate = self.hits / self.judged if self.judged else None
        return {
            "sparse_recall_injections": self.sparse_recall_injections,
            "sparse_recall_hit_rate": rate,
            "sparse_recall_false_positive_rate": None if rate is None else 1 - rate,
            "judged": self.judged,
        }


def sparse_recall(injected: pl.DataFrame, verdicts: pl.DataFrame) -> SparseRecall:
    """Compute the figures of injections.

    Args:
        injected: ``search_id``, ``memory_id``; one row an injection.
        verdicts: ``search_id``, ``memory_id``, ``relevant``; one positive verdict decides.
    """
    relevance = (
        verdicts.drop_nulls("relevant").group_by("search_id", "memory_id").agg(pl.col("relevant").any())
    )
    judged = injected.unique(["search_id", "memory_id"]).join(relevance, on=["search_id", "memory_id"])
    return SparseRecall(
        injected.select("search_id", "memory_id").n_unique(), judged.height, int(judged["relevant"].sum())
    )


def diagnose(by_id: float, by_search: float) -> Diagnosis:
    """Diagnose a short memory from the shares of its questions that find it.

    Args:
        by_id: share that finds it when it alone is searched.
        by_search: share that finds it among all memories.
    """
    if by_id < BY_ID:
        return "ingestion_failure"
    return "retrieval_regression" if by_search < BY_SEARCH else "passes"

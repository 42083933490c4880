"""What the place that short memories are guaranteed is worth, and what is wrong with one not found (3.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

BY_ID: Final = 1.0
"""Share of its questions that find a short memory when it alone is asked; below, it was taken in wrongly."""
BY_SEARCH: Final = 0.9
"""Share of its questions that find it among all."""

Diagnosis = Literal["passes", "ingestion_failure", "retrieval_regression"]


@dataclass(frozen=True, slots=True)
class SparseRecall:
    """Places that short memories were given.

    Attributes:
        sparse_recall_injections: places (count).
        judged: of them, those of which anybody said whether the memory was of use (count).
        hits: of these, those that were used or judged relevant (count).
    """

    sparse_recall_injections: int
    judged: int
    hits: int

    def to_dict(self) -> dict[str, float | None]:
        """The figures by their names; rates are of those that were judged, None where none was."""
        rate = self.hits / self.judged if self.judged else None
        return {
            "sparse_recall_injections": self.sparse_recall_injections,
            "sparse_recall_hit_rate": rate,
            "sparse_recall_false_positive_rate": None if rate is None else 1 - rate,
            "judged": self.judged,
        }


def sparse_recall(injected: pl.DataFrame, verdicts: pl.DataFrame) -> SparseRecall:
    """The figures of these places.

    Args:
        injected: ``search_id``, ``memory_id``; a row a place.
        verdicts: ``search_id``, ``memory_id``, ``relevant``; of several on one place one that it was of use
            decides.
    """
    said = verdicts.drop_nulls("relevant").group_by("search_id", "memory_id").agg(pl.col("relevant").any())
    found = injected.unique(["search_id", "memory_id"]).join(said, on=["search_id", "memory_id"])
    return SparseRecall(
        injected.select("search_id", "memory_id").n_unique(), found.height, int(found["relevant"].sum())
    )


def diagnose(by_id: float, by_search: float) -> Diagnosis:
    """What is wrong with a short memory.

    Args:
        by_id: share of its questions that find it when it alone is asked.
        by_search: share that find it among all.
    """
    if by_id < BY_ID:
        return "ingestion_failure"
    return "retrieval_regression" if by_search < BY_SEARCH else "passes"

"""What a search asks of the chunks of a namespace, whoever answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

CONFIDENCE_LABELS = (
    "origin", "source_of_truth", "retrieval_priority", "memory_type", "sensitivity", "state", "source_kind",
)  # fmt: skip
"""Labels that confidence in a memory follows from (rule 3.6)."""

SHOWN = (
    "chunk_id", "memory_id", "text", "title", "source", "headings", "tags", "status", "importance_tier",
    "ordinal", "chunk_count", "follows", "created_at", "updated_at", *CONFIDENCE_LABELS,
)  # fmt: skip
DIGITS = 6  # of a cosine and a BM25 score: the journal keeps what was ranked, to the last digit
MAX_MATCHES = 100_000  # chunks with one word, of an account of a search (count)

Vector = npt.NDArray[np.float32]


class Hits(Protocol):
    """Chunks that were found, in the order of their score."""

    @property
    def memory_ids(self) -> list[str]:
        """The memory of each."""


H = TypeVar("H", bound=Hits)


@dataclass(frozen=True, slots=True)
class Merged:
    """All chunks that were found, each once, with all scores that can be known.

    Attributes:
        channels: chunk_ids, cosine, bm25, vector_rank and bm25_rank of `Candidates`.
        shown: one row per chunk, columns SHOWN.
    """

    channels: dict[str, Any]
    shown: pa.Table


class Channels(Protocol[H]):
    """The chunks of one namespace."""

    @property
    def waits(self) -> bool:
        """Whether an answer comes from a disk, so that another question may be asked meanwhile."""

    def full_text(self, query: str, where: str, size: int) -> H:
        """The best chunks by words (BM25) that a condition lets through."""

    def nearest(self, vector: Vector, where: str, size: int) -> H:
        """The nearest chunks to a query's vector; none to a zero vector."""

    def of(self, memory_ids: Sequence[str], where: str, most: int) -> H:
        """At most so many chunks of some memories, by chunk id."""

    def best_of_each(self, hits: H, vector: Vector) -> H:
        """Of each memory the chunk that is nearest to the query; of equal ones the first."""

    def merged(self, nearest: H, text: H, others: Sequence[H], vector: Vector) -> Merged:
        """The chunks of nearest, full text and others as one set."""

    def first_texts(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """The first chunk's text of some memories."""

    def term_scores(
        self, words: Sequence[str], chunk_ids: Sequence[str], where: str
    ) -> dict[str, dict[str, float]]:
        """BM25 of every word alone, by chunk: they sum to the score of the whole query."""

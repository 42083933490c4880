"""Channel protocol: queries of a search on the chunks of a namespace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

CONFIDENCE_LABELS = (
    "origin", "source_of_truth", "retrieval_priority", "memory_type", "sensitivity", "state", "source_kind",
)  # fmt: skip
"""Labels that determine the confidence in a memory (rule 3.6)."""

SHOWN = (
    "chunk_id", "memory_id", "text", "title", "source", "headings", "tags", "status", "importance_tier",
    "ordinal", "chunk_count", "follows", "created_at", "updated_at", *CONFIDENCE_LABELS,
)  # fmt: skip
DATED = ("memory_id", "title", "text", "sensitivity", "status", "created_at", "updated_at", "ordinal")
"""Columns of a passage, with what orders it in time."""
MENTIONING = ("memory_id", "title", "headings", "text", "source", "tags")
"""Columns in which a chunk mentions an identifier."""
DIGITS = 6  # decimals of cosine and BM25 scores; the journal records exactly these
MAX_MATCHES = 100_000  # maximum chunks with one word in an explanation (count)

Vector = npt.NDArray[np.float32]


class Hits(Protocol):
    """Chunks found by a channel, in the order of their score."""

    @property
    def memory_ids(self) -> list[str]:
        """Return the memory id of each chunk."""


H = TypeVar("H", bound=Hits)


@dataclass(frozen=True, slots=True)
class Merged:
    """All found chunks, each once, with all known scores.

    Attributes:
        channels: chunk_ids, cosine, bm25, vector_rank and bm25_rank of `Candidates`.
        shown: One row per chunk, columns SHOWN.
    """

    channels: dict[str, Any]
    shown: pa.Table


class Channels(Protocol[H]):
    """Queries on the chunks of one namespace."""

    @property
    def waits(self) -> bool:
        """Return whether results come from a disk, so that other work can run meanwhile."""

    def full_text(self, query: str, where: str, size: int, visible: str = "") -> H:
        """Return the best chunks by words (BM25) that pass a condition.

        Words are counted in the chunks that a caller may see (condition `visible`; empty: all), so scores
        tell nothing of others.
        """

    def bound_of(self, query: str, visible: str = "") -> float:
        """Return the BM25 that no chunk exceeds for a query; for `visible` see `full_text`."""

    def nearest(self, vector: Vector, where: str, size: int) -> H:
        """Return the chunks nearest to a query vector; none for a zero vector."""

    def of(self, memory_ids: Sequence[str], where: str, most: int) -> H:
        """Return at most `most` chunks of some memories, by chunk id."""

    def best_of_each(self, hits: H, vector: Vector) -> H:
        """Return each memory's chunk that is nearest to the query; of equal ones the first."""

    def merged(self, nearest: H, text: H, others: Sequence[H], vector: Vector) -> Merged:
        """Merge the chunks of nearest, full text and others."""

    @property
    def derived_titles(self) -> dict[str, bool]:
        """Return of each known memory whether its title is only its text's first words; callers add to it."""

    def first_texts(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the first chunk's text of some memories."""

    def term_scores(
        self, words: Sequence[str], chunk_ids: Sequence[str], where: str, *, in_pieces: bool = False,
        visible: str = "",
    ) -> dict[str, dict[str, float]]:  # fmt: skip
        """Return BM25 of every word alone, by chunk; they sum to the query's score.

        With `in_pieces`, a word's score includes its pieces'. For `visible` see `full_text`.
        """

    def newer_with_rare_words(
        self, words: Mapping[str, str], where: str, most: int, visible: str, may_tell: Callable[[str], bool]
    ) -> tuple[pa.Table, dict[str, list[int]]]:
        """Return newer chunks that share rare words with older ones.

        They have the columns DATED; the second value is their rows, by older chunk. The rarities of the
        shared words sum to `MIN_RARITY`. A table on a disk returns none, as a word's rarity in it is not
        known.

        Args:
            words: Words that may be shared, by older chunk.
            where: Condition on the newer ones.
            most: Maximum for an older one (count); the best ones count.
            visible: As of `full_text`.
            may_tell: Whether a text may tell of a change; others are left out.
        """

    def nearest_newer(self, chunk_id: str, where: str, until: datetime | None) -> str:
        """Return the memory with the newer chunk nearest to one, of its sensitivity.

        Args:
            chunk_id: The older chunk.
            where: Condition on the newer ones.
            until: Moment after which none counts.

        Returns:
            Its id; empty without one.
        """

    def with_words(self, sets: Sequence[Collection[str]], where: str, most: int) -> pa.Table:
        """Return at most `most` chunks that have a word of each set, columns `MENTIONING`."""

    def with_groups(self, characters: str, where: str, most: int) -> pa.Table:
        """Return at most `most` chunks that may have a number in another grouping, columns `MENTIONING`.

        A chunk with it has the first group and the last one; whether it has the others is for the caller.
        """

    def with_part(self, part: str, where: str, most: int) -> pa.Table:
        """Return at most `most` chunks with a part of a word, columns `MENTIONING`.

        Words without a digit may be left out. The source and the tags of the memory count, too.
        """

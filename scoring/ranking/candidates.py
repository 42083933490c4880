"""The chunks that the channels of one search found (rule 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

VECTOR = "vector"
BM25 = "bm25"


@dataclass(frozen=True, slots=True)
class Candidates:
    """n candidate chunks, one row each chunk, whichever channels found it.

    Attributes:
        chunk_ids: n ids.
        memory_ids: n ids of the memories that the chunks belong to.
        cosine: (n,) cosine of query and chunk; NaN where there is no vector.
        bm25: (n,) BM25 score; NaN where the full-text channel did not find the chunk.
        vector_rank: (n,) rank from 1 in the vector channel; 0 where that channel did not find it.
        bm25_rank: (n,) rank from 1 in the full-text channel; 0 where that channel did not find it.
    """

    chunk_ids: Sequence[str]
    memory_ids: Sequence[str]
    cosine: Floats
    bm25: Floats
    vector_rank: npt.NDArray[np.int64]
    bm25_rank: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Number of candidate chunks."""
        return len(self.chunk_ids)

    def channels(self, at: int) -> tuple[str, ...]:
        """Every channel that found the candidate."""
        return tuple(
            name for name, rank in ((VECTOR, self.vector_rank[at]), (BM25, self.bm25_rank[at])) if rank > 0
        )

"""Memory vectors: the mean direction of a memory's chunks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl


def mean_vectors(chunks: pl.DataFrame, dimension: int) -> pl.DataFrame:
    """Compute one unit vector per memory.

    Args:
        chunks: Columns memory_id, ordinal, vector; the chunks of a memory have one revision.
        dimension: Numbers per vector.

    Returns:
        Columns memory_id, vector. A memory of one chunk has that chunk's vector, bit for bit; one without
        embedded text has zeros.
    """
    kind = pl.Array(pl.Float32, dimension)
    if chunks.is_empty():
        return pl.DataFrame(schema={"memory_id": pl.String, "vector": kind})
    if chunks.height == 1:
        return pl.DataFrame([chunks["memory_id"], chunks["vector"].cast(kind)])
    ordered = chunks.sort("memory_id", "ordinal")
    names = ordered["memory_id"].unique(maintain_order=True)
    vectors = ordered["vector"].cast(kind).to_numpy().astype(np.float64)
    starts = np.flatnonzero(ordered["memory_id"].rle_id().diff().fill_null(1).to_numpy() != 0)
    return pl.DataFrame({"memory_id": names, "vector": pl.Series(mean_rows(vectors, starts), dtype=kind)})


def mean_rows(vectors: npt.NDArray[np.float64], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return one unit vector (m, dimension) per run of rows.

    The runs of the rows (n, dimension) begin at `starts`.
    A run of one row is that row; one whose sum is zero gives zeros.
    """
    sums = np.add.reduceat(vectors, starts, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    directions = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 1e-12)
    means: npt.NDArray[np.float32] = directions.astype(np.float32)
    single = np.diff(np.append(starts, len(vectors))) == 1
    means[single] = vectors[starts[single]]
    return means

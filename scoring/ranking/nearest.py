"""Nearest past questions of a query among many (rule 7.2).

Up to a few thousand are compared exactly. More are clustered into an inverted file (IVF): a query is compared
with the cluster centres, then with the questions of the nearest clusters.

Rows are multiplied with `np.vecdot` and not with ``@``: BLAS may share a matrix-vector product out to
threads, which takes longer than so small a product when other processes use the cores.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats, Integers

Vectors = npt.NDArray[np.float32]

EXACT = 8_000
"""Maximum questions for exact search (count)."""
GROUPS = 4
"""Clusters of n questions, as a multiple of √n."""
PROBED = 48
"""Maximum clusters that a query is compared with (count)."""
PROBED_ROWS = 5_000
"""Maximum questions that it is compared with, unless the nearest cluster has more (count)."""
_LEARNED_FROM = 32  # sampled questions a cluster
_ROUNDS = 5
_BLOCK = 4_096  # questions that are compared with all centres at once


class Nearest:
    """Nearest-neighbour index of past questions, deterministic for the same vectors.

    Args:
        vectors: of the questions, of length 1, (n, dimension).

    Raises:
        ValueError: `vectors` is not a matrix.
    """

    def __init__(self, vectors: Vectors) -> None:
        if vectors.ndim != 2:
            raise ValueError(f"vectors of shape {vectors.shape} are not (n, dimension)")
        self._rows = np.ascontiguousarray(vectors, dtype=np.float32)
        self._place: Integers | None = None
        if len(vectors) > EXACT:
            self._centres = _centres(self._rows)
            group = _nearest_of(self._rows, self._centres)
            self._place = np.argsort(group, kind="stable")
            self._rows = self._rows[self._place]
            self._sizes = np.bincount(group, minlength=len(self._centres))
            self._starts = np.cumsum(self._sizes) - self._sizes

    def find(
        self, query: npt.NDArray[np.floating], threshold: float, most: int | None = None
    ) -> tuple[Integers, Floats]:
        """Return places and cosines of the questions near a query, the nearest first, (k,) each.

        Args:
            query: of length 1, (dimension,).
            threshold: minimum cosine.
            most: maximum questions (count); None for all.

        Raises:
            ValueError: the query has another dimension, or `most` is below 1.
        """
        query = np.asarray(query, dtype=np.float32)
        if query.shape != self._rows.shape[1:]:
            raise ValueError(f"a query of shape {query.shape} for vectors of {self._rows.shape[1:]}")
        if most is not None and most < 1:
            raise ValueError(f"most = {most} is not 1 or more")
        if self._place is None:
            cosine = np.vecdot(self._rows, query)
            place = np.flatnonzero(cosine >= threshold)
            cosine = cosine[place]
        else:
            place, cosine = self._probed(self._place, query, threshold)
        order = np.lexsort((place, -cosine))[:most]
        return place[order], cosine[order].astype(np.float64)

    def _probed(self, places: Integers, query: Vectors, threshold: float) -> tuple[Integers, Vectors]:
        """Return the near questions of the nearest clusters, in no order."""
        likeness = np.vecdot(self._centres, query)
        group = np.argpartition(-likeness, min(PROBED, len(likeness)) - 1)[:PROBED]
        group = group[np.argsort(-likeness[group], kind="stable")]
        group = group[: max(int(np.searchsorted(np.cumsum(self._sizes[group]), PROBED_ROWS, "right")), 1)]
        slices = list(zip(self._starts[group].tolist(), self._sizes[group].tolist(), strict=True))
        cosine = np.concatenate([np.vecdot(self._rows[at : at + size], query) for at, size in slices])
        near = np.flatnonzero(cosine >= threshold)
        row = np.concatenate([places[at : at + size] for at, size in slices])[near]
        return row, cosine[near]


def _centres(vectors: Vectors) -> Vectors:
    """Compute cluster centres of length 1, (`GROUPS` · √n, dimension), by spherical k-means."""
    draw = np.random.default_rng(0)
    count = int(GROUPS * np.sqrt(len(vectors)))
    sample = vectors[draw.permutation(len(vectors))[: _LEARNED_FROM * count]]
    centres = sample[:count].copy()
    for _ in range(_ROUNDS):
        group = _nearest_of(sample, centres)
        order = np.argsort(group, kind="stable")
        some, starts = np.unique(group[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0)
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        centres[some] = np.where(length > 0, sums / np.where(length > 0, length, 1.0), centres[some])
    return centres


def _nearest_of(vectors: Vectors, centres: Vectors) -> Integers:
    """Return the nearest centre of each vector, (n,)."""
    blocks = (vectors[at : at + _BLOCK] for at in range(0, len(vectors), _BLOCK))
    return np.concatenate([np.argmax(block @ centres.T, axis=1) for block in blocks])

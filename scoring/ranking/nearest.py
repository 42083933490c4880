"""Which past questions a query is near to, among many (rule 7.2).

A few thousand are compared one by one. More are laid out in groups of like ones, and a query is compared with
the groups and then with the questions of the nearest ones alone: an inverted file.

Rows are multiplied with `np.vecdot` and not with ``@``: a product of a matrix and a vector may be shared out
to threads, which takes longer than so small a product when other processes hold the cores.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats, Integers

Vectors = npt.NDArray[np.float32]

EXACT = 8_000
"""Questions up to which a query is compared with each (count)."""
GROUPS = 4
"""Groups of n questions, as a multiple of √n."""
PROBED = 48
"""Groups whose questions a query is compared with, at most (count)."""
PROBED_ROWS = 5_000
"""Questions that it is compared with, at most, unless the nearest group has more (count)."""
_LEARNED_FROM = 32  # questions a group that the groups are made of
_ROUNDS = 5
_BLOCK = 4_096  # questions that are compared with all groups at once


class Nearest:
    """Finds the past questions that are near to a query; the same vectors are always laid out the same.

    Args:
        vectors: of the questions, of length 1, (n, dimension).

    Raises:
        ValueError: they are no matrix.
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
        """Places of the questions near to a query, the nearest first, and their cosines, (k,) each.

        Args:
            query: of length 1, (dimension,).
            threshold: least cosine.
            most: questions (count); None is all of them.

        Raises:
            ValueError: the query is of another dimension, or `most` is below 1.
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
        """Of the groups nearest to the query, the questions that are near enough, in no order."""
        likeness = np.vecdot(self._centres, query)
        group = np.argpartition(-likeness, min(PROBED, len(likeness)) - 1)[:PROBED]
        group = group[np.argsort(-likeness[group], kind="stable")]
        group = group[: max(int(np.searchsorted(np.cumsum(self._sizes[group]), PROBED_ROWS, "right")), 1)]
        slices = list(zip(self._starts[group].tolist(), self._sizes[group].tolist(), strict=True))
        cosine = np.concatenate([np.vecdot(self._rows[at : at + size], query) for at, size in slices])
        there = np.flatnonzero(cosine >= threshold)
        row = np.concatenate([places[at : at + size] for at, size in slices])[there]
        return row, cosine[there]


def _centres(vectors: Vectors) -> Vectors:
    """Directions about which the vectors lie, of length 1, (`GROUPS` · √n, dimension): spherical k-means."""
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
    """The centre that each vector is nearest to, (n,)."""
    blocks = (vectors[at : at + _BLOCK] for at in range(0, len(vectors), _BLOCK))
    return np.concatenate([np.argmax(block @ centres.T, axis=1) for block in blocks])

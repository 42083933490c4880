"""Vectors of a snapshot in pieces, the first perhaps in the order of its partitions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from slowwave.index.channels import Vector
from slowwave.index.partitions import Partitions

Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float32]


class PartitionedVectors:
    """Rows of a matrix in pieces, one of which may be in a mapped file.

    Args:
        pieces: Each (n, dimension), at least one.
        partitions: Partitions of the first piece, whose rows are in their order then.
    """

    def __init__(self, *pieces: Matrix, partitions: Partitions | None = None) -> None:
        self.partitions = partitions
        self._pieces = tuple(piece for piece in pieces if len(piece)) or pieces[:1]
        self._starts = np.cumsum([0, *map(len, self._pieces)])

    def __len__(self) -> int:
        """Return the rows of all pieces."""
        return int(self._starts[-1])

    def __getitem__(self, rows: Rows) -> Matrix:
        """Return some of the rows, (len(rows), dimension)."""
        if len(self._pieces) == 1:
            return self._pieces[0][self._placed(rows)]
        vectors = np.empty((len(rows), self._pieces[0].shape[1]), dtype=np.float32)
        where = np.searchsorted(self._starts, rows, side="right") - 1
        for number, piece in enumerate(self._pieces):
            in_piece = where == number
            offsets = rows[in_piece] - self._starts[number]
            vectors[in_piece] = piece[offsets if number else self._placed(offsets)]
        return vectors

    def _placed(self, rows: Rows) -> Rows:
        """Return the positions of rows in the first piece."""
        return rows if self.partitions is None else self.partitions.place[rows].astype(np.int64)

    def times(self, vector: Vector) -> Vector:
        """Compute the product of every row and a vector, (n,)."""
        # vecdot uses one thread: BLAS threads of parallel searches would wait for one another.
        products = [np.vecdot(piece, vector) for piece in self._pieces]
        if self.partitions is not None:
            products[0] = products[0][self.partitions.place]
        return np.concatenate(products) if len(products) > 1 else products[0]

    def products(self, vectors: Matrix) -> Matrix:
        """Compute the products of every row and some vectors (m, dimension); returns (n, m)."""
        products = [piece @ vectors.T for piece in self._pieces]
        if self.partitions is not None:
            products[0] = products[0][self.partitions.place]
        return np.concatenate(products) if len(products) > 1 else products[0]

    def visited(self, vector: Vector, passing: Flags, size: int) -> tuple[Rows, Vector]:
        """Return rows of the partitions nearest to a vector, all unpartitioned rows, and their products.

        The product is -inf for a row that does not pass. Twice as many partitions are visited in each step
        until `size` rows pass.
        """
        assert self.partitions is not None
        order, first = self.partitions.order, self._pieces[0]
        rows, near, count = [], [], 0
        for places in self.partitions.nearest(vector):
            rows.append(np.concatenate([order[start:end] for start, end in places]))
            products = np.concatenate([np.vecdot(first[start:end], vector) for start, end in places])
            through = passing[rows[-1]]
            products[~through] = -np.inf
            near.append(products)
            count += int(np.count_nonzero(through))
            if count >= size:
                break
        for start, piece in zip(self._starts[1:-1].tolist(), self._pieces[1:], strict=True):
            end = start + len(piece)
            rows.append(np.arange(start, end, dtype=np.int32))
            near.append(np.where(passing[start:end], np.vecdot(piece, vector), np.float32(-np.inf)))
        return np.concatenate(rows), np.concatenate(near)

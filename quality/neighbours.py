"""Nearest memories of a batch of notes, by one matrix product (rule 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MAX_KEPT = 32
"""Minimum neighbours kept per note (count). If too few remain usable, the row is computed again."""
DECIMALS = 6
"""Decimals of similarities, so that meeting a threshold does not depend on the order of sums."""
SLACK = 1e-5
"""Error bound of 32-bit sums; values nearer to a threshold are summed in 64 bits."""
_ROWS_AT_ONCE, _COLUMNS_AT_ONCE = 256, 2_048
"""Notes and memories of one product (count), small enough for the CPU cache."""

Matrix = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int32]
EXCLUDED = -1
"""Code of a memory that is never a neighbour."""


def coded(*kinds: Sequence[str]) -> list[Codes]:
    """Map kinds to numbers from 0, the same in all lists."""
    codes = {name: code for code, name in enumerate(sorted(set().union(*kinds)))}
    return [np.array([codes[name] for name in kinds_of_list], dtype=np.int32) for kinds_of_list in kinds]


@dataclass(frozen=True, slots=True)
class ExtraVectors:
    """Memories with vectors (n, dimension) that `Neighbours` does not have."""

    ids: list[str]
    matrix: Matrix


class Neighbours:
    """Live memories and notes of a batch, by cosine similarity.

    Args:
        ids: live memories in any order; those beyond the vectors are ignored.
        matrix: their vectors (n, dimension), unit length; zero vectors are never neighbours.
        batch_ids: notes of the batch, in order.
        batch: their vectors (m, dimension).
        floor: minimum similarity.
        groups: kind of each of `ids`, as numbered by `coded` (n,). Different kinds are never neighbours, nor
            is `EXCLUDED`. Omitted: one kind.
        batch_groups: the same for `batch_ids` (m,).
    """

    def __init__(
        self,
        ids: Sequence[str],
        matrix: Matrix,
        batch_ids: Sequence[str],
        batch: Matrix,
        floor: float,
        *,
        groups: Codes | None = None,
        batch_groups: Codes | None = None,
    ) -> None:
        self._groups = np.zeros(len(matrix), np.int32) if groups is None else groups
        self._batch_groups = np.zeros(len(batch_ids), np.int32) if batch_groups is None else batch_groups
        self._ids, self._matrix, self._size = ids, matrix, len(matrix)  # the list may grow meanwhile
        self._batch_ids, self._batch = list(batch_ids), batch
        self._floor = floor
        self._place = {name: at for at, name in enumerate(self._batch_ids)}
        self._found: list[list[int]] = []  # places in ids, then places in the batch + len(ids)
        self._cut: set[int] = set()
        if np.isfinite(floor):
            for start in range(0, len(self._batch_ids), _ROWS_AT_ONCE):
                self._compute(start, min(start + _ROWS_AT_ONCE, len(self._batch_ids)))
        else:
            self._found = [[] for _ in self._batch_ids]

    def _compute(self, start: int, stop: int) -> None:
        rows = self._batch[start:stop]
        groups = self._batch_groups[start:stop]
        candidates = []
        for matrix, kinds, before, is_batch in (
            (self._matrix, self._groups, 0, False),
            (self._batch[:stop], self._batch_groups[:stop], self._size, True),
        ):
            for first in range(0, len(kinds), _COLUMNS_AT_ONCE):
                last = first + _COLUMNS_AT_ONCE
                similar = rows @ matrix[first:last].T
                row, column = np.divmod(
                    np.flatnonzero((similar >= self._floor - SLACK).ravel()), similar.shape[1]
                )
                right = groups[row] == kinds[first + column]
                if is_batch:  # a note is compared only with earlier ones
                    right &= first + column < start + row
                row, column = row[right], column[right]
                candidates.append((row, before + first + column, similar[row, column]))
        row, column, similar = (np.concatenate(part) for part in zip(*candidates, strict=True))
        order = np.argsort(row, kind="stable")
        row, column, similar = row[order], column[order], similar[order]
        limits = np.searchsorted(row, np.arange(stop - start + 1))
        for at in range(stop - start):
            columns = column[limits[at] : limits[at + 1]]
            if len(columns) > MAX_KEPT:
                similarities = similar[limits[at] : limits[at + 1]]
                least = np.partition(similarities, -MAX_KEPT)[-MAX_KEPT]
                columns = columns[similarities >= least - SLACK]  # keep all ties, despite rounding
                self._cut.add(start + at)
            self._found.append(columns.tolist())

    def ids(self) -> set[str]:
        """Return every existing memory that is a neighbour of a note."""
        return {self._ids[at] for places in self._found for at in places if at < self._size}

    def nearest(
        self,
        name: str,
        vector: Matrix,
        *,
        count: int,
        usable: Callable[[str, bool], bool],
        also: ExtraVectors,
    ) -> list[tuple[str, float]]:
        """Return the `count` nearest usable memories of a note, at or above the floor.

        Args:
            name: id of the note.
            vector: its vector.
            count: maximum results.
            usable: function of id and whether it is a note of the batch: whether it can be found with this
                vector now.
            also: memories that have another vector now.

        Returns:
            (id, cosine rounded to 6 decimals), the most similar first, equal ones by id.
        """
        row = self._place[name]
        places = [at for at in self._found[row] if usable(*self._named(at))]
        if row in self._cut and len(places) < count:
            places = self._all(row, usable)
        candidates = [(self._named(at)[0], self._vector(at)) for at in places]
        if also.ids:
            close = np.flatnonzero(also.matrix @ vector >= self._floor - SLACK)
            candidates += [(also.ids[at], also.matrix[at]) for at in close]
        exact = vector.astype(np.float64)
        near = []
        for other, other_vector in candidates:
            similarity = round(float(exact @ other_vector.astype(np.float64)), DECIMALS)
            if similarity >= self._floor:
                near.append((-similarity, other))
        return [(other, -negative) for negative, other in sorted(near)[:count]]

    def _all(self, row: int, usable: Callable[[str, bool], bool]) -> list[int]:
        similar = np.concatenate([self._matrix @ self._batch[row], self._batch[:row] @ self._batch[row]])
        similar[np.concatenate([self._groups, self._batch_groups[:row]]) != self._batch_groups[row]] = -np.inf
        near = np.flatnonzero(similar >= self._floor - SLACK)
        near = near[np.argsort(-similar[near], kind="stable")]
        return [at for at in near.tolist() if usable(*self._named(at))][:MAX_KEPT]

    def _named(self, place: int) -> tuple[str, bool]:
        size = self._size
        return (self._ids[place], False) if place < size else (self._batch_ids[place - size], True)

    def _vector(self, place: int) -> Matrix:
        size = self._size
        vector: Matrix = self._matrix[place] if place < size else self._batch[place - size]
        return vector

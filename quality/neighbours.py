"""The most similar memories, for a whole batch from one matrix product (rule 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MAX_KEPT = 32
"""Neighbours kept per note at least (count). When all but a few have gone, the row is computed again."""
DECIMALS = 6
"""Similarities are rounded to so many decimals: a threshold is met or not, whatever the order of sums."""
SLACK = 1e-5
"""Sums of 32-bit numbers are trusted to so much; what is nearer to a threshold is summed in 64 bits."""
_ROWS_AT_ONCE, _COLUMNS_AT_ONCE = 256, 2_048
"""Notes and memories of one product (count): it stays in the cache, and so does what is asked of it."""

Matrix = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int32]
EXCLUDED = -1
"""Code of a memory that is near to nothing."""


def coded(*kinds: Sequence[str]) -> list[Codes]:
    """Kinds as numbers from 0 on, the same number for the same kind in all of the lists."""
    codes = {name: code for code, name in enumerate(sorted(set().union(*kinds)))}
    return [np.array([codes[name] for name in one], dtype=np.int32) for one in kinds]


@dataclass(frozen=True, slots=True)
class ExtraVectors:
    """Memories with vectors (n, dimension) other than those that `Neighbours` was given."""

    ids: list[str]
    matrix: Matrix


class Neighbours:
    """Live memories and the notes of a batch by cosine similarity.

    Args:
        ids: the live memories; any order. Only as many are looked at as there are vectors.
        matrix: their vectors (n, dimension), unit length; zero vectors are near to nothing.
        batch_ids: the notes of the batch, in the order in which they are taken.
        batch: their vectors (m, dimension).
        floor: similarities below it are of no interest.
        groups: of what kind each of `ids` is, as `coded` numbers them (n,); those of different kinds are not
            near to each other, and those that are `EXCLUDED` to nobody. Not given: all are of one kind.
        batch_groups: the same of `batch_ids` (m,).
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
        found = []
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
                if is_batch:  # a note only looks at those before it
                    right &= first + column < start + row
                row, column = row[right], column[right]
                found.append((row, before + first + column, similar[row, column]))
        row, column, similar = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.argsort(row, kind="stable")
        row, column, similar = row[order], column[order], similar[order]
        limits = np.searchsorted(row, np.arange(stop - start + 1))
        for at in range(stop - start):
            columns = column[limits[at] : limits[at + 1]]
            if len(columns) > MAX_KEPT:
                theirs = similar[limits[at] : limits[at + 1]]
                least = np.partition(theirs, -MAX_KEPT)[-MAX_KEPT]
                columns = columns[theirs >= least - SLACK]  # of equal ones all, whatever their last bits are
                self._cut.add(start + at)
            self._found.append(columns.tolist())

    def ids(self) -> set[str]:
        """Every memory of before that is a neighbour of some note of the batch."""
        return {self._ids[at] for found in self._found for at in found if at < self._size}

    def nearest(
        self,
        name: str,
        vector: Matrix,
        *,
        count: int,
        usable: Callable[[str, bool], bool],
        also: ExtraVectors,
    ) -> list[tuple[str, float]]:
        """The `count` nearest of what a note of the batch may look at, at or above the floor.

        Args:
            name: the note.
            vector: its vector.
            count: how many.
            usable: whether a memory can be found at present as it was given here; its second argument tells
                a note of the batch from a memory of before.
            also: what can be found with another vector.

        Returns:
            (id, cosine rounded to 6 decimals), the most similar first, equal ones by id.
        """
        row = self._place[name]
        places = [at for at in self._found[row] if usable(*self._named(at))]
        if row in self._cut and len(places) < count:
            places = self._all(row, usable)
        found = [(self._named(at)[0], self._vector(at)) for at in places]
        if also.ids:
            close = np.flatnonzero(also.matrix @ vector >= self._floor - SLACK)
            found += [(also.ids[at], also.matrix[at]) for at in close]
        exact = vector.astype(np.float64)
        near = []
        for other, theirs in found:
            similarity = round(float(exact @ theirs.astype(np.float64)), DECIMALS)
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
        found: Matrix = self._matrix[place] if place < size else self._batch[place - size]
        return found

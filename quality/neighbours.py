"""The most similar memories, for a whole batch from one matrix product (rule 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

KEPT = 32
"""Neighbours kept per note (count). When all but a few of them have gone, the row is computed again."""
DECIMALS = 6
"""Similarities are rounded to so many decimals: a threshold is met or not, whatever the order of sums."""
SLACK = 1e-5
"""Sums of 32-bit numbers are trusted to so much; what is nearer to a threshold is summed in 64 bits."""
_ROWS_AT_ONCE = 256

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Also:
    """Memories with vectors (n, dimension) other than those that `Neighbours` was given."""

    ids: list[str]
    matrix: Matrix


class Neighbours:
    """Live memories and the notes of a batch by cosine similarity.

    Args:
        ids: the live memories; any order.
        matrix: their vectors (n, dimension), unit length; zero vectors are near to nothing.
        batch_ids: the notes of the batch, in the order in which they are taken.
        batch: their vectors (m, dimension).
        floor: similarities below it are of no interest.
        groups: of what kind each of `ids` is; those of different kinds are not near to each other.
        batch_groups: the same of `batch_ids`.
    """

    def __init__(
        self,
        ids: Sequence[str],
        matrix: Matrix,
        batch_ids: Sequence[str],
        batch: Matrix,
        floor: float,
        *,
        groups: Sequence[str] = (),
        batch_groups: Sequence[str] = (),
    ) -> None:
        codes = {name: code for code, name in enumerate(sorted({*groups, *batch_groups}))}
        self._groups = np.array([codes[name] for name in groups] or [0] * len(ids), dtype=np.int8)
        self._batch_groups = np.array(
            [codes[name] for name in batch_groups] or [0] * len(batch_ids), dtype=np.int8
        )
        self._ids, self._matrix = list(ids), matrix
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
        similar = np.hstack([rows @ self._matrix.T, rows @ self._batch[:stop].T])
        kinds = np.concatenate([self._groups, self._batch_groups[:stop]])
        similar[self._batch_groups[start:stop, None] != kinds] = -np.inf
        # A note only looks at those before it.
        upper = np.triu_indices(stop - start, k=0)
        similar[upper[0], len(self._ids) + start + upper[1]] = -np.inf
        hit_rows, hit_columns = np.nonzero(similar >= self._floor - SLACK)
        limits = np.searchsorted(hit_rows, np.arange(stop - start + 1))
        for row in range(stop - start):
            columns = hit_columns[limits[row] : limits[row + 1]]
            if len(columns) > KEPT:
                best = np.argpartition(-similar[row, columns], KEPT)[:KEPT]
                columns = columns[best]
                self._cut.add(start + row)
            self._found.append(columns.tolist())

    def ids(self) -> set[str]:
        """Every memory of before that is a neighbour of some note of the batch."""
        size = len(self._ids)
        return {self._ids[at] for found in self._found for at in found if at < size}

    def nearest(
        self, name: str, vector: Matrix, *, count: int, usable: Callable[[str, bool], bool], also: Also
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
        return [at for at in near.tolist() if usable(*self._named(at))][:KEPT]

    def _named(self, place: int) -> tuple[str, bool]:
        size = len(self._ids)
        return (self._ids[place], False) if place < size else (self._batch_ids[place - size], True)

    def _vector(self, place: int) -> Matrix:
        size = len(self._ids)
        found: Matrix = self._matrix[place] if place < size else self._batch[place - size]
        return found

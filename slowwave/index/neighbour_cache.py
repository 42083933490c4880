"""In-memory cache of a namespace's memories for saves, at constant cost per save.

It follows the table (`slowwave.index.incremental`), so it includes what another process has just written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from slowwave.common import ids
from slowwave.index.incremental import GrowingMatrix, IncrementalTableCache, rows_of
from slowwave.quality.admission.statuses import DEFAULT_SENSITIVITY, LIVE, RETIRED
from slowwave.quality.neighbours import EXCLUDED
from slowwave.store import Store

COLUMNS = ("namespace", "memory_id", "revision", "status", "sensitivity", "content_hash", "dated")
ROW_BYTES = 700
"""Size of a memory without its vector (bytes, an estimate)."""
NEVER = -(2**63)
FEW_ROWS = 64
"""Rows up to which a column is read value by value (count)."""


class NeighbourCache(IncrementalTableCache):
    """Memories of one namespace: ids, vectors, status and times.

    Args:
        store: Store of the memories.
        namespace: Namespace of the memories.
        most_bytes: See `IncrementalTableCache`.
    """

    def __init__(self, store: Store, namespace: str, most_bytes: int) -> None:
        row_bytes = ROW_BYTES + 4 * store.identity.dimension
        super().__init__(store, "memories", namespace, COLUMNS, row_bytes=row_bytes, most_bytes=most_bytes)

    def forget(self) -> None:
        """See `IncrementalTableCache`."""
        super().forget()
        self._ids_and_hashes: set[str] = set()  # memories, and hashes of what they say, also former ones
        self._names: list[str] = []
        self._vectors = GrowingMatrix(self._store.identity.dimension)
        self._has_vector = np.empty(0, dtype=np.bool_)  # with a vector
        self._status, self._kinds = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
        self._codes: dict[str, int] = {}  # of a status or a sensitivity
        self._moments = np.empty(0, dtype=np.int64)

    def take_in(self, found: pa.Table) -> None:
        """See `IncrementalTableCache`."""
        self._vectors.put(rows_of(found.column("vector"), self._store.identity.dimension), len(self))
        names, hashes, revisions, status, kinds = (
            _values(found, name)
            for name in ("memory_id", "content_hash", "revision", "status", "sensitivity")
        )
        self._names += names
        self._ids_and_hashes.update(names, (text for text in hashes if text is not None))
        moments = [
            ids.revision_moment(revision) if dated is None else dated
            for revision, dated in zip(revisions, _values(found, "dated", pa.int64()), strict=True)
        ]
        self._moments = np.concatenate([self._moments, np.array(moments, dtype=np.int64)])
        self._has_vector = np.concatenate([self._has_vector, found.column("vector").is_valid().to_numpy()])
        self._status = np.concatenate([self._status, self.codes_of(status)])
        self._kinds = np.concatenate(
            [self._kinds, self.codes_of(kind or DEFAULT_SENSITIVITY for kind in kinds)]
        )

    def knows(self, names: Iterable[str]) -> bool:
        """Return whether any of these is, or was, a memory id or content hash here."""
        return not self._ids_and_hashes.isdisjoint(names)

    def latest(self, first: int) -> int:
        """Return the latest moment (microseconds) of non-retired memories; `NEVER` if before `first`."""
        counted = self.alive & (self._status != self._code(RETIRED)) & (self._moments >= first)
        moments = self._moments[counted]
        return int(moments.max(initial=NEVER))

    def nearest(
        self, vector: npt.NDArray[np.float32], sensitivity: str, statuses: Collection[str], *, floor: float,
        count: int,
    ) -> list[str]:  # fmt: skip
        """Return the `count` memories nearest to a vector, with at least this cosine."""
        similar = np.vecdot(self._vectors.first(len(self)), vector)
        rows = np.flatnonzero(similar >= floor)
        rows = rows[self._matching(rows, sensitivity, statuses)]
        return [self._names[row] for row in rows[np.argsort(-similar[rows], kind="stable")][:count]]

    def live(self) -> tuple[list[str], npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """Return all memories: ids, vectors (n, dimension) and `codes_of` sensitivities (n,).

        A memory that is not live, or has no vector, is `EXCLUDED`: leaving it out would copy the vectors.
        """
        live = self.alive & self._has_vector & (self._status == self._code(LIVE))
        return self._names, self._vectors.first(len(self)), np.where(live, self._kinds, np.int32(EXCLUDED))

    def codes_of(self, kinds: Iterable[str]) -> npt.NDArray[np.int32]:
        """Return sensitivities, or statuses, as stable numbers (n,)."""
        return np.array([self._code(kind) for kind in kinds], dtype=np.int32)

    def _code(self, word: str) -> int:
        return self._codes.setdefault(word, len(self._codes))

    def _matching(
        self, rows: npt.NDArray[np.int64], sensitivity: str, statuses: Collection[str]
    ) -> npt.NDArray[np.bool_]:
        right = np.isin(self._status[rows], [self._code(status) for status in statuses])
        same_sensitivity = self._kinds[rows] == self._code(sensitivity)
        matches: npt.NDArray[np.bool_] = self.alive[rows] & self._has_vector[rows] & right & same_sensitivity
        return matches


def _values(rows: pa.Table, name: str, kind: pa.DataType | None = None) -> list[Any]:
    """Return a column as a list, by the cheaper way for its length."""
    column = rows.column(name) if kind is None else rows.column(name).cast(kind)
    if len(column) <= FEW_ROWS:
        return column.to_pylist()  # type: ignore[no-any-return]
    return pl.Series(column).to_list()


def sensitivities(rows: pl.DataFrame) -> list[str]:
    """Return the sensitivity of each memory or note."""
    return [label or DEFAULT_SENSITIVITY for label in rows["sensitivity"].to_list()]

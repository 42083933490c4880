"""What a save has to know of the memories of its namespace, in memory: it costs the same in small and large.

It follows the table (`slowwave.index.incremental`), so what another process did a moment ago is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from slowwave.common import ids
from slowwave.index.incremental import GrowingMatrix, IncrementalTableCache, rows_of
from slowwave.quality.admission.types import DEFAULT_SENSITIVITY, LIVE, RETIRED
from slowwave.quality.neighbours import EXCLUDED
from slowwave.store import Store
from slowwave.store.frames import frame_of

COLUMNS = ("namespace", "memory_id", "revision", "status", "sensitivity", "content_hash", "dated")
ROW_BYTES = 700
"""Of a memory beside its vector (bytes, an estimate)."""
NEVER = -(2**63)


class NeighbourCache(IncrementalTableCache):
    """The memories of one namespace: which there are, what they resemble, and how late they are.

    Args:
        store: has them.
        namespace: whose.
        most_bytes: see `IncrementalTableCache`.
    """

    def __init__(self, store: Store, namespace: str, most_bytes: int) -> None:
        row_bytes = ROW_BYTES + 4 * store.identity.dimension
        super().__init__(store, "memories", namespace, COLUMNS, row_bytes=row_bytes, most_bytes=most_bytes)

    def forget(self) -> None:
        """See `IncrementalTableCache`."""
        super().forget()
        self._known: set[str] = set()  # memories, and hashes of what they say, also former ones
        self._names: list[str] = []
        self._vectors = GrowingMatrix(self._store.identity.dimension)
        self._there = np.empty(0, dtype=np.bool_)  # with a vector
        self._status, self._kinds = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
        self._codes: dict[str, int] = {}  # of a status or a sensitivity
        self._moments = np.empty(0, dtype=np.int64)

    def take_in(self, found: pa.Table) -> None:
        """See `IncrementalTableCache`."""
        self._vectors.put(rows_of(found.column("vector"), self._store.identity.dimension), len(self))
        rows = frame_of(found.select(COLUMNS))
        self._names += rows["memory_id"].to_list()
        self._known.update(rows["memory_id"], rows["content_hash"].drop_nulls())
        moments = [
            ids.revision_moment(revision) if dated is None else dated
            for revision, dated in rows.select("revision", pl.col("dated").dt.epoch("us")).iter_rows()
        ]
        self._moments = np.concatenate([self._moments, np.array(moments, dtype=np.int64)])
        self._there = np.concatenate([self._there, found.column("vector").is_valid().to_numpy()])
        self._status = np.concatenate([self._status, self.codes_of(rows["status"].to_list())])
        self._kinds = np.concatenate([self._kinds, self.codes_of(sensitivities(rows))])

    def knows(self, names: Iterable[str]) -> bool:
        """Whether any of these is, or was, a memory of it or the hash of what one says."""
        return not self._known.isdisjoint(names)

    def latest(self, first: int) -> int:
        """The last moment (microseconds) of what is not retired; `NEVER` if that is before `first`."""
        there = self.alive & (self._status != self._code(RETIRED)) & (self._moments >= first)
        moments = self._moments[there]
        return int(moments.max(initial=NEVER))

    def nearest(
        self, vector: npt.NDArray[np.float32], sensitivity: str, statuses: Collection[str], *, floor: float,
        count: int,
    ) -> list[str]:  # fmt: skip
        """The `count` memories nearest to a vector, of those at or above a floor of the cosine."""
        similar = np.einsum("ij,j->i", self._vectors.first(len(self)), vector)
        rows = np.flatnonzero(similar >= floor)
        rows = rows[self._of(sensitivity, statuses)[rows]]
        return [self._names[row] for row in rows[np.argsort(-similar[rows], kind="stable")][:count]]

    def live(self) -> tuple[list[str], npt.NDArray[np.float32], npt.NDArray[np.int32]]:
        """All memories: ids, vectors (n, dimension) and `codes_of` who may see them (n,).

        What is not live, or has no vector, is `EXCLUDED`: leaving it out would copy the vectors.
        """
        live = self.alive & self._there & (self._status == self._code(LIVE))
        return self._names, self._vectors.first(len(self)), np.where(live, self._kinds, np.int32(EXCLUDED))

    def codes_of(self, kinds: Iterable[str]) -> npt.NDArray[np.int32]:
        """Sensitivities, or statuses, as numbers that never change (n,)."""
        return np.array([self._code(one) for one in kinds], dtype=np.int32)

    def _code(self, one: str) -> int:
        return self._codes.setdefault(one, len(self._codes))

    def _of(self, sensitivity: str, statuses: Collection[str]) -> npt.NDArray[np.bool_]:
        right = np.isin(self._status, [self._code(one) for one in statuses])
        mine = self._kinds == self._code(sensitivity)
        found: npt.NDArray[np.bool_] = self.alive & self._there & right & mine
        return found


def sensitivities(rows: pl.DataFrame) -> list[str]:
    """Who may see each of these memories or notes."""
    return [one or DEFAULT_SENSITIVITY for one in rows["sensitivity"].to_list()]

"""Incremental in-memory cache of a namespace's table rows, updated before each use.

The table is authoritative. A new version is compared with the previous one by Lance fragments. Rows of a new
fragment are read; rows of a removed fragment, or deleted from one, become dead. Compaction only moves known
rows, which are matched again. The same holds for rows of the write-ahead log when they are committed.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.index.chunked_columns import ChunkedColumns
from slowwave.store.frames import frame_of
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    import lance

    from slowwave.store.database import Store

MIN_DEAD = 1_000
"""Minimum dead rows to reload a cache that consists mostly of them (count)."""

MAX_FOLLOWED = 256
"""Maximum cached namespaces, however small (count)."""

TRIES = 5
"""Attempts to read log and table without a change in between (count)."""

Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Offsets = npt.NDArray[np.uint32]
Matrix = npt.NDArray[np.float32]


@dataclass(slots=True)
class Part:
    """Rows of the namespace in one fragment, or in one file of the log.

    Attributes:
        rows: Their row numbers here, (p,).
        offsets: Offsets in the fragment, (p,).
        deletions: Name of the fragment's deletion file.
    """

    rows: Rows
    offsets: Offsets
    deletions: str | None = None


class IncrementalTableCache(ABC):
    """Rows of one namespace in a table, numbered in the order of arrival.

    Args:
        store: Store of the table.
        table: Name of the table; it has a column ``vector``.
        namespace: Namespace of the rows.
        columns: Columns without the vector; rows equal in all of them have the same vector.
        row_bytes: Size of a row (bytes, an estimate).
        most_bytes: Maximum memory; a larger namespace is too large.

    Attributes:
        alive: Rows that exist, (n,); replaced, never modified.
        kept: Columns of every row, including dead ones.
        too_large: Whether there are too many rows; then none is cached.
    """

    alive: Flags
    kept: ChunkedColumns
    too_large: bool

    def __init__(
        self, store: Store, table: str, namespace: str, columns: Sequence[str], *, row_bytes: int,
        most_bytes: int,
    ) -> None:  # fmt: skip
        self._store, self._table, self._namespace = store, table, namespace
        self._columns = list(columns)
        self._row_bytes, self._most = row_bytes, most_bytes // row_bytes
        self.forget()

    def __len__(self) -> int:
        """Return the number of rows, including dead ones."""
        return len(self.alive)

    @property
    def size(self) -> int:
        """Return the memory in use (bytes, an estimate)."""
        return len(self) * self._row_bytes

    def forget(self) -> None:
        """Clear the cache; everything is read again next time."""
        self._data: lance.LanceDataset | None = None  # the cached version
        self._files: tuple[str, ...] = ()  # files of the log
        self.too_large = False
        self._parts: dict[str, Part] = {}
        self.alive = np.empty(0, dtype=np.bool_)
        self.kept = ChunkedColumns(self.known_by(self._store.specs[self._table].schema.empty_table()))

    def known_by(self, rows: pa.Table) -> pa.Table:
        """Return the columns of rows that are kept; moved rows are recognised by them."""
        return rows.select(self._columns)

    @abstractmethod
    def take_in(self, rows: pa.Table) -> None:
        """Add rows (columns and vector), numbered from the current ``len(self)``."""

    def recall(self, data: lance.LanceDataset) -> bool:
        """Restore the rows of an earlier version from a file, if there is one.

        Args:
            data: Version to continue to.
        """
        return False

    def follow(self) -> bool:
        """Update to the current table; return whether it has changed."""
        with self._store.explaining(self._table):
            for _ in range(TRIES):
                names = self._store.logged(self._table)
                data = self._store.committed(self._table)  # each version is another object
                if data is self._data and names == self._files:
                    return False
                if names == self._store.logged(self._table) and self._come_to(data, names):
                    return True
            self._store.settle(self._table)  # other processes write all the time
            self._come_to(self._store.committed(self._table), ())
            return True

    def _come_to(self, data: lance.LanceDataset, names: tuple[str, ...]) -> bool:
        """Update to a version and log files; False if a log file vanished before it was read."""
        if self._data is None or self._data.uri != data.uri or self.too_large:
            large = self.too_large
            self.forget()
            try:
                if not large and self.recall(data):
                    return self._go_on(data, names)
            except Exception:  # the file does not fit: read the table
                self.forget()
            if data.count_rows(within(self._namespace)) > self._most:
                return self._leave(data, names)
        return self._go_on(data, names)

    def _go_on(self, data: lance.LanceDataset, names: tuple[str, ...]) -> bool:
        """Update from the cached version; see `_come_to`."""
        logged = self._logged(names)
        if len(logged) < len([name for name in names if name not in self._parts]):
            return False
        try:
            self._follow(data, logged, names)
            if np.count_nonzero(~self.alive) > max(MIN_DEAD, len(self) // 2):
                self.forget()
                self._follow(data, self._logged(names), names)
        except BaseException:  # the update may be incomplete
            self.forget()
            raise
        if len(self) > self._most:
            return self._leave(data, names)
        self._data, self._files = data, names
        return True

    def _leave(self, data: lance.LanceDataset, names: tuple[str, ...]) -> bool:
        self.forget()
        self._data, self._files, self.too_large = data, names, True
        return True

    def _logged(self, names: Sequence[str]) -> dict[str, pa.Table]:
        """Return this namespace's rows of new log files."""
        fresh = [name for name in names if name not in self._parts]
        by_file = self._store.logged_rows(fresh, self._table)
        own_rows = {}
        for name, rows in by_file.items():
            is_own = np.array(rows.column("namespace").to_pylist()) == self._namespace
            own_rows[name] = rows.filter(pa.array(is_own)) if not is_own.all() else rows
        return own_rows

    def _follow(self, data: lance.LanceDataset, logged: dict[str, pa.Table], names: tuple[str, ...]) -> None:
        fragments = fragments_of(data)
        current = fragments.keys() | set(names)
        alive = self.alive.copy()
        for path, part in list(self._parts.items()):
            if path in fragments and fragments[path].deletion_file() != part.deletions:
                offsets = self._offsets(data, fragments[path])
                if np.isin(offsets, part.offsets).all():
                    alive[part.rows] = np.isin(part.offsets, offsets)
                    part.deletions = fragments[path].deletion_file()
                else:  # an earlier version was restored, with rows that were deleted before they were read
                    current.discard(path)
        removed = [part.rows for path, part in self._parts.items() if path not in current]
        for rows in removed:
            alive[rows] = False
        self._parts = {path: part for path, part in self._parts.items() if path in current}
        fresh = {path: item for path, item in fragments.items() if path not in self._parts}
        tables = []
        if fresh:
            waiting = [part.rows for path, part in self._parts.items() if path not in fragments]
            movable = np.concatenate([*removed, *waiting, np.empty(0, np.int64)])
            tables.append(self._fresh(data, fresh, movable, alive))
        count = len(alive) + sum(item.num_rows for item in tables)
        key = self._store.specs[self._table].key
        existing = pa.concat_tables(tables).column(key) if tables else pa.chunked_array([], pa.string())
        if logged and self._data is None:  # recalled rows may be in the log as well
            recalled = self.kept.take(np.flatnonzero(alive)).column(key).cast(pa.string())
            existing = pa.chunked_array([*existing.chunks, *recalled.chunks], pa.string())
        for name, written in logged.items():
            # A writer killed between commit and deletion of its log file leaves rows in both.
            rows = written
            if len(existing):
                rows = written.filter(pc.invert(pc.is_in(written.column(key), existing)))
            numbers = np.arange(count, count + rows.num_rows, dtype=np.int64)
            self._parts[name] = Part(numbers, np.empty(0, np.uint32))
            count += rows.num_rows
            tables.append(rows.select([*self._columns, "vector"]))
        new = pa.concat_tables(tables) if tables else None
        if new is not None and new.num_rows:
            self.take_in(new)
            self.kept = self.kept.with_more(self.known_by(new))
            alive = np.concatenate([alive, np.ones(new.num_rows, dtype=np.bool_)])
        self.alive = alive

    def _offsets(self, data: lance.LanceDataset, fragment: lance.LanceFragment) -> Offsets:
        """Return the offsets of the namespace's rows in a fragment."""
        scanner = data.scanner(
            columns=["namespace"], filter=within(self._namespace), with_row_address=True, fragments=[fragment]
        )
        return _low(scanner.to_table().column("_rowaddr").to_numpy())

    def _fresh(
        self, data: lance.LanceDataset, fresh: dict[str, Any], movable: Rows, alive: Flags
    ) -> pa.Table:
        """Return the new rows of new fragments; known rows have moved there.

        Args:
            data: The version.
            fresh: The fragments, by path.
            movable: Known rows that may be among them.
            alive: Updated for those that are.
        """
        scanned = self._scanned(data, fresh, [*self._columns, *(() if len(movable) else ("vector",))])
        address = scanned.column("_rowaddr").to_numpy()
        scanned = scanned.drop_columns(["_rowaddr"])
        rows = np.full(scanned.num_rows, -1, dtype=np.int64)
        if len(movable):
            rows = self._moved(scanned, movable)
            moved = rows[rows >= 0]
            alive[moved] = True
            for part in self._parts.values():
                if not len(part.offsets) and len(part.rows):  # log rows that are in the table now
                    part.rows = part.rows[~np.isin(part.rows, moved)]
        new = np.flatnonzero(rows < 0)
        rows[new] = np.arange(len(alive), len(alive) + len(new))
        if len(movable):
            scanned = scanned.take(pa.array(new))
            kind = self._store.specs[self._table].schema.field("vector").type
            column: Any = pa.array([], kind)
            if len(new):
                vectors = self._scanned(data, fresh, ["vector"])
                place = vectors.column("_rowaddr").to_numpy()
                order = np.argsort(place)
                wanted = order[np.searchsorted(place, address[new], sorter=order)]
                column = vectors.column("vector").take(pa.array(wanted))
            scanned = scanned.append_column("vector", column)
        high = (address >> np.uint64(32)).astype(np.int64)
        for path, fragment in fresh.items():
            of_fragment = high == fragment.fragment_id
            self._parts[path] = Part(rows[of_fragment], _low(address[of_fragment]), fragment.deletion_file())
        return scanned.select([*self._columns, "vector"])

    def _scanned(self, data: lance.LanceDataset, fragments: dict[str, Any], columns: list[str]) -> pa.Table:
        return data.scanner(
            columns=columns, filter=within(self._namespace), with_row_address=True,
            fragments=list(fragments.values()),
        ).to_table()  # fmt: skip

    def _moved(self, scanned: pa.Table, movable: Rows) -> Rows:
        """Return the number of each known row; -1 for others."""
        known_hashes, new_hashes = _hashes(self.kept.take(movable)), _hashes(self.known_by(scanned))
        order = np.argsort(known_hashes)
        place = order[
            np.minimum(np.searchsorted(known_hashes, new_hashes, sorter=order), len(known_hashes) - 1)
        ]
        return np.where(known_hashes[place] == new_hashes, movable[place], -1)


F = TypeVar("F", bound=IncrementalTableCache)


class CachesByNamespace(Generic[F]):
    """Caches by namespace within a memory bound; the least recently used are dropped.

    Args:
        make: Creates the cache of a namespace.
        most_bytes: Maximum memory of all (bytes).
    """

    def __init__(self, make: Callable[[str], F], most_bytes: int) -> None:
        self._make, self._most = make, most_bytes
        self._lock = threading.Lock()
        self._caches: OrderedDict[str, F] = OrderedDict()

    def of(self, namespace: str) -> F:
        """Return the cache of a namespace."""
        with self._lock:
            if namespace not in self._caches:
                self._caches[namespace] = self._make(namespace)
            self._caches.move_to_end(namespace)
            return self._caches[namespace]

    def trim(self) -> None:
        """Drop caches beyond the bound."""
        with self._lock:
            sizes = {name: cache.size for name, cache in self._caches.items()}
            whole = sum(sizes.values())
            while len(sizes) > 1 and (whole > self._most or len(sizes) > MAX_FOLLOWED):
                name, _ = self._caches.popitem(last=False)
                whole -= sizes.pop(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the cached namespaces, least recently used first."""
        return iter(self._caches)


class GrowingMatrix:
    """Growing matrix; earlier views of it stay valid.

    Args:
        dimension: Length of a row.
    """

    def __init__(self, dimension: int) -> None:
        self._buffer = np.empty((0, dimension), dtype=np.float32)

    def put(self, rows: Matrix, start: int) -> None:
        """Write rows from `start` on."""
        buffer, need = self._buffer, start + len(rows)
        if len(buffer) < need:
            larger = np.empty((need + (need // 2 if start else 0), buffer.shape[1]), dtype=np.float32)
            larger[:start] = buffer[:start]
            buffer = self._buffer = larger
        buffer[start:need] = rows

    def first(self, count: int) -> Matrix:
        """Return the first rows, (count, dimension)."""
        return self._buffer[:count]


def fragments_of(data: lance.LanceDataset) -> dict[str, Any]:
    """Return the fragments of a version by their data files, whose names are unique."""
    return {
        "+".join(file.path for file in fragment.data_files()): fragment for fragment in data.get_fragments()
    }


def rows_of(column: pa.ChunkedArray, dimension: int) -> Matrix:
    """Return vectors as rows, (n, dimension); a missing one is zero."""
    filled = [_filled(chunk, dimension) for chunk in column.chunks]
    return np.concatenate(filled) if filled else np.empty((0, dimension), np.float32)


def unit_rows(column: pa.ChunkedArray, dimension: int) -> Matrix:
    """Return vectors as unit rows, (n, dimension); a zero one stays zero."""
    vectors = rows_of(column, dimension)
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)).astype(np.float64)
    off = np.abs(length - 1) > 1e-6
    if not (off & (length > 0)).any():
        return vectors
    return np.asarray(vectors / np.where(length > 0, length, 1)[:, None], dtype=np.float32)


def _filled(chunk: pa.FixedSizeListArray, dimension: int) -> Matrix:
    flat: Matrix = chunk.flatten().to_numpy(zero_copy_only=False).reshape(-1, dimension)
    if not chunk.null_count:
        return flat
    vectors = np.zeros((len(chunk), dimension), dtype=np.float32)
    vectors[chunk.is_valid().to_numpy(zero_copy_only=False)] = flat
    return vectors


def _low(addresses: npt.NDArray[np.uint64]) -> Offsets:
    """Return the offset part of row addresses; the upper half is the fragment's number."""
    return (addresses & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _hashes(rows: pa.Table) -> npt.NDArray[np.uint64]:
    frame = frame_of(rows)
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    frame = frame.with_columns(
        pl.col(lists).list.join("\x1f"), **{f"{name} (n)": pl.col(name).list.len() for name in lists}
    )
    return frame.hash_rows(seed=1).to_numpy()

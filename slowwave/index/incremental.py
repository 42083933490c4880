"""Rows of a namespace in memory that follow their table: what any process wrote is there the next time.

The table is the truth. A version that is new is compared with the one before by the fragments that Lance
made of it: rows of a new fragment are read, rows of one that is gone, or that a deletion took out of one, are
there no longer. A fragment that only compaction made has rows that are known; they are known again, and so
are rows of the write-ahead log when they are committed.
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

FEWEST_DEAD = 1_000
"""Rows that are there no longer, from which what consists mostly of such rows is read anew (count)."""

MOST_FOLLOWED = 256
"""Namespaces that are followed at once, however small (count)."""

TRIES = 5
"""How often the log and the table are looked at until neither changes meanwhile (count)."""

Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Offsets = npt.NDArray[np.uint32]
Matrix = npt.NDArray[np.float32]


@dataclass(slots=True)
class Part:
    """The namespace's rows of one fragment, or of one file of the log.

    Attributes:
        rows: their numbers here, (p,).
        offsets: in the fragment, (p,).
        deletions: name of the file that says which are there no longer.
    """

    rows: Rows
    offsets: Offsets
    deletions: str | None = None


class IncrementalTableCache(ABC):
    """One namespace's rows of a table; each has a number, in the order in which they came.

    Args:
        store: has the table.
        table: its name; it has a column ``vector``.
        namespace: whose rows.
        columns: of a row, beside its vector; two rows that agree in all of them have the same vector.
        row_bytes: memory that a row takes (bytes, an estimate).
        most_bytes: a namespace that would take more is known as too large.

    Attributes:
        alive: rows that are there, (n,); never changed, only replaced.
        kept: columns of every row, also of those that are there no longer.
        too_large: whether there are more rows than are followed; then none is known.
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
        """Rows, also those that are there no longer."""
        return len(self.alive)

    @property
    def size(self) -> int:
        """Memory that it takes (bytes, an estimate)."""
        return len(self) * self._row_bytes

    def forget(self) -> None:
        """Know nothing; everything is read anew the next time."""
        self._data: lance.LanceDataset | None = None  # the version that is followed
        self._files: tuple[str, ...] = ()  # of the log
        self.too_large = False
        self._parts: dict[str, Part] = {}
        self.alive = np.empty(0, dtype=np.bool_)
        self.kept = ChunkedColumns(self._store.specs[self._table].schema.empty_table().select(self._columns))

    @abstractmethod
    def take_in(self, found: pa.Table) -> None:
        """More rows (columns and vector), the first of them having the number ``len(self)`` so far."""

    def recall(self, data: lance.LanceDataset) -> bool:
        """Know what was known of an earlier version, if anything has kept that; it is followed from there.

        Args:
            data: the version that is gone on to.
        """
        return False

    def follow(self) -> bool:
        """Come to what the table is now; whether that is something else than before."""
        with self._store.explaining(self._table):
            for _ in range(TRIES):
                names = self._store.logged(self._table)
                data = self._store.committed(self._table)  # another object for another version
                if data is self._data and names == self._files:
                    return False
                if names == self._store.logged(self._table) and self._come_to(data, names):
                    return True
            self._store.settle(self._table)  # others write all the time
            self._come_to(self._store.committed(self._table), ())
            return True

    def _come_to(self, data: lance.LanceDataset, names: tuple[str, ...]) -> bool:
        """Follow to a version and files of the log; False where one of them went before it was read."""
        if self._data is None or self._data.uri != data.uri or self.too_large:
            large = self.too_large
            self.forget()
            try:
                if not large and self.recall(data):
                    return self._go_on(data, names)
            except Exception:  # whatever it was that was kept does not fit: the table is the truth
                self.forget()
            if data.count_rows(within(self._namespace)) > self._most:
                return self._leave(data, names)
        return self._go_on(data, names)

    def _go_on(self, data: lance.LanceDataset, names: tuple[str, ...]) -> bool:
        """From what is known to a version; see `_come_to`."""
        logged = self._logged(names)
        if len(logged) < len([name for name in names if name not in self._parts]):
            return False
        try:
            self._follow(data, logged, names)
            if np.count_nonzero(~self.alive) > max(FEWEST_DEAD, len(self) // 2):
                self.forget()
                self._follow(data, self._logged(names), names)
        except BaseException:  # half of it may be done
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
        """Rows of this namespace by file of the log, of those that are new."""
        fresh = [name for name in names if name not in self._parts]
        found = self._store.logged_rows(fresh, self._table)
        mine = {}
        for name, rows in found.items():
            is_mine = np.array(rows.column("namespace").to_pylist()) == self._namespace
            mine[name] = rows.filter(pa.array(is_mine)) if not is_mine.all() else rows
        return mine

    def _follow(self, data: lance.LanceDataset, logged: dict[str, pa.Table], names: tuple[str, ...]) -> None:
        fragments = fragments_of(data)
        there = fragments.keys() | set(names)
        alive = self.alive.copy()
        for path, part in list(self._parts.items()):
            if path in fragments and fragments[path].deletion_file() != part.deletions:
                offsets = self._offsets(data, fragments[path])
                if np.isin(offsets, part.offsets).all():
                    alive[part.rows] = np.isin(part.offsets, offsets)
                    part.deletions = fragments[path].deletion_file()
                else:  # an earlier version is in force again, with rows that had gone before they were read
                    there.discard(path)
        gone = [part.rows for path, part in self._parts.items() if path not in there]
        for rows in gone:
            alive[rows] = False
        self._parts = {path: part for path, part in self._parts.items() if path in there}
        fresh = {path: one for path, one in fragments.items() if path not in self._parts}
        waiting = [part.rows for path, part in self._parts.items() if path not in fragments]
        known = np.concatenate([*gone, *waiting, np.empty(0, np.int64)])
        found = [self._fresh(data, fresh, known, alive)] if fresh else []
        count = len(alive) + sum(one.num_rows for one in found)
        key = self._store.specs[self._table].key
        there_too = pa.concat_tables(found).column(key) if found else pa.chunked_array([], pa.string())
        if logged and self._data is None:  # what is recalled may be in the log, too
            recalled = self.kept.take(np.flatnonzero(alive)).column(key).cast(pa.string())
            there_too = pa.chunked_array([*there_too.chunks, *recalled.chunks], pa.string())
        for name, written in logged.items():
            # Who is killed between a commit and the end of its file leaves rows in both.
            rows = written.filter(pc.invert(pc.is_in(written.column(key), there_too)))
            numbers = np.arange(count, count + rows.num_rows, dtype=np.int64)
            self._parts[name] = Part(numbers, np.empty(0, np.uint32))
            count += rows.num_rows
            found.append(rows.select([*self._columns, "vector"]))
        new = pa.concat_tables(found) if found else None
        if new is not None and new.num_rows:
            self.take_in(new)
            self.kept = self.kept.with_more(new.select(self._columns))
            alive = np.concatenate([alive, np.ones(new.num_rows, dtype=np.bool_)])
        self.alive = alive

    def _offsets(self, data: lance.LanceDataset, fragment: lance.LanceFragment) -> Offsets:
        """Of the namespace's rows that are in a fragment."""
        scanner = data.scanner(
            columns=["namespace"], filter=within(self._namespace), with_row_address=True, fragments=[fragment]
        )
        return _low(scanner.to_table().column("_rowaddr").to_numpy())

    def _fresh(self, data: lance.LanceDataset, fresh: dict[str, Any], known: Rows, alive: Flags) -> pa.Table:
        """Rows of new fragments that are new; those that are known have moved there.

        Args:
            data: the version.
            fresh: the fragments, by path.
            known: rows that may be among them.
            alive: is told of those that are.
        """
        found = self._scanned(data, fresh, [*self._columns, *(() if len(known) else ("vector",))])
        address = found.column("_rowaddr").to_numpy()
        found = found.drop_columns(["_rowaddr"])
        rows = np.full(found.num_rows, -1, dtype=np.int64)
        if len(known):
            rows = self._moved(found, known)
            moved = rows[rows >= 0]
            alive[moved] = True
            for part in self._parts.values():
                if not len(part.offsets) and len(part.rows):  # of the log: they are in the table now
                    part.rows = part.rows[~np.isin(part.rows, moved)]
        new = np.flatnonzero(rows < 0)
        rows[new] = np.arange(len(alive), len(alive) + len(new))
        if len(known):
            found = found.take(pa.array(new))
            kind = self._store.specs[self._table].schema.field("vector").type
            column: Any = pa.array([], kind)
            if len(new):
                vectors = self._scanned(data, fresh, ["vector"])
                place = vectors.column("_rowaddr").to_numpy()
                order = np.argsort(place)
                wanted = order[np.searchsorted(place, address[new], sorter=order)]
                column = vectors.column("vector").take(pa.array(wanted))
            found = found.append_column("vector", column)
        high = (address >> np.uint64(32)).astype(np.int64)
        for path, one in fresh.items():
            mine = high == one.fragment_id
            self._parts[path] = Part(rows[mine], _low(address[mine]), one.deletion_file())
        return found.select([*self._columns, "vector"])

    def _scanned(self, data: lance.LanceDataset, fragments: dict[str, Any], columns: list[str]) -> pa.Table:
        return data.scanner(
            columns=columns, filter=within(self._namespace), with_row_address=True,
            fragments=list(fragments.values()),
        ).to_table()  # fmt: skip

    def _moved(self, found: pa.Table, known: Rows) -> Rows:
        """The number that each row has; -1 where it is none of the known ones."""
        before, now = _hashes(self.kept.take(known)), _hashes(found.select(self._columns))
        order = np.argsort(before)
        place = order[np.minimum(np.searchsorted(before, now, sorter=order), len(before) - 1)]
        return np.where(before[place] == now, known[place], -1)


F = TypeVar("F", bound=IncrementalTableCache)


class CachesByNamespace(Generic[F]):
    """What follows a table for each namespace, within a bound of memory; the least used go first.

    Args:
        make: what follows a namespace.
        most_bytes: of all of them (bytes).
    """

    def __init__(self, make: Callable[[str], F], most_bytes: int) -> None:
        self._make, self._most = make, most_bytes
        self._lock = threading.Lock()
        self._there: OrderedDict[str, F] = OrderedDict()

    def of(self, namespace: str) -> F:
        """What follows this one."""
        with self._lock:
            if namespace not in self._there:
                self._there[namespace] = self._make(namespace)
            self._there.move_to_end(namespace)
            return self._there[namespace]

    def trim(self) -> None:
        """Keep to the bound."""
        with self._lock:
            sizes = {name: one.size for name, one in self._there.items()}
            whole = sum(sizes.values())
            while len(sizes) > 1 and (whole > self._most or len(sizes) > MOST_FOLLOWED):
                name, _ = self._there.popitem(last=False)
                whole -= sizes.pop(name)

    def __iter__(self) -> Iterator[str]:
        """The namespaces that are followed, the least used first."""
        return iter(self._there)


class GrowingMatrix:
    """Rows of a growing matrix; who has an earlier view of it keeps it.

    Args:
        dimension: of a row.
    """

    def __init__(self, dimension: int) -> None:
        self._buffer = np.empty((0, dimension), dtype=np.float32)

    def put(self, rows: Matrix, start: int) -> None:
        """Rows from `start` on."""
        buffer, need = self._buffer, start + len(rows)
        if len(buffer) < need:
            larger = np.empty((need + (need // 2 if start else 0), buffer.shape[1]), dtype=np.float32)
            larger[:start] = buffer[:start]
            buffer = self._buffer = larger
        buffer[start:need] = rows

    def first(self, count: int) -> Matrix:
        """The first rows, (count, dimension)."""
        return self._buffer[:count]


def fragments_of(data: lance.LanceDataset) -> dict[str, Any]:
    """The fragments of a version by the files that they are in, whose names are given once."""
    return {"+".join(file.path for file in one.data_files()): one for one in data.get_fragments()}


def rows_of(column: pa.ChunkedArray, dimension: int) -> Matrix:
    """GrowingMatrix as rows, (n, dimension); one that is missing is zero."""
    filled = [_filled(chunk, dimension) for chunk in column.chunks]
    return np.concatenate(filled) if filled else np.empty((0, dimension), np.float32)


def unit_rows(column: pa.ChunkedArray, dimension: int) -> Matrix:
    """The same, each of length 1; a zero one stays as it is."""
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
    """Offsets in their fragment; the upper half of an address is the fragment's number."""
    return (addresses & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _hashes(rows: pa.Table) -> npt.NDArray[np.uint64]:
    frame = frame_of(rows)
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    frame = frame.with_columns(
        pl.col(lists).list.join("\x1f"), **{f"{name} (n)": pl.col(name).list.len() for name in lists}
    )
    return frame.hash_rows(seed=1).to_numpy()

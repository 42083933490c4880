"""Snapshots of namespaces that follow their table: what any process wrote is in the next search.

The table is the truth. A version that is new is compared with the one before by the fragments that Lance
made of it: rows of a new fragment are read, rows of one that is gone, or that a deletion took out of one, are
there no longer. A fragment that only compaction made has rows that are known; they are known again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from slowwave.scoring.ranking.bm25 import WordIndex
from slowwave.search.channels.base import SHOWN
from slowwave.search.channels.snapshot import ASKED, Flags, Rows, Snapshot
from slowwave.search.channels.vocabulary import Vocabulary
from slowwave.store import Store
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    import lance

COLUMNS = (*SHOWN, "namespace", "search_text", "embedding_hash")
"""Of a chunk beside its vector; two rows that agree in all of them have the same vector."""

ROW_BYTES = 2_500
"""Of a row beside its vector: its columns and its words (an estimate from bge's corpora)."""

MOST_CHUNKS = 32
"""Pieces of the columns' memory, from which they are made one again (count)."""

MOST_CONDITIONS = 64
"""Conditions whose outcome is kept (count)."""

FEWEST_DEAD = 1_000
"""Rows that are there no longer, from which a snapshot of mostly such rows is read anew (count)."""

Offsets = npt.NDArray[np.uint32]


class Snapshots:
    """Those of a store, within a bound of memory; the least used go first.

    Args:
        store: has the chunks.
        most_bytes: of all of them; a namespace that is larger has none.
    """

    def __init__(self, store: Store, most_bytes: int) -> None:
        self._store, self._most = store, most_bytes
        self._lock = threading.Lock()
        self._followed: OrderedDict[str, _Followed] = OrderedDict()

    def of(self, namespace: str) -> Snapshot | None:
        """The chunks of a namespace as they are now; None where they are searched in their table."""
        if self._store.elsewhere or not self._most:
            return None
        with self._lock:
            followed = self._followed.get(namespace)
            if followed is None:
                followed = self._followed[namespace] = _Followed(self._store, namespace)
            self._followed.move_to_end(namespace)
        snapshot = followed.now(self._most)
        with self._lock:
            while sum(one.size for one in self._followed.values()) > self._most and len(self._followed) > 1:
                self._followed.popitem(last=False)
        return snapshot


class _Followed:
    """One namespace."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store, self._namespace = store, namespace
        self._lock = threading.Lock()
        self._data: lance.LanceDataset | None = None  # the version that the snapshot is of
        self._snapshot: Snapshot | None = None
        self._parts: dict[str, _Part] = {}
        self._rows_of: dict[str, list[int]] = {}
        self._vocabulary = Vocabulary()
        self._kept = store.specs["chunks"].schema.empty_table().select(COLUMNS)
        self._buffer = np.empty((0, store.identity.dimension), dtype=np.float32)

    @property
    def size(self) -> int:
        """Memory that it takes (bytes, an estimate)."""
        return 0 if self._snapshot is None else self._bytes(len(self._snapshot))

    def _bytes(self, rows: int) -> int:
        return rows * (ROW_BYTES + 4 * self._store.identity.dimension)

    def now(self, most: int) -> Snapshot | None:
        with self._lock, self._store.explaining("chunks"):
            data = self._store.dataset("chunks")  # another object for another version
            if data is not self._data:
                if self._snapshot is None or self._data is None or self._data.uri != data.uri:
                    self._forget()
                    if self._bytes(data.count_rows(within(self._namespace))) > most:
                        self._data = data
                        return None
                try:
                    self._follow(data)
                except BaseException:  # half of it may be done
                    self._forget()
                    raise
                self._data = data
            if self.size > most:
                self._forget()
                self._data = data
            return self._snapshot

    def _forget(self) -> None:
        self._snapshot, self._data, self._parts, self._rows_of = None, None, {}, {}

    def _follow(self, data: lance.LanceDataset) -> None:
        fragments = {one.data_files()[0].path: one for one in data.get_fragments()}
        old = self._snapshot
        alive = np.empty(0, dtype=np.bool_) if old is None else old.alive.copy()
        gone = [part.rows for path, part in self._parts.items() if path not in fragments]
        for rows in gone:
            alive[rows] = False
        for path, part in self._parts.items():
            if path in fragments and fragments[path].deletion_file() != part.deletions:
                part.deletions = fragments[path].deletion_file()
                alive[part.rows[~np.isin(part.offsets, self._offsets(data, fragments[path]))]] = False
        fresh = {path: one for path, one in fragments.items() if path not in self._parts}
        self._parts = {path: part for path, part in self._parts.items() if path in fragments}
        if fresh or old is None:
            self._take_in(data, fresh, alive, np.concatenate(gone) if gone else np.empty(0, np.int64))
        else:
            self._snapshot = replace(old, alive=alive, passed=_some(old.passed))
        now = self._snapshot
        if now is not None and np.count_nonzero(~now.alive) > max(FEWEST_DEAD, len(now) // 2):
            self._forget()
            self._follow(data)

    def _offsets(self, data: lance.LanceDataset, fragment: lance.LanceFragment) -> Offsets:
        """Of the namespace's rows that are in a fragment."""
        scanner = data.scanner(
            columns=["chunk_id"], filter=within(self._namespace), with_row_address=True, fragments=[fragment]
        )
        return _low(scanner.to_table().column("_rowaddr").to_numpy())

    def _take_in(self, data: lance.LanceDataset, fresh: dict[str, Any], alive: Flags, gone: Rows) -> None:
        """Rows of new fragments: those that are known have moved, the others are new."""
        columns = [*COLUMNS, *(() if len(gone) else ("vector",))]
        scanner = data.scanner(
            columns=columns, filter=within(self._namespace), with_row_address=True,
            fragments=list(fresh.values()),
        )  # fmt: skip
        found = scanner.to_table()
        address = found.column("_rowaddr").to_numpy()
        found = found.drop_columns(["_rowaddr"])
        rows = np.full(found.num_rows, -1, dtype=np.int64)
        if len(gone):
            rows = self._moved(found, gone)
            alive[rows[rows >= 0]] = True
        new = np.flatnonzero(rows < 0)
        count = 0 if self._snapshot is None else len(self._snapshot)
        rows[new] = np.arange(count, count + len(new))
        if len(gone):
            found = found.take(pa.array(new))
            if len(new):
                vectors = data.scanner(
                    columns=["vector"], filter=within(self._namespace), with_row_address=True,
                    fragments=list(fresh.values()),
                ).to_table()  # fmt: skip
                place = vectors.column("_rowaddr").to_numpy()
                order = np.argsort(place)
                wanted = pa.array(order[np.searchsorted(place, address[new], sorter=order)])
                found = found.append_column("vector", vectors.column("vector").take(wanted))
            else:
                empty = self._store.specs["chunks"].schema.field("vector").type
                found = found.append_column("vector", pa.array([], empty))
        by_fragment = {one.fragment_id: path for path, one in fresh.items()}
        high = (address >> np.uint64(32)).astype(np.int64)
        for number, path in by_fragment.items():
            mine = high == number
            self._parts[path] = _Part(
                rows[mine], _low(address[mine]), fresh[path].deletion_file()
            )  # fmt: skip
        self._append(found, alive)

    def _moved(self, found: pa.Table, gone: Rows) -> Rows:
        """The row of a snapshot that each row is; -1 where it is none of those whose fragment is gone."""
        assert self._snapshot is not None
        before, now = _hashes(self._kept.take(pa.array(gone))), _hashes(found.select(COLUMNS))
        order = np.argsort(before)
        place = order[np.minimum(np.searchsorted(before, now, sorter=order), len(before) - 1)]
        return np.where(before[place] == now, gone[place], -1)

    def _append(self, found: pa.Table, alive: Flags) -> None:
        """A snapshot with more rows."""
        old, store = self._snapshot, self._store
        count = 0 if old is None else len(old)
        vectors = self._buffered(_unit(found.column("vector"), store.identity.dimension), count)
        kept = found.select(COLUMNS)
        asked = _asked(kept)
        if old is not None:
            kept = pa.concat_tables([self._kept, kept])
            asked = pl.concat([old.asked, asked], rechunk=False)
            if kept.column(0).num_chunks > MOST_CHUNKS:
                kept, asked = kept.combine_chunks(), asked.rechunk()
        self._kept = kept
        for row, name in enumerate(found.column("memory_id").to_pylist(), start=count):
            self._rows_of.setdefault(name, []).append(row)
        table = store.table("chunks")
        words = _said(WordIndex() if old is None else old.words, found, self._vocabulary, table)
        self._snapshot = Snapshot(
            columns=kept.select(SHOWN), asked=asked, vectors=vectors, words=words,
            alive=np.concatenate([alive, np.ones(found.num_rows, dtype=np.bool_)]), rows_of=self._rows_of,
            vocabulary=self._vocabulary, table=table,
            passed={} if old is None else _some(old.passed),
        )  # fmt: skip

    def _buffered(self, vectors: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.float32]:
        """All vectors, the new ones behind; earlier snapshots see the same memory, up to their own end."""
        buffer, need = self._buffer, count + len(vectors)
        if count == 0 or len(buffer) < need:
            larger = np.empty((need + (need // 2 if count else 0), vectors.shape[1]), dtype=np.float32)
            if count:
                larger[:count] = buffer[:count]
            buffer = self._buffer = larger
        buffer[count:need] = vectors
        return buffer[:need]


def snapshot_of(rows: pa.Table, vocabulary: Vocabulary, table: Any) -> Snapshot:  # noqa: ANN401 - LanceDB's
    """The rows of ``chunks`` of one namespace that are at hand, such as those of a past day.

    Args:
        rows: with the schema of the table.
        vocabulary: numbers of terms.
        table: its full-text index makes terms of words.
    """
    rows_of: dict[str, list[int]] = {}
    for row, name in enumerate(rows.column("memory_id").to_pylist()):
        rows_of.setdefault(name, []).append(row)

    return Snapshot(
        columns=rows.select(SHOWN), asked=_asked(rows),
        vectors=_unit(rows.column("vector"), rows.schema.field("vector").type.list_size),
        words=_said(WordIndex(), rows, vocabulary, table), alive=np.ones(rows.num_rows, dtype=np.bool_),
        rows_of=rows_of, vocabulary=vocabulary, table=table
    )  # fmt: skip


def _said(words: WordIndex, rows: pa.Table, vocabulary: Vocabulary, table: Any) -> WordIndex:  # noqa: ANN401
    """The index with what more rows say."""
    texts = pl.Series(rows.column("search_text"), dtype=pl.String).fill_null("")
    return words.appended(*vocabulary.of_texts(texts, table), rows.num_rows)


@dataclass(slots=True)
class _Part:
    """The namespace's rows of one fragment.

    Attributes:
        rows: of the snapshot, (p,).
        offsets: in the fragment, (p,).
        deletions: name of the file that says which are there no longer.
    """

    rows: Rows
    offsets: Offsets
    deletions: str | None


def _low(addresses: npt.NDArray[np.uint64]) -> Offsets:
    """Offsets in their fragment; the upper half of an address is the fragment's number."""
    return (addresses & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def _unit(column: pa.ChunkedArray, dimension: int) -> npt.NDArray[np.float32]:
    """Vectors as rows, each of length 1; a zero one stays as it is."""
    flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    vectors = np.concatenate(flat).reshape(-1, dimension) if flat else np.empty((0, dimension), np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    off = np.abs(length - 1) > 1e-6
    if (off & (length > 0)).any():
        vectors = vectors / np.where(length > 0, length, 1)[:, None].astype(np.float32)
    return vectors.astype(np.float32, copy=False)


def _asked(rows: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(rows.select(ASKED))
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col("created_at").dt.convert_time_zone("UTC").dt.replace_time_zone(None))


def _hashes(rows: pa.Table) -> npt.NDArray[np.uint64]:
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    frame = frame.with_columns(
        pl.col(lists).list.join("\x1f"), **{f"{name} (n)": pl.col(name).list.len() for name in lists}
    )
    return frame.hash_rows(seed=1).to_numpy()


def _some(passed: dict[str, Flags]) -> dict[str, Flags]:
    return dict(list(passed.items())[-MOST_CONDITIONS:])

"""Snapshots of namespaces that follow their table: what any process wrote is in the next search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa

from slowwave.errors import StoreError
from slowwave.index import mmap_snapshot
from slowwave.index.channels import SHOWN
from slowwave.index.chunked_columns import ChunkedColumns
from slowwave.index.incremental import CachesByNamespace, GrowingMatrix, IncrementalTableCache, unit_rows
from slowwave.index.partitions import Partitions, parted, way_of
from slowwave.index.questions import questions_in
from slowwave.index.snapshot import ASKED, Matrix, MemoryRows, PartitionedVectors, Snapshot
from slowwave.index.vocabulary import Vocabulary
from slowwave.scoring.ranking.bm25 import Bm25, WordIndex
from slowwave.store import Store
from slowwave.store.frames import frame_of

if TYPE_CHECKING:
    import lance

COLUMNS = (*SHOWN, "namespace", "search_text", "embedding_hash")
"""Of a chunk beside its vector; two rows that agree in all of them have the same vector."""

ROW_BYTES = 2_500
"""Of a row beside its vector: its columns and its words (an estimate from bge's corpora)."""

FEWEST_ROWS = 500
"""Of a namespace that a file is left of: a smaller one is read from the table as fast (count)."""

PARTED_FROM, WANTED_RECALL = 20_000, 0.99
"""Rows from which vectors are parted, and the recall that visiting partitions has to have: the defaults of
``store.vector_index_from`` and ``store.vector_index_recall``."""

MOST_PIECES = 32
"""ChunkedColumns of the columns' memory, from which they are made one again (count)."""


class Snapshots:
    """Those of a store, within a bound of memory; the least used go first.

    Args:
        store: has the chunks.
        most_bytes: of all of them; a namespace that is larger has none.
    """

    def __init__(self, store: Store, most_bytes: int) -> None:
        self._there = bool(most_bytes) and not store.in_memory
        self._followed = CachesByNamespace(
            lambda namespace: IncrementalSnapshot(store, namespace, most_bytes), most_bytes
        )

    def of(self, namespace: str) -> Snapshot | None:
        """The chunks of a namespace as they are now; None where they are searched in their table."""
        if not self._there:
            return None
        snapshot = self._followed.of(namespace).now()
        self._followed.trim()
        return snapshot


class IncrementalSnapshot(IncrementalTableCache):
    """One namespace.

    Args:
        store: has the chunks.
        namespace: whose.
        most_bytes: see `IncrementalTableCache`.
        recalls: whether it goes on from what a night has left.
    """

    def __init__(self, store: Store, namespace: str, most_bytes: int, *, recalls: bool = True) -> None:
        self._turn, self._recalls = threading.Lock(), recalls
        super().__init__(
            store, mmap_snapshot.TABLE, namespace, COLUMNS, row_bytes=_row_bytes(store), most_bytes=most_bytes
        )

    def forget(self) -> None:
        """See `IncrementalTableCache`."""
        super().forget()
        self._snapshot: Snapshot | None = None
        self._rows_of = MemoryRows()
        self._vocabulary = Vocabulary()
        self._words = WordIndex()
        self._asked = self._asked_since = _asked(self.kept.take([]))
        self._partitions: Partitions | None = None
        self._mapped: Matrix = np.empty((0, self._store.identity.dimension), np.float32)
        self._vectors = GrowingMatrix(self._store.identity.dimension)

    def recall(self, data: lance.LanceDataset) -> bool:
        """See `IncrementalTableCache`: a night may have left a file, which is mapped."""
        if not self._recalls or self._store.elsewhere:
            return False
        left = mmap_snapshot.read(self._store, self._namespace, self._columns, data)
        if left is None:
            return False
        self._parts, self.kept, self._asked = left.parts, ChunkedColumns(left.kept), left.asked
        self.alive = np.ones(left.kept.num_rows, dtype=np.bool_)
        self._words, self._vocabulary, self._rows_of = left.words, left.vocabulary, left.rows_of
        self._mapped, self._partitions = left.vectors, left.partitions
        return True

    def leave(self, parted_from: int, wanted_recall: float, asked: Matrix) -> None:
        """Leave a file of what is committed now for all processes, unless that is too much.

        Args:
            parted_from: rows from which vectors are parted (count).
            wanted_recall: see `parted`.
            asked: see `parted`.

        Raises:
            ValueError: a column is too large for one piece of memory.
            OSError: it cannot be written.
        """
        data = self._store.committed(self._table)
        with self._turn, self._store.explaining(self._table):
            self._come_to(data, ())
            if self.too_large or not len(self):
                return mmap_snapshot.forget(self._store, self._namespace)
            vectors, partitions = self._vectors.first(len(self)), None
            if len(self) >= parted_from:
                partitions = parted(vectors, wanted_recall, asked=asked)
                vectors = vectors[partitions.order]
            left = mmap_snapshot.Left(
                self.kept.take(np.arange(len(self))), self._asked_since, vectors,
                self._words, self._vocabulary, self._rows_of, self._parts, partitions,
            )  # fmt: skip
            way = way_of(parted_from, wanted_recall, asked)
            return mmap_snapshot.write(self._store, self._namespace, left, data, way)

    def now(self) -> Snapshot | None:
        """The chunks as they are now; None where there are too many."""
        with self._turn:
            if self.follow() and not self.too_large:
                old = self._snapshot
                self._snapshot = Snapshot(
                    columns=self.kept.select(SHOWN),
                    asked=pl.concat([self._asked, self._asked_since], rechunk=False),
                    vectors=PartitionedVectors(
                        self._mapped, self._vectors.first(len(self) - len(self._mapped)),
                        partitions=self._partitions,
                    ),
                    words=Bm25(self._words, self.alive), alive=self.alive,
                    rows_of=self._rows_of, vocabulary=self._vocabulary,
                    table=self._store.handle("chunks"), passed={} if old is None else dict(old.passed),
                )  # fmt: skip
            return self._snapshot

    def take_in(self, found: pa.Table) -> None:
        """See `IncrementalTableCache`."""
        vectors = unit_rows(found.column("vector"), self._store.identity.dimension)
        self._vectors.put(vectors, len(self) - len(self._mapped))
        asked = pl.concat([self._asked_since, _asked(found)], rechunk=False)
        self._asked_since = asked.rechunk() if asked.n_chunks() > MOST_PIECES else asked
        self._rows_of.add(found.column("memory_id").to_pylist(), len(self))
        self._words = _said(self._words, found, self._vocabulary, self._store.handle("chunks"))


@dataclass(frozen=True, slots=True)
class LeftFiles:
    """Files for all processes to map.

    Attributes:
        rows: of each namespace that has one (count).
        failed: why a namespace has none of today, though it is worth one.
    """

    rows: Mapping[str, int]
    failed: Mapping[str, str]


def searched_in_table(store: Store, most_bytes: int) -> list[str]:
    """Namespaces of which there is no snapshot: they are searched in the table.

    Args:
        store: has the chunks.
        most_bytes: as for `Snapshots`.
    """
    most = 0 if store.in_memory else most_bytes // _row_bytes(store)
    return _sizes(store).filter(pl.col("count") > most)["namespace"].to_list()


def leave_files(
    store: Store, most_bytes: int, *, fewest: int = FEWEST_ROWS, erasures: Callable[[str], int] = lambda _: 0,
    parted_from: int = PARTED_FROM, wanted_recall: float = WANTED_RECALL,
) -> LeftFiles:  # fmt: skip
    """Leave a file of each namespace that is worth one, and take the others away.

    Args:
        store: has the chunks.
        most_bytes: that a namespace may take, as for `Snapshots`.
        fewest: rows of a namespace that is worth one.
        erasures: how many a namespace has had; one that comes meanwhile may have looked before its file was
            there, so the file goes again.
        parted_from: rows of a namespace from which its vectors are parted (count).
        wanted_recall: recall@10 that the partitions have to have.
    """
    rows, failed = dict[str, int](), dict[str, str]()
    if store.elsewhere:
        return LeftFiles(rows, failed)
    store.settle(mmap_snapshot.TABLE)
    worth = _sizes(store).filter(pl.col("count").is_between(fewest, most_bytes // _row_bytes(store)))
    mmap_snapshot.forget_others(store, set(worth["namespace"]))
    for name, count in worth.iter_rows():
        try:
            before = erasures(name)
            asked = _asked_of_people(store, name if count >= parted_from else None)
            way = way_of(parted_from, wanted_recall, asked)
            if not mmap_snapshot.is_current(store, name, COLUMNS, store.committed(mmap_snapshot.TABLE), way):
                IncrementalSnapshot(store, name, most_bytes, recalls=False).leave(
                    parted_from, wanted_recall, asked
                )
            if erasures(name) == before:
                rows[name] = count
            else:
                mmap_snapshot.forget(store, name)
        except (OSError, RuntimeError, ValueError, pa.ArrowException) as error:  # the table is there
            failed[name] = f"{type(error).__name__}: {error}"
    return LeftFiles(rows, failed)


def _asked_of_people(store: Store, namespace: str | None) -> Matrix:
    """Questions of a namespace on which people gave feedback, (q, dimension).

    They only say how many partitions a search visits: there are none where they cannot be read.
    """
    dimension = store.identity.dimension
    with suppress(StoreError, OSError, RuntimeError, ValueError, pa.ArrowException):
        if namespace is not None:
            vectors = questions_in(store, namespace, dimension).vectors
            return vectors[vectors.any(axis=1)].reshape(-1, dimension)
    return np.empty((0, dimension), np.float32)


def _sizes(store: Store) -> pl.DataFrame:
    """Rows of each namespace (namespace, count)."""
    rows = store.read(mmap_snapshot.TABLE, columns=["namespace"])
    return rows["namespace"].value_counts().sort("namespace")


def _row_bytes(store: Store) -> int:
    return ROW_BYTES + 4 * store.identity.dimension


def snapshot_of(rows: pa.Table, vocabulary: Vocabulary, table: Any) -> Snapshot:  # noqa: ANN401 - LanceDB's
    """The rows of ``chunks`` of one namespace that are at hand, such as those of a past day.

    Args:
        rows: with the schema of the table.
        vocabulary: numbers of terms.
        table: its full-text index makes terms of words.
    """
    rows_of, there = MemoryRows(), np.ones(rows.num_rows, dtype=np.bool_)
    vectors = unit_rows(rows.column("vector"), rows.schema.field("vector").type.list_size)
    rows_of.add(rows.column("memory_id").to_pylist(), 0)
    return Snapshot(
        columns=ChunkedColumns(rows.select(SHOWN)), asked=_asked(rows),
        vectors=PartitionedVectors(vectors),
        words=Bm25(_said(WordIndex(), rows, vocabulary, table), there), alive=there,
        rows_of=rows_of, vocabulary=vocabulary, table=table
    )  # fmt: skip


def _said(words: WordIndex, rows: pa.Table, vocabulary: Vocabulary, table: Any) -> WordIndex:  # noqa: ANN401
    """The index with what more rows say."""
    texts = pl.Series(rows.column("search_text"), dtype=pl.String).fill_null("")
    return words.appended(*vocabulary.of_texts(texts, table), rows.num_rows)


def _asked(rows: pa.Table) -> pl.DataFrame:
    frame = frame_of(rows.select(ASKED))
    return frame.with_columns(pl.col("created_at").dt.convert_time_zone("UTC").dt.replace_time_zone(None))

"""Incremental snapshots of namespaces: writes of any process are in the next search."""

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
from slowwave.index.partitioned_vectors import Matrix, PartitionedVectors
from slowwave.index.partitions import Partitions, parted, way_of
from slowwave.index.questions import questions_in
from slowwave.index.snapshot import ASKED, MemoryRows, Snapshot
from slowwave.index.vocabulary import Vocabulary
from slowwave.scoring.ranking.bm25 import Bm25, WordIndex
from slowwave.store import Store
from slowwave.store.frames import frame_of

if TYPE_CHECKING:
    import lance

SEARCH_TEXT = "search_text"
COLUMNS = (*SHOWN, "namespace", SEARCH_TEXT, "embedding_hash")
"""Columns of a chunk without its vector; rows equal in all of them have the same vector."""

ROW_BYTES = 2_500
"""Size of a row without its vector: columns and words (bytes, an estimate from bge's corpora)."""

MIN_ROWS = 500
"""Minimum rows of a namespace with a file (count); a smaller one is read from the table as fast."""

PARTED_FROM, WANTED_RECALL = 20_000, 0.99
"""Minimum rows for partitions, and their minimum recall: defaults of ``store.ann_min_chunks`` and
``store.vector_index_recall``."""

MAX_PIECES = 32
"""Maximum chunks of the condition columns before they are combined (count)."""


class Snapshots:
    """Snapshots of a store within a memory bound; the least recently used are dropped.

    Args:
        store: Store of the chunks.
        most_bytes: Maximum memory of all; a larger namespace has no snapshot.
    """

    def __init__(self, store: Store, most_bytes: int) -> None:
        self._enabled = bool(most_bytes) and not store.in_memory
        self._followed = CachesByNamespace(
            lambda namespace: IncrementalSnapshot(store, namespace, most_bytes), most_bytes
        )

    def of(self, namespace: str) -> Snapshot | None:
        """Return the current snapshot of a namespace; None if it is searched in its table."""
        if not self._enabled:
            return None
        snapshot = self._followed.of(namespace).now()
        self._followed.trim()
        return snapshot

    def in_memory(self, namespace: str) -> Snapshot | None:
        """Return the current snapshot of a namespace that was searched here; None where it must be loaded."""
        return self.of(namespace) if namespace in tuple(self._followed) else None


class IncrementalSnapshot(IncrementalTableCache):
    """Snapshot of one namespace that follows its table.

    Args:
        store: Store of the chunks.
        namespace: Namespace of the chunks.
        most_bytes: See `IncrementalTableCache`.
        recalls: Whether it starts from the nightly file.
    """

    def __init__(self, store: Store, namespace: str, most_bytes: int, *, recalls: bool = True) -> None:
        self._update_lock, self._recalls = threading.Lock(), recalls
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
        self._conditions = self._conditions_since = _conditions(self.kept.take([]))
        self._partitions: Partitions | None = None
        self._mapped: Matrix = np.empty((0, self._store.identity.dimension), np.float32)
        self._vectors = GrowingMatrix(self._store.identity.dimension)

    def known_by(self, rows: pa.Table) -> pa.Table:
        """See `IncrementalTableCache`; of a search text, which is as long as the text, a hash is enough."""
        known = rows.select(self._columns)
        texts = pl.Series(known.column(SEARCH_TEXT), dtype=pl.String)
        place = known.schema.get_field_index(SEARCH_TEXT)
        return known.set_column(place, SEARCH_TEXT, pa.array(texts.hash(seed=1).to_numpy()))

    def recall(self, data: lance.LanceDataset) -> bool:
        """Map the nightly file, if there is one; see `IncrementalTableCache`."""
        if not self._recalls or self._store.elsewhere:
            return False
        snapshot = mmap_snapshot.read(self._store, self._namespace, self._columns, data)
        if snapshot is None:
            return False
        self._parts, self.kept, self._conditions = (
            snapshot.parts,
            ChunkedColumns(snapshot.kept),
            snapshot.asked,
        )
        self.alive = np.ones(snapshot.kept.num_rows, dtype=np.bool_)
        self._words, self._vocabulary, self._rows_of = snapshot.words, snapshot.vocabulary, snapshot.rows_of
        self._mapped, self._partitions = snapshot.vectors, snapshot.partitions
        return True

    def leave(self, parted_from: int, wanted_recall: float, asked: Matrix) -> None:
        """Write a file of the committed rows for all processes, unless too large.

        Args:
            parted_from: Minimum rows to partition (count).
            wanted_recall: See `parted`.
            asked: See `parted`.

        Raises:
            ValueError: a column is too large for one piece of memory.
            OSError: it cannot be written.
        """
        data = self._store.committed(self._table)
        with self._update_lock, self._store.explaining(self._table):
            self._come_to(data, ())
            if self.too_large or not len(self):
                return mmap_snapshot.forget(self._store, self._namespace)
            vectors, partitions = self._vectors.first(len(self)), None
            if len(self) >= parted_from:
                partitions = parted(vectors, wanted_recall, asked=asked)
                vectors = vectors[partitions.order]
            snapshot = mmap_snapshot.Left(
                self.kept.take(np.arange(len(self))), self._conditions_since, vectors,
                self._words, self._vocabulary, self._rows_of, self._parts, partitions,
            )  # fmt: skip
            way = way_of(parted_from, wanted_recall, asked)
            return mmap_snapshot.write(self._store, self._namespace, snapshot, data, way)

    def now(self) -> Snapshot | None:
        """Return the current snapshot; None if there are too many rows."""
        with self._update_lock:
            if self.follow() and not self.too_large:
                old = self._snapshot
                self._snapshot = Snapshot(
                    columns=self.kept.select(SHOWN),
                    asked=pl.concat([self._conditions, self._conditions_since], rechunk=False),
                    vectors=PartitionedVectors(
                        self._mapped, self._vectors.first(len(self) - len(self._mapped)),
                        partitions=self._partitions,
                    ),
                    words=Bm25(self._words, self.alive), alive=self.alive,
                    rows_of=self._rows_of, vocabulary=self._vocabulary,
                    table=self._store.handle("chunks"), passed={} if old is None else dict(old.passed),
                )  # fmt: skip
            return self._snapshot

    def take_in(self, rows: pa.Table) -> None:
        """See `IncrementalTableCache`."""
        vectors = unit_rows(rows.column("vector"), self._store.identity.dimension)
        self._vectors.put(vectors, len(self) - len(self._mapped))
        condition_rows = pl.concat([self._conditions_since, _conditions(rows)], rechunk=False)
        self._conditions_since = (
            condition_rows.rechunk() if condition_rows.n_chunks() > MAX_PIECES else condition_rows
        )
        self._rows_of.add(rows.column("memory_id").to_pylist(), len(self))
        self._words = _extended(self._words, rows, self._vocabulary, self._store.handle("chunks"))


@dataclass(frozen=True, slots=True)
class LeftFiles:
    """Result of writing snapshot files.

    Attributes:
        rows: Rows of each namespace with a file (count).
        failed: Error of each namespace whose file could not be written.
    """

    rows: Mapping[str, int]
    failed: Mapping[str, str]


def searched_in_table(store: Store, most_bytes: int) -> list[str]:
    """Return the namespaces without a snapshot, which are searched in the table.

    Args:
        store: Store of the chunks.
        most_bytes: As in `Snapshots`.
    """
    most = most_snapshot_rows(store, most_bytes)
    return _sizes(store).filter(pl.col("count") > most)["namespace"].to_list()


def most_snapshot_rows(store: Store, most_bytes: int) -> int:
    """Return the maximum rows of a namespace with a snapshot (count); see `searched_in_table`."""
    return 0 if store.in_memory else most_bytes // _row_bytes(store)


def leave_files(
    store: Store, most_bytes: int, *, fewest: int = MIN_ROWS, erasures: Callable[[str], int] = lambda _: 0,
    parted_from: int = PARTED_FROM, wanted_recall: float = WANTED_RECALL,
) -> LeftFiles:  # fmt: skip
    """Write the file of each namespace large enough, and delete the others.

    Args:
        store: Store of the chunks.
        most_bytes: Maximum memory of a namespace, as in `Snapshots`.
        fewest: Minimum rows of a namespace.
        erasures: Returns the number of a namespace's erasures. One during the write may have missed the new
            file, so the file is deleted again.
        parted_from: Minimum rows to partition (count).
        wanted_recall: Minimum recall@10 of the partitions.
    """
    rows, failed = dict[str, int](), dict[str, str]()
    if store.elsewhere:
        return LeftFiles(rows, failed)
    store.settle(mmap_snapshot.TABLE)
    worth = _sizes(store).filter(pl.col("count").is_between(fewest, most_bytes // _row_bytes(store)))
    mmap_snapshot.forget_others(store, set(worth["namespace"]))
    for name, count in worth.iter_rows():
        try:
            erased_before = erasures(name)
            queries = _past_queries(store, name if count >= parted_from else None)
            way = way_of(parted_from, wanted_recall, queries)
            if not mmap_snapshot.is_current(store, name, COLUMNS, store.committed(mmap_snapshot.TABLE), way):
                IncrementalSnapshot(store, name, most_bytes, recalls=False).leave(
                    parted_from, wanted_recall, queries
                )
            if erasures(name) == erased_before:
                rows[name] = count
            else:
                mmap_snapshot.forget(store, name)
        except (
            OSError,
            RuntimeError,
            ValueError,
            pa.ArrowException,
        ) as error:  # searches can still use the table
            failed[name] = f"{type(error).__name__}: {error}"
    return LeftFiles(rows, failed)


def _past_queries(store: Store, namespace: str | None) -> Matrix:
    """Return the questions of a namespace with feedback, (q, dimension).

    They only determine the number of probes, so unreadable ones are ignored.
    """
    dimension = store.identity.dimension
    with suppress(StoreError, OSError, RuntimeError, ValueError, pa.ArrowException):
        if namespace is not None:
            vectors = questions_in(store, namespace, dimension).vectors
            return vectors[vectors.any(axis=1)].reshape(-1, dimension)
    return np.empty((0, dimension), np.float32)


def _sizes(store: Store) -> pl.DataFrame:
    """Return the rows of each namespace (namespace, count)."""
    rows = store.read(mmap_snapshot.TABLE, columns=["namespace"])
    return rows["namespace"].value_counts().sort("namespace")


def _row_bytes(store: Store) -> int:
    return ROW_BYTES + 4 * store.identity.dimension


def snapshot_of(rows: pa.Table, vocabulary: Vocabulary, table: Any) -> Snapshot:  # noqa: ANN401 - LanceDB's
    """Build a snapshot from one namespace's ``chunks`` rows, such as a past day's.

    Args:
        rows: Rows with the schema of the table.
        vocabulary: Numbers of terms.
        table: Table whose full-text index turns words into terms.
    """
    rows_of, alive = MemoryRows(), np.ones(rows.num_rows, dtype=np.bool_)
    vectors = unit_rows(rows.column("vector"), rows.schema.field("vector").type.list_size)
    rows_of.add(rows.column("memory_id").to_pylist(), 0)
    return Snapshot(
        columns=ChunkedColumns(rows.select(SHOWN)), asked=_conditions(rows),
        vectors=PartitionedVectors(vectors),
        words=Bm25(_extended(WordIndex(), rows, vocabulary, table), alive), alive=alive,
        rows_of=rows_of, vocabulary=vocabulary, table=table
    )  # fmt: skip


def _extended(words: WordIndex, rows: pa.Table, vocabulary: Vocabulary, table: Any) -> WordIndex:  # noqa: ANN401
    """Return the word index extended by more rows."""
    texts = pl.Series(rows.column(SEARCH_TEXT), dtype=pl.String).fill_null("")
    return words.appended(*vocabulary.of_texts(texts, table), rows.num_rows)


def _conditions(rows: pa.Table) -> pl.DataFrame:
    frame = frame_of(rows.select(ASKED))
    return frame.with_columns(pl.col("created_at").dt.convert_time_zone("UTC").dt.replace_time_zone(None))

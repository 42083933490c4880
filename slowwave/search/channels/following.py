"""Snapshots of namespaces that follow their table: what any process wrote is in the next search."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from slowwave.scoring.ranking.bm25 import WordIndex
from slowwave.search.channels.base import SHOWN
from slowwave.search.channels.snapshot import ASKED, Flags, Snapshot
from slowwave.search.channels.vocabulary import Vocabulary
from slowwave.store import Store
from slowwave.store.following import MOST_PIECES, Followers, Following, Pieces, Vectors, unit_rows

COLUMNS = (*SHOWN, "namespace", "search_text", "embedding_hash")
"""Of a chunk beside its vector; two rows that agree in all of them have the same vector."""

ROW_BYTES = 2_500
"""Of a row beside its vector: its columns and its words (an estimate from bge's corpora)."""

MOST_CONDITIONS = 64
"""Conditions whose outcome is kept (count)."""


class Snapshots:
    """Those of a store, within a bound of memory; the least used go first.

    Args:
        store: has the chunks.
        most_bytes: of all of them; a namespace that is larger has none.
    """

    def __init__(self, store: Store, most_bytes: int) -> None:
        self._there = bool(most_bytes) and not store.elsewhere
        self._followed = Followers(lambda namespace: _Followed(store, namespace, most_bytes), most_bytes)

    def of(self, namespace: str) -> Snapshot | None:
        """The chunks of a namespace as they are now; None where they are searched in their table."""
        if not self._there:
            return None
        snapshot = self._followed.of(namespace).now()
        self._followed.trim()
        return snapshot


class _Followed(Following):
    """One namespace."""

    def __init__(self, store: Store, namespace: str, most_bytes: int) -> None:
        self._turn = threading.Lock()
        row_bytes = ROW_BYTES + 4 * store.identity.dimension
        super().__init__(store, "chunks", namespace, COLUMNS, row_bytes=row_bytes, most_bytes=most_bytes)

    def forget(self) -> None:
        """See `Following`."""
        super().forget()
        self._snapshot: Snapshot | None = None
        self._rows_of: dict[str, list[int]] = {}
        self._vocabulary = Vocabulary()
        self._words = WordIndex()
        self._asked = _asked(self.kept.take([]))
        self._vectors = Vectors(self._store.identity.dimension)

    def now(self) -> Snapshot | None:
        """The chunks as they are now; None where there are too many."""
        with self._turn:
            if self.follow() and not self.too_large:
                old = self._snapshot
                self._snapshot = Snapshot(
                    columns=self.kept.select(SHOWN), asked=self._asked,
                    vectors=self._vectors.first(len(self)), words=self._words, alive=self.alive,
                    rows_of=self._rows_of, vocabulary=self._vocabulary,
                    table=self._store.handle("chunks"), passed={} if old is None else _some(old.passed),
                )  # fmt: skip
            return self._snapshot

    def take_in(self, found: pa.Table) -> None:
        """See `Following`."""
        start = len(self)
        self._vectors.put(unit_rows(found.column("vector"), self._store.identity.dimension), start)
        asked = pl.concat([self._asked, _asked(found)], rechunk=False)
        self._asked = asked.rechunk() if asked.n_chunks() > MOST_PIECES else asked
        for row, name in enumerate(found.column("memory_id").to_pylist(), start=start):
            self._rows_of.setdefault(name, []).append(row)
        self._words = _said(self._words, found, self._vocabulary, self._store.handle("chunks"))


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
        columns=Pieces(rows.select(SHOWN)), asked=_asked(rows),
        vectors=unit_rows(rows.column("vector"), rows.schema.field("vector").type.list_size),
        words=_said(WordIndex(), rows, vocabulary, table), alive=np.ones(rows.num_rows, dtype=np.bool_),
        rows_of=rows_of, vocabulary=vocabulary, table=table
    )  # fmt: skip


def _said(words: WordIndex, rows: pa.Table, vocabulary: Vocabulary, table: Any) -> WordIndex:  # noqa: ANN401
    """The index with what more rows say."""
    texts = pl.Series(rows.column("search_text"), dtype=pl.String).fill_null("")
    return words.appended(*vocabulary.of_texts(texts, table), rows.num_rows)


def _asked(rows: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(rows.select(ASKED))
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col("created_at").dt.convert_time_zone("UTC").dt.replace_time_zone(None))


def _some(passed: dict[str, Flags]) -> dict[str, Flags]:
    return dict(list(passed.items())[-MOST_CONDITIONS:])

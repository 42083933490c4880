"""Peer: LanceDB's own hybrid search, vectors and full text with reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, IvfFlat
from serving import Peer, Row, parts, serve

VECTOR_INDEX_FROM = 20_000
"""Rows from which there is a vector index, as Slowwave has it."""


class LanceDB(Peer):
    """One table; an index of words, and one of vectors when it is large."""

    package = "lancedb"

    def open(self, folder: Path, dimension: int) -> None:
        """Open or make the table; what others write is seen at once."""
        vector = pa.list_(pa.float32(), dimension)
        self._schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("vector", vector)])
        database = lancedb.connect(folder, read_consistency_interval=timedelta(0))
        self._table = database.create_table("bench", schema=self._schema, exist_ok=True)
        if not self._table.list_indices():
            self._table.create_index("text", config=FTS())

    def _add(self, rows: Sequence[Row]) -> None:
        ids, texts, vectors = zip(*rows, strict=True)
        column = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(vectors)), len(vectors[0]))
        self._table.add(pa.table([pa.array(ids), pa.array(texts), column], schema=self._schema))

    def add(self, rows: Iterator[Row]) -> None:
        """Add them some thousand at a time."""
        for part in parts(rows, 10_000):
            self._add(part)

    def index(self) -> None:
        """Index the vectors when they are many, take all rows into the indexes, put the files in order."""
        known = any("vector" in index.columns for index in self._table.list_indices())
        if self._table.count_rows() >= VECTOR_INDEX_FROM and not known:
            self._table.create_index("vector", config=IvfFlat(distance_type="cosine"))
        self._table.optimize()

    def save(self, row: Row) -> None:
        """Add one."""
        self._add([row])

    def search(self, text: str, vector: np.ndarray, limit: int) -> list[str]:
        """Ask both, and fuse."""
        query = self._table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
        query = query.distance_type("cosine").vector(vector).text(text).limit(limit)
        return [row["id"] for row in query.select(["id", "text"]).to_list()]


if __name__ == "__main__":
    serve(LanceDB())

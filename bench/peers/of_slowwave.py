"""Peer: Slowwave as an application uses it, with an embedder that has every vector cached."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from serving import Peer, Row, parts, serve

import slowwave
from slowwave.embedding import Embedder
from slowwave.index.incremental_snapshot import leave_files, searched_in_table
from slowwave.store.indexes import refresh_vector_index
from slowwave.store.maintenance import maintain, remove_replaced
from slowwave.store.text import create_full_text_indexes

NAMESPACE = "bench"
BATCH = 2_000  # notes of one call (count)


class _Given:
    """The vectors that were handed over, in the name of the model of the home.

    Live, the model embeds each query, too, and says whether it knows its language: for the time it takes.
    """

    def __init__(self, peer: Peer, model: Embedder) -> None:
        self._peer, self._model = peer, model
        self.name, self.dimension, self.live = model.name, model.dimension, False

    def embed_documents(self, texts: Sequence[str], progress: Any = None) -> np.ndarray:  # noqa: ANN401
        return np.array([self._peer.given[text] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        if self.live:
            start = time.perf_counter()
            self._model.embed_query(text)
            self._peer.asked.append((time.perf_counter() - start) * 1e3)
        return self._peer.given[text]

    def knows(self, text: str) -> float:
        if self.live and hasattr(self._model, "knows"):
            self._model.knows(text)
        return 1.0


class Slowwave(Peer):
    """One namespace with the settings that a new home has."""

    package = "slowwave"

    def open(self, folder: Path, dimension: int) -> None:
        """Open or make the home."""
        self._memory = slowwave.open(folder, namespace=NAMESPACE)
        self._embedder = _Given(self, self._memory.embedder)
        self._memory.home.__dict__["embedder"] = self._embedder
        self._memory.prepare()

    def add(self, rows: Iterator[Row]) -> None:
        """Save some thousand at a time; they are found at once."""
        for part in parts(rows, BATCH):
            self._memory.save_many([{"content": text, "key": name} for name, text, _ in part])

    def index(self) -> None:
        """What the night does to these tables: indexes, compaction, old versions, files that are mapped."""
        store, settings = self._memory.store, self._memory.settings.store
        create_full_text_indexes(store.table("chunks"), store.specs["chunks"])
        most_bytes = int(settings.snapshot_mb * 2**20)
        refresh_vector_index(
            store, minimum_rows=settings.ann_min_chunks, wanted_recall=settings.vector_index_recall,
            needed=bool(searched_in_table(store, most_bytes)),
        )  # fmt: skip
        maintain(store, keep_versions=timedelta(days=settings.keep_versions_days))
        maintained_at = time.monotonic()
        leave_files(store, most_bytes)
        remove_replaced(store, maintained_at, pause=self.rest)

    def save(self, row: Row) -> None:
        """Save one."""
        saved = self._memory.save(row[1], key=row[0])
        if saved.status != "live":
            raise RuntimeError(f"{row[0]} is {saved.status}: {saved.warnings}")

    def search(self, text: str, vector: np.ndarray, limit: int) -> list[str]:
        """Search, with its line in the journal."""
        return [result.source for result in self._memory.search(text, limit=limit)]

    def live(self, *, on: bool) -> None:
        """Let the model embed queries, too."""
        self._embedder.live = on

    def close(self) -> None:
        """Close the home."""
        self._memory.close()


if __name__ == "__main__":
    serve(Slowwave())

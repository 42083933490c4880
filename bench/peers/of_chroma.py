"""Peer: Chroma; vectors in a local collection, which has no full-text search beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings
from serving import Peer, Row, parts, serve

MOST = 5_000  # rows of one call


class Chroma(Peer):
    """One collection with cosine distance."""

    package = "chromadb"
    alone = "its cookbook says that Chroma is not process-safe"

    def open(self, folder: Path, dimension: int) -> None:
        """Open or make the collection."""
        self._client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._collection = self._client.get_or_create_collection(
            "bench", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def _add(self, rows: Sequence[Row]) -> None:
        ids, texts, vectors = zip(*rows, strict=True)
        self._collection.add(ids=list(ids), documents=list(texts), embeddings=np.array(vectors))

    def add(self, rows: Iterator[Row]) -> None:
        """Add them some thousand at a time."""
        for part in parts(rows, MOST):
            self._add(part)

    def save(self, row: Row) -> None:
        """Add one."""
        self._add([row])

    def search(self, text: str, vector: np.ndarray, limit: int) -> list[str]:
        """Ask for the nearest."""
        found = self._collection.query(
            query_embeddings=vector[None], n_results=limit, include=["documents", "distances"]
        )
        return list(found["ids"][0])

    def close(self) -> None:
        """Close the client."""
        self._client.close()


if __name__ == "__main__":
    serve(Chroma())

"""Peer: mem0 without inference, in its default local store (Qdrant, in this process)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from serving import Peer, Row, serve

os.environ["MEM0_TELEMETRY"] = "False"
WHO = {"user_id": "bench"}
UNUSED = {"provider": "openai", "config": {"api_key": "none"}}  # made by mem0, asked by nobody


class _Given:
    """An embedder of mem0 that has every vector already."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [float(one) for one in self._peer.given[text]]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Mem0(Peer):
    """One user's memories. Words count where its store has a model for them, which a hub would have."""

    package = "mem0ai"
    alone = "its local store locks the folder"

    def open(self, folder: Path, dimension: int) -> None:
        """Open or make the memories."""
        os.environ["MEM0_DIR"] = str(folder)
        from mem0 import Memory

        store = {
            "collection_name": "bench", "path": str(folder / "qdrant"), "on_disk": True,
            "embedding_model_dims": dimension,
        }  # fmt: skip
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "history.db"),
                "embedder": UNUSED,
                "llm": UNUSED,
            }
        )
        self._memory.embedding_model = _Given(self)

    def add(self, rows: Iterator[Row]) -> None:
        """One after the other: it has no other way."""
        for row in rows:
            self.save(row)

    def save(self, row: Row) -> None:
        """Add one."""
        self._memory.add(row[1], **WHO, metadata={"key": row[0]}, infer=False)

    def search(self, text: str, vector: np.ndarray, limit: int) -> list[str]:
        """Ask with no threshold; mem0 embeds a query without the white space around it."""
        self.given[text.strip()] = vector
        found = self._memory.search(text, filters=dict(WHO), top_k=limit, threshold=0.0)
        return [row["metadata"]["key"] for row in found["results"]]

    def close(self) -> None:
        """Let go of the folder."""
        self._memory.vector_store.client.close()
        self._memory.close()


if __name__ == "__main__":
    serve(Mem0())

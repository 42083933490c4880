"""Peer: txtai; vectors and BM25 in one index with its texts, with its default fusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from serving import Peer, Row, serve
from txtai.embeddings import Embeddings


class Txtai(Peer):
    """An index in memory; it is on disk when it was written whole."""

    package = "txtai"
    alone = "an index is read into memory whole and does not see what another process writes"

    def open(self, folder: Path, dimension: int) -> None:
        """Read the index, or make one."""

        def vectors(texts: Sequence[str]) -> np.ndarray:
            return np.array([self.given[text] for text in texts], dtype=np.float32)

        self._folder = str(folder / "index")
        if Path(self._folder).exists():
            self._index = Embeddings()
            self._index.load(self._folder, config={"transform": vectors})
        else:
            self._index = Embeddings(method="external", transform=vectors, hybrid=True, content=True)

    def add(self, rows: Iterator[Row]) -> None:
        """Index them in one go, as its pages do, and write the index."""
        self._index.index((name, text, None) for name, text, _ in rows)
        self._index.save(self._folder)

    def save(self, row: Row) -> None:
        """Index one more, and write the index."""
        self._index.upsert([(row[0], row[1], None)])
        self._index.save(self._folder)

    def search(self, text: str, vector: np.ndarray, limit: int) -> list[str]:
        """Ask both, and fuse."""
        return [row["id"] for row in self._index.search(text, limit)]

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()


if __name__ == "__main__":
    serve(Txtai())

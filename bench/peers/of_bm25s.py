"""Peer: bm25s and NumPy, in memory; words and exact cosines, fused by reciprocal ranks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import bm25s
import numpy as np
from py_rust_stemmers import SnowballStemmer
from serving import Peer, Row, serve

POOL = 100  # candidates of each channel (count)
RRF = 60  # constant of reciprocal rank fusion
STEMMER = SnowballStemmer("english").stem_words


class Bm25s(Peer):
    """Arrays that are made again and written whole at every change."""

    package = "bm25s"
    alone = "arrays in memory do not see what another process writes"

    def open(self, folder: Path, dimension: int) -> None:
        """Read what is there."""
        self._folder = folder
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._words: list[list[str]] = []
        self._vectors = np.zeros((0, dimension), dtype=np.float32)
        if (folder / "vectors.npy").exists():
            self._vectors = np.load(folder / "vectors.npy")
            self._ids, self._texts, self._words = json.loads((folder / "texts.json").read_text())
            self._bm25 = bm25s.BM25.load(folder / "bm25")

    def add(self, rows: Iterator[Row]) -> None:
        """Index all again, and write it."""
        found = list(rows)
        self._ids += [row[0] for row in found]
        self._texts += [row[1] for row in found]
        self._words += [self._tokens(row[1]) for row in found]
        self._vectors = np.concatenate([self._vectors, [row[2] for row in found]])
        self._bm25 = bm25s.BM25()
        self._bm25.index(self._words, show_progress=False)
        self._bm25.save(self._folder / "bm25", show_progress=False)
        np.save(self._folder / "vectors.npy", self._vectors)
        (self._folder / "texts.json").write_text(json.dumps([self._ids, self._texts, self._words]))

    def _tokens(self, text: str) -> list[str]:
        found = bm25s.tokenize(text, stopwords="en", stemmer=STEMMER, return_ids=False, show_progress=False)
        return list(found[0])

    def save(self, row: Row) -> None:
        """The same for one."""
        self.add(iter([row]))

    def search(self, text: str, vector: np.ndarray, limit: int) -> list[str]:
        """Ask both, and fuse."""
        pool = min(POOL, len(self._ids))
        cosine = self._vectors @ vector
        nearest = np.argpartition(-cosine, pool - 1)[:pool]
        lists = [nearest[np.argsort(-cosine[nearest])]]
        if words := self._tokens(text):
            found, scores = self._bm25.retrieve([words], k=pool, show_progress=False)
            lists.append(found[0][scores[0] > 0])
        fused: dict[int, float] = {}
        for one in lists:
            for rank, number in enumerate(one, start=1):
                fused[int(number)] = fused.get(int(number), 0) + 1 / (RRF + rank)
        best = sorted(fused, key=lambda number: -fused[number])[:limit]
        return [self._ids[number] for number in best]


if __name__ == "__main__":
    serve(Bm25s())

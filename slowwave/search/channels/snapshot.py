"""The chunks of one namespace in memory, as they were at one version of their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.common.ids import memory_of
from slowwave.scoring.ranking.bm25 import WordIndex
from slowwave.search.channels.base import DIGITS, Merged, Vector
from slowwave.search.channels.vocabulary import Tokenizer, Vocabulary
from slowwave.store.following import Pieces

Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

ASKED = (
    "namespace", "memory_id", "status", "sensitivity", "memory_type", "importance_tier", "source", "tags",
    "created_at",
)  # fmt: skip
"""Columns that a condition may name."""


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of a snapshot that were found, with their scores where they have some."""

    snapshot: Snapshot
    rows: Rows
    scores: npt.NDArray[np.float64] | None = None

    @property
    def memory_ids(self) -> list[str]:
        """See `Hits`."""
        return self.snapshot.named("memory_id", self.rows)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """See `Channels`; it is never changed.

    Attributes:
        columns: SHOWN, of every row, also of those that are there no longer.
        asked: ASKED, (n rows); created_at without a zone, in UTC.
        vectors: of length 1, (n, dimension).
        words: what each row says.
        alive: rows that are there, (n,).
        rows_of: rows of each memory; those of later snapshots, too.
        vocabulary: numbers of terms.
        table: its full-text index makes terms of words.
        passed: what conditions let through of the rows of an earlier snapshot.
    """

    columns: Pieces
    asked: pl.DataFrame
    vectors: npt.NDArray[np.float32]
    words: WordIndex
    alive: Flags
    rows_of: Mapping[str, Sequence[int]]
    vocabulary: Vocabulary
    table: Tokenizer
    passed: dict[str, Flags] = field(default_factory=dict)

    waits = False

    def __len__(self) -> int:
        """Rows, also those that are there no longer."""
        return len(self.alive)

    def named(self, column: str, rows: npt.ArrayLike) -> list[str]:
        """A column of texts, of some rows."""
        found: list[str] = self.columns.select([column]).take(rows).column(0).to_pylist()
        return found

    # -- channels --------------------------------------------------------------------------------

    def full_text(self, query: str, where: str, size: int) -> Found:
        """See `Channels`."""
        terms = self.vocabulary.of_query(query, self.table)
        scores = self.words.scores(terms, self.alive)
        rows = np.flatnonzero((scores > 0) & self._passing(where))
        return self._best(rows, scores[rows], size)

    def nearest(self, vector: Vector, where: str, size: int) -> Found:
        """See `Channels`."""
        if not vector.any() or not len(self):
            return self._best(np.empty(0, np.int64), np.empty(0), size)
        near = np.einsum("ij,j->i", self.vectors, vector)  # in one thread: threads wait for one another
        rows = np.flatnonzero(self._passing(where))
        return self._best(rows, near[rows].astype(np.float64), size)

    def of(self, memory_ids: Sequence[str], where: str, most: int) -> Found:
        """See `Channels`."""
        passing = self._passing(where)
        rows = [row for memory in memory_ids for row in self._rows(memory) if passing[row]]
        names = self.named("chunk_id", rows)
        order = sorted(range(len(rows)), key=names.__getitem__)[:most]
        return Found(self, np.array([rows[at] for at in order], dtype=np.int64))

    def best_of_each(self, hits: Found, vector: Vector) -> Found:
        """See `Channels`."""
        best: dict[str, int] = {}
        names = hits.memory_ids
        for at in np.argsort(-(self.vectors[hits.rows] @ vector), kind="stable").tolist():
            best.setdefault(names[at], at)
        return Found(self, hits.rows[sorted(best.values())])

    def merged(self, nearest: Found, text: Found, others: Sequence[Found], vector: Vector) -> Merged:
        """See `Channels`."""
        every = np.concatenate([nearest.rows, text.rows, *(one.rows for one in others)])
        _, first = np.unique(every, return_index=True)
        rows = every[np.sort(first)]
        place = np.empty(len(self), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        cosine, bm25 = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        if vector.any():
            cosine[:] = self.vectors[rows] @ vector
        vector_rank, bm25_rank = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        vector_rank[place[nearest.rows]] = np.arange(1, len(nearest.rows) + 1)
        bm25_rank[place[text.rows]] = np.arange(1, len(text.rows) + 1)
        bm25[place[text.rows]] = text.scores
        shown = self.columns.take(rows)
        channels = {
            "chunk_ids": shown.column("chunk_id").to_pylist(),
            "cosine": np.round(cosine, DIGITS),
            "bm25": np.round(bm25, DIGITS),
            "vector_rank": vector_rank,
            "bm25_rank": bm25_rank,
        }
        return Merged(channels, shown)

    def first_texts(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """See `Channels`."""
        rows = [row for memory in memory_ids for row in self._rows(memory) if self.alive[row]]
        found = self.columns.select(["memory_id", "ordinal", "text"]).take(rows)
        return {row["memory_id"]: row["text"] for row in found.to_pylist() if row["ordinal"] == 0}

    def term_scores(
        self, words: Sequence[str], chunk_ids: Sequence[str], where: str
    ) -> dict[str, dict[str, float]]:
        """See `Channels`; a word that says what an earlier one says has no part of its own."""
        mine = [row for memory in {memory_of(one) for one in chunk_ids} for row in self._rows(memory)]
        names = self.named("chunk_id", mine)
        rows = {name: row for name, row in zip(names, mine, strict=True) if self.alive[row]}
        found: dict[str, dict[str, float]] = {chunk: {} for chunk in chunk_ids}
        for word in dict.fromkeys(words if rows else ()):
            scores = self.words.scores(self.vocabulary.of_query(word, self.table), self.alive)
            for name, row in rows.items():
                if name in found and scores[row] > 0:
                    found[name][word] = float(scores[row])
        return found

    # -- conditions ------------------------------------------------------------------------------

    def _passing(self, where: str) -> Flags:
        """The rows that are there and that a condition lets through."""
        known = self.passed.get(where)
        if known is None or len(known) < len(self):
            start = 0 if known is None else len(known)
            fresh = self._evaluated(where, start)
            known = fresh if known is None else np.concatenate([known, fresh])
            self.passed[where] = known
        return known & self.alive

    def _evaluated(self, where: str, start: int) -> Flags:
        rows = self.asked.slice(start)
        passing = rows.select(pl.sql_expr(where)).to_series()
        flags: Flags = passing.fill_null(value=False).to_numpy()
        return flags

    def _rows(self, memory: str) -> list[int]:
        return [row for row in self.rows_of.get(memory, ()) if row < len(self)]

    def _best(self, rows: Rows, scores: npt.NDArray[np.float64], size: int) -> Found:
        """The best rows by score; of equal ones the first."""
        if len(rows) > size:
            least = np.partition(scores, len(scores) - size)[len(scores) - size] if size else np.inf
            there = np.flatnonzero(scores >= least)
            rows, scores = rows[there], scores[there]
        order = np.argsort(-scores, kind="stable")[:size]
        return Found(self, rows[order], scores[order])

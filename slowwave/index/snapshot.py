"""The chunks of one namespace in memory, as they were at one version of their table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.common.ids import memory_of
from slowwave.index.channels import DIGITS, Merged, Vector
from slowwave.index.chunked_columns import ChunkedColumns
from slowwave.index.mapped_file import Texts
from slowwave.index.partitions import Partitions
from slowwave.index.vocabulary import Tokenizer, Vocabulary
from slowwave.scoring.ranking.bm25 import Bm25
from slowwave.scoring.ranking.maxscore import maxscore_rows

Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float32]

ASKED = (
    "namespace", "memory_id", "status", "sensitivity", "memory_type", "importance_tier", "source", "tags",
    "created_at",
)  # fmt: skip
"""Columns that a condition may name."""


MANY = 20_000
"""Rows from which not each that says a word of a question is scored (count)."""

MOST_PASS = 2
"""Partitions are visited if at least one of so many rows passes; of fewer each is compared (count)."""

FEW_PASS = 16
"""Rows that pass are taken out and compared if at most one of so many does (count)."""

MOST_CONDITIONS = 64
"""Conditions whose outcome is kept (count)."""


class PartitionedVectors:
    """Rows of a matrix that is in pieces: one may be in a file that is mapped.

    Args:
        pieces: each (n, dimension), at least one.
        partitions: of the first piece, whose rows are in their order then.
    """

    def __init__(self, *pieces: Matrix, partitions: Partitions | None = None) -> None:
        self.partitions = partitions
        self._pieces = tuple(one for one in pieces if len(one)) or pieces[:1]
        self._starts = np.cumsum([0, *map(len, self._pieces)])

    def __len__(self) -> int:
        """Rows of all pieces."""
        return int(self._starts[-1])

    def __getitem__(self, rows: Rows) -> Matrix:
        """Some of the rows, (len(rows), dimension)."""
        if len(self._pieces) == 1:
            return self._pieces[0][self._placed(rows)]
        found = np.empty((len(rows), self._pieces[0].shape[1]), dtype=np.float32)
        where = np.searchsorted(self._starts, rows, side="right") - 1
        for number, piece in enumerate(self._pieces):
            mine = where == number
            theirs = rows[mine] - self._starts[number]
            found[mine] = piece[theirs if number else self._placed(theirs)]
        return found

    def _placed(self, rows: Rows) -> Rows:
        """Where rows of the first piece are in it."""
        return rows if self.partitions is None else self.partitions.place[rows].astype(np.int64)

    def times(self, vector: Vector) -> Vector:
        """The product of every row and a vector, (n,)."""
        # In one thread: threads wait for one another.
        found = [np.vecdot(piece, vector) for piece in self._pieces]
        if self.partitions is not None:
            found[0] = found[0][self.partitions.place]
        return np.concatenate(found) if len(found) > 1 else found[0]

    def visited(self, vector: Vector, passing: Flags, size: int) -> tuple[Rows, Vector]:
        """Rows in the partitions nearest to a vector, and all that are in none; their products.

        Of a row that does not pass it is -inf. As many partitions more are visited, twice as many each time,
        as it takes to find `size` that pass.
        """
        assert self.partitions is not None
        order, first = self.partitions.order, self._pieces[0]
        rows, near, found = [], [], 0
        for places in self.partitions.nearest(vector):
            rows.append(np.concatenate([order[start:end] for start, end in places]))
            products = np.concatenate([np.vecdot(first[start:end], vector) for start, end in places])
            through = passing[rows[-1]]
            products[~through] = -np.inf
            near.append(products)
            found += int(np.count_nonzero(through))
            if found >= size:
                break
        for start, piece in zip(self._starts[1:-1].tolist(), self._pieces[1:], strict=True):
            end = start + len(piece)
            rows.append(np.arange(start, end, dtype=np.int32))
            near.append(np.where(passing[start:end], np.vecdot(piece, vector), np.float32(-np.inf)))
        return np.concatenate(rows), np.concatenate(near)


class MemoryRows:
    """Rows of each memory; they come, and none goes.

    Args:
        names: of memories in a file that is mapped, with
        starts: where the rows of each begin there, and the end of the last, (n + 1,).
        rows: of all of them.
    """

    def __init__(
        self, names: Texts | None = None, starts: npt.NDArray[np.int64] | None = None,
        rows: npt.NDArray[np.int32] | None = None,
    ) -> None:  # fmt: skip
        self._file = None if names is None or starts is None or rows is None else (names, starts, rows)
        self._since: dict[str, list[int]] = {}

    def add(self, names: Iterable[str], start: int) -> None:
        """One more row of each of these, from `start` on."""
        for row, name in enumerate(names, start=start):
            self._since.setdefault(name, []).append(row)

    def of(self, name: str) -> list[int]:
        """Rows of a memory, ascending."""
        since = self._since.get(name, [])
        if self._file is None:
            return since
        names, starts, rows = self._file
        at = names.find(name)
        return since if at is None else rows[starts[at] : starts[at + 1]].tolist() + since


@dataclass(frozen=True, slots=True)
class SnapshotHits:
    """Rows of a snapshot that were found, with their scores where they have some."""

    snapshot: Snapshot
    rows: Rows
    scores: npt.NDArray[np.float64] | None = None
    bound: float = np.nan

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
        words: what the rows score.
        alive: rows that are there, (n,).
        rows_of: rows of each memory; those of later snapshots, too.
        vocabulary: numbers of terms.
        table: its full-text index makes terms of words.
        passed: what conditions let through of the rows of an earlier snapshot.
    """

    columns: ChunkedColumns
    asked: pl.DataFrame
    vectors: PartitionedVectors
    words: Bm25
    alive: Flags
    rows_of: MemoryRows
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

    def full_text(self, query: str, where: str, size: int) -> SnapshotHits:
        """See `Channels`."""
        asked = self.vocabulary.of_query(query, self.table)
        if len(self) >= MANY:
            said, bound = self.words.said(*asked)
            return replace(
                self._best(*maxscore_rows(self.words, said, self._passing(where), size), size), bound=bound
            )
        scores, bound = self.words.scores(*asked)
        rows = np.flatnonzero((scores > 0) & self._passing(where))
        return replace(self._best(rows, scores[rows], size), bound=bound)

    def nearest(self, vector: Vector, where: str, size: int) -> SnapshotHits:
        """See `Channels`."""
        if not vector.any() or not len(self):
            return self._best(np.empty(0, np.int64), np.empty(0), size)
        passing = self._passing(where)
        count = int(np.count_nonzero(passing))
        if self.vectors.partitions is not None and MOST_PASS * count >= len(self):
            rows, near = self.vectors.visited(vector, passing, size)
            there = np.flatnonzero(near > -np.inf)
            if len(there) > size > 0:
                there = np.flatnonzero(near >= np.partition(near, len(near) - size)[len(near) - size])
            order = there[np.argsort(rows[there])]
            return self._best(rows[order].astype(np.int64), near[order], size)
        rows = np.flatnonzero(passing)
        if FEW_PASS * count < len(self):
            return self._best(rows, np.vecdot(self.vectors[rows], vector), size)
        return self._best(rows, self.vectors.times(vector)[rows], size)

    def of(self, memory_ids: Sequence[str], where: str, most: int) -> SnapshotHits:
        """See `Channels`."""
        passing = self._passing(where)
        rows = [row for memory in memory_ids for row in self._rows(memory) if passing[row]]
        names = self.named("chunk_id", rows)
        order = sorted(range(len(rows)), key=names.__getitem__)[:most]
        return SnapshotHits(self, np.array([rows[at] for at in order], dtype=np.int64))

    def best_of_each(self, hits: SnapshotHits, vector: Vector) -> SnapshotHits:
        """See `Channels`."""
        best: dict[str, int] = {}
        names = hits.memory_ids
        for at in np.argsort(-(self.vectors[hits.rows] @ vector), kind="stable").tolist():
            best.setdefault(names[at], at)
        return SnapshotHits(self, hits.rows[sorted(best.values())])

    def merged(
        self, nearest: SnapshotHits, text: SnapshotHits, others: Sequence[SnapshotHits], vector: Vector
    ) -> Merged:
        """See `Channels`."""
        every = np.concatenate([nearest.rows, text.rows, *(one.rows for one in others)])
        _, first, which = np.unique(every, return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))[which]  # among the rows, of each of `every`
        rows = every[np.sort(first)]
        count = len(nearest.rows)
        of_nearest, of_text = place[:count], place[count : count + len(text.rows)]
        cosine, bm25 = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        if vector.any():
            cosine[:] = self.vectors[rows] @ vector
        vector_rank, bm25_rank = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        vector_rank[of_nearest] = np.arange(1, len(nearest.rows) + 1)
        bm25_rank[of_text] = np.arange(1, len(text.rows) + 1)
        bm25[of_text] = text.scores
        shown = self.columns.take(rows)
        channels = {
            "chunk_ids": shown.column("chunk_id").to_pylist(),
            "cosine": np.round(cosine, DIGITS),
            "bm25": np.round(bm25, DIGITS),
            "vector_rank": vector_rank,
            "bm25_rank": bm25_rank,
            "bm25_bound": round(text.bound, DIGITS),
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
            scores = self.words.scores(self.vocabulary.of_query(word, self.table)[0])[0]
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
            while len(self.passed) >= MOST_CONDITIONS:  # "of the last seven days" is another one each time
                self.passed.pop(next(iter(self.passed), where), None)
            self.passed[where] = known
        return known if self.words.all_alive else known & self.alive

    def _evaluated(self, where: str, start: int) -> Flags:
        rows = self.asked.slice(start)
        passing = rows.select(pl.sql_expr(where)).to_series()
        flags: Flags = passing.fill_null(value=False).to_numpy()
        return flags

    def _rows(self, memory: str) -> list[int]:
        return [row for row in self.rows_of.of(memory) if row < len(self)]

    def _best(self, rows: Rows, scores: npt.NDArray[np.floating], size: int) -> SnapshotHits:
        """The best rows by score; of equal ones the first."""
        if len(rows) > size:
            least = np.partition(scores, len(scores) - size)[len(scores) - size] if size else np.inf
            there = np.flatnonzero(scores >= least)
            rows, scores = rows[there], scores[there]
        order = np.argsort(-scores, kind="stable")[:size]
        return SnapshotHits(self, rows[order], scores[order].astype(np.float64))

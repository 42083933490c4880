"""In-memory snapshot of a namespace's chunks at one version of their table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from slowwave.common.ids import memory_of
from slowwave.index.channels import DATED, DIGITS, MENTIONING, Merged, Vector
from slowwave.index.chunked_columns import ChunkedColumns
from slowwave.index.mapped_file import Texts
from slowwave.index.number_groups import GROUPED_IN, MAX_READ, RARE, common_rows, may_have_groups
from slowwave.index.partitioned_vectors import Flags, PartitionedVectors, Rows
from slowwave.index.vocabulary import Tokenizer, Vocabulary
from slowwave.scoring.ranking.bm25 import MIN_RARITY, Bm25
from slowwave.scoring.ranking.maxscore import maxscore_rows
from slowwave.scoring.ranking.regrouping import edges
from slowwave.scoring.ranking.word_pieces import needs_pieces

ASKED = (
    "namespace", "memory_id", "status", "sensitivity", "memory_type", "importance_tier", "source", "tags",
    "created_at",
)  # fmt: skip
"""Columns that a condition may name."""


MANY = 20_000
"""Minimum rows to skip rows that cannot reach the top (MaxScore) (count)."""

MAX_ROWS_PER_PASS = 2
"""Partitions are used if at least one of so many rows passes; else each is compared (count)."""

FEW_PASS = 16
"""Passing rows are copied before the comparison if fewer than one of so many pass (count)."""

MIN_ID_PREFIX = 8
"""Minimum characters of a part of a memory's id (count)."""
MAX_TERM = 40
"""Maximum characters of a term of the full-text index."""
MAX_CONDITIONS = 64
"""Maximum conditions with a cached outcome (count)."""

_NO_ROWS = np.empty(0, np.int64)


class MemoryRows:
    """Rows of each memory; append-only.

    Args:
        names: Memories in a mapped file.
        starts: Start of each memory's rows there, and the end of the last, (n + 1,).
        rows: Rows of all of them.
    """

    def __init__(
        self, names: Texts | None = None, starts: npt.NDArray[np.int64] | None = None,
        rows: npt.NDArray[np.int32] | None = None,
    ) -> None:  # fmt: skip
        self._file = None if names is None or starts is None or rows is None else (names, starts, rows)
        self._since: dict[str, list[int]] = {}

    def add(self, names: Iterable[str], start: int) -> None:
        """Add one row for each of these, from `start` on."""
        for row, name in enumerate(names, start=start):
            self._since.setdefault(name, []).append(row)

    def of(self, name: str) -> list[int]:
        """Return the rows of a memory, ascending."""
        since = self._since.get(name, [])
        if self._file is None:
            return since
        names, starts, rows = self._file
        at = names.find(name)
        return since if at is None else rows[starts[at] : starts[at + 1]].tolist() + since


@dataclass(frozen=True, slots=True)
class SnapshotHits:
    """Rows found in a snapshot, with their scores if any."""

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
    """Immutable snapshot; see `Channels`.

    Attributes:
        columns: SHOWN of every row, including deleted ones.
        asked: ASKED, (n rows); created_at without a zone, in UTC.
        vectors: Unit vectors, (n, dimension).
        words: BM25 of the rows.
        alive: Rows that exist, (n,).
        rows_of: Rows of each memory, including those of later snapshots.
        vocabulary: Numbers of terms.
        table: Table whose full-text index turns words into terms.
        passed: Cached outcomes of conditions on rows of this or an earlier snapshot.
        derived_titles: Memories of which it was asked, in this snapshot alone; see `Channels`.
        scorers: BM25 of the rows that pass a condition on what a caller may see.
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
    derived_titles: dict[str, bool] = field(default_factory=dict)
    scorers: dict[str, Bm25] = field(default_factory=dict)

    waits = False

    def __len__(self) -> int:
        """Return the number of rows, including deleted ones."""
        return len(self.alive)

    def named(self, column: str, rows: npt.ArrayLike) -> list[str]:
        """Return a text column of some rows."""
        return self.columns.texts(column, rows)

    # -- channels --------------------------------------------------------------------------------

    def full_text(self, query: str, where: str, size: int, visible: str = "") -> SnapshotHits:
        """See `Channels`."""
        terms = self.vocabulary.of_query(query, self.table, in_pieces=needs_pieces(query))
        words = self._words_among(visible)
        if len(self) >= MANY and not terms.pieces:  # of many pieces of similar weight, none is skipped
            weights, bound = words.said(*terms)
            return replace(
                self._best(*maxscore_rows(words, weights, self.passing(where), size), size), bound=bound
            )
        scores, bound = words.scores(*terms)
        rows = np.flatnonzero((scores > 0) & self.passing(where))
        return replace(self._best(rows, scores[rows], size), bound=bound)

    def bound_of(self, query: str, visible: str = "") -> float:
        """See `Channels`."""
        terms = self.vocabulary.of_query(query, self.table, in_pieces=needs_pieces(query))
        return self._words_among(visible).said(*terms)[1]

    def _words_among(self, visible: str) -> Bm25:
        """Return the scorer whose statistics are those of the rows that pass a condition."""
        if not visible:
            return self.words
        if visible not in self.scorers:
            among = self.passing(visible)
            same = np.array_equal(among, self.alive)
            self.scorers[visible] = self.words if same else Bm25(self.words.index, among)
        return self.scorers[visible]

    def nearest(self, vector: Vector, where: str, size: int) -> SnapshotHits:
        """See `Channels`."""
        return self._nearest(vector, self.passing(where), size)

    def _nearest(self, vector: Vector, passing: Flags, size: int) -> SnapshotHits:
        if not vector.any() or not len(self):
            return self._best(np.empty(0, np.int64), np.empty(0), size)
        count = int(np.count_nonzero(passing))
        if self.vectors.partitions is not None and MAX_ROWS_PER_PASS * count >= len(self):
            rows, near = self.vectors.visited(vector, passing, size)
            candidates = np.flatnonzero(near > -np.inf)
            if len(candidates) > size > 0:
                candidates = np.flatnonzero(near >= np.partition(near, len(near) - size)[len(near) - size])
            order = candidates[np.argsort(rows[candidates])]
            return self._best(rows[order].astype(np.int64), near[order], size)
        rows = np.flatnonzero(passing)
        if FEW_PASS * count < len(self):
            return self._best(rows, np.vecdot(self.vectors[rows], vector), size)
        return self._best(rows, self.vectors.times(vector)[rows], size)

    def of(self, memory_ids: Sequence[str], where: str, most: int) -> SnapshotHits:
        """See `Channels`."""
        passing = self.passing(where)
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
        every = np.concatenate([nearest.rows, text.rows, *(hits.rows for hits in others)])
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
        columns = self.columns.take(rows)
        channels = {
            "chunk_ids": columns.column("chunk_id").to_pylist(),
            "cosine": np.round(cosine, DIGITS),
            "bm25": np.round(bm25, DIGITS),
            "vector_rank": vector_rank,
            "bm25_rank": bm25_rank,
            "bm25_bound": round(text.bound, DIGITS),
        }
        return Merged(channels, columns)

    def first_texts(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """See `Channels`."""
        rows = [row for memory in memory_ids for row in self._rows(memory) if self.alive[row]]
        chunks = self.columns.select(["memory_id", "ordinal", "text"]).take(rows)
        return {row["memory_id"]: row["text"] for row in chunks.to_pylist() if row["ordinal"] == 0}

    def term_scores(
        self, words: Sequence[str], chunk_ids: Sequence[str], where: str, *, in_pieces: bool = False,
        visible: str = "",
    ) -> dict[str, dict[str, float]]:  # fmt: skip
        """Return BM25 by word and chunk; a word with the same term as an earlier one adds nothing.

        See `Channels`.
        """
        candidates = [
            row for memory in {memory_of(chunk_id) for chunk_id in chunk_ids} for row in self._rows(memory)
        ]
        names = self.named("chunk_id", candidates)
        rows = {name: row for name, row in zip(names, candidates, strict=True) if self.alive[row]}
        by_chunk: dict[str, dict[str, float]] = {chunk: {} for chunk in chunk_ids}
        for word in dict.fromkeys(words if rows else ()):
            terms = self.vocabulary.of_query(word, self.table, in_pieces=in_pieces)
            scores = self._words_among(visible).scores(*terms)[0]
            for name, row in rows.items():
                if name in by_chunk and scores[row] > 0:
                    by_chunk[name][word] = float(scores[row])
        return by_chunk

    def newer_with_rare_words(
        self, words: Mapping[str, str], where: str, most: int, visible: str, may_tell: Callable[[str], bool]
    ) -> tuple[pa.Table, dict[str, list[int]]]:
        """See `Channels`."""
        near = {chunk: self._newer_with(said, chunk, where, visible)[:most] for chunk, said in words.items()}
        every = np.unique(np.concatenate([_NO_ROWS, *near.values()]))
        told = [
            row for row, text in zip(every.tolist(), self.named("text", every), strict=True) if may_tell(text)
        ]
        place = {row: at for at, row in enumerate(told)}
        rows = {
            chunk: [place[row] for row in found.tolist() if row in place] for chunk, found in near.items()
        }
        return self.columns.select(DATED).take(told), rows

    def _newer_with(self, words: str, chunk_id: str, where: str, visible: str) -> Rows:
        """Return the newer rows that share rare words with one, best first."""
        terms = self.vocabulary.of_query(words, self.table).terms
        rows, rarity = self._words_among(visible).shared(terms)
        kept = np.flatnonzero(rarity >= MIN_RARITY)
        kept = kept[self._newer(self._row_of(chunk_id), rows[kept]) & self.passing(where)[rows[kept]]]
        return rows[kept[np.argsort(-rarity[kept], kind="stable")]]

    def nearest_newer(self, chunk_id: str, where: str, until: datetime | None) -> str:
        """See `Channels`."""
        row = self._row_of(chunk_id)
        labels = self.asked["sensitivity"]
        same = labels.eq_missing(pl.Series([labels[row]], dtype=labels.dtype)).to_numpy()[: len(self)]
        newer = same & self.passing(where) & self._newer(row, np.arange(len(self)), until)
        return next(iter(self._nearest(self.vectors[np.array([row])][0], newer, 1).memory_ids), "")

    def _row_of(self, chunk_id: str) -> int:
        own = self._rows(memory_of(chunk_id))
        return own[0] if len(own) == 1 else own[self.named("chunk_id", own).index(chunk_id)]

    def _newer(self, row: int, rows: Rows, until: datetime | None = None) -> Flags:
        """Return which rows are newer than one, (r,); another chunk of its memory is not."""
        created = self.asked["created_at"].to_numpy()
        newer: Flags = created[rows] > created[row]
        if until is not None:
            newer &= created[rows] <= np.datetime64(until.astimezone(UTC).replace(tzinfo=None))
        return newer

    def with_words(self, sets: Sequence[Collection[str]], where: str, most: int) -> pa.Table:
        """See `Channels`."""
        terms = [self.vocabulary.of_query(" ".join(sorted(words)), self.table).terms for words in sets]
        return self._mentioning(self._having_each(terms), where, most)

    def with_groups(self, characters: str, where: str, most: int) -> pa.Table:
        """See `Channels`."""
        beginnings, ends = edges(characters)
        first, last = (self._postings(self.vocabulary.numbers_of(words)) for words in (beginnings, ends))
        rare = self._having(self.vocabulary.numbers_of([word for word in ends if len(word) >= RARE]))
        rows = self._visible(np.union1d(common_rows(first, last), rare), where)[:MAX_READ]
        if len(rows):
            rows = rows[may_have_groups(self.columns.select(GROUPED_IN).take(rows), characters)]
        labelled = [self.columns.matching(column, characters, joined=True) for column in ("source", "tags")]
        return self._mentioning(np.unique(np.concatenate([rows, *labelled])), where, most)

    def with_part(self, part: str, where: str, most: int) -> pa.Table:
        """See `Channels`."""
        labelled = [self.columns.matching("source", part), self.columns.matching("tags", part)]
        if len(part) >= MIN_ID_PREFIX:
            labelled.append(self.columns.matching("memory_id", part))
        if len(part) > MAX_TERM:  # the index leaves such words out
            having = self.columns.containing("text", part)
        else:
            having = self._having(self.vocabulary.containing(part))
        rows = np.concatenate([*labelled, having])
        _, first = np.unique(rows, return_index=True)
        return self._mentioning(rows[np.sort(first)], where, most)

    def _having_each(self, sets: Sequence[Sequence[int]]) -> Rows:
        """Return the rows with one of the terms of each set, ascending."""
        rows = None
        for terms in sorted(sets, key=len):  # one without terms ends it at once
            having = self._having(terms)
            rows = having if rows is None else np.intersect1d(rows, having, assume_unique=True)
            if not len(rows):
                break
        return _NO_ROWS if rows is None else rows

    def _postings(self, terms: Iterable[int]) -> list[npt.NDArray[np.int32]]:
        """Return the rows of each term, by block of the index."""
        blocks = self.words.index.blocks
        return [
            block.rows[place] for term in terms for block in blocks if (place := block.find(term)) is not None
        ]

    def _having(self, terms: Iterable[int]) -> Rows:
        """Return the rows with one of the terms, ascending."""
        found = self._postings(terms)
        if len(found) == 1:
            return found[0].astype(np.int64)
        return np.unique(np.concatenate(found)).astype(np.int64) if found else _NO_ROWS

    def _visible(self, rows: Rows, where: str) -> Rows:
        rows = rows[rows < len(self)]
        return rows[self.passing(where)[rows]] if len(rows) else rows

    def _mentioning(self, rows: Rows, where: str, most: int) -> pa.Table:
        rows = self._visible(rows, where)
        if not len(rows):
            return self.columns.empty(MENTIONING)
        return self.columns.select(MENTIONING).take(rows[:most])

    # -- conditions ------------------------------------------------------------------------------

    def passing(self, where: str) -> Flags:
        """Return the existing rows that pass a condition."""
        cached = self.passed.get(where)
        if cached is None or len(cached) < len(self):
            start = 0 if cached is None else len(cached)
            fresh = self._evaluated(where, start)
            cached = fresh if cached is None else np.concatenate([cached, fresh])
            while (
                len(self.passed) >= MAX_CONDITIONS
            ):  # a condition like "of the last seven days" differs each time
                self.passed.pop(next(iter(self.passed), where), None)
            self.passed[where] = cached
        return cached if self.words.all_alive else cached & self.alive

    def _evaluated(self, where: str, start: int) -> Flags:
        rows = self.asked.slice(start)
        passing = rows.select(pl.sql_expr(where)).to_series()
        flags: Flags = passing.fill_null(value=False).to_numpy()
        return flags

    def _rows(self, memory: str) -> list[int]:
        return [row for row in self.rows_of.of(memory) if row < len(self)]

    def _best(self, rows: Rows, scores: npt.NDArray[np.floating], size: int) -> SnapshotHits:
        """Return the best rows by score; of equal ones the first."""
        if len(rows) > size:
            least = np.partition(scores, len(scores) - size)[len(scores) - size] if size else np.inf
            candidates = np.flatnonzero(scores >= least)
            rows, scores = rows[candidates], scores[candidates]
        order = np.argsort(-scores, kind="stable")[:size]
        return SnapshotHits(self, rows[order], scores[order].astype(np.float64))

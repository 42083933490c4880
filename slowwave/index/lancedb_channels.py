"""Channels on LanceDB tables: one index query per channel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.common import ids
from slowwave.index.channels import DATED, DIGITS, MAX_MATCHES, MENTIONING, SHOWN, Merged, Vector
from slowwave.index.table_cache import TableCache
from slowwave.index.vocabulary import query_words
from slowwave.scoring.ranking.bm25 import K1, idf
from slowwave.scoring.ranking.regrouping import BETWEEN
from slowwave.scoring.ranking.word_pieces import MARK, needs_pieces, pieces
from slowwave.store import Store, one_of, quote
from slowwave.store.instrumentation import observe_query
from slowwave.store.tenancy import within
from slowwave.store.text import full_text

PROBES = 64  # partitions visited when an index was built after this process opened the store


@dataclass(frozen=True, slots=True)
class TableHits:
    """Chunks from LanceDB with vector, distance or score, and an upper bound of the score."""

    table: pa.Table
    bound: float = np.nan

    @property
    def memory_ids(self) -> list[str]:
        """See `Hits`."""
        return list(self.table.column("memory_id").to_pylist())


class TableChannels:
    """Channels of a table; see `Channels`. The condition includes the namespace.

    Args:
        store: Store of the table.
        namespace: Namespace of the chunks.
    """

    waits = True

    def __init__(self, store: Store, namespace: str) -> None:
        self._store, self._in_namespace = store, within(namespace)
        self._best = TableCache[str, dict[tuple[str, str], float]](store.mark, lambda *_: {})
        index = store.get_meta("vector_index")
        self._probes = index["probes"] if index else PROBES

    def full_text(self, query: str, where: str, size: int, visible: str = "") -> TableHits:
        """See `Channels`; the rarity of a word is that in the whole table."""
        in_pieces = needs_pieces(query)
        asked = _with_pieces(query) if in_pieces else query
        search = full_text(self._store, "chunks", "search_text", asked)
        with observe_query("full_text_search", "chunks") as observation:
            rows = search.where(where).limit(size).select([*SHOWN, "vector", "_score"]).to_arrow()
            observation.set(rows=rows.num_rows)
        return TableHits(rows, self.bound_of(query, visible))

    def bound_of(self, query: str, visible: str = "") -> float:
        """See `Channels`."""
        best, among = self._best.of("chunks"), visible or self._in_namespace
        words = Counter([*query_words(query), *(pieces(query) if needs_pieces(query) else ())])
        for word in words:
            if (among, word) not in best:
                best[among, word] = self._best_of(word, among)
        return sum(times * best[among, word] for word, times in words.items())

    def _best_of(self, word: str, among: str) -> float:
        """Return the best score of a word in some rows; 0 for a stop word and an unmatched piece."""
        search = full_text(self._store, "chunks", "search_text", word).where(among)
        with observe_query("full_text_search", "chunks"):
            best = search.limit(1).select(["_score"]).to_arrow()
        scores: list[float] = best.column("_score").to_pylist()
        table = self._store.table("chunks")
        if scores or word.endswith(MARK) or not list(table.tokenize(word, column="search_text")):
            return scores[0] if scores else 0.0
        return float(idf(self._store.count("chunks", among), 0)) * (K1 + 1)

    def nearest(self, vector: Vector, where: str, size: int) -> TableHits:
        """See `Channels`."""
        search = self._store.table("chunks").search(vector).distance_type("cosine").nprobes(self._probes)
        with observe_query("vector_search", "chunks") as observation:
            rows = search.where(where).limit(size).select([*SHOWN, "_distance"]).to_arrow()
            observation.set(rows=rows.num_rows)
        return TableHits(rows.slice(0, rows.num_rows if vector.any() else 0))

    def of(self, memory_ids: Sequence[str], where: str, most: int) -> TableHits:
        """See `Channels`."""
        search = self._store.table("chunks").search()
        these = f"{where} AND {one_of('memory_id', list(memory_ids))}"
        with observe_query("select", "chunks") as observation:
            rows = search.where(these).limit(most).select([*SHOWN, "vector"]).to_arrow()
            observation.set(rows=rows.num_rows)
        return TableHits(rows.sort_by("chunk_id"))

    def best_of_each(self, hits: TableHits, vector: Vector) -> TableHits:
        """See `Channels`."""
        best: dict[str, int] = {}
        names = hits.memory_ids
        for at in np.argsort(-(_vectors(hits.table) @ vector), kind="stable").tolist():
            best.setdefault(names[at], at)
        return TableHits(hits.table.take(pa.array(sorted(best.values()), pa.int64())))

    def merged(
        self, nearest: TableHits, text: TableHits, others: Sequence[TableHits], vector: Vector
    ) -> Merged:
        """See `Channels`."""
        first = nearest.table.column("chunk_id").to_pylist()
        place = {chunk: at for at, chunk in enumerate(first)}
        extra = []
        for rows in (text.table, *(hits.table for hits in others)):
            fresh = [at for at, chunk in enumerate(rows.column("chunk_id").to_pylist()) if chunk not in place]
            extra.append(rows.take(pa.array(fresh, pa.int64())))
            for chunk in extra[-1].column("chunk_id").to_pylist():
                place[chunk] = len(place)
        size = len(place)
        cosine = np.full(size, np.nan)
        cosine[: len(first)] = 1.0 - nearest.table.column("_distance").to_numpy()
        if vector.any() and size > len(first):
            vectors = _vectors(pa.concat_tables([rows.select(["vector"]) for rows in extra]))
            cosine[len(first) :] = vectors @ vector
        text_ids = text.table.column("chunk_id").to_pylist()
        rows = np.array([place[chunk] for chunk in text_ids], dtype=np.int64)
        bm25 = np.full(size, np.nan)
        bm25[rows] = text.table.column("_score").to_numpy()
        vector_rank, bm25_rank = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        vector_rank[: len(first)] = np.arange(1, len(first) + 1)
        bm25_rank[rows] = np.arange(1, len(text_ids) + 1)
        channels = {
            "chunk_ids": list(place),
            "cosine": np.round(cosine, DIGITS),
            "bm25": np.round(bm25, DIGITS),
            "vector_rank": vector_rank,
            "bm25_rank": bm25_rank,
            "bm25_bound": round(text.bound, DIGITS),
        }
        return Merged(channels, pa.concat_tables([rows.select(SHOWN) for rows in (nearest.table, *extra)]))

    @property
    def derived_titles(self) -> dict[str, bool]:
        """Return nothing: the table changes; see `Channels`."""
        return {}

    def first_texts(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """See `Channels`."""
        wanted = one_of("chunk_id", [ids.chunk_id(memory, 0) for memory in memory_ids])
        query = self._store.table("chunks").search().where(wanted).limit(len(memory_ids))
        with observe_query("select", "chunks"):
            columns = query.select(["memory_id", "text"]).to_arrow().to_pydict()
        return dict(zip(*columns.values(), strict=True))

    def term_scores(
        self, words: Sequence[str], chunk_ids: Sequence[str], where: str, *, in_pieces: bool = False,
        visible: str = "",
    ) -> dict[str, dict[str, float]]:  # fmt: skip
        """See `Channels`.

        The condition is that of the search. In rows not yet in the index, LanceDB weighs a word by its rarity
        among the rows that pass.
        """
        scores: dict[str, dict[str, float]] = {chunk: {} for chunk in chunk_ids}
        for word in dict.fromkeys(words if chunk_ids else ()):
            asked = _with_pieces(word) if in_pieces else word
            search = full_text(self._store, "chunks", "search_text", asked)
            with observe_query("full_text_search", "chunks"):
                rows = search.where(where).limit(MAX_MATCHES).select(["chunk_id", "_score"]).to_arrow()
            rows = rows.filter(pc.is_in(rows.column("chunk_id"), pa.array(list(chunk_ids))))
            for chunk, score in zip(*rows.to_pydict().values(), strict=True):
                scores[chunk][word] = float(score)
        return scores

    def newer_with_rare_words(
        self, words: Mapping[str, str], where: str, most: int, visible: str, may_tell: Callable[[str], bool]
    ) -> tuple[pa.Table, dict[str, list[int]]]:
        """See `Channels`."""
        return self._store.table("chunks").schema.empty_table().select(DATED), {chunk: [] for chunk in words}

    def nearest_newer(self, chunk_id: str, where: str, until: datetime | None) -> str:
        """See `Channels`."""
        return ""

    def with_words(self, sets: Sequence[Collection[str]], where: str, most: int) -> pa.Table:
        """See `Channels`."""
        found = [self._with_all(words, where, most) for words in product(*map(sorted, sets))]
        return pa.concat_tables(found)

    def _with_all(self, words: Sequence[str], where: str, most: int) -> pa.Table:
        search = full_text(self._store, "chunks", "search_text", " ".join(words), every_word=True)
        with observe_query("full_text_search", "chunks") as observation:
            rows = search.where(where).limit(most).select([*MENTIONING, "_score"]).to_arrow()
            observation.set(rows=rows.num_rows)
        return rows.select(MENTIONING)

    def with_groups(self, characters: str, where: str, most: int) -> pa.Table:
        """See `Channels`."""
        pattern = quote(BETWEEN.join(characters))
        search = self._store.table("chunks").search()
        texts = ("search_text", "source", "array_to_string(tags, ' ')")
        having = " OR ".join(f"regexp_like(lower({text}), {pattern})" for text in texts)
        search = search.where(f"{where} AND ({having})")
        with observe_query("select", "chunks") as observation:
            rows = search.limit(most).select(list(MENTIONING)).to_arrow()
            observation.set(rows=rows.num_rows)
        return rows

    def with_part(self, part: str, where: str, most: int) -> pa.Table:
        """See `Channels`."""
        texts = ("search_text", "source", "array_to_string(tags, ' ')")
        having = " OR ".join(f"contains(lower({text}), {quote(part)})" for text in texts)
        having += f" OR starts_with(memory_id, {quote(part)})"
        search = self._store.table("chunks").search().where(f"{where} AND ({having})")
        with observe_query("select", "chunks") as observation:
            rows = search.limit(most).select(list(MENTIONING)).to_arrow()
            observation.set(rows=rows.num_rows)
        return rows


def _with_pieces(text: str) -> str:
    """Return a text for a full-text query, with the pieces of its words."""
    return " ".join([text, *pieces(text)])


def _vectors(rows: pa.Table) -> np.ndarray:
    flat = rows.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    vectors: np.ndarray = flat.reshape(rows.num_rows, rows.schema.field("vector").type.list_size)
    return vectors

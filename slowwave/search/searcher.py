"""The candidates of one search: two channel queries, and what is known of the memories they found.

The full-text query runs in a thread while the query is being embedded; the vector query follows. Two kinds of
memory cost another query: one that nothing but its trigger phrase or a learned term found, and a long one
whose title may be its own first line. Else the candidates carry all that a result shows. Of one that only a
learned term found its nearest chunk is a candidate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.common import ids
from slowwave.embedding import Embedder, knows
from slowwave.feedback.tiers import COLUMN, tiers_of
from slowwave.quality.admission import SUPERSEDED
from slowwave.quality.titles import is_cut, is_from_first_words
from slowwave.scoring.ranking import Candidates, MemoryState
from slowwave.scoring.ranking.candidates import NEUTRAL
from slowwave.scoring.ranking.learned import Learned
from slowwave.scoring.ranking.words import coverage, stems, text_stems, title_share
from slowwave.search.filters import Filters
from slowwave.search.knowledge import CONFIDENCE_LABELS, Knowledge, condition, confidence_of
from slowwave.store import one_of
from slowwave.store.text import Tables as TextTables
from slowwave.store.text import full_text

SHOWN = (
    "chunk_id", "memory_id", "text", "title", "source", "headings", "tags", "status", "importance_tier",
    "ordinal", "chunk_count", "follows", "created_at", "updated_at", *CONFIDENCE_LABELS,
)  # fmt: skip
MAX_QUERY_CHARACTERS = 4_000
PROBES = 64  # partitions visited when an index was built after this process opened the store
TRIGGERED_CHUNKS = 64  # read of memories that nothing but their trigger phrase found (count)
LEARNED_MEMORIES = 10  # that nothing but a learned term found, the strongest (count)
LEARNED_CHUNKS = 200  # read of them (count)
COVERED = 10  # best chunks of each channel whose words are compared with the query's (count)
MOST_MATCHES = 100_000  # chunks with one word, of an account of a search (count)
DIGITS = 6  # of a cosine and a BM25 score: the journal keeps what was ranked, to the last digit


class Tables(TextTables, Protocol):
    """What a search needs of a store."""

    def get_meta(self, name: str) -> dict[str, Any] | None:
        """A stored fact."""


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of one query with what their results show."""

    candidates: Candidates
    shown: pa.Table  # one row per candidate, columns SHOWN
    embedding_ms: float
    total_ms: float
    learned: Mapping[str, Learned] = field(default_factory=dict)  # of memories of the candidates
    warnings: tuple[str, ...] = ()


class Searcher:
    """Finds candidates in a store for one embedding model.

    Args:
        store: has the chunks.
        embedder: turns queries into vectors.
        knowledge: of memories beside their text.
        boost: what learned terms add to a score.
    """

    def __init__(
        self,
        store: Tables,
        embedder: Embedder,
        knowledge: Knowledge,
        boost: Callable[[Learned], float] = Learned.boost,
    ) -> None:
        self._store, self._embedder, self._knowledge, self._boost = store, embedder, knowledge, boost
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="slowwave-search")
        index = store.get_meta("vector_index")
        self._probes = index["probes"] if index else PROBES

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False)

    def refuse_unknown(self, namespace: str, filters: Filters) -> None:
        """See that the labels of filters are known; see `Filters.refuse_unknown`."""
        filters.refuse_unknown(namespace, self._store.table("chunks"))

    def find(
        self,
        namespace: str,
        query: str,
        size: int,
        filters: Filters | None = None,
        now: datetime | None = None,
    ) -> Found:
        """The best `size` chunks of each channel, of the namespace's memories that pass the filters.

        Args:
            namespace: the tenant.
            query: the question.
            size: chunks of each channel (count).
            filters: what a result has to be.
            now: moment of the search, for what was learned; without it nothing learned counts.
        """
        start = time.perf_counter()
        promoted = self._knowledge.promoted(namespace)
        where = condition(self._knowledge, namespace, filters or Filters())
        text = self._pool.submit(self._full_text, query, where, size)
        triggered = self._pool.submit(self._knowledge.triggered, namespace, query)
        asked = None if now is None else self._pool.submit(self._knowledge.learned, namespace, query, now)
        saying = self._pool.submit(knows, self._embedder, query)
        vector = self._embedder.embed_query(query)
        embedded = time.perf_counter()
        nearest = self._nearest(vector, where, size)
        phrases = triggered.result()
        learned = {} if asked is None else asked.result()
        lists = [nearest, text.result()]
        found = [rows.column("memory_id").to_pylist() for rows in lists]
        if lacking := set(phrases).difference(*found):
            lists.append(self._chunks_of(sorted(lacking), where))
        if lacking := set(learned).difference(phrases, *found):
            best = sorted(lacking, key=lambda memory: (-learned[memory].share, memory))[:LEARNED_MEMORIES]
            lists.append(_best_of_each(self._chunks_of(best, where, LEARNED_CHUNKS), vector))
        channels, shown = _merge(lists, vector)
        channels |= _words(query, channels, shown)
        channels["title"] = self._given(channels["title"], shown)
        ids = shown.column("memory_id").to_pylist()
        there = set(ids)
        if not there.isdisjoint(promoted):
            own = shown.column(COLUMN).to_pylist()
            place = shown.schema.get_field_index(COLUMN)
            shown = shown.set_column(place, COLUMN, pa.array(tiers_of(ids, own, promoted), pa.string()))
        candidates = Candidates(
            **channels,
            memory_ids=ids,
            ordinal=_whole(shown, "ordinal"),
            chunk_count=_whole(shown, "chunk_count"),
            follows=_follows(shown),
            triggers={memory: phrase for memory, phrase in phrases.items() if memory in there},
            states=self._states(namespace, there, learned),
            confidence=confidence_of(shown),
            superseded=_superseded(shown),
            vector_say=round(saying.result(), DIGITS),
        )
        done = time.perf_counter()
        return Found(
            candidates,
            shown,
            (embedded - start) * 1e3,
            (done - start) * 1e3,
            {memory: one for memory, one in learned.items() if memory in there},
            () if now is None else self._knowledge.doubts(namespace),
        )

    def _given(self, share: np.ndarray, shown: pa.Table) -> np.ndarray:
        """The shares of titles, 0 of those that are only the first words of their text."""
        asked = shown.filter(pa.array(share > 0)).select(["memory_id", "title", "ordinal", "text", "origin"])
        rows = [
            row for row in asked.to_pylist() if not row["origin"]
        ]  # a note of a vault has a title or a name
        title = {row["memory_id"]: row["title"] for row in rows}
        first = {row["memory_id"]: row["text"] for row in rows if row["ordinal"] == 0}
        derived = {memory for memory, said in title.items() if memory not in first and is_cut(said)}
        if unread := sorted(title.keys() - first.keys() - derived):
            wanted = one_of("chunk_id", [ids.chunk_id(memory, 0) for memory in unread])
            found = self._store.table("chunks").search().where(wanted).limit(len(unread))
            first |= dict(
                zip(*found.select(["memory_id", "text"]).to_arrow().to_pydict().values(), strict=True)
            )
        derived |= {memory for memory, text in first.items() if is_from_first_words(title[memory], text)}
        mine = pc.is_in(shown.column("memory_id"), pa.array(sorted(derived), pa.string()))
        return np.where(mine.to_numpy(), 0.0, share)

    def _states(
        self, namespace: str, there: Collection[str], learned: Mapping[str, Learned]
    ) -> dict[str, MemoryState]:
        """What use has taught of these memories, and what learned terms add for this query."""
        states = self._knowledge.states(namespace, there)
        for memory, one in learned.items():
            if memory in there:
                states[memory] = replace(states.get(memory, NEUTRAL), learned=self._boost(one))
        return states

    def term_scores(
        self, namespace: str, query_words: list[str], chunk_ids: list[str], filters: Filters | None = None
    ) -> dict[str, dict[str, float]]:
        """BM25 of every word alone, by chunk: they sum to the score of the whole query.

        The filters are those of the search: in rows that the index does not have yet, LanceDB weighs a word
        by how rare it is among the rows that pass.
        """
        where = condition(self._knowledge, namespace, filters or Filters())
        found: dict[str, dict[str, float]] = {chunk: {} for chunk in chunk_ids}
        for word in dict.fromkeys(query_words if chunk_ids else []):
            search = full_text(self._store, "chunks", "search_text", word)
            rows = search.where(where).limit(MOST_MATCHES).select(["chunk_id", "_score"]).to_arrow()
            rows = rows.filter(pc.is_in(rows.column("chunk_id"), pa.array(chunk_ids)))
            for chunk, score in zip(*rows.to_pydict().values(), strict=True):
                found[chunk][word] = float(score)
        return found

    def _full_text(self, query: str, where: str, size: int) -> pa.Table:
        search = full_text(self._store, "chunks", "search_text", query)
        return search.where(where).limit(size).select([*SHOWN, "vector", "_score"]).to_arrow()

    def _nearest(self, vector: np.ndarray, where: str, size: int) -> pa.Table:
        search = self._store.table("chunks").search(vector).distance_type("cosine").nprobes(self._probes)
        found = search.where(where).limit(size).select([*SHOWN, "_distance"]).to_arrow()
        return found.slice(0, found.num_rows if vector.any() else 0)  # a zero vector is near to nothing

    def _chunks_of(self, memory_ids: list[str], where: str, most: int = TRIGGERED_CHUNKS) -> pa.Table:
        search = self._store.table("chunks").search()
        these = f"{where} AND {one_of('memory_id', memory_ids)}"
        found = search.where(these).limit(most).select([*SHOWN, "vector"]).to_arrow()
        return found.sort_by("chunk_id")


def _best_of_each(rows: pa.Table, query: np.ndarray) -> pa.Table:
    """Of each memory the chunk that is nearest to the query; of equal ones the first."""
    best: dict[str, int] = {}
    names = rows.column("memory_id").to_pylist()
    for at in np.argsort(-(_vectors(rows) @ query), kind="stable").tolist():
        best.setdefault(names[at], at)
    return rows.take(pa.array(sorted(best.values()), pa.int64()))


def _vectors(rows: pa.Table) -> np.ndarray:
    flat = rows.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    vectors: np.ndarray = flat.reshape(rows.num_rows, rows.schema.field("vector").type.list_size)
    return vectors


def _merge(lists: list[pa.Table], query: np.ndarray) -> tuple[dict[str, Any], pa.Table]:
    """The rows of nearest, full text and triggered as one set, each with all scores that can be known."""
    nearest, text, *others = lists
    first = nearest.column("chunk_id").to_pylist()
    place = {chunk: at for at, chunk in enumerate(first)}
    extra = []
    for rows in (text, *others):
        fresh = [at for at, chunk in enumerate(rows.column("chunk_id").to_pylist()) if chunk not in place]
        extra.append(rows.take(pa.array(fresh, pa.int64())))
        for chunk in extra[-1].column("chunk_id").to_pylist():
            place[chunk] = len(place)
    size = len(place)
    cosine = np.full(size, np.nan)
    cosine[: len(first)] = 1.0 - nearest.column("_distance").to_numpy()
    if query.any() and size > len(first):
        cosine[len(first) :] = _vectors(pa.concat_tables([rows.select(["vector"]) for rows in extra])) @ query
    found = text.column("chunk_id").to_pylist()
    rows = np.array([place[chunk] for chunk in found], dtype=np.int64)
    bm25 = np.full(size, np.nan)
    bm25[rows] = text.column("_score").to_numpy()
    vector_rank, bm25_rank = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    vector_rank[: len(first)] = np.arange(1, len(first) + 1)
    bm25_rank[rows] = np.arange(1, len(found) + 1)
    channels = {
        "chunk_ids": list(place),
        "cosine": np.round(cosine, DIGITS),
        "bm25": np.round(bm25, DIGITS),
        "vector_rank": vector_rank,
        "bm25_rank": bm25_rank,
    }
    return channels, pa.concat_tables([rows.select(SHOWN) for rows in (nearest, *extra)])


def _words(query: str, channels: dict[str, Any], shown: pa.Table) -> dict[str, np.ndarray]:
    """How far the query and the titles share their words, and the query and the best chunks."""
    asked = stems(query)
    vector, text = channels["vector_rank"], channels["bm25_rank"]
    looked = np.flatnonzero(((vector > 0) & (vector <= COVERED)) | ((text > 0) & (text <= COVERED)))
    covered = np.zeros(len(vector))
    covered[looked] = coverage(asked, shown.column("text").take(pa.array(looked)).to_pylist())
    title = title_share(text_stems(query), shown.column("title").to_pylist())
    return {"title": np.round(title, DIGITS), "coverage": np.round(covered, DIGITS)}


def _follows(rows: pa.Table) -> dict[str, str]:
    pairs = zip(rows.column("memory_id").to_pylist(), rows.column("follows").to_pylist(), strict=True)
    return {memory: before for memory, before in pairs if before}


def _superseded(rows: pa.Table) -> frozenset[str]:
    old = pc.equal(rows.column("status"), SUPERSEDED)
    return frozenset(rows.column("memory_id").filter(old).to_pylist())


def _whole(rows: pa.Table, name: str) -> np.ndarray:
    numbers: np.ndarray = rows.column(name).to_numpy().astype(np.int64)
    return numbers

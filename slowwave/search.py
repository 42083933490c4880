"""One search: two channel queries, one pure ranking, one line in the journal.

The full-text query runs in a thread while the query is being embedded; the vector query follows. Nothing
else asks the store: the candidates carry all that a result shows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from quality.admission import LIVE
from scoring.ranking import Candidates, RankedMemory, RankingPolicy, rank
from slowwave.embedding import Embedder
from slowwave.store import Store, quote

SHOWN = (
    "chunk_id", "memory_id", "text", "title", "source", "headings", "memory_type", "tags",
    "chunk_count", "created_at", "updated_at",
)  # fmt: skip
MAX_QUERY_CHARACTERS = 4_000
PROBES = 64  # partitions visited when an index was built after this process opened the store


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a found memory that a channel found."""

    chunk_id: str
    text: str
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """One found memory.

    Attributes:
        score: in [0, 1], the sum of `contributions`.
        text: its best passage; `passages` are all that were found, in document order.
        channels: every channel that found it.
        scores: cosine and bm25 of the best passage, as the channels gave them; absent where unknown.
    """

    rank: int
    memory_id: str
    title: str
    text: str
    source: str
    score: float
    channels: tuple[str, ...]
    scores: Mapping[str, float]
    contributions: Mapping[str, float]
    headings: tuple[str, ...]
    memory_type: str
    tags: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of one search, by part; `total` is the wall clock, the parts may overlap."""

    embedding: float
    candidates: float
    scoring: float
    journal: float
    total: float


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """What a search gives.

    Attributes:
        search_id: names this search when feedback is given on it.
        results: best first; iterate over the response to get them.
        policy: version of the ranking policy.
        warnings: what the caller should know, such as a journal that could not be written.
    """

    search_id: str
    namespace: str
    query: str
    results: tuple[Result, ...]
    policy: str
    timings: Timings
    warnings: tuple[str, ...] = field(default=())

    def __iter__(self) -> Any:  # noqa: ANN401 - iterator of Result
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, at: int) -> Result:
        return self.results[at]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of one query with what their results show."""

    candidates: Candidates
    shown: pa.Table  # one row per candidate, columns SHOWN
    embedding_ms: float
    total_ms: float


class Searcher:
    """Finds candidates in a store for one embedding model."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="slowwave-bm25")
        index = store.get_meta("vector_index")
        self._probes = index["probes"] if index else PROBES

    def close(self) -> None:
        """Stop the thread."""
        self._pool.shutdown(wait=False)

    def find(self, namespace: str, query: str, limit: int) -> Found:
        """The best `limit` chunks of each channel among the live memories of the namespace."""
        start = time.perf_counter()
        where = f"namespace = {quote(namespace)} AND status = {quote(LIVE)}"
        text = self._pool.submit(self._full_text, query, where, limit)
        vector = self._embedder.embed_query(query)
        embedded = time.perf_counter()
        nearest = self._nearest(vector, where, limit)
        found = _merge(nearest, text.result(), vector)
        done = time.perf_counter()
        return Found(*found, (embedded - start) * 1e3, (done - start) * 1e3)

    def _full_text(self, query: str, where: str, limit: int) -> pa.Table:
        from lancedb.query import MatchQuery

        # The column is named: a query without it would search every indexed column.
        search = self._store.table("chunks").search(MatchQuery(query, "search_text"), query_type="fts")
        return search.where(where).limit(limit).select([*SHOWN, "vector", "_score"]).to_arrow()

    def _nearest(self, vector: np.ndarray, where: str, limit: int) -> pa.Table:
        search = self._store.table("chunks").search(vector).distance_type("cosine").nprobes(self._probes)
        found = search.where(where).limit(limit).select([*SHOWN, "_distance"]).to_arrow()
        return found.slice(0, found.num_rows if vector.any() else 0)  # a zero vector is near to nothing


def _merge(nearest: pa.Table, text: pa.Table, query: np.ndarray) -> tuple[Candidates, pa.Table]:
    """Both channels' rows as one set of candidates, each with both scores where they can be known."""
    first = nearest.column("chunk_id").to_pylist()
    place = {chunk: at for at, chunk in enumerate(first)}
    second = text.column("chunk_id").to_pylist()
    only_text = [at for at, chunk in enumerate(second) if chunk not in place]
    extra = text.take(pa.array(only_text, pa.int64()))
    vectors = extra.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
    size = len(first) + len(only_text)
    cosine = np.full(size, np.nan)
    cosine[: len(first)] = 1.0 - nearest.column("_distance").to_numpy()
    if query.any():
        cosine[len(first) :] = vectors.reshape(len(only_text), -1) @ query if only_text else []
    bm25 = np.full(size, np.nan)
    vector_rank = np.zeros(size, dtype=np.int64)
    vector_rank[: len(first)] = np.arange(1, len(first) + 1)
    bm25_rank = np.zeros(size, dtype=np.int64)
    for at, chunk in enumerate(second[at] for at in only_text):
        place[chunk] = len(first) + at
    rows = np.array([place[chunk] for chunk in second], dtype=np.int64)
    bm25[rows] = text.column("_score").to_numpy()
    bm25_rank[rows] = np.arange(1, len(second) + 1)
    shown = pa.concat_tables([nearest.select(SHOWN), extra.select(SHOWN)])
    candidates = Candidates(
        chunk_ids=[*first, *(second[at] for at in only_text)],
        memory_ids=shown.column("memory_id").to_pylist(),
        cosine=cosine,
        bm25=bm25,
        vector_rank=vector_rank,
        bm25_rank=bm25_rank,
    )
    return candidates, shown


def present(found: Found, policy: RankingPolicy, limit: int) -> tuple[Result, ...]:
    """The best `limit` memories among the candidates, as results."""
    ranked = rank(found.candidates, policy, limit)
    wanted = [at for memory in ranked for at in memory.chunks]
    rows = dict(zip(wanted, found.shown.take(pa.array(wanted, pa.int64())).to_pylist(), strict=True))
    return tuple(_result(memory, rows, found.candidates) for memory in ranked)


def _result(memory: RankedMemory, rows: Mapping[int, dict[str, Any]], candidates: Candidates) -> Result:
    best = rows[memory.best]
    scores = {"cosine": candidates.cosine[memory.best], "bm25": candidates.bm25[memory.best]}
    channels = {name for at in memory.chunks for name in candidates.channels(at)}
    return Result(
        rank=memory.rank,
        memory_id=memory.memory_id,
        title=best["title"],
        text=best["text"],
        source=best["source"],
        score=memory.score,
        channels=tuple(sorted(channels)),
        scores={name: float(value) for name, value in scores.items() if not np.isnan(value)},
        contributions=memory.contributions,
        headings=tuple(best["headings"] or ()),
        memory_type=best["memory_type"],
        tags=tuple(best["tags"] or ()),
        created_at=best["created_at"],
        updated_at=best["updated_at"],
        passages=tuple(
            Passage(rows[at]["chunk_id"], rows[at]["text"], tuple(rows[at]["headings"] or ()))
            for at in memory.chunks
        ),
    )


def logged(
    response_results: Sequence[Result],
    found: Found,
    policy: RankingPolicy,
    *,
    query: str,
    limit: int,
    keep: int,
) -> dict[str, Any]:
    """What the journal keeps of a search: enough to replay it under any other policy.

    Args:
        response_results: what was shown.
        found: the candidates.
        policy: the ranking that was in force.
        query: the text.
        limit: results asked for.
        keep: candidates kept per channel, the best first.
    """
    candidates = found.candidates
    inside = [
        at
        for at in range(len(candidates))
        if 0 < candidates.vector_rank[at] <= keep or 0 < candidates.bm25_rank[at] <= keep
    ]
    return {
        "query": query,
        "limit": limit,
        "policy": policy.to_dict(),
        "policy_version": policy.version,
        "shown": [
            {
                "memory_id": result.memory_id, "rank": result.rank, "score": result.score,
                "channels": result.channels, "scores": result.scores,
                "chunks": [passage.chunk_id for passage in result.passages],
            }
            for result in response_results
        ],
        "candidates": {
            "chunk_id": [candidates.chunk_ids[at] for at in inside],
            "cosine": _nullable(candidates.cosine[inside]),
            "bm25": _nullable(candidates.bm25[inside]),
            "vector_rank": candidates.vector_rank[inside].tolist(),
            "bm25_rank": candidates.bm25_rank[inside].tolist(),
        },
    }  # fmt: skip


def _nullable(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]

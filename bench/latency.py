"""How long a search takes, by part, beside the two bare LanceDB queries that it cannot do without.

    python bench/latency.py --chunks 5000,100000 [--searches 200]

The store is filled with chunks of a Zipf vocabulary and clustered vectors, indexed as the night indexes it.
``bare`` runs the vector and the full-text query one after the other, for ids and scores only, with the filter
and the limit of a search. ``search`` is ``Memory.search``, the journal included. They are measured turn
about in one run; ``ratio`` is search without embedding the query over bare, at p50.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _report import report
from rich.progress import track

import slowwave
from slowwave.common import ids
from slowwave.scoring.ranking import rank
from slowwave.search import PROBES, Filters
from slowwave.search.opened import searcher_in
from slowwave.store.indexes import refresh_vector_index
from slowwave.store.maintenance import maintain
from slowwave.store.text import create_full_text_indexes

WORDS = 20_000
WORDS_PER_CHUNK = 100
CHUNKS_PER_MEMORY = 5
BATCH = 20_000
WARM_UP = 20


def main() -> None:
    """Measure at each size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", default="5000,100000", help="sizes of the store, in chunks")
    parser.add_argument("--searches", type=int, default=200, help="searches measured per size")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model of the queries")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for size in (int(part) for part in arguments.chunks.split(",")):
        with (
            tempfile.TemporaryDirectory() as home,
            slowwave.open(Path(home), namespace="bench", embedding={"model": arguments.model}) as memory,
        ):
            _fill(memory, size)
            rows += _measure(memory, size, arguments.searches)
    report(
        "latency",
        rows,
        note="times in ms; parts may overlap (full text runs while embedding); ratio: p50 over bare",
    )


def _vocabulary() -> tuple[np.ndarray, np.ndarray]:
    share = 1 / np.arange(1, WORDS + 1)
    return np.array([f"word{number}" for number in range(WORDS)]), share / share.sum()


def _fill(memory: slowwave.Memory, size: int) -> None:
    random = np.random.default_rng(0)
    words, share = _vocabulary()
    dimension = memory.embedder.dimension
    centres = random.normal(size=(200, dimension))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for at in track(range(0, size, BATCH), description=f"filling {size:,}"):
        count = min(BATCH, size - at)
        vectors = centres[random.integers(0, 200, count)] + 0.7 * random.normal(size=(count, dimension))
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        picked = random.choice(WORDS, size=(count, WORDS_PER_CHUNK), p=share)
        texts = [" ".join(words[row]) for row in picked]
        numbers = range(at, at + count)
        memories = [ids.memory_id("bench", str(number // CHUNKS_PER_MEMORY)) for number in numbers]
        chunks = [
            ids.chunk_id(memory_id, number % CHUNKS_PER_MEMORY)
            for memory_id, number in zip(memories, numbers, strict=True)
        ]
        frame = pl.DataFrame(
            {
                "chunk_id": chunks,
                "memory_id": memories,
                "text": texts,
                "search_text": texts,
                "vector": pl.Series(vectors, dtype=pl.Array(pl.Float32, dimension)),
            }
        ).with_columns(
            namespace=pl.lit("bench"),
            status=pl.lit("live"),
            revision=pl.lit("0"),
            title=pl.lit("A note"),
            source=pl.lit("vault/note.md"),
            origin=pl.lit("vault"),
            follows=pl.lit(None, pl.String),
            memory_type=pl.lit("note"),
            importance_tier=pl.lit("normal"),
            retrieval_priority=pl.lit("normal"),
            sensitivity=pl.lit("internal"),
            state=pl.lit("accepted"),
            source_kind=pl.lit("manual"),
            source_of_truth=pl.lit(value=False),
            ordinal=pl.Series([number % CHUNKS_PER_MEMORY for number in numbers], dtype=pl.Int32),
            headings=pl.lit([], dtype=pl.List(pl.String)),
            tags=pl.lit([], dtype=pl.List(pl.String)),
            chunk_count=pl.lit(CHUNKS_PER_MEMORY, pl.Int32),
            created_at=pl.lit(now),
            updated_at=pl.lit(now),
        )
        memory.store.upsert("chunks", frame)
    create_full_text_indexes(memory.store.table("chunks"), memory.store.specs["chunks"])
    settings = memory.settings.store
    refresh_vector_index(
        memory.store, minimum_rows=settings.vector_index_from, wanted_recall=settings.vector_index_recall
    )
    maintain(memory.store, keep_versions=timedelta(days=7))


def _measure(memory: slowwave.Memory, size: int, searches: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    words, share = _vocabulary()
    queries = [" ".join(random.choice(words, size=6, p=share)) for _ in range(searches + WARM_UP)]
    index = memory.store.get_meta("vector_index")
    probes = index["probes"] if index else PROBES
    times: dict[str, list[float]] = {
        name: [] for name in ("bare", "embedding", "candidates", "scoring", "journal", "total")
    }
    for query in track(queries, description=f"searching {size:,}"):
        vector = memory.embedder.embed_query(query)
        start = time.perf_counter()
        _bare(memory, query, vector, probes)
        times["bare"].append((time.perf_counter() - start) * 1e3)
        timings = memory.search(query).timings
        for name in ("embedding", "candidates", "scoring", "journal", "total"):
            times[name].append(getattr(timings, name))
    kept = {name: np.array(values[WARM_UP:]) for name, values in times.items()}
    kept["without embedding"] = kept["total"] - kept["embedding"]
    bare = float(np.median(kept["bare"]))
    return [
        {
            "chunks": size,
            "run": name,
            "p50_ms": round(float(np.median(values)), 2),
            "p95_ms": round(float(np.percentile(values, 95)), 2),
            "ratio": round(float(np.median(values)) / bare, 2),
        }
        for name, values in kept.items()
    ] + [_scoring(memory, size, queries[0])]


def _scoring(memory: slowwave.Memory, size: int, query: str) -> dict[str, Any]:
    """Ranking 100 candidates alone: the pure function, nothing read and nothing shown."""
    found = searcher_in(memory.home).find(memory.namespace, query, 50)
    now = datetime.now(UTC)
    times = []
    for _ in range(300):
        start = time.perf_counter()
        rank(found.candidates, memory.policy, as_of=now, limit=10)
        times.append((time.perf_counter() - start) * 1e3)
    return {
        "chunks": size,
        "run": f"rank {len(found.candidates)} candidates",
        "p50_ms": round(float(np.median(times)), 3),
        "p95_ms": round(float(np.percentile(times, 95)), 3),
    }


def _bare(memory: slowwave.Memory, query: str, vector: np.ndarray, probes: int) -> None:
    """The two queries, one after the other, for nothing but ids and scores."""
    from lancedb.query import MatchQuery

    table = memory.store.table("chunks")
    where = Filters().where("bench")
    limit = memory.settings.ranking.candidates
    nearest = table.search(vector).distance_type("cosine").nprobes(probes)
    nearest.where(where).limit(limit).select(["chunk_id", "_distance"]).to_arrow()
    text = table.search(MatchQuery(query, "search_text"), query_type="fts")
    text.where(where).limit(limit).select(["chunk_id", "_score"]).to_arrow()


if __name__ == "__main__":
    main()

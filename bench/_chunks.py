"""Synthetic store of many chunks, for measuring search latency."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
from rich.progress import track

import slowwave
from slowwave.common import ids
from slowwave.store.indexes import refresh_vector_index
from slowwave.store.maintenance import maintain
from slowwave.store.text import create_full_text_indexes

NAMESPACE = "bench"
WORDS = 20_000
WORDS_PER_CHUNK = 100
CHUNKS_PER_MEMORY = 5
BATCH = 20_000


def vocabulary() -> tuple[np.ndarray, np.ndarray]:
    """Words, and the share of each in a text, by Zipf's law.

    They have letters alone: a word with a digit would be looked up as an identifier.
    """
    share = 1 / np.arange(1, WORDS + 1)
    letters = str.maketrans("0123456789", "bcdfghjklm")
    words = [f"word{str(number).translate(letters)}" for number in range(WORDS)]
    return np.array(words), share / share.sum()


def asked(count: int) -> list[str]:
    """Queries of six words, always the same."""
    random = np.random.default_rng(1)
    words, share = vocabulary()
    return [" ".join(random.choice(words, size=6, p=share)) for _ in range(count)]


def fill(memory: slowwave.Memory, size: int) -> None:
    """Put chunks of made-up words and clustered vectors into the store, and index them as the night does."""
    random = np.random.default_rng(0)
    words, share = vocabulary()
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
        memories = [ids.memory_id(NAMESPACE, str(number // CHUNKS_PER_MEMORY)) for number in numbers]
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
            namespace=pl.lit(NAMESPACE),
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
        memory.store, minimum_rows=settings.ann_min_chunks, wanted_recall=settings.vector_index_recall
    )
    maintain(memory.store, keep_versions=timedelta(days=7))

"""Chunks and vectors derived from the texts of memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import progress
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.ingest_pipeline import labelled
from slowwave.quality.admission.statuses import MERGED
from slowwave.store.vectors import mean_vectors

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

MEMORIES_AT_ONCE = 10_000


def chunks_of(space: Workspace, memories: pl.DataFrame) -> pl.DataFrame:
    """Return rows of ``chunks`` of these memories, except absorbed ones."""
    shown = memories.filter((pl.col("status") != MERGED) & (pl.col("chunk_count") > 0))
    parts = [labelled(embedded(space, part), part) for part in shown.iter_slices(MEMORIES_AT_ONCE)]
    return pl.concat(parts) if parts else labelled(embedded(space, shown), shown)


def vectors_of(space: Workspace, memories: pl.DataFrame) -> pl.DataFrame:
    """Return the memories with their vectors."""
    parts = []
    for part in memories.iter_slices(MEMORIES_AT_ONCE):
        chunks = embedded(space, part.filter(pl.col("content_hash").is_not_null()))
        vectors = mean_vectors(chunks, space.embedder.dimension)
        parts.append(part.join(vectors, on="memory_id", how="left", maintain_order="left"))
    return pl.concat(parts) if parts else memories


def embedded(space: Workspace, notes: pl.DataFrame) -> pl.DataFrame:
    """Return the chunks of these notes with their vectors; equal texts are embedded once."""
    chunks = ingest_pipeline.cut(notes, space.chunker, space.embedder.name)
    distinct = chunks.unique("embedding_hash", maintain_order=True)
    with progress.task("embedding chunks", distinct.height) as advance:
        vectors = space.embedder.embed_documents(distinct[ingest_pipeline.TO_EMBED].to_list(), advance)
    kind = pl.Array(pl.Float32, space.embedder.dimension)
    known = distinct.select("embedding_hash", vector=pl.Series(vectors, dtype=kind))
    return chunks.join(known, on="embedding_hash", how="left", maintain_order="left").drop(
        ingest_pipeline.TO_EMBED
    )

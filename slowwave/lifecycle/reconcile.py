"""Reconciliation of chunks with their memories, since Lance commits are per table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from slowwave.embedding import Embedder
from slowwave.lifecycle.ingest_pipeline import cut, embed, labelled
from slowwave.notes.chunking import Chunker
from slowwave.store import Store, one_of
from slowwave.store.frames import IDS_PER_FILTER


def delete_chunks(store: Store, chunks: pl.DataFrame) -> None:
    """Delete chunks of these revisions from the search table; they can be recreated from their memory.

    A chunk that another writer has replaced meanwhile has another revision and stays.
    """
    for part in chunks.iter_slices(IDS_PER_FILTER):
        these = f"{one_of('chunk_id', part['chunk_id'])} AND {one_of('revision', part['revision'].unique())}"
        store.delete("chunks", these)


@dataclass(frozen=True, slots=True)
class Differences:
    """Disagreements between chunks and memories.

    Attributes:
        stale: chunk_id and revision of chunks whose revision or status differs from their memory's.
        lacking: Memories with fewer chunks of their revision than they should have.
    """

    stale: pl.DataFrame
    lacking: list[str]


def differences(store: Store, memory_ids: Sequence[str] | None = None) -> Differences:
    """Compare chunks with memories, of all memories or of these."""
    head = ["memory_id", "revision", "status"]

    def read(name: str, columns: list[str]) -> pl.DataFrame:
        if memory_ids is None:
            return store.read(name, columns=columns)
        return store.read_by(name, "memory_id", memory_ids, columns=columns)

    # Chunks first: a save that ends between the two reads then looks incomplete, never stale.
    chunks = read("chunks", ["chunk_id", *head])
    memories = read("memories", [*head, "chunk_count"])
    present = chunks.join(memories, on=head, how="semi").group_by("memory_id").agg(have=pl.len())
    lacking = memories.join(present, on="memory_id", how="left").filter(
        pl.col("have").fill_null(0) < pl.col("chunk_count")
    )
    stale = chunks.join(memories, on=head, how="anti").select("chunk_id", "revision")
    return Differences(stale, lacking["memory_id"].to_list())


@dataclass(frozen=True, slots=True)
class Reconciled:
    """Counts of a reconciliation; normally zero."""

    stale_chunks: int
    remade_memories: int


def reconcile(
    store: Store, chunker: Chunker, embedder: Embedder, *, memory_ids: Sequence[str] | None = None
) -> Reconciled:
    """Make the chunks agree with the memories, which are authoritative.

    A chunk of another revision than its memory's is stale and is deleted. A memory with missing chunks gets
    them again, with the vectors that its text has already. So chunks follow a memory that was merged,
    superseded or forgotten, and what a killed writer left between two tables is fixed. The caller holds the
    writing lock.
    """
    if memory_ids is not None and not memory_ids:
        return Reconciled(0, 0)
    difference = differences(store, memory_ids)
    stale = difference.stale
    if difference.lacking:
        whole = store.read_by("memories", "memory_id", difference.lacking)
        chunks = embed(store, embedder, cut(whole, chunker, embedder.name), look_up_from=1)
        rows = labelled(chunks, whole)
        store.upsert("chunks", rows)
        stale = stale.join(rows, on="chunk_id", how="anti")
    delete_chunks(store, stale)
    return Reconciled(stale.height, len(difference.lacking))

"""Chunks follow their memory: Lance commits are per table, so they are brought into agreement after it."""

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
    """Take chunks of these revisions out of the search; they can be made again from their memory.

    A chunk that another writer has replaced meanwhile has another revision and stays.
    """
    for part in chunks.iter_slices(IDS_PER_FILTER):
        these = f"{one_of('chunk_id', part['chunk_id'])} AND {one_of('revision', part['revision'].unique())}"
        store.delete("chunks", these)


@dataclass(frozen=True, slots=True)
class Differences:
    """Where chunks and memories disagree.

    Attributes:
        stale: chunk_id and revision of chunks of another revision or status than their memory's.
        lacking: memories that have fewer chunks of their revision than they should.
    """

    stale: pl.DataFrame
    lacking: list[str]


def differences(store: Store, memory_ids: Sequence[str] | None = None) -> Differences:
    """Compare the chunks with the memories, of all or of these."""
    head = ["memory_id", "revision", "status"]

    def read(name: str, columns: list[str]) -> pl.DataFrame:
        if memory_ids is None:
            return store.read(name, columns=columns)
        return store.read_by(name, "memory_id", memory_ids, columns=columns)

    # Chunks first: what a save finishes between the two reads then looks lacking, never stale.
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
    """What had to be brought into agreement; of all memories normally nothing."""

    stale_chunks: int
    remade_memories: int


def reconcile(
    store: Store, chunker: Chunker, embedder: Embedder, *, memory_ids: Sequence[str] | None = None
) -> Reconciled:
    """Make the chunks agree with the memories, which are right: Lance commits are per table.

    A chunk of another revision than its memory's is stale and goes; a memory that lacks chunks gets them
    made again, with the vectors that its text has already. So the chunks of a memory that was merged,
    superseded or forgotten follow it, and what a killed writer left between two tables is mended. The caller
    holds the writing lock.
    """
    if memory_ids is not None and not memory_ids:
        return Reconciled(0, 0)
    found = differences(store, memory_ids)
    stale = found.stale
    if found.lacking:
        whole = store.read_by("memories", "memory_id", found.lacking)
        chunks = embed(store, embedder, cut(whole, chunker, embedder.name), look_up_from=1)
        rows = labelled(chunks, whole)
        store.upsert("chunks", rows)
        stale = stale.join(rows, on="chunk_id", how="anti")
    delete_chunks(store, stale)
    return Reconciled(stale.height, len(found.lacking))

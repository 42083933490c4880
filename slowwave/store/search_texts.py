"""Search texts of chunks that differ from what their text and context give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from slowwave.notes.chunking import found_by, indexed_text
from slowwave.scoring.ranking.word_pieces import MARK

if TYPE_CHECKING:
    from slowwave.store.database import Store

BATCH = 10_000
"""Chunks rewritten at once (count)."""


def differing(store: Store) -> pl.DataFrame:
    """Return chunks with a wrong search text: chunk_id, memory_id, revision, and the right search_text."""
    columns = ["chunk_id", "memory_id", "revision", "title", "headings", "text", "search_text"]
    contexts = store.read("memories", columns=["memory_id", "revision", "context"])
    chunks = store.read("chunks", columns=columns).join(contexts, on=["memory_id", "revision"], how="left")
    right = [
        found_by(indexed_text(title or "", headings or (), text), context)
        for title, headings, text, context in chunks.select(
            "title", "headings", "text", "context"
        ).iter_rows()
    ]
    texts = pl.Series("search_text", right, dtype=pl.String)
    wrong = chunks.filter(pl.col("search_text").ne_missing(texts)).select("chunk_id", "memory_id", "revision")
    return wrong.join(chunks.select("chunk_id").with_columns(texts), on="chunk_id", how="left")


def add_pieces(store: Store) -> None:
    """Add the pieces of words to search texts that lack them; idempotent."""
    texts = differing(store).filter(pl.col("search_text").str.contains(MARK, literal=True))
    for part in texts.select("chunk_id", "search_text").iter_slices(BATCH):
        rows = store.read_by("chunks", "chunk_id", part["chunk_id"].to_list())
        store.upsert("chunks", rows.drop("search_text").join(part, on="chunk_id"))

"""L3 of the save gate, its exact half: content that is equal after normalising (rule 1)."""

from __future__ import annotations

import polars as pl


def exact_duplicates(notes: pl.DataFrame, live: pl.DataFrame) -> pl.DataFrame:
    """Which notes say exactly what another memory of their namespace says already.

    Args:
        notes: namespace, memory_id, content_hash, in the order in which they may enter: of equal notes the
            first one enters.
        live: namespace, memory_id, content_hash of what is in the memory and stays there. A note is no
            duplicate of itself.

    Returns:
        memory_id, duplicate_of: one row per duplicate.
    """
    identity = ["namespace", "content_hash"]
    held = (
        live.sort("memory_id")
        .unique(identity, keep="first", maintain_order=True)
        .select(*identity, held="memory_id")
    )
    first = notes.group_by(identity, maintain_order=True).agg(first=pl.col("memory_id").first())
    return (
        notes.join(held, on=identity, how="left")
        .join(first, on=identity, how="left")
        .select("memory_id", duplicate_of=pl.coalesce("held", "first"))
        .filter(pl.col("memory_id") != pl.col("duplicate_of"))
    )

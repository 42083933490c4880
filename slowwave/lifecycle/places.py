"""Present places of notes in tables that name them by their source, for people.

A note that moved keeps the source under which it was first saved (`slowwave.vaults.moves`).
"""

from __future__ import annotations

import polars as pl

from slowwave.store import Store


def with_places(store: Store, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the path where a moved note is now as its source.

    Args:
        store: Has the events of each day; a move counts once a nightly job has ingested it.
        rows: With memory_id and source.
    """
    saves = store.read_by(
        "staged_notes", "memory_id", rows["memory_id"].unique().to_list(),
        columns=["memory_id", "path", "seq"], also="act = 'save'",
    )  # fmt: skip
    last = saves.sort("seq").unique("memory_id", keep="last").select("memory_id", present="path")
    placed = rows.join(last, on="memory_id", how="left", maintain_order="left")
    return placed.with_columns(source=pl.coalesce("present", "source")).drop("present")

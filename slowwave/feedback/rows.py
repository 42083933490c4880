"""Rows about memories, and the texts that they are about, as the folds of feedback take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.texts import FIRST
from slowwave.scoring.feedback.votes import WHO
from slowwave.store.database import IDS_PER_FILTER

if TYPE_CHECKING:
    from slowwave.store import Store


FOLDED = (
    "signal_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", *WHO, "search_id",
    "tier", "verdict", "value", "weight", "evidence", "text",
)  # fmt: skip
"""Columns of ``usage_signals`` that the folds read."""


EXPLICIT = "tier != 'implicit'"


BEHIND = "@"  # between the id of a memory or chunk and the name of its text; no id has it


def texts_apart(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in which each text of a memory is a memory of its own, as the rules fold them."""
    said = pl.col("text").fill_null(FIRST)
    ids = [name for name in ("memory_id", "chunk_id") if name in rows.columns]
    return rows.with_columns(
        pl.when(said == FIRST).then(name).otherwise(pl.concat_str(name, pl.lit(BEHIND), said)).alias(name)
        for name in ids
    )


def texts_together(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows under the ids of their memories, with the text."""
    parts = pl.col("memory_id").str.split_exact(BEHIND, 1).struct
    whole = [
        pl.col(name).str.split_exact(BEHIND, 1).struct[0].alias(name)
        for name in ("memory_id", "chunk_id")
        if name in rows.columns
    ]
    return rows.with_columns(*whole, text=parts[1].fill_null(FIRST))


def rows_about(
    store: Store, table: str, names: Sequence[str], where: str, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Rows about these memories that pass a filter."""
    if len(names) <= IDS_PER_FILTER:
        return store.read_by(table, "memory_id", names, columns=columns, also=where)
    if not store.count(table, where):
        return store.empty(table, columns)
    wanted = pl.Series("memory_id", names, dtype=pl.String).to_frame()
    return store.scan(table, where, columns=columns).join(wanted, on="memory_id", how="semi")


def ids_in(signals: pl.DataFrame) -> list[str]:
    """The memories that rows are about."""
    return signals["memory_id"].unique().to_list()


def newest_of(rows: pl.DataFrame, *key: str) -> pl.DataFrame:
    """The newest row of each key."""
    return rows.sort("day").unique(key, keep="last", maintain_order=True)

"""Rows about memories and their texts, in the form that aggregation reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.text_attribution import FIRST
from slowwave.scoring.feedback.votes import WHO
from slowwave.store.frames import IDS_PER_FILTER
from slowwave.store.reading import compact, matching, parts

if TYPE_CHECKING:
    from slowwave.store import Store
    from slowwave.store.tenancy import Readable


FOLDED = (
    "signal_id", "day", "namespace", "memory_id", "chunk_id", "occurred_at", *WHO, "search_id",
    "tier", "verdict", "value", "weight", "evidence", "text",
)  # fmt: skip
"""Columns of ``usage_signals`` that aggregation reads."""
REMEMBERED = (
    "signal_id", "day", "namespace", "memory_id", "occurred_at", *WHO, "tier", "verdict", "evidence", "text",
)  # fmt: skip
"""Those of them that strength reads."""


EXPLICIT = "tier != 'implicit'"


BEHIND = "@"  # between the id of a memory or chunk and the name of its text; no id has it


def texts_apart(rows: pl.DataFrame) -> pl.DataFrame:
    """Give each text of a memory its own memory id, as the aggregation rules expect."""
    if (rows["text"].fill_null(FIRST) == FIRST).all():
        return rows
    text_name = pl.col("text").fill_null(FIRST)
    ids = [name for name in ("memory_id", "chunk_id") if name in rows.columns]
    return rows.with_columns(
        pl.when(text_name == FIRST)
        .then(name)
        .otherwise(pl.concat_str(name, pl.lit(BEHIND), text_name))
        .alias(name)
        for name in ids
    )


def texts_together(rows: pl.DataFrame) -> pl.DataFrame:
    """Restore the memory ids, with the text in its own column."""
    if not rows["memory_id"].str.contains(BEHIND, literal=True).any():
        return rows.with_columns(text=pl.lit(FIRST))
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
    """Return rows about these memories that pass a filter."""
    if len(names) <= IDS_PER_FILTER:
        return store.read_by(table, "memory_id", names, columns=columns, also=where)
    return matching(store, table, where, columns=columns).join(_wanted(names), on="memory_id", how="semi")


def rows_by(
    store: Readable, table: str, column: str, values: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """Return rows whose `column` (of `columns`) is one of these values; many take one pass over the table."""
    if len(values) <= IDS_PER_FILTER:
        return store.read_by(table, column, values, columns=columns)
    wanted = _wanted(values, column)
    found = [part.join(wanted, on=column, how="semi") for part in parts(store, table, columns=columns)]
    return pl.concat(map(compact, found))


def newest_about(
    store: Store, table: str, names: Sequence[str], where: str, kept: Callable[[pl.DataFrame], pl.DataFrame]
) -> pl.DataFrame:
    """Return the newest accepted row about each of these memories.

    Args:
        store: Store of the table.
        table: Table with memory_id and day.
        names: Ids of the memories.
        where: SQL filter.
        kept: Selects the rows that count; it decides row by row.
    """
    if len(names) <= IDS_PER_FILTER:
        return newest_of(kept(rows_about(store, table, names, where)), "memory_id")
    wanted, newest = _wanted(names), None
    for part in parts(store, table, where, columns=store.specs[table].schema.names):
        rows = kept(part.join(wanted, on="memory_id", how="semi"))
        newest = newest_of(rows if newest is None else pl.concat([newest, rows]), "memory_id")
    assert newest is not None
    return newest


def _wanted(names: Sequence[str], column: str = "memory_id") -> pl.DataFrame:
    return pl.Series(column, names, dtype=pl.String).to_frame()


def ids_in(signals: pl.DataFrame) -> list[str]:
    """Return the memories that rows are about."""
    return signals["memory_id"].unique().to_list()


def newest_of(rows: pl.DataFrame, *key: str) -> pl.DataFrame:
    """Return the newest row of each key."""
    return rows.sort("day").unique(key, keep="last", maintain_order=True)

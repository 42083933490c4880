"""Labels of memories in the tables: united where a memory absorbed others, its own ones kept beside.

The columns hold what searches go by; ``own_labels`` has what the memory says of itself, as JSON, where that
is something else. So a merge that is taken back gives the columns back as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slowwave.quality.admission.labels import LISTS, NAMES, Labels

OWN = "own_labels"
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    name: pl.List(pl.String) if name in LISTS else pl.Boolean if name == "source_of_truth" else pl.String
    for name in NAMES
}
_DEFAULTS = Labels()


def labels_of(row: Mapping[str, Any]) -> Labels:
    """The labels in the columns of a row."""
    said: dict[str, Any] = {
        name: tuple(row[name] or ()) if name in LISTS else row[name] or getattr(_DEFAULTS, name)
        for name in NAMES
    }
    return Labels(**said)


def own(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows (memories, with ``own_labels``) with the labels that each says of itself."""
    if rows[OWN].null_count() == rows.height:
        return rows
    said = rows[OWN].str.json_decode(pl.Struct(SCHEMA)).struct.unnest()
    there = rows[OWN].is_not_null()
    return rows.with_columns(
        *(pl.when(there).then(said[name]).otherwise(pl.col(name)).alias(name) for name in NAMES),
        pl.lit(None, pl.String).alias(OWN),
    )


def with_united(rows: pl.DataFrame, united: Mapping[str, Labels]) -> pl.DataFrame:
    """Rows (memories) with these labels in the columns, where there are any, and else with their own.

    Args:
        rows: with ``own_labels``.
        united: by memory id.
    """
    plain = own(rows)
    if not united:
        return plain
    mine = plain["memory_id"].is_in(list(united))
    if not mine.any():
        return plain
    told = plain.filter(mine)
    more = pl.DataFrame(
        [{name: _column(united[memory], name) for name in NAMES} for memory in told["memory_id"]],
        schema=SCHEMA,
    )
    said = told.select(pl.struct(NAMES).struct.json_encode().alias(OWN))
    changed = told.with_columns(*more.iter_columns(), said[OWN])
    return pl.concat([plain.filter(~mine), changed.select(plain.columns)])


def _column(labels: Labels, name: str) -> Any:  # noqa: ANN401 - of its column
    value = getattr(labels, name)
    return list(value) if isinstance(value, tuple) else value


def heirs(merged: pl.DataFrame, source: str) -> list[str]:
    """The memories that hold what came from a source: of each that was merged away the one that absorbed it.

    Args:
        merged: memories that were merged away, with memory_id, source and replaced_by.
        source: what the source begins with.
    """
    into = dict(merged.select("memory_id", "replaced_by").iter_rows())
    found = set[str]()
    for name in merged.filter(pl.col("source").str.starts_with(source))["memory_id"]:
        while (holder := into.get(name)) is not None:
            name = holder
        found.add(name)
    return sorted(found)

"""Labels of memories in the tables: united with those of absorbed memories, own ones kept.

Searches filter by the columns. ``own_labels`` has a memory's own labels as JSON if they differ. So undoing a
merge restores the columns.
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
    """Return the labels in the columns of a row."""
    values: dict[str, Any] = {
        name: tuple(row[name] or ()) if name in LISTS else row[name] or getattr(_DEFAULTS, name)
        for name in NAMES
    }
    return Labels(**values)


def own(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows (memories, with ``own_labels``) with each memory's own labels."""
    if rows[OWN].null_count() == rows.height:
        return rows
    labels = rows[OWN].str.json_decode(pl.Struct(SCHEMA)).struct.unnest()
    united = rows[OWN].is_not_null()
    return rows.with_columns(
        *(pl.when(united).then(labels[name]).otherwise(pl.col(name)).alias(name) for name in NAMES),
        pl.lit(None, pl.String).alias(OWN),
    )


def with_united(rows: pl.DataFrame, united: Mapping[str, Labels]) -> pl.DataFrame:
    """Return rows (memories) with these labels in the columns; others get their own.

    Args:
        rows: With ``own_labels``.
        united: By memory id.
    """
    plain = own(rows)
    if not united:
        return plain
    is_united = plain["memory_id"].is_in(list(united))
    if not is_united.any():
        return plain
    changing = plain.filter(is_united)
    more = pl.DataFrame(
        [{name: _column(united[memory], name) for name in NAMES} for memory in changing["memory_id"]],
        schema=SCHEMA,
    )
    own_labels = changing.select(pl.struct(NAMES).struct.json_encode().alias(OWN))
    changed = changing.with_columns(*more.iter_columns(), own_labels[OWN])
    return pl.concat([plain.filter(~is_united), changed.select(plain.columns)])


def _column(labels: Labels, name: str) -> Any:  # noqa: ANN401 - of its column
    value = getattr(labels, name)
    return list(value) if isinstance(value, tuple) else value


def heirs(merged: pl.DataFrame, source: str) -> list[str]:
    """Return the memories that absorbed the merged memories of a source.

    Args:
        merged: Merged memories, with memory_id, source, path and replaced_by.
        source: Prefix of the source.
    """
    into = dict(merged.select("memory_id", "replaced_by").iter_rows())
    holders = set[str]()
    for name in merged.filter(pl.coalesce("path", "source").str.starts_with(source))["memory_id"]:
        while (holder := into.get(name)) is not None:
            name = holder
        holders.add(name)
    return sorted(holders)

"""Conversion of Polars frames and Arrow tables, and filters of LanceDB queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import polars as pl
import pyarrow as pa

IDS_PER_FILTER = 2_000
"""Maximum values in one filter (count)."""

T = TypeVar("T")


def frame_of(rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    """Convert Arrow rows to a frame that shares their memory."""
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    return frame


def to_schema(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    """Convert a frame to an Arrow table of exactly `schema`; missing columns become null.

    Raises:
        ValueError: The frame has a column that the schema does not have.
    """
    if unknown := set(frame.columns) - set(schema.names):
        raise ValueError(f"columns {sorted(unknown)} are not in the table (it has {schema.names})")
    arrow = frame.to_arrow()
    columns = [
        arrow.column(field.name).cast(field.type)
        if field.name in frame.columns
        else pa.nulls(frame.height, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def quote(value: str) -> str:
    """Return a string literal for a filter expression."""
    return "'" + value.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """Return a filter: the column has one of these values; no values match nothing."""
    listed = ", ".join(quote(value) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


def batches(values: Sequence[T], size: int = IDS_PER_FILTER) -> list[Sequence[T]]:
    """Split values into slices of at most `size`."""
    return [values[at : at + size] for at in range(0, len(values), size)]

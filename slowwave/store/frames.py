"""Conversion of Polars frames and Arrow tables, and filters of LanceDB queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa

from slowwave.scoring.days import from_microseconds

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


def rows_table(columns: Mapping[str, Sequence[Any] | np.ndarray], schema: pa.Schema) -> pa.Table:
    """Convert columns of plain values to an Arrow table of exactly `schema`, as `to_schema` does.

    Args:
        columns: Values of each column, of equal length; missing columns become null. Vectors are a matrix
            (n, dimension).
        schema: Of the table.

    Raises:
        ValueError: There is a column that the schema does not have.
    """
    if unknown := columns.keys() - set(schema.names):
        raise ValueError(f"columns {sorted(unknown)} are not in the table (it has {schema.names})")
    count = len(next(iter(columns.values())))
    return pa.table([_array(columns.get(field.name), count, field.type) for field in schema], schema=schema)


def _array(values: Sequence[Any] | np.ndarray | None, count: int, kind: pa.DataType) -> pa.Array:
    if values is None:
        return pa.nulls(count, kind)
    if isinstance(values, np.ndarray):
        return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel(), kind.value_type), type=kind)
    return pa.array(values, kind)


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


def column_values(column: pa.ChunkedArray) -> list[Any]:
    """Return a column's values; Arrow itself takes 14 µs to make a moment of a time zone."""
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    counts = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_pylist()
    return [None if count is None else from_microseconds(count) for count in counts]

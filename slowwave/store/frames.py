"""Between Polars frames, Arrow tables of a fixed schema, and the filters of a LanceDB query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import polars as pl
import pyarrow as pa

IDS_PER_FILTER = 2_000
"""Values that one filter names at most (count)."""

T = TypeVar("T")


def frame_of(rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    """Arrow rows as a frame that shares their memory."""
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    return frame


def to_schema(frame: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    """The frame as an Arrow table of exactly `schema`; columns that it lacks become null.

    Raises:
        ValueError: the frame has a column that the schema does not know.
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
    """A string literal for a filter expression."""
    return "'" + value.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """Filter: the column has one of these values; no value at all matches nothing."""
    listed = ", ".join(quote(value) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


def batches(values: Sequence[T], size: int = IDS_PER_FILTER) -> list[Sequence[T]]:
    """The values in slices of at most `size`."""
    return [values[at : at + size] for at in range(0, len(values), size)]

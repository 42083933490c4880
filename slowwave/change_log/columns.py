"""Columns of records: those that a table's declaration keeps (`TableSpec.recorded`), as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
import polars as pl
import pyarrow as pa

from slowwave.quality.admission.labels import NAMES
from slowwave.store.frames import frame_of
from slowwave.store.labels import OWN
from slowwave.store.tables import TableSpec
from slowwave.store.tables.declaring import VECTOR

NOT_RECORDED = ("checkpoint-", "restoring", "vector_index")
"""Name prefixes of facts in ``meta`` about files, which a rebuilt table does not have."""

MANY = 200
"""Rows from which Polars writes the columns (count)."""


def recorded(spec: TableSpec, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the recorded columns of some rows.

    For memories that absorbed others, the merged content and united labels are recorded too.
    """
    if spec.name == "meta":
        names = pl.col("name")
        return rows.filter(~pl.any_horizontal(names.str.starts_with(start) for start in NOT_RECORDED))
    if spec.name == "memories":
        united = (pl.when(pl.col(OWN).is_not_null()).then(name).alias(name) for name in NAMES)
        merged = pl.when(pl.col("original").is_not_null()).then("content")
        return rows.select(*spec.recorded, *united, merged.alias("content"))
    return rows.select(spec.recorded)


def schema_of(spec: TableSpec) -> Mapping[str, pl.DataType]:
    """Return the columns of a table without its vectors, which are recomputed."""
    return _columns_of(spec.schema)


@cache
def _columns_of(schema: pa.Schema) -> Mapping[str, pl.DataType]:
    empty = frame_of(schema.empty_table())
    return {name: kind for name, kind in empty.schema.items() if name != VECTOR}


def written(rows: pl.DataFrame) -> Any:  # noqa: ANN401 - JSON
    """Return rows as JSON types by column; columns without values are left out.

    Many rows are returned as finished JSON (`orjson.Fragment`), which Polars writes several times as fast.
    """
    filled = [column for column in rows.iter_columns() if column.null_count() < rows.height]
    if rows.height < MANY:
        return {column.name: _written(column) for column in filled}
    plain = [column.cast(_stored(column.dtype)) for column in filled if _is_plain(column)]
    as_json = pl.struct(pl.all().implode()).struct.json_encode()
    fast = pl.DataFrame(plain).select(as_json).item() if plain else "{}"
    slow = orjson.dumps(
        {column.name: _written(column) for column in filled if not _is_plain(column)}
    ).decode()
    return orjson.Fragment(f"{fast[:-1]}{',' if len(fast) > 2 < len(slow) else ''}{slow[1:]}")


def _is_plain(column: pl.Series) -> bool:
    """Whether Polars writes each value of a column as `_written` does."""
    if column.dtype.is_float():  # Polars writes null for NaN and infinity, and a sum shows them
        return math.isfinite(column.sum())
    return isinstance(column.dtype, pl.String | pl.Boolean | pl.Datetime) or column.dtype.is_integer()


def _stored(kind: pl.DataType) -> pl.DataType:
    """Return the type in which values are written: moments are numbers."""
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Datetime):
        return pl.List(pl.Int64)
    return pl.Int64() if isinstance(kind, pl.Datetime) else kind


def _written(column: pl.Series) -> list[Any]:
    if column.dtype.is_float():  # JSON has no NaN or infinity
        return [value if value is None or math.isfinite(value) else str(value) for value in column]
    return column.cast(_stored(column.dtype)).to_list()


def read(columns: Mapping[str, list[Any]], count: int, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return the written rows; columns that the table no longer has are dropped, new ones are null."""
    return pl.DataFrame(
        [
            _read(name, columns[name], kind) if name in columns else pl.Series(name, [None] * count, kind)
            for name, kind in schema.items()
        ]
    )


def _read(name: str, values: list[Any], kind: pl.DataType) -> pl.Series:
    if kind.is_float():
        values = [None if value is None else float(value) for value in values]
    return pl.Series(name, values, _stored(kind)).cast(kind)

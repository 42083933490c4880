"""Rows of records: the columns that a table's declaration keeps (`TableSpec.recorded`), as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson
import polars as pl

from slowwave.quality.admission.labels import NAMES
from slowwave.store.frames import frame_of
from slowwave.store.labels import OWN
from slowwave.store.tables import TableSpec
from slowwave.store.tables.declaring import VECTOR

NOT_RECORDED = ("checkpoint-", "restoring", "vector_index")
"""Beginnings of the names of facts in ``meta`` that are about files, which a rebuilt table does not have."""

MANY = 200
"""Rows from which columns are written by Polars (count)."""


def recorded(spec: TableSpec, rows: pl.DataFrame) -> pl.DataFrame:
    """What is recorded of some rows of a table.

    Content and labels of a memory that absorbed others are recorded, too, where they are not its own.
    """
    if spec.name == "meta":
        names = pl.col("name")
        return rows.filter(~pl.any_horizontal(names.str.starts_with(start) for start in NOT_RECORDED))
    if spec.name == "memories":
        united = (pl.when(pl.col(OWN).is_not_null()).then(name).alias(name) for name in NAMES)
        merged = pl.when(pl.col("original").is_not_null()).then("content")
        return rows.select(*spec.recorded, *united, merged.alias("content"))
    return rows.select(spec.recorded)


def schema_of(spec: TableSpec) -> dict[str, pl.DataType]:
    """Columns of a table without its vectors, which are made again."""
    empty = frame_of(spec.schema.empty_table())
    return {name: kind for name, kind in empty.schema.items() if name != VECTOR}


def written(rows: pl.DataFrame) -> Any:  # noqa: ANN401 - JSON
    """Rows as JSON types, by column; columns without any value are left out.

    Of many rows it is JSON already (`orjson.Fragment`), which Polars writes several times as fast.
    """
    said = [column for column in rows.iter_columns() if column.null_count() < rows.height]
    if rows.height < MANY:
        return {column.name: _written(column) for column in said}
    plain = [column.cast(_stored(column.dtype)) for column in said if _is_plain(column)]
    as_json = pl.struct(pl.all().implode()).struct.json_encode()
    fast = pl.DataFrame(plain).select(as_json).item() if plain else "{}"
    slow = orjson.dumps({column.name: _written(column) for column in said if not _is_plain(column)}).decode()
    return orjson.Fragment(f"{fast[:-1]}{',' if len(fast) > 2 < len(slow) else ''}{slow[1:]}")


def _is_plain(column: pl.Series) -> bool:
    """Whether Polars writes each value of a column as `_written` does."""
    if column.dtype.is_float():
        return bool(column.is_finite().all())  # of none it makes null
    return isinstance(column.dtype, pl.String | pl.Boolean | pl.Datetime) or column.dtype.is_integer()


def _stored(kind: pl.DataType) -> pl.DataType:
    """The type that values of a type are written as: moments are numbers."""
    if isinstance(kind, pl.List) and isinstance(kind.inner, pl.Datetime):
        return pl.List(pl.Int64)
    return pl.Int64() if isinstance(kind, pl.Datetime) else kind


def _written(column: pl.Series) -> list[Any]:
    if column.dtype.is_float():  # JSON knows no number that is none
        return [one if one is None or math.isfinite(one) else str(one) for one in column]
    return column.cast(_stored(column.dtype)).to_list()


def read(columns: Mapping[str, list[Any]], count: int, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The rows that were written; columns that the table has no more are left out, new ones are null."""
    return pl.DataFrame(
        [
            _read(name, columns[name], kind) if name in columns else pl.Series(name, [None] * count, kind)
            for name, kind in schema.items()
        ]
    )


def _read(name: str, values: list[Any], kind: pl.DataType) -> pl.Series:
    if kind.is_float():
        values = [None if one is None else float(one) for one in values]
    return pl.Series(name, values, _stored(kind)).cast(kind)

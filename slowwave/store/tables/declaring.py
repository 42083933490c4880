"""How a table is declared.

Each table has one not-null key that is declared as Lance's unenforced primary key when the table is
created: without it, concurrent upserts of the same new key double the row without an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TEXT = pa.string()
LIST = pa.list_(pa.string())
TIME = pa.timestamp("us", tz="UTC")
TIMES = pa.list_(TIME)
FLAG = pa.bool_()
COUNT = pa.int32()
LONG = pa.int64()
FLOAT = pa.float64()


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table is: its key, its columns, who owns its rows, and what may be searched by text."""

    name: str
    schema: pa.Schema
    description: str
    partition: str | None = None  # the column whose values are Dagster partitions; None: a shared table
    full_text: tuple[str, ...] = ()  # the allow-list: no other column may ever have a full-text index

    @property
    def key(self) -> str:
        """Name of the primary key column."""
        return str(self.schema.field(0).name)


def table(
    name: str,
    key: str,
    description: str,
    *,
    partition: str | None = None,
    full_text: tuple[str, ...] = (),
    **columns: pa.DataType,
) -> TableSpec:
    """A table; its columns in the order in which they are given, after the key."""
    declared = {"lance-schema:unenforced-primary-key": "true"}
    first = pa.field(key, TEXT, nullable=False, metadata=declared)
    schema = pa.schema([first, *(pa.field(column, kind) for column, kind in columns.items())])
    return TableSpec(name, schema, description, partition, full_text)


def rows(**columns: pa.DataType) -> pa.DataType:
    """The type of a list of rows with these columns."""
    return pa.list_(pa.struct(list(columns.items())))


def vectors(dimension: int) -> pa.DataType:
    """The type of a vector of `dimension` numbers."""
    return pa.list_(pa.float32(), dimension)

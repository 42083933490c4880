"""Declaration of a table: schema, partition, erasure and records in one place.

The store creates and upgrades tables by it, erasure deletes rows by it, records keep what a rebuild needs,
doctor and the reference list it. Each table has one not-null key, declared as Lance's unenforced primary key
at its creation: without it, concurrent upserts of the same new key double the row without an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

TEXT = pa.string()
LIST = pa.list_(pa.string())
TIME = pa.timestamp("us", tz="UTC")
TIMES = pa.list_(TIME)
FLAG = pa.bool_()
COUNT = pa.int32()
LONG = pa.int64()
FLOAT = pa.float64()

VECTOR = "vector"
"""Column of an embedding; never recorded, since it follows from a text."""
_MEMORIES = ("memory_id", "other_memory", "from_memory", "to_memory")
_SEARCH = "search_id"


@dataclass(frozen=True, slots=True)
class ErasureRule:
    """Columns by which an erasure finds rows, beside the ids of memories and searches.

    Attributes:
        quoting: Columns with text; a row that quotes an erased text is deleted.
        blanked: Columns that are emptied if they quote it; the row stays.
        cleared: Columns that become null if another column, their value here, has an erased memory or
            search.
        outlives_search: Whether the row stays when its search is erased, because it is about a memory.
    """

    quoting: tuple[str, ...] = ()
    blanked: tuple[str, ...] = ()
    cleared: Mapping[str, str] = field(default_factory=dict)
    outlives_search: bool = False


@dataclass(frozen=True, slots=True)
class TableSpec:
    """Declared table: key, columns, partition, and the rules of erasure and records.

    Attributes:
        partition: Column whose values are Dagster partitions; None: a shared table.
        full_text: Allow-list: no other column may ever have a full-text index.
        recorded: Columns that the journal's records keep; empty: the rows follow from other tables.
    """

    name: str
    schema: pa.Schema
    description: str
    partition: str | None = None
    full_text: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    erasure: ErasureRule = ErasureRule()

    @property
    def key(self) -> str:
        """Name of the primary key column."""
        return str(self.schema.field(0).name)

    @property
    def memory_columns(self) -> tuple[str, ...]:
        """Columns with ids of memories; a row with an erased one is deleted."""
        return tuple(name for name in self.schema.names if name in _MEMORIES)

    @property
    def search_column(self) -> str:
        """Column with the id of the search that a row is erased with; empty if there is none."""
        return _SEARCH if _SEARCH in self.schema.names and not self.erasure.outlives_search else ""


def table(
    name: str,
    key: str,
    description: str,
    *,
    partition: str | None = None,
    full_text: tuple[str, ...] = (),
    recorded: tuple[str, ...] | None = None,
    in_events: tuple[str, ...] = (),
    erasure: ErasureRule = ErasureRule(),
    **columns: pa.DataType,
) -> TableSpec:
    """Declare a table; columns keep the given order, after the key.

    `recorded` are columns beside the key that a record keeps (None: all; empty: the rows follow from other
    tables), minus those that an event of the journal has already (`in_events`).
    """
    declared = {"lance-schema:unenforced-primary-key": "true"}
    first = pa.field(key, TEXT, nullable=False, metadata=declared)
    schema = pa.schema([first, *(pa.field(column, kind) for column, kind in columns.items())])
    kept = columns.keys() - {VECTOR} if recorded is None else set(recorded)
    kept -= set(in_events)
    records = tuple(column for column in schema.names if kept and column in {key, *kept})
    return TableSpec(name, schema, description, partition, full_text, records, erasure)


def rows(**columns: pa.DataType) -> pa.DataType:
    """Return the type of a list of rows with these columns."""
    return pa.list_(pa.struct(list(columns.items())))


def vectors(dimension: int) -> pa.DataType:
    """Return the type of a vector of `dimension` numbers."""
    return pa.list_(pa.float32(), dimension)

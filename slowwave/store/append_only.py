"""Appends to empty partitions, where a merge would read every key of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slowwave.store.database import Written
from slowwave.store.fragments import has_rows
from slowwave.store.frames import one_of, to_schema
from slowwave.store.instrumentation import observe_query

if TYPE_CHECKING:
    import polars as pl

    from slowwave.store.database import Store


def fill_or_replace(store: Store, name: str, rows: pl.DataFrame, partitions: Sequence[str]) -> Written:
    """Replace partitions as `Store.replace_partition`, by an append if they are empty.

    Two appends of the same rows would double them. So the caller must hold the night lock, and each key of
    the table must belong to one partition.

    Raises:
        ValueError: A row belongs to none of the partitions.
    """
    spec = store.specs[name]
    assert spec.partition is not None
    where = one_of(spec.partition, partitions)
    belongs = rows[spec.partition].is_in(list(partitions)).fill_null(value=False)
    if rows.is_empty() or not belongs.all() or has_rows(store, name, partitions):
        return store.replace_partition(name, rows, partitions)
    return append(store, name, rows, where)


def append(store: Store, name: str, rows: pl.DataFrame, where: str) -> Written:
    """Append rows in one commit; no existing row may match `where`.

    The change is recorded as a merge would be.
    """
    spec = store.specs[name]
    if rows[spec.key].n_unique() < rows.height:  # to find none costs a tenth of copying all rows
        rows = rows.unique(spec.key, keep="last", maintain_order=True)
    data = to_schema(rows, spec.schema)
    if store.recorder is not None:
        store.recorder.upsert(store, name, data, delete=where)
    with observe_query("add", name) as query, store.explaining(name):
        query.set(rows=data.num_rows)
        version = int(store.table(name).add(data).version)
    store._committed(name, version)
    return Written(version, data.num_rows, 0, 0)

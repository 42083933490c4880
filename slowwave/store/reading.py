"""Reading very many rows of a table: in the way that is cheapest, or part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from slowwave.store.database import Store
from slowwave.store.tenancy import Readable

ROWS_AT_ONCE = 131_072
"""Rows of a table that are in memory together while it is read part by part (count)."""


def matching(store: Readable, name: str, where: str, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Rows of a table that match a filter, which may be most of them or a small part of millions.

    What is scanned costs by the rows of the table, what is read by the rows that match, twice as much each.
    """
    found = store.count(name, where)
    read = store.scan if 2 * found > store.count(name) else store.read
    return read(name, where, columns=columns)


def parts(
    store: Readable, name: str, where: str | None = None, *, columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """The same, part by part; at least one, which may be empty."""
    if not isinstance(store, Store):  # within a namespace: of the size of a tenant
        yield store.scan(name, where, columns=columns)
        return
    yield store.empty(name, columns)
    with store.explaining(name):
        for batch in store.dataset(name).to_batches(
            filter=where, columns=list(columns), batch_size=ROWS_AT_ONCE
        ):
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame


def compact(rows: pl.DataFrame) -> pl.DataFrame:
    """A copy that holds its own texts alone: what was filtered shares, and so keeps, those of all rows."""
    frame = pl.from_arrow(rows.to_arrow(compat_level=pl.CompatLevel.oldest()))
    assert isinstance(frame, pl.DataFrame)
    return frame


def distinct(store: Readable, name: str, where: str | None = None, *, columns: Sequence[str]) -> pl.DataFrame:
    """The distinct rows of some columns, in no order."""
    return pl.concat([part.unique() for part in parts(store, name, where, columns=columns)]).unique()

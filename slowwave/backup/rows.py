"""Serialisation of journal rows as an Arrow stream, one column per field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from slowwave.journal.transfer import COLUMNS, Row, StoredRows

if TYPE_CHECKING:
    import pyarrow as pa

PAGE_SEQS = 256
"""Seqs per page (count). Only the last page is rewritten as the journal grows."""


def bounds(until: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) seq of each page of a journal that ends at a position."""
    for first in range(1, until + 1, PAGE_SEQS):
        yield first, min(first + PAGE_SEQS - 1, until)


def page_of(rows: StoredRows, first: int, last: int) -> list[Row]:
    """Return the rows between two positions."""
    return [row for page in rows.pages(after=first - 1, until=last, most=PAGE_SEQS) for row in page]


def packed(rows: Sequence[Row]) -> bytes:
    """Serialise rows; equal rows give equal bytes."""
    import pyarrow as pa

    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], _schema())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def unpacked(content: bytes) -> list[Row]:
    """Parse rows from bytes."""
    import pyarrow as pa

    table = pa.ipc.open_stream(pa.BufferReader(content)).read_all()
    columns = [table.column(name).to_pylist() for name in COLUMNS]
    return list(zip(*columns, strict=True))


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {"seq": pa.int64(), "occurred_at": pa.int64(), "ordered_at": pa.int64(), "payload": pa.binary()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])

"""Rows of the journal as the content of a piece, and back: an Arrow stream with a column each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from slowwave.journal.transfer import COLUMNS, Row, StoredRows

if TYPE_CHECKING:
    import pyarrow as pa

PAGE_SEQS = 256
"""Places of a page: only the last page is written anew as the journal grows (count)."""


def bounds(until: int) -> Iterator[tuple[int, int]]:
    """(first, last) place of each page of a journal that ends at a place."""
    for first in range(1, until + 1, PAGE_SEQS):
        yield first, min(first + PAGE_SEQS - 1, until)


def page_of(rows: StoredRows, first: int, last: int) -> list[Row]:
    """The rows between two places."""
    return [row for page in rows.pages(after=first - 1, until=last, most=PAGE_SEQS) for row in page]


def packed(rows: Sequence[Row]) -> bytes:
    """Rows as bytes; equal rows give equal bytes."""
    import pyarrow as pa

    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], _schema())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def unpacked(content: bytes) -> list[Row]:
    """Rows from bytes."""
    import pyarrow as pa

    table = pa.ipc.open_stream(pa.BufferReader(content)).read_all()
    columns = [table.column(name).to_pylist() for name in COLUMNS]
    return list(zip(*columns, strict=True))


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {"seq": pa.int64(), "occurred_at": pa.int64(), "ordered_at": pa.int64(), "payload": pa.binary()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])

"""Transfer of a journal's rows, as stored, into another journal.

The two databases may differ in kind.

A row keeps its place, moments, digest and payload bytes. So two journals are equal if `StoredRows.digest`
is, whatever their databases.

Events and watched vaults travel. The schema version does not (a new journal writes its own; the columns are
the same), nor do the queue of waiting events and locks, which are about running processes. A pending
maintenance operation or erasure travels as its events, so a copy refuses as the original does; callers that
need a complete copy check for them first.

Rows are never added behind a place that was read (writers queue), but an erasure changes existing rows (see
`slowwave.journal.erasing`). So pages that were read during one do not belong together: compare `erasures`
before and after, or hold the lock of the memories.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from slowwave.journal.connection import Connections
from slowwave.journal.entry import ERASED, ERASURE
from slowwave.journal.errors import JournalError
from slowwave.journal.fencing import fence, unfence
from slowwave.journal.schema import entries, sources

Row = tuple[Any, ...]
"""Values of `COLUMNS`: moments in microseconds, the payload as stored."""

COLUMNS = tuple(column.name for column in entries.c)
SOURCE_COLUMNS = tuple(column.name for column in sources.c)

PAGE_ROWS = 500
"""Rows that are read or written at a time (count); a search with its candidates is tens of KB."""

_SEQ = COLUMNS.index("seq")
_NEXT_SEQ = sa.select(
    sa.func.setval(sa.func.pg_get_serial_sequence(entries.name, "seq"), sa.func.max(entries.c.seq))
)


class StoredRows:
    """Stored rows of one journal."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def pages(
        self, *, after: int = 0, until: int | None = None, most: int = PAGE_ROWS
    ) -> Iterator[list[Row]]:
        """Yield pages of rows in the order of seq, each read in a short transaction.

        Args:
            after: Only with a greater seq.
            until: Seq of the last one; None is the present last one.
            most: Rows of a page (count).
        """
        last = self.last_seq() if until is None else until
        c = entries.c
        while after < last:
            query = sa.select(entries).where(c.seq > after, c.seq <= last).order_by(c.seq).limit(most)
            with self._connections.reading() as connection:
                page = [tuple(row) for row in connection.execute(query)]
            if not page:
                return
            yield page
            after = page[-1][_SEQ]

    def last_seq(self) -> int:
        """Return the place of the last row; 0 if there is none."""
        with self._connections.reading() as connection:
            return int(connection.execute(sa.select(sa.func.max(entries.c.seq))).scalar() or 0)

    def count(self, *, until: int | None = None) -> int:
        """Count the rows, up to a seq."""
        query = sa.select(sa.func.count()).select_from(entries)
        if until is not None:
            query = query.where(entries.c.seq <= until)
        with self._connections.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def digest(self, *, until: int | None = None) -> str:
        """Return a digest of the rows up to a seq, to compare journals; see `Digest`."""
        digest = Digest()
        for page in self.pages(until=until):
            digest.add(page)
        return digest.value()

    def erasures(self) -> int:
        """Count the erased entries and erasures; another count means that old rows have changed."""
        query = sa.select(sa.func.count()).where(entries.c.kind.in_([ERASED, ERASURE]))
        with self._connections.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def put(self, rows: Sequence[Row]) -> int:
        """Write rows as they are, atomically; later events come after all of them.

        Existing rows stay, so a killed caller may write the same page again.

        Args:
            rows: One page, in the order of seq.

        Returns:
            Count of new rows.

        Raises:
            JournalError: Other rows have their places.
        """
        if not rows:
            return 0
        c = entries.c
        first, last = rows[0][_SEQ], rows[-1][_SEQ]
        within = sa.select(entries).where(c.seq >= first, c.seq <= last)
        with self._connections.writing() as connection:
            existing = {row.seq: tuple(row) for row in connection.execute(within)}
            wanted = {row[_SEQ]: tuple(row) for row in rows}
            for seq, row in existing.items():
                if wanted.get(seq) != row:
                    raise JournalError(
                        f"journal {self._connections.name} has another entry at place {seq} than the one to "
                        "be copied there; give an empty journal"
                    )
            new = [dict(zip(COLUMNS, row, strict=True)) for seq, row in wanted.items() if seq not in existing]
            if new:
                connection.execute(sa.insert(entries), new)
                if self._connections.dialect == "postgresql":
                    connection.execute(_NEXT_SEQ)
        return len(new)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Block inserts while the block runs, and from its end on until `reopen`."""
        with self._connections.writing() as connection:
            yield
            fence(connection)

    def reopen(self) -> None:
        """Allow inserts into a closed journal again."""
        with self._connections.writing() as connection:
            unfence(connection)

    def sources(self) -> list[Row]:
        """Return the watched vaults by namespace and name; values of `SOURCE_COLUMNS`."""
        query = sa.select(sources).order_by(sources.c.namespace, sources.c.name)
        with self._connections.reading() as connection:
            rows = [tuple(row) for row in connection.execute(query)]
        return sorted(rows)  # whatever the collation of the database is

    def put_sources(self, rows: Sequence[Row]) -> None:
        """Replace the watched vaults by these."""
        with self._connections.writing() as connection:
            connection.execute(sa.delete(sources))
            if rows:
                connection.execute(
                    sa.insert(sources), [dict(zip(SOURCE_COLUMNS, row, strict=True)) for row in rows]
                )


class Digest:
    """Hash of rows in the order of seq: equal for equal rows, whatever their pages."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, rows: Iterable[Row]) -> None:
        """Add these rows."""
        for row in rows:
            self._hash.update(encoded(row))

    def value(self) -> str:
        """Return the digest of all rows so far, as hexadecimal digits."""
        return self._hash.hexdigest()


def encoded(row: Row) -> bytes:
    """Encode a row as unique bytes: the length of each value, then the value."""
    values = [value if isinstance(value, bytes) else str(value).encode() for value in row]
    return b"".join(b"%d:%b" % (len(value), value) for value in values)

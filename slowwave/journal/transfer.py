"""The rows of a journal as they are stored, to carry them into another journal, of the same database or not.

Everything that a row is stays what it was: its place, its moments, its digest, the bytes of its payload. So
two journals are equal when `StoredRows.digest` says so, whatever databases they are in.

What travels is the acts and the watched vaults. What does not: the version of the schema (a new journal
writes its own; the columns are the same), the queue of acts that wait for a turn (it is about processes that
run now), and locks. A work or an erasure that has begun and not ended travels as the acts that it is, so a
copy refuses as the original does; whoever wants a whole copy asks for them first.

Rows are never added behind a place that was read (writers queue), but an erasure changes rows that are there
(see `slowwave.journal.erasing`). So pages that were read while one runs do not belong together: ask for the
number of `erasures` before and after, or hold the lock of the memories.
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
"""Values of `COLUMNS`, moments in microseconds, the payload as stored."""

COLUMNS = tuple(column.name for column in entries.c)
SOURCE_COLUMNS = tuple(column.name for column in sources.c)

PAGE_ROWS = 500
"""Rows that are read or written at a time (count): a search with all that it considered is tens of KB."""

_SEQ = COLUMNS.index("seq")
_NEXT_SEQ = sa.select(
    sa.func.setval(sa.func.pg_get_serial_sequence(entries.name, "seq"), sa.func.max(entries.c.seq))
)


class StoredRows:
    """The rows of one journal.

    Args:
        connections: of the journal.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def pages(
        self, *, after: int = 0, until: int | None = None, most: int = PAGE_ROWS
    ) -> Iterator[list[Row]]:
        """Rows in the order of seq, so many at a time, each page in a short transaction of its own.

        Args:
            after: only with a greater seq.
            until: seq of the last one; None is the last one that there is now.
            most: of a page (count).
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
        """Place of the last row, 0 where there is none."""
        with self._connections.reading() as connection:
            return int(connection.execute(sa.select(sa.func.max(entries.c.seq))).scalar() or 0)

    def count(self, *, until: int | None = None) -> int:
        """How many rows there are, up to a seq (count)."""
        query = sa.select(sa.func.count()).select_from(entries)
        if until is not None:
            query = query.where(entries.c.seq <= until)
        with self._connections.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def digest(self, *, until: int | None = None) -> str:
        """What tells the acts of this journal up to a seq from others; see `Digest`."""
        digest = Digest()
        for page in self.pages(until=until):
            digest.add(page)
        return digest.value()

    def erasures(self) -> int:
        """How much was erased (count): another number means that old rows have changed meanwhile."""
        query = sa.select(sa.func.count()).where(entries.c.kind.in_([ERASED, ERASURE]))
        with self._connections.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def put(self, rows: Sequence[Row]) -> int:
        """Write rows as they are, all or none, after which new acts come later than all of them.

        Rows that are there already stay, so whoever was killed may write the same page again.

        Args:
            rows: one page, in the order of seq.

        Returns:
            How many were new.

        Raises:
            JournalError: there are other rows in their places.
        """
        if not rows:
            return 0
        c = entries.c
        first, last = rows[0][_SEQ], rows[-1][_SEQ]
        within = sa.select(entries).where(c.seq >= first, c.seq <= last)
        with self._connections.writing() as connection:
            there = {row.seq: tuple(row) for row in connection.execute(within)}
            given = {row[_SEQ]: tuple(row) for row in rows}
            for seq, row in there.items():
                if given.get(seq) != row:
                    raise JournalError(
                        f"journal {self._connections.name} has another act at place {seq} than the one that "
                        "is carried there; give an empty journal"
                    )
            new = [dict(zip(COLUMNS, row, strict=True)) for seq, row in given.items() if seq not in there]
            if new:
                connection.execute(sa.insert(entries), new)
                if self._connections.dialect == "postgresql":
                    connection.execute(_NEXT_SEQ)
        return len(new)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Nobody adds a row while the block runs, and nobody can from its end on, until `reopen`."""
        with self._connections.writing() as connection:
            yield
            fence(connection)

    def reopen(self) -> None:
        """Let a journal that was closed take acts again."""
        with self._connections.writing() as connection:
            unfence(connection)

    def sources(self) -> list[Row]:
        """The watched vaults, in the order of namespace and name; values of `SOURCE_COLUMNS`."""
        query = sa.select(sources).order_by(sources.c.namespace, sources.c.name)
        with self._connections.reading() as connection:
            found = [tuple(row) for row in connection.execute(query)]
        return sorted(found)  # whatever the order of letters is in the database

    def put_sources(self, rows: Sequence[Row]) -> None:
        """Let these vaults, and no others, be the watched ones."""
        with self._connections.writing() as connection:
            connection.execute(sa.delete(sources))
            if rows:
                connection.execute(
                    sa.insert(sources), [dict(zip(SOURCE_COLUMNS, row, strict=True)) for row in rows]
                )


class Digest:
    """A hash of rows in the order of seq: equal for equal rows, whatever pages they came in."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, rows: Iterable[Row]) -> None:
        """Go on with these rows."""
        for row in rows:
            self._hash.update(encoded(row))

    def value(self) -> str:
        """Of all rows so far, as hexadecimal digits."""
        return self._hash.hexdigest()


def encoded(row: Row) -> bytes:
    """A row as bytes that no other row has: the length of each value, then the value."""
    values = [value if isinstance(value, bytes) else str(value).encode() for value in row]
    return b"".join(b"%d:%b" % (len(value), value) for value in values)

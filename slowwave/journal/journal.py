"""Journal: the public interface to append, erase, lock and check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from slowwave.common.error_translation import journalled
from slowwave.common.threads import side_by_side
from slowwave.journal import erasing
from slowwave.journal.codec import row_of
from slowwave.journal.connection import Connections, Lock
from slowwave.journal.engines import Durability
from slowwave.journal.entry import AppendResult, Entry
from slowwave.journal.errors import JournalEntryError, JournalMovedError
from slowwave.journal.group_commit_queue import GroupCommitQueue
from slowwave.journal.inserting import Row, insert_entry, insert_new, last_places, refuse_conflicts
from slowwave.journal.reading import Reader
from slowwave.journal.schema import know_postgresql, sources
from slowwave.journal.transfer import StoredRows
from slowwave.journal.versions import create_or_check, problems_of
from slowwave.scoring.days import from_microseconds, to_microseconds


class Journal(Reader):
    """Append-only log of entries in a SQLite file or a PostgreSQL database.

    One object may serve any number of threads, and one journal any number of objects and processes. Every
    method raises `JournalError` if the database fails.

    Args:
        url: SQLAlchemy URL: ``sqlite:///file`` (created with its folder if missing) or
            ``postgresql://…``.
        durability: Of SQLite: with ``full`` what was appended survives a power cut; with ``normal`` it
            survives the end of the process, and a power cut may take the last few calls (whole ones).
            PostgreSQL follows its own ``synchronous_commit``.

    Raises:
        JournalError: The URL, its driver, the database or its schema version cannot be used.
    """

    def __init__(self, url: str | sa.URL, *, durability: Durability = "full") -> None:
        super().__init__(Connections(url, durability))
        self.where = self._connections.name  # its URL, without a password
        if self._connections.dialect == "postgresql":
            know_postgresql()
        self._insert_row = self._connections.prepare("insert", lambda: insert_entry(self._connections))
        try:
            create_or_check(self._connections)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open_path(cls, path: Path, *, durability: Durability = "full") -> Self:
        """Open the SQLite file at `path`; create it with its folder if missing."""
        return cls(sa.URL.create("sqlite", database=str(path.expanduser().absolute())), durability=durability)

    def append(self, entries: Sequence[Entry]) -> AppendResult:
        """Append entries atomically; they are durable when this returns.

        An entry whose event id exists with the same kind, namespace, subject, digest and payload is left as
        first written.

        Args:
            entries: In the order of their `seq`.

        Returns:
            Counts of new and of existing entries.

        Raises:
            JournalConflictError: An event id exists, or is twice in the batch, with other content.
            JournalEntryError: A payload cannot be written as JSON.
        """
        return self._count_new([row_of(entry) for entry in entries])

    def append_large(self, entries: Iterable[Entry]) -> AppendResult:
        """Append entries of megabytes: encoded in parallel, with few in memory at a time."""
        return self._count_new(list(side_by_side(row_of, entries)))

    def _count_new(self, rows: Sequence[Row]) -> AppendResult:
        new = len(self._append(rows, {}))
        return AppendResult(new, len(rows) - new)

    def append_next(self, entries: Sequence[Entry], after: Mapping[str, int]) -> list[Entry]:
        """Append entries as `append` does; return them as stored, with their places.

        Args:
            entries: Of one namespace, where `after` names sources.
            after: `seq` of the last entry about each of some sources, 0 if there is none.

        Raises:
            JournalMovedError: A later entry about such a source was written meanwhile; none of these
                was.
        """
        first = {entry.event_id: entry for entry in reversed(entries)}
        stored = {
            event: first[event].placed(seq, from_microseconds(ordered_at))
            for event, seq, ordered_at in self._append([row_of(entry) for entry in entries], after)
        }
        if len(stored) < len(first):
            stored |= self.entries(first.keys() - stored)
        return [stored[entry.event_id] for entry in entries]

    def _append(self, rows: Sequence[Row], after: Mapping[str, int]) -> list[Sequence[Any]]:
        """Write encoded entries; return event id, `seq` and `ordered_at` of the new ones."""
        if not rows:
            return []
        if len(rows) == 1 and not after:
            new = self._connections.insert(self._insert_row, rows[0])
            if not new:
                with self._connections.reading() as connection:
                    refuse_conflicts(connection, rows)
        else:
            with self._connections.writing() as connection:  # an error rolls the rows back
                last = last_places(self._connections, connection, rows[0]["namespace"], list(after))
                new = self._connections.insert_all(connection, self._insert_row, rows)
                if len(new) < len(rows):
                    refuse_conflicts(connection, rows)
                moved = [source for source, place in after.items() if last.get(source, 0) != place]
                if new and moved:
                    raise JournalMovedError(f"{moved[0]!r} was changed just now. Nothing was done.")
        journalled(len(rows))  # so that a later error reports it
        return new

    def add_source(self, namespace: str, name: str, uri: str, *, added_at: datetime, principal: str) -> bool:
        """Add a vault to scan; return False, without a change, if its name exists.

        Raises:
            JournalEntryError: `namespace`, `name` or `uri` is empty, or `added_at` has no time zone.
        """
        if not (namespace and name and uri):
            raise JournalEntryError(
                f"a source has namespace {namespace!r}, name {name!r} and URI {uri!r}; give all three"
            )
        if added_at.utcoffset() is None:
            raise JournalEntryError(
                f"added_at {added_at!r} has no time zone; "
                "give an aware datetime, for instance datetime.now(UTC)"
            )
        row = {
            "namespace": namespace,
            "name": name,
            "uri": uri,
            "added_at": to_microseconds(added_at),
            "principal": principal,
        }
        return self._changes_one(insert_new(sources, self._connections.dialect).values(row))

    def remove_source(self, namespace: str, name: str) -> bool:
        """Stop scanning a vault, and keep its saved notes; return False if it is unknown."""
        where = (sources.c.namespace == namespace, sources.c.name == name)
        return self._changes_one(sa.delete(sources).where(*where))

    def _changes_one(self, statement: sa.Insert | sa.Delete) -> bool:
        with self._connections.writing() as connection:
            return connection.execute(statement).rowcount == 1

    def erase(
        self, act: Entry, changes: Mapping[int, erasing.Redaction], *, watched: str | None = None
    ) -> None:
        """Erase text from entries in one transaction; the entries keep their places.

        Args:
            act: Event of the erasure; written in the same transaction.
            changes: Redactions by `seq`.
            watched: Namespace whose vaults are no longer watched.
        """
        with self._connections.writing() as connection:
            self._connections.insert_all(connection, self._insert_row, [row_of(act)])
            erasing.apply(connection, changes, watched)

    def drop_records(self, *, until: int, erasure: str) -> None:
        """Empty the table records up to a place; newer ones must replace them.

        Args:
            until: `seq` of the last one.
            erasure: Event id of the erasure.
        """
        with self._connections.writing() as connection:
            erasing.drop_records(connection, until, erasure)

    def rewrite(self) -> str:
        """Rewrite the database, so that nothing erased is left in it.

        Returns:
            What could not be done, in a sentence; empty if nothing is left.

        Raises:
            JournalError: Other processes hold the file open.
        """
        return erasing.rewrite(self._connections)

    def exclusive(
        self,
        what: Lock = "memories",
        waiting: AbstractContextManager[object] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> AbstractContextManager[bool]:
        """Return a lock with one holder at a time, over processes and machines.

        It guards what several processes change beside the journal; appending and reading do not need it.

        Args:
            what: memories, while they are changed; night, for the length of a nightly job; backup, while
                one is created.
            waiting: Entered while another process holds it.
            until: Polled meanwhile; once it is true, the wait ends without the lock.

        Returns:
            Context whose value says whether the lock is held.
        """
        return self._connections.exclusive(what, waiting, until)

    @cached_property
    def queue(self) -> GroupCommitQueue:
        """Queue of events for the holder of the memories' lock."""
        return GroupCommitQueue(self._connections)

    @cached_property
    def rows(self) -> StoredRows:
        """Rows as stored, to copy them into another journal."""
        return StoredRows(self._connections)

    def check(self) -> list[str]:
        """Return the problems of the journal, a sentence each; empty if there are none.

        Checks the schema version and whether it is writable; of SQLite also the file's integrity (reads all
        of it) and its WAL mode.
        """
        return problems_of(self._connections)

    def close(self) -> None:
        """Close the connections; further calls raise `JournalError`."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

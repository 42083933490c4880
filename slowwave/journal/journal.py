"""The journal as its callers see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
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
from slowwave.journal.versions import make_or_upgrade, problems_of
from slowwave.scoring.days import from_microseconds, to_microseconds


class Journal(Reader):
    """An append-only log of entries in a SQLite file or a PostgreSQL database.

    One object serves any number of threads; any number of objects, in any number of processes, serve one
    journal. Every method raises `JournalError` if the database cannot do what was asked.

    Args:
        url: SQLAlchemy URL: ``sqlite:///file`` (made with its folder if missing) or ``postgresql://…``.
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
        self._insert_row = self._connections.prepare(insert_entry(self._connections))
        try:
            make_or_upgrade(self._connections, self._insert_row)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open_path(cls, path: Path, *, durability: Durability = "full") -> Self:
        """Open the SQLite file at `path`, whatever its name holds; made with its folder if missing."""
        return cls(sa.URL.create("sqlite", database=str(path.expanduser().absolute())), durability=durability)

    def append(self, entries: Sequence[Entry]) -> AppendResult:
        """Write entries, all or none; when it returns they are durable.

        An entry whose event id is in the journal already, with the same kind, namespace, subject, digest and
        payload, is left as it was first written.

        Args:
            entries: In the order in which they get their `seq`.

        Returns:
            How many were new, and how many were there before.

        Raises:
            JournalConflictError: An event id is in the journal, or twice in the batch, with other content.
            JournalEntryError: A payload cannot be written as JSON.
        """
        return self._count_new([row_of(entry) for entry in entries])

    def append_large(self, entries: Iterable[Entry]) -> AppendResult:
        """`append` for entries of megabytes: encoded side by side, and only a few in memory before that."""
        return self._count_new(list(side_by_side(row_of, entries)))

    def _count_new(self, rows: Sequence[Row]) -> AppendResult:
        new = len(self._append(rows, {}))
        return AppendResult(new, len(rows) - new)

    def append_next(self, entries: Sequence[Entry], after: Mapping[str, int]) -> list[Entry]:
        """Write entries as `append` does; return them as the journal has them, with their places.

        Args:
            entries: Of one namespace, where `after` names sources.
            after: The `seq` of the last entry about each of some sources, 0 where there is none.

        Raises:
            JournalMovedError: Another one about such a source was written since; none of these was.
        """
        first = {entry.event_id: entry for entry in reversed(entries)}
        known = {
            event: replace(
                first[event], occurred_at=first[event].occurred_at.astimezone(UTC), seq=seq,
                ordered_at=from_microseconds(ordered_at),
            )
            for event, seq, ordered_at in self._append([row_of(entry) for entry in entries], after)
        }  # fmt: skip
        if len(known) < len(first):
            known |= self.entries(first.keys() - known)
        return [known[entry.event_id] for entry in entries]

    def _append(self, rows: Sequence[Row], after: Mapping[str, int]) -> list[Sequence[Any]]:
        """Write encoded entries; return event id, `seq` and `ordered_at` of those that are new."""
        if not rows:
            return []
        if len(rows) == 1 and not after:
            new = self._connections.insert(self._insert_row, rows[0])
            if not new:
                with self._connections.reading() as connection:
                    refuse_conflicts(connection, rows)
        else:
            with self._connections.writing() as connection:  # an error takes the rows back
                last = last_places(connection, rows[0]["namespace"], list(after))
                new = self._connections.insert_all(connection, self._insert_row, rows)
                if len(new) < len(rows):
                    refuse_conflicts(connection, rows)
                moved = [source for source, place in after.items() if last.get(source, 0) != place]
                if new and moved:
                    raise JournalMovedError(f"{moved[0]!r} was changed just now. Nothing was done.")
        journalled(len(rows))  # so that an error from here on can say so
        return new

    def add_source(self, namespace: str, name: str, uri: str, *, added_at: datetime, principal: str) -> bool:
        """Remember a vault to scan; False if the name is known already, which changes nothing.

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
        """Scan a vault no more, and keep what was saved from it; False if it was not known."""
        mine = (sources.c.namespace == namespace, sources.c.name == name)
        return self._changes_one(sa.delete(sources).where(*mine))

    def _changes_one(self, statement: sa.Insert | sa.Delete) -> bool:
        with self._connections.writing() as connection:
            return connection.execute(statement).rowcount == 1

    def erase(
        self, act: Entry, changes: Mapping[int, erasing.Redaction], *, watched: str | None = None
    ) -> None:
        """Take text out of entries for good, all at once; the entries stay in their places.

        Args:
            act: Says that it was done; written in the same transaction.
            changes: What becomes of each entry, by `seq`.
            watched: A namespace whose vaults are watched no more.
        """
        with self._connections.writing() as connection:
            self._connections.insert_all(connection, self._insert_row, [row_of(act)])
            erasing.apply(connection, changes, watched)

    def drop_records(self, *, until: int, erasure: str) -> None:
        """Take the records of tables out that stand up to a place; newer ones have to be there instead.

        Args:
            until: `seq` of the last one.
            erasure: Event id of the act of erasing.
        """
        with self._connections.writing() as connection:
            erasing.drop_records(connection, until, erasure)

    def rewrite(self) -> str:
        """Write the database anew, so that nothing of what was erased is left in it.

        Returns:
            What could not be done here, in a sentence; empty where nothing is left.

        Raises:
            JournalError: Other processes do not let go of the file.
        """
        return erasing.rewrite(self._connections)

    def exclusive(
        self,
        what: Lock = "memories",
        waiting: AbstractContextManager[object] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> AbstractContextManager[bool]:
        """A lock that one user of this journal holds at a time, over threads, processes and machines.

        It guards what more than one process changes beside the journal; appending and reading do not need it.

        Args:
            what: memories, while they are changed; night, for the length of a run of the night; backup, while
                one is made.
            waiting: entered for as long as another one has it.
            until: asked again and again meanwhile; once it is true the wait ends without the lock.

        Returns:
            A context whose value says whether the lock is held.
        """
        return self._connections.exclusive(what, waiting, until)

    @cached_property
    def queue(self) -> GroupCommitQueue:
        """Acts that wait to be taken in by whoever has the lock of the memories."""
        return GroupCommitQueue(self._connections)

    @cached_property
    def rows(self) -> StoredRows:
        """Its rows as they are stored, to carry them into another journal."""
        return StoredRows(self._connections)

    def check(self) -> list[str]:
        """What is wrong with the journal, a sentence per problem; empty if nothing is.

        Looks at the schema version, whether it can be written, and of SQLite also at the file's integrity
        (reads all of it) and at its WAL mode.
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

"""The journal as its callers see it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from slowwave.common.boundary import journalled
from slowwave.common.threads import side_by_side
from slowwave.journal.codec import decode, encode, payload_of
from slowwave.journal.entry import AppendResult, Entry, Source, require_days, require_kinds
from slowwave.journal.errors import JournalEntryError
from slowwave.scoring.days import day_of, from_microseconds, to_microseconds

# They take most of a second to import, and a command that only prints its help needs neither.
if TYPE_CHECKING:
    import polars as pl
    import sqlalchemy as sa

    from slowwave.journal.carrying import Rows
    from slowwave.journal.erasing import Change
    from slowwave.journal.queue import Queue


class Journal:
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

    def __init__(self, url: str | sa.URL, *, durability: Literal["full", "normal"] = "full") -> None:
        from slowwave.journal.database import Database

        self._database = Database(url, durability)
        self.where = self._database.connections.name  # its URL, without a password

    @classmethod
    def open_path(cls, path: Path, *, durability: Literal["full", "normal"] = "full") -> Self:
        """Open the SQLite file at `path`, whatever its name holds; made with its folder if missing."""
        from sqlalchemy import URL

        return cls(URL.create("sqlite", database=str(path.expanduser().absolute())), durability=durability)

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
        return self._append([_to_row(entry) for entry in entries])

    def append_next(self, entries: Sequence[Entry], after: Mapping[str, int]) -> None:
        """Write entries of a namespace, if `after` has the `seq` of the last about each source; 0: none.

        Raises:
            JournalMovedError: another one was written since; none of these was.
        """
        self._database.append_next([_to_row(entry) for entry in entries], after)
        journalled(len(entries))

    def append_large(self, entries: Iterable[Entry]) -> AppendResult:
        """`append` for entries of megabytes: encoded side by side, and only a few in memory before that."""
        return self._append(list(side_by_side(_to_row, entries)))

    def _append(self, rows: Sequence[Mapping[str, Any]]) -> AppendResult:
        """Write encoded entries: other writers wait from here on."""
        if not rows:
            return AppendResult(0, 0)
        result = self._database.append(rows)
        journalled(len(rows))  # so that an error from here on can say so
        return result

    def days(self, kinds: Sequence[str], days: Sequence[str] | None = None) -> pl.DataFrame:
        """Which days have entries of these kinds.

        Args:
            kinds: Only of these kinds.
            days: Only these UTC days (YYYY-MM-DD); None is all, and counts every entry of the kinds.

        Returns:
            A row per day and namespace, sorted by both: ``day`` (UTC, YYYY-MM-DD), ``namespace``, ``entries``
            (count) and ``last_seq``, which grows whenever an entry for that day arrives late.

        Raises:
            JournalEntryError: An unknown kind.
        """
        from slowwave.journal.frames import DAY_SCHEMA, to_frame

        require_kinds(kinds)
        return to_frame(self._database.days(kinds, days), DAY_SCHEMA).sort("day", "namespace")

    def read(
        self,
        *,
        kinds: Sequence[str],
        days: Sequence[str] | None = None,
        namespace: str | None = None,
        after_seq: int = 0,
        limit: int | None = None,
    ) -> pl.DataFrame:
        """Entries in the order of `seq`.

        Args:
            kinds: Only of these kinds.
            days: Only of these UTC days (YYYY-MM-DD); None is all.
            namespace: Only of this namespace; None is all.
            after_seq: Only with a greater `seq`.
            limit: At most so many, the first ones (count); None is all.

        Returns:
            The fields of `Entry` and ``day``; ``occurred_at`` and ``ordered_at`` are Datetime(us, UTC),
            ``payload`` holds JSON bytes (see `payload_of`).

        Raises:
            JournalEntryError: An unknown kind, a malformed day, or a negative limit.
        """
        from slowwave.journal.frames import entry_frame

        require_kinds(kinds)
        require_days(days or ())
        if limit is not None and limit < 0:
            raise JournalEntryError(f"limit is {limit}; give a count of 0 or more, or None for all entries")
        return entry_frame(
            self._database.select(
                kinds=kinds, days=days, namespace=namespace, after_seq=after_seq, limit=limit
            )
        )

    def get(self, event_id: str) -> Entry | None:
        """The entry with this event id, or None."""
        row = self._database.find(event_id)
        return None if row is None else _to_entry(row)

    def entries(self, event_ids: Collection[str]) -> dict[str, Entry]:
        """Those of these entries that are in the journal, by event id."""
        rows = self._database.find_all(sorted(set(event_ids)))
        return {row["event_id"]: _to_entry(row) for row in rows}

    def named(self, kind: str, namespace: str, beginning: str, *, most: int = 10) -> list[str]:
        """Event ids of a kind in a namespace that begin with this text, sorted, at most so many (count).

        Raises:
            JournalEntryError: An unknown kind.
        """
        from slowwave.journal import naming

        require_kinds([kind])
        return naming.named(self._database.connections, kind, namespace, beginning, most)

    def last(self, kind: str, namespace: str, principal: str) -> str | None:
        """Event id of the last entry of a kind that a principal wrote in a namespace, or None.

        Raises:
            JournalEntryError: An unknown kind.
        """
        from slowwave.journal import naming

        require_kinds([kind])
        return naming.last(self._database.connections, kind, namespace, principal)

    def about(self, namespace: str, subject: str) -> list[Entry]:
        """Every save, forget and unreadable of one source, the first one first."""
        return [_to_entry(row) for row in self._database.about(namespace, subject)]

    def rewritten(self, namespace: str, subjects: Collection[str]) -> list[str]:
        """Those of these sources that were saved with more than one text, sorted."""
        return self._database.rewritten(namespace, sorted(set(subjects)))

    def latest(self, namespace: str, subjects: Collection[str]) -> dict[str, Entry]:
        """The newest save, forget or unreadable of each of these sources that has one."""
        rows = self._database.latest(namespace, sorted(set(subjects)))
        return {row["subject"]: _to_entry(row) for row in rows}

    def feedback_on(self, namespace: str, *subjects: str) -> list[Entry]:
        """Every rating, observation and outcome of these searches or projects, the first written first."""
        return [_to_entry(row) for row in self._database.about_searches(namespace, subjects)]

    def searches_of(self, namespace: str, project: str, *, after_seq: int = 0) -> int:
        """How many searches were made for a project, of those after a place in the journal (count)."""
        return self._database.searches_of(namespace, project, after_seq)

    def count(self, namespace: str, kind: str) -> int:
        """How many entries of a kind a namespace has. As none is ever removed, it tells whether one is new.

        Raises:
            JournalEntryError: An unknown kind.
        """
        require_kinds([kind])
        return self._database.count(namespace, kind)

    def latest_sources(self, namespace: str, origin: str) -> pl.DataFrame:
        """The newest save, forget or unreadable of every source that came from one vault.

        Args:
            namespace: The vault's namespace.
            origin: The vault's name, or "" for the sources that came from no vault.

        Returns:
            A row per subject, sorted by it: ``subject``, ``kind``, ``digest``, ``content_hash``,
            ``occurred_at``, ``event_id``. Newest is what was written last.
        """
        from slowwave.journal.frames import SOURCE_SCHEMA, to_frame

        return to_frame(self._database.latest_sources(namespace, origin), SOURCE_SCHEMA).sort("subject")

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
        return self._database.add_source(
            {
                "namespace": namespace,
                "name": name,
                "uri": uri,
                "added_at": to_microseconds(added_at),
                "principal": principal,
            }
        )

    def remove_source(self, namespace: str, name: str) -> bool:
        """Scan a vault no more, and keep what was saved from it; False if it was not known."""
        return self._database.remove_source(namespace, name)

    def sources(self) -> list[Source]:
        """The vaults to scan, the one added first first."""
        return [
            Source(**{**row, "added_at": from_microseconds(row["added_at"])})
            for row in self._database.sources()
        ]

    def subjects(self, namespace: str) -> dict[str, str]:
        """Every source that a namespace has acts about, with the vault that it came from ("" for none)."""
        from slowwave.journal import erasing

        return dict(erasing.subjects(self._database.connections, namespace))

    def erased_sources(self, namespace: str, origin: str) -> dict[str, set[str]]:
        """What is kept to know erased sources of a vault again: digests by the name that they have now."""
        from slowwave.journal import erasing

        return erasing.erased_sources(self._database.connections, namespace, origin)

    def erase(self, act: Entry, changes: Mapping[int, Change], *, watched: str | None = None) -> None:
        """Take text out of entries for good, all at once; the entries stay in their places.

        Args:
            act: Says that it was done; written in the same transaction.
            changes: What becomes of each entry, by `seq`.
            watched: A namespace whose vaults are watched no more.
        """
        from slowwave.journal import erasing

        self._database.append_and(
            _to_row(act), lambda connection: erasing.apply(connection, changes, watched)
        )

    def last_seq(self) -> int:
        """Place of the entry that was written last; 0 where there is none."""
        return self._database.last_seq()

    def drop_records(self, *, until: int, erasure: str) -> None:
        """Take the records of tables out that stand up to a place; newer ones have to be there instead.

        Args:
            until: `seq` of the last one.
            erasure: Event id of the act of erasing.
        """
        from slowwave.journal import erasing

        erasing.drop_records(self._database.connections, until, erasure)

    def rewrite(self) -> str:
        """Write the database anew, so that nothing of what was erased is left in it.

        Returns:
            What could not be done here, in a sentence; empty where nothing is left.

        Raises:
            JournalError: Other processes do not let go of the file.
        """
        from slowwave.journal import erasing

        return erasing.rewrite(self._database.connections)

    def exclusive(
        self,
        what: Literal["memories", "night", "backup"] = "memories",
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
        return self._database.connections.exclusive(what, waiting, until)

    @cached_property
    def queue(self) -> Queue:
        """Acts that wait to be taken in by whoever has the lock of the memories."""
        from slowwave.journal.queue import Queue

        return Queue(self._database.connections)

    @cached_property
    def rows(self) -> Rows:
        """Its rows as they are stored, to carry them into another journal."""
        from slowwave.journal.carrying import Rows

        return Rows(self._database.connections)

    def check(self) -> list[str]:
        """What is wrong with the journal, a sentence per problem; empty if nothing is.

        Looks at the schema version, whether it can be written, and of SQLite also at the file's integrity
        (reads all of it) and at its WAL mode.
        """
        return self._database.check()

    def close(self) -> None:
        """Close the connections; further calls raise `JournalError`."""
        self._database.connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _to_row(entry: Entry) -> dict[str, Any]:
    return {
        "event_id": entry.event_id,
        "kind": entry.kind,
        "namespace": entry.namespace,
        "subject": entry.subject,
        "occurred_at": to_microseconds(entry.occurred_at),
        "day": day_of(entry.occurred_at),
        "principal": entry.principal,
        "digest": entry.digest,
        "content_hash": entry.content_hash,
        "origin": entry.origin,
        "payload": encode(entry.payload, entry.event_id),
    }


def _to_entry(row: dict[str, Any]) -> Entry:
    del row["day"]
    row["occurred_at"] = from_microseconds(row["occurred_at"])
    row["ordered_at"] = from_microseconds(row["ordered_at"])
    row["payload"] = payload_of(decode(row["payload"]))
    return Entry(**row)

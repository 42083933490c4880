"""Queries of the journal: entries by day, by id and by source, and watched vaults."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from slowwave.journal.codec import entry_of
from slowwave.journal.connection import Connections, batches
from slowwave.journal.entry import ERASED, Entry, WatchedVault, require_days, require_kinds
from slowwave.journal.errors import JournalEntryError
from slowwave.journal.inserting import about_one, are_about
from slowwave.journal.schema import IS_ABOUT_A_SOURCE, IS_FEEDBACK, IS_OF_A_PROJECT, entries, sources
from slowwave.scoring.days import from_microseconds

if TYPE_CHECKING:  # Polars takes most of a second to import, and not every command reads frames
    import polars as pl

CHUNK_ROWS = 1_000
"""Rows that are in memory as Python objects at a time while reading (count)."""

c = entries.c


class Reader:
    """Reading half of `slowwave.journal.Journal`."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        where = (c.kind == sa.bindparam("kind"), c.namespace == sa.bindparam("namespace"))
        self._count = connections.prepare("count", lambda: sa.select(sa.func.count()).where(*where))

    def days(self, kinds: Sequence[str], days: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the days with entries of these kinds.

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
        query = sa.select(c.day, c.namespace, sa.func.count(), sa.func.max(c.seq)).where(c.kind.in_(kinds))
        if days is not None:
            query = query.where(c.day.in_(days))
        rows = self._all(query.group_by(c.day, c.namespace))
        return to_frame(rows, DAY_SCHEMA).sort("day", "namespace")

    def read(
        self,
        *,
        kinds: Sequence[str],
        days: Sequence[str] | None = None,
        namespace: str | None = None,
        after_seq: int = 0,
        limit: int | None = None,
        columns: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Return entries in the order of `seq`.

        Args:
            kinds: Only of these kinds.
            days: Only of these UTC days (YYYY-MM-DD); None is all.
            namespace: Only of this namespace; None is all.
            after_seq: Only with a greater `seq`.
            limit: At most so many, the first ones (count); None is all.
            columns: Only these columns; None is all.

        Returns:
            The fields of `Entry` and ``day``; ``occurred_at`` and ``ordered_at`` are Datetime(us, UTC),
            ``payload`` holds JSON bytes (see `payload_of`).

        Raises:
            JournalEntryError: An unknown kind, a malformed day, or a negative limit.
        """
        from slowwave.journal.frames import ENTRY_SCHEMA, entry_frame

        require_kinds(kinds)
        require_days(days or ())
        if limit is not None and limit < 0:
            raise JournalEntryError(f"limit is {limit}; give a count of 0 or more, or None for all entries")
        matches = sa.select(c.seq).where(c.kind.in_(kinds), c.seq > after_seq)
        if days is not None:
            matches = matches.where(c.day.in_(days))
        if namespace is not None:
            matches = matches.where(c.namespace == namespace)
        # Matched in an index first: sorting whole rows would carry every payload through the sort.
        matches = matches.order_by(c.seq).limit(limit)
        names = list(ENTRY_SCHEMA) if columns is None else list(columns)
        query = sa.select(*(c[name] for name in names)).where(c.seq.in_(matches)).order_by(c.seq)
        with self._connections.reading() as connection:
            rows = connection.execution_options(yield_per=CHUNK_ROWS).execute(query)
            return entry_frame(rows.partitions(), names)

    def pages(
        self,
        *,
        kinds: Sequence[str],
        days: Sequence[str] | None = None,
        namespace: str | None = None,
        size: int,
    ) -> Iterator[pl.DataFrame]:
        """Yield pages of entries in the order of `seq`, at most `size` each; see `read`."""
        seq, more = 0, True
        while more:
            page = self.read(kinds=kinds, days=days, namespace=namespace, after_seq=seq, limit=size)
            if more := page.height == size:
                seq = int(page["seq"][-1])
            if page.height:
                yield page

    def get(self, event_id: str) -> Entry | None:
        """Return the entry with this event id, or None."""
        return next(self._entries(sa.select(entries).where(c.event_id == event_id)), None)

    def entries(self, event_ids: Collection[str]) -> dict[str, Entry]:
        """Return those of these entries that are in the journal, by event id."""
        parts = batches(sorted(set(event_ids)))
        matches = self._entries(*(sa.select(entries).where(c.event_id.in_(part)) for part in parts))
        return {entry.event_id: entry for entry in matches}

    def named(self, kind: str, namespace: str, beginning: str, *, most: int = 10) -> list[str]:
        """Return sorted event ids of a kind with a prefix, at most `most`.

        Raises:
            JournalEntryError: An unknown kind.
        """
        require_kinds([kind])
        begins = c.event_id.startswith(beginning, autoescape=True)
        if self._connections.dialect == "sqlite":  # by bytes, so that an index finds them
            begins = sa.and_(c.event_id >= beginning, c.event_id < beginning + chr(sys.maxunicode))
        query = sa.select(c.event_id).where(begins, c.kind == kind, c.namespace == namespace)
        return [event for (event,) in self._all(query.order_by(c.event_id).limit(most))]

    def last(self, kind: str, namespace: str, principal: str) -> str | None:
        """Return the event id of a user's last entry of a kind, or None.

        Raises:
            JournalEntryError: An unknown kind.
        """
        require_kinds([kind])
        where = (c.kind == kind, c.namespace == namespace, c.principal == principal)
        event: str | None = self._scalar(sa.select(c.event_id).where(*where).order_by(c.seq.desc()).limit(1))
        return event

    def about(self, namespace: str, subject: str) -> list[Entry]:
        """Return every save, forget and unreadable of one source, the oldest first."""
        query = sa.select(entries).where(are_about(namespace, [subject]))
        return list(self._entries(query.order_by(c.ordered_at, c.seq)))

    def rewritten(self, namespace: str, subjects: Collection[str]) -> list[str]:
        """Return those of these sources that were saved with more than one text, sorted."""
        if len(subjects) == 1:
            (subject,) = subjects
            ((count,),) = self._about_one("rewritten", _texts_of_one, namespace, subject)
            return [subject] if count > 1 else []
        texts = sa.func.count(sa.distinct(c.content_hash))
        queries = (
            sa.select(c.subject)
            .where(are_about(namespace, part), c.kind == "save")
            .group_by(c.subject)
            .having(texts > 1)
            for part in batches(sorted(set(subjects)))
        )
        return sorted(subject for (subject,) in self._all(*queries))

    def resaved(self, namespace: str) -> pl.DataFrame:
        """Return every save of a namespace but the first one of its source, without payloads.

        Returns:
            ``subject``, ``event_id``, ``occurred_at``, ``principal``, ``content_hash`` and ``before``, the
            content hash of the save before it; in the order of the events of each source.
        """
        import polars as pl

        from slowwave.journal.frames import SAVE_SCHEMA, to_frame

        many = (
            sa.select(c.subject)
            .where(c.namespace == namespace, IS_ABOUT_A_SOURCE, c.kind == "save")
            .group_by(c.origin, c.subject)
            .having(sa.func.count() > 1)
        )
        subjects = sorted({subject for (subject,) in self._all(many)})
        columns = [c[name] for name in SAVE_SCHEMA]
        rows = self._all(
            *(
                sa.select(*columns)
                .where(are_about(namespace, part), c.kind == "save")
                .order_by(c.ordered_at, c.seq)
                for part in batches(subjects)
            )
        )
        saves = to_frame(rows, SAVE_SCHEMA)
        before = pl.col("content_hash").shift().over("subject")
        is_first = pl.int_range(pl.len()).over("subject") == 0
        return saves.with_columns(before=before).filter(~is_first)

    def forgets(self, namespace: str) -> pl.DataFrame:
        """Return every forget of a namespace: ``subject`` and ``occurred_at``."""
        from slowwave.journal.frames import FORGET_SCHEMA, to_frame

        columns = [c[name] for name in FORGET_SCHEMA]
        query = sa.select(*columns).where(c.kind == "forget", c.namespace == namespace)
        return to_frame(self._all(query), FORGET_SCHEMA)

    def latest(self, namespace: str, subjects: Collection[str]) -> dict[str, Entry]:
        """Return the newest save, forget or unreadable of each of these sources that has one."""
        if len(subjects) == 1:
            (subject,) = subjects
            rows = self._about_one("latest", _newest_of_one, namespace, subject)
            found = [entry_of(dict(zip(c.keys(), row, strict=True))) for row in rows]
            return {entry.subject: entry for entry in found}
        queries = (
            sa.select(entries).where(c.seq.in_(_newest(c.event_id, are_about(namespace, part))))
            for part in batches(sorted(set(subjects)))
        )
        return {entry.subject: entry for entry in self._entries(*queries)}

    def latest_sources(self, namespace: str, origin: str) -> pl.DataFrame:
        """Return the newest save, forget or unreadable of every source of one vault.

        Args:
            namespace: The vault's namespace.
            origin: The vault's name, or "" for sources without a vault.

        Returns:
            A row per subject, sorted by it: ``subject``, ``kind``, ``digest``, ``content_hash``,
            ``occurred_at``, ``event_id``. Newest means written last.
        """
        from slowwave.journal.frames import SOURCE_SCHEMA, to_frame

        newest = _newest(c.seq, c.namespace == namespace, c.origin == origin, IS_ABOUT_A_SOURCE)
        query = sa.select(*(c[name] for name in SOURCE_SCHEMA)).where(c.seq.in_(newest))
        return to_frame(self._all(query), SOURCE_SCHEMA).sort("subject")

    def feedback_on(self, namespace: str, *subjects: str) -> list[Entry]:
        """Return every rating, observation and outcome of these subjects, the oldest first.

        Subjects are searches or projects.
        """
        query = sa.select(entries).where(c.namespace == namespace, c.subject.in_(subjects), IS_FEEDBACK)
        return list(self._entries(query.order_by(c.seq)))

    def searches_of(self, namespace: str, project: str, *, after_seq: int = 0) -> int:
        """Count the searches for a project after a place in the journal."""
        where = (c.namespace == namespace, c.origin == project, c.seq > after_seq, IS_OF_A_PROJECT)
        return int(self._scalar(sa.select(sa.func.count()).where(*where)))

    def subjects_of(self, namespace: str, kind: str) -> set[str]:
        """Return the subjects of the entries of a kind in a namespace."""
        query = sa.select(c.subject).where(c.kind == kind, c.namespace == namespace).distinct()
        return {subject for (subject,) in self._all(query)}

    def count(self, namespace: str, kind: str) -> int:
        """Count a namespace's entries of a kind.

        Entries are never removed, so a larger count means a new one.

        Raises:
            JournalEntryError: An unknown kind.
        """
        require_kinds([kind])
        return self._connections.number(self._count, {"kind": kind, "namespace": namespace})

    def last_seq(self) -> int:
        """Return the place of the last entry; 0 if there is none."""
        return int(self._scalar(sa.select(sa.func.max(c.seq))) or 0)

    def sources(self) -> list[WatchedVault]:
        """Return the vaults to scan, in the order in which they were added."""
        order = (sources.c.added_at, sources.c.namespace, sources.c.name)
        return [
            WatchedVault(**row._asdict() | {"added_at": from_microseconds(row.added_at)})
            for row in self._all(sa.select(sources).order_by(*order))
        ]

    def subjects(self, namespace: str) -> dict[str, str]:
        """Return every source of a namespace with its vault ("" for none)."""
        query = sa.select(c.subject, c.origin).distinct().where(c.namespace == namespace, IS_ABOUT_A_SOURCE)
        return {row.subject: row.origin for row in self._all(query)}

    def erased_sources(self, namespace: str, origin: str) -> dict[str, set[str]]:
        """Return the tombstones of a vault's erased sources: digests by their new subject."""
        where = (c.kind == ERASED, c.namespace == namespace, c.origin == origin, c.digest != "")
        kept: dict[str, set[str]] = {}
        for row in self._all(sa.select(c.subject, c.digest).where(*where)):
            kept.setdefault(row.subject, set()).add(row.digest)
        return kept

    def _all(self, *queries: sa.Select[Any]) -> list[sa.Row[Any]]:
        """Return the rows of queries, read in one transaction."""
        if not queries:
            return []
        with self._connections.reading() as connection:
            return [row for query in queries for row in connection.execute(query)]

    def _about_one(
        self,
        name: str,
        make: Callable[[sa.ColumnElement[bool]], sa.Select[Any]],
        namespace: str,
        subject: str,
    ) -> list[Sequence[Any]]:
        """Return the rows of a query about one source, by the driver alone: each save asks twice."""
        prepared, values = about_one(self._connections, name, make, namespace, subject)
        return self._connections.rows(prepared, values)

    def _scalar(self, query: sa.Select[Any]) -> Any:  # noqa: ANN401 - of whatever type the query has
        with self._connections.reading() as connection:
            return connection.execute(query).scalar()

    def _entries(self, *queries: sa.Select[Any]) -> Iterator[Entry]:
        """Yield the entries of queries for whole rows."""
        return (entry_of(row._asdict()) for row in self._all(*queries))


def _newest_of_one(about: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return sa.select(entries).where(about).order_by(c.ordered_at.desc(), c.event_id.desc()).limit(1)


def _texts_of_one(about: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return sa.select(sa.func.count(sa.distinct(c.content_hash))).where(about, c.kind == "save")


def _newest(tie: sa.Column[Any], *among: sa.ColumnElement[bool] | sa.TextClause) -> sa.Select[Any]:
    """Return a query for the seq of each subject's newest row; `tie` breaks ties."""
    order = (c.ordered_at.desc(), tie.desc())
    place = sa.func.row_number().over(partition_by=c.subject, order_by=order)
    ranked = sa.select(c.seq, place.label("place")).where(*among).subquery()
    return sa.select(ranked.c.seq).where(ranked.c.place == 1)

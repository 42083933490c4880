"""The journal's statements: rows in, rows out. They are one file because they are of one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from slowwave.journal.codec import decode, encode
from slowwave.journal.connection import Connections, Durability
from slowwave.journal.entry import UPGRADE, AppendResult
from slowwave.journal.errors import JournalConflictError, JournalError, JournalMovedError
from slowwave.journal.former import keep_former
from slowwave.journal.schema import (
    FEEDBACK_INDEXES,
    IS_ABOUT_A_SOURCE,
    IS_FEEDBACK,
    IS_OF_A_PROJECT,
    OLD_SOURCE_INDEX,
    SCHEMA_VERSION,
    SOURCE_INDEX,
    entries,
    know_postgresql,
    meta,
    metadata,
    sources,
)
from slowwave.scoring.days import day_of, from_microseconds

CHUNK_ROWS = 1_000
"""Rows that are in memory as Python objects at a time while reading (count)."""

_LOOKUP_IDS = 500
_GIVEN = [column for column in entries.c if column.name not in ("seq", "ordered_at")]
_COMPARED = ("kind", "namespace", "subject", "digest", "payload")
_SELECT_VERSION = sa.select(meta.c.value).where(meta.c.key == "schema_version")


class Database:
    """The tables of one journal.

    Args:
        url: SQLAlchemy URL.
        durability: See `Connections`.

    Raises:
        JournalError: It cannot be opened, or a newer version of Slowwave made it.
    """

    def __init__(self, url: str | sa.URL, durability: Durability) -> None:
        self.connections = Connections(url, durability)
        if self.connections.dialect == "postgresql":
            know_postgresql()
        # Built once: the library remembers with each statement how it was compiled.
        self._insert_entry = _insert_entry(self.connections.dialect)
        self._insert_one = self.connections.prepare(self._insert_entry)
        mine = (entries.c.kind == sa.bindparam("kind"), entries.c.namespace == sa.bindparam("namespace"))
        self._count = self.connections.prepare(sa.select(sa.func.count()).where(*mine))
        self._insert_source = _insert_new(sources, self.connections.dialect)
        try:
            self._open()
        except BaseException:
            self.connections.close()
            raise

    def append(self, rows: Sequence[Mapping[str, Any]]) -> AppendResult:
        """Insert the rows whose event id is new, in one transaction.

        Args:
            rows: The columns of `entries` without ``seq`` and ``ordered_at``, one mapping per row.

        Raises:
            JournalConflictError: An event id is there with other content.
        """
        if len(rows) == 1:
            appended = self.connections.insert(self._insert_one, rows[0])
            if not appended:
                with self.connections.reading() as connection:
                    _refuse_conflicts(connection, rows)
            return AppendResult(appended, 1 - appended)
        with self.connections.writing() as connection:
            appended = connection.execute(self._insert_entry, rows).rowcount
            if appended < len(rows):
                _refuse_conflicts(connection, rows)
        return AppendResult(appended, len(rows) - appended)

    def append_next(self, rows: Sequence[Mapping[str, Any]], after: Mapping[str, int]) -> None:
        """Insert rows of one namespace, if that is the last of some sources; see `Journal.append_next`."""
        with self.connections.writing() as connection:  # an error takes the rows back
            last = _last_places(connection, rows[0]["namespace"], list(after))
            new = connection.execute(self._insert_entry, rows).rowcount
            if new < len(rows):
                _refuse_conflicts(connection, rows)
            moved = [source for source, place in after.items() if last.get(source, 0) != place]
            if new and moved:
                raise JournalMovedError(f"{moved[0]!r} was changed just now. Nothing was done.")

    def append_and(self, row: Mapping[str, Any], change: Callable[[sa.Connection], None]) -> None:
        """Insert one row and make a change that it tells of, in one transaction."""
        with self.connections.writing() as connection:
            connection.execute(self._insert_entry, [row])
            change(connection)

    def days(self, kinds: Sequence[str], days: Sequence[str] | None = None) -> Sequence[Sequence[Any]]:
        """(day, namespace, entries, last_seq) of every one of some days that has entries of these kinds."""
        c = entries.c
        among = c.kind.in_(kinds) if days is None else sa.and_(c.kind.in_(kinds), c.day.in_(days))
        query = (
            sa.select(
                c.day, c.namespace, sa.func.count().label("entries"), sa.func.max(c.seq).label("last_seq")
            )
            .where(among)
            .group_by(c.day, c.namespace)
        )
        with self.connections.reading() as connection:
            return connection.execute(query).all()

    def select(
        self,
        *,
        kinds: Sequence[str],
        days: Sequence[str] | None,
        namespace: str | None,
        after_seq: int,
        limit: int | None,
    ) -> Iterator[Sequence[Sequence[Any]]]:
        """Whole rows in the order of seq, at most `CHUNK_ROWS` at a time; see `Journal.read`."""
        found = sa.select(entries.c.seq).where(entries.c.kind.in_(kinds), entries.c.seq > after_seq)
        if days is not None:
            found = found.where(entries.c.day.in_(days))
        if namespace is not None:
            found = found.where(entries.c.namespace == namespace)
        # Found in an index first: sorting whole rows would carry every payload through the sort.
        found = found.order_by(entries.c.seq).limit(limit)
        query = sa.select(entries).where(entries.c.seq.in_(found)).order_by(entries.c.seq)
        with self.connections.reading() as connection:
            yield from connection.execution_options(yield_per=CHUNK_ROWS).execute(query).partitions()

    def find(self, event_id: str) -> dict[str, Any] | None:
        """The row with this event id."""
        with self.connections.reading() as connection:
            row = connection.execute(sa.select(entries).where(entries.c.event_id == event_id)).first()
        return None if row is None else row._asdict()

    def find_all(self, event_ids: Sequence[str]) -> list[dict[str, Any]]:
        """The rows with these event ids."""
        found: list[dict[str, Any]] = []
        with self.connections.reading() as connection:
            for start in range(0, len(event_ids), _LOOKUP_IDS):
                query = sa.select(entries).where(
                    entries.c.event_id.in_(event_ids[start : start + _LOOKUP_IDS])
                )
                found.extend(row._asdict() for row in connection.execute(query))
        return found

    def about(self, namespace: str, subject: str) -> list[dict[str, Any]]:
        """Every row about a source, the first one first."""
        c = entries.c
        query = sa.select(entries).where(_are_about(namespace, [subject]))
        with self.connections.reading() as connection:
            return [row._asdict() for row in connection.execute(query.order_by(c.ordered_at, c.seq))]

    def latest(self, namespace: str, subjects: Sequence[str]) -> list[dict[str, Any]]:
        """The newest row about each of these sources, in one transaction; see `Journal.latest`."""
        c = entries.c
        newest_first = sa.func.row_number().over(
            partition_by=c.subject, order_by=(c.ordered_at.desc(), c.event_id.desc())
        )
        found: list[dict[str, Any]] = []
        with self.connections.reading() as connection:
            for start in range(0, len(subjects), _LOOKUP_IDS):
                part = subjects[start : start + _LOOKUP_IDS]
                ranked = sa.select(c.seq, newest_first.label("place")).where(_are_about(namespace, part))
                places = ranked.subquery()
                newest = sa.select(places.c.seq).where(places.c.place == 1)
                query = sa.select(entries).where(c.seq.in_(newest))
                found.extend(row._asdict() for row in connection.execute(query))
        return found

    def about_searches(self, namespace: str, subjects: Sequence[str]) -> list[dict[str, Any]]:
        """Every row of feedback on these searches or projects, in the order of seq."""
        c = entries.c
        query = sa.select(entries).where(c.namespace == namespace, c.subject.in_(subjects), IS_FEEDBACK)
        with self.connections.reading() as connection:
            return [row._asdict() for row in connection.execute(query.order_by(c.seq))]

    def searches_of(self, namespace: str, project: str, after_seq: int) -> int:
        """How many searches were made for a project, of those after a seq."""
        c = entries.c
        query = sa.select(sa.func.count()).where(
            c.namespace == namespace, c.origin == project, c.seq > after_seq, IS_OF_A_PROJECT
        )
        with self.connections.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def last_seq(self) -> int:
        """The greatest seq, or 0."""
        with self.connections.reading() as connection:
            return int(connection.execute(sa.select(sa.func.max(entries.c.seq))).scalar() or 0)

    def rewritten(self, namespace: str, subjects: Sequence[str]) -> list[str]:
        """Those of these sources that were saved with several texts; see `Journal.rewritten`."""
        c, found = entries.c, list[str]()
        texts = sa.func.count(sa.distinct(c.content_hash))
        with self.connections.reading() as connection:
            for start in range(0, len(subjects), _LOOKUP_IDS):
                about = _are_about(namespace, subjects[start : start + _LOOKUP_IDS])
                query = sa.select(c.subject).where(about, c.kind == "save").group_by(c.subject)
                found += connection.execute(query.having(texts > 1)).scalars()
        return sorted(found)

    def count(self, namespace: str, kind: str) -> int:
        """How many rows of a kind a namespace has."""
        return self.connections.number(self._count, {"kind": kind, "namespace": namespace})

    def latest_sources(self, namespace: str, origin: str) -> Sequence[Sequence[Any]]:
        """The newest row about each source; see `Journal.latest_sources`."""
        c = entries.c
        newest_first = sa.func.row_number().over(
            partition_by=c.subject, order_by=(c.ordered_at.desc(), c.seq.desc())
        )
        ranked = (
            sa.select(c.seq, newest_first.label("place"))
            .where(c.namespace == namespace, c.origin == origin, IS_ABOUT_A_SOURCE)
            .subquery()
        )
        newest = sa.select(ranked.c.seq).where(ranked.c.place == 1)
        query = sa.select(c.subject, c.kind, c.digest, c.content_hash, c.occurred_at, c.event_id)
        with self.connections.reading() as connection:
            return connection.execute(query.where(c.seq.in_(newest))).all()

    def add_source(self, row: Mapping[str, Any]) -> bool:
        """Insert a row of `sources` if it is new; whether it was."""
        with self.connections.writing() as connection:
            return connection.execute(self._insert_source, [row]).rowcount == 1

    def remove_source(self, namespace: str, name: str) -> bool:
        """Delete a row of `sources`; whether it was there."""
        query = sa.delete(sources).where(sources.c.namespace == namespace, sources.c.name == name)
        with self.connections.writing() as connection:
            return connection.execute(query).rowcount == 1

    def sources(self) -> list[dict[str, Any]]:
        """Every row of `sources`, oldest first."""
        query = sa.select(sources).order_by(sources.c.added_at, sources.c.namespace, sources.c.name)
        with self.connections.reading() as connection:
            return [row._asdict() for row in connection.execute(query)]

    def check(self) -> list[str]:
        """What is wrong, in sentences; see `Journal.check`."""
        problems = []
        for look in (self._check_version, self._check_file, self._check_writable):
            try:
                problems += look()
            except JournalError as error:
                problems.append(f"{error}.")
        return problems

    def _open(self) -> None:
        with self.connections.reading() as connection:
            made = sa.inspect(connection).has_table(meta.name)
            version = connection.execute(_SELECT_VERSION).scalar() if made else None
        if version is None:
            with self.connections.writing() as connection:
                metadata.create_all(connection)
                row = {"key": "schema_version", "value": str(SCHEMA_VERSION)}
                # Another process may have made the tables since they were looked for.
                if connection.execute(_SELECT_VERSION).scalar() is None:
                    connection.execute(sa.insert(meta), [row])
        elif version in ("1", "2"):
            self._upgrade()
        for problem in self._check_version():
            raise JournalError(problem)

    def _upgrade(self) -> None:
        """To version 2: two indexes. To version 3: the order of acts.

        Up to now acts were ordered by the clock; they keep that order, and one more entry ends it, so that
        what comes next is later than all of them. Another process may be doing the same.
        """
        with self.connections.writing() as connection:
            if connection.execute(_SELECT_VERSION).scalar() == str(SCHEMA_VERSION):
                return
            if self.connections.dialect == "sqlite":  # of a server: its own backup is the way back
                keep_former(Path(self.connections.name))
            for index in FEEDBACK_INDEXES:
                index.create(connection, checkfirst=True)
            connection.execute(
                sa.text(f"ALTER TABLE {entries.name} ADD COLUMN ordered_at BIGINT NOT NULL DEFAULT 0")
            )
            connection.execute(sa.update(entries).values(ordered_at=entries.c.occurred_at))
            connection.execute(sa.text(f"DROP INDEX IF EXISTS {OLD_SOURCE_INDEX}"))
            SOURCE_INDEX.create(connection, checkfirst=True)
            last = connection.execute(sa.select(sa.func.max(entries.c.ordered_at))).scalar()
            if last is not None:
                connection.execute(self._insert_entry, [_upgrade_row(last)])
            done = sa.update(meta).where(meta.c.key == "schema_version").values(value=str(SCHEMA_VERSION))
            connection.execute(done)

    def _check_version(self) -> list[str]:
        with self.connections.reading() as connection:
            version = connection.execute(_SELECT_VERSION).scalar()
        if version == str(SCHEMA_VERSION):
            return []
        return [
            f"journal {self.connections.name} has schema version {version}, and this Slowwave knows version "
            f"{SCHEMA_VERSION}: open it with a newer Slowwave."
        ]

    def _check_file(self) -> list[str]:
        if self.connections.dialect != "sqlite":
            return []
        name = self.connections.name
        with self.connections.reading() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(10)").scalars().all()
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        problems = [
            f"journal {name} is damaged: {line}; restore it from a copy." for line in found if line != "ok"
        ]
        if mode != "wal":
            problems.append(
                f"journal {name} is in {mode} mode instead of wal: readers and writers wait for each other; "
                "move it to a local disk."
            )
        return problems

    def _check_writable(self) -> list[str]:
        with self.connections.writing() as connection:
            connection.execute(sa.update(meta).values(value=meta.c.value))
            connection.rollback()
        return []


def _last_places(connection: sa.Connection, namespace: str, subjects: Sequence[str]) -> dict[str, int]:
    """The seq of the last row about each of these sources that has one."""
    c, found = entries.c, dict[str, int]()
    for start in range(0, len(subjects), _LOOKUP_IDS):
        about = _are_about(namespace, subjects[start : start + _LOOKUP_IDS])
        query = sa.select(c.subject, sa.func.max(c.seq).label("last")).where(about).group_by(c.subject)
        found.update((row.subject, row.last) for row in connection.execute(query))
    return found


def _are_about(namespace: str, subjects: Sequence[str]) -> sa.ColumnElement[bool]:
    """Whether a row is about one of these sources."""
    c = entries.c
    said = sa.and_(c.namespace == namespace, c.subject.in_(subjects), IS_ABOUT_A_SOURCE)
    # The index is by origin first, and a source begins with its origin, if it has one.
    origins = {subject[:at] for subject in subjects for at in _ends_of_folders(subject)}
    return sa.and_(said, c.origin.in_(sorted(origins))) if len(origins) <= _LOOKUP_IDS else said


def _ends_of_folders(subject: str) -> list[int]:
    """Where a folder of the source ends, and its beginning."""
    return [0, *(at for at, character in enumerate(subject) if character == "/")]


def _insert_entry(dialect: str) -> sa.Insert:
    """One new row of `entries`: later than all others, also where the clock stands behind them."""
    last = sa.select(entries.c.ordered_at).order_by(entries.c.seq.desc()).limit(1).scalar_subquery()
    latest = sa.func.greatest if dialect == "postgresql" else sa.func.max
    given = {column.name: sa.bindparam(column.name, type_=column.type) for column in _GIVEN}
    ordered_at = latest(given["occurred_at"], sa.func.coalesce(last, 0) + 1)
    row = sa.select(*given.values(), ordered_at).where(sa.true())  # SQLite needs a WHERE before ON CONFLICT
    new: sa.Insert = _insert_new(entries, dialect).from_select([*given, "ordered_at"], row)
    return new


def _upgrade_row(last: int) -> dict[str, Any]:
    version = str(SCHEMA_VERSION)
    return {column.name: "" for column in _GIVEN} | {
        "event_id": f"journal-upgrade-{version}",
        "kind": UPGRADE,
        "namespace": "-",
        "subject": version,
        "occurred_at": last,
        "day": day_of(from_microseconds(last)),
        "principal": "slowwave",
        "payload": encode({"schema_version": version}, "journal-upgrade"),
    }


def _insert_new(table: sa.Table, dialect: str) -> sa.Insert:
    # Only the dialect in use: the other one is loaded with each of its drivers.
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    return sqlite.insert(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)


def _refuse_conflicts(connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = [entries.c[name] for name in ("event_id", *_COMPARED)]
    for start in range(0, len(rows), _LOOKUP_IDS):
        part = rows[start : start + _LOOKUP_IDS]
        query = sa.select(*columns).where(entries.c.event_id.in_([row["event_id"] for row in part]))
        stored = {row.event_id: row._asdict() for row in connection.execute(query)}
        for row in part:
            if differing := _differing(row, stored[row["event_id"]]):
                raise JournalConflictError(
                    f"event id {row['event_id']!r} was appended before with another "
                    f"{' and '.join(differing)}; nothing was written. Give a new act a new event id"
                )


def _differing(row: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    differing = [name for name in _COMPARED if row[name] != stored[name]]
    # The same JSON may have been compressed by another version of zlib.
    if differing == ["payload"] and decode(row["payload"]) == decode(stored["payload"]):
        return []
    return differing

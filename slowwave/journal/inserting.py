"""Inserting entries: rows, the ordering statement, and the refusal of conflicting event ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from slowwave.journal.codec import decode
from slowwave.journal.connection import LOOKUP_IDS, Connections, Prepared, batches
from slowwave.journal.errors import JournalConflictError
from slowwave.journal.schema import IS_ABOUT_A_SOURCE, entries

Row = Mapping[str, Any]
"""Columns of `entries` without ``seq`` and ``ordered_at``, which the database sets."""

GIVEN = [column for column in entries.c if column.name not in ("seq", "ordered_at")]
_COMPARED = ("kind", "namespace", "subject", "digest", "payload")
_PLACE = (entries.c.event_id, entries.c.seq, entries.c.ordered_at)


def insert_entry(connections: Connections) -> sa.Insert:
    """Build the insert of one new row, ordered after all others whatever the clock says.

    It returns event id, seq and `ordered_at` of a new row, and no row for an event id that exists.
    """
    last = sa.select(entries.c.ordered_at).order_by(entries.c.seq.desc()).limit(1).scalar_subquery()
    latest = sa.func.greatest if connections.dialect == "postgresql" else sa.func.max
    values = {column.name: sa.bindparam(column.name, type_=column.type) for column in GIVEN}
    ordered_at = latest(values["occurred_at"], sa.func.coalesce(last, 0) + 1)
    row = sa.select(*values.values(), ordered_at).where(sa.true())  # SQLite needs a WHERE before ON CONFLICT
    new: sa.Insert = insert_new(entries, connections.dialect).from_select([*values, "ordered_at"], row)
    return new.returning(*_PLACE) if connections.returns else new


def insert_new(table: sa.Table, dialect: str) -> sa.Insert:
    """Build an insert that skips rows whose key exists."""
    # Only the dialect in use: the other one is loaded with each of its drivers.
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    return sqlite.insert(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)


def refuse_conflicts(connection: sa.Connection, rows: Sequence[Row]) -> None:
    """Refuse rows whose event id exists with other content.

    Raises:
        JournalConflictError: Names the first one, and the columns that differ.
    """
    columns = [entries.c[name] for name in ("event_id", *_COMPARED)]
    for part in batches(rows):
        query = sa.select(*columns).where(entries.c.event_id.in_([row["event_id"] for row in part]))
        stored = {row.event_id: row._asdict() for row in connection.execute(query)}
        for row in part:
            if differing := _differing(row, stored[row["event_id"]]):
                raise JournalConflictError(
                    f"event id {row['event_id']!r} was appended before with another "
                    f"{' and '.join(differing)}; nothing was written. Give a new act a new event id"
                )


def _differing(row: Row, stored: Row) -> list[str]:
    differing = [name for name in _COMPARED if row[name] != stored[name]]
    # The same JSON may have been compressed by another version of zlib.
    if differing == ["payload"] and decode(row["payload"]) == decode(stored["payload"]):
        return []
    return differing


def last_places(
    connections: Connections, connection: sa.Connection, namespace: str, subjects: Sequence[str]
) -> dict[str, int]:
    """Return the seq of the last row of each of these sources that has one."""
    c, places = entries.c, dict[str, int]()
    if len(subjects) == 1:  # as nearly every save asks, by a prepared statement
        (subject,) = subjects
        prepared, values = about_one(connections, "last place", _last_of_one, namespace, subject)
        ((last,),) = connections.rows_within(connection, prepared, values)
        return {} if last is None else {subject: last}
    for part in batches(subjects):
        query = sa.select(c.subject, sa.func.max(c.seq)).where(are_about(namespace, part)).group_by(c.subject)
        places.update((subject, last) for subject, last in connection.execute(query))
    return places


def are_about(namespace: str, subjects: Sequence[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a row is about one of these sources."""
    c = entries.c
    condition = sa.and_(c.namespace == namespace, c.subject.in_(subjects), IS_ABOUT_A_SOURCE)
    origins = possible_origins(subjects)
    return sa.and_(condition, c.origin.in_(origins)) if len(origins) <= LOOKUP_IDS else condition


def about_one(
    connections: Connections,
    name: str,
    make: Callable[[sa.ColumnElement[bool]], sa.Select[Any]],
    namespace: str,
    subject: str,
) -> tuple[Prepared, dict[str, str]]:
    """Return a prepared query about one source, and the values of its parameters.

    Args:
        connections: The database.
        name: Of the query; one for each.
        make: Builds it from the condition that a row is about the source.
        namespace: Of the source.
        subject: The source.
    """
    origins = possible_origins([subject])
    places = [f"origin{at}" for at in range(len(origins))]

    def build() -> sa.Select[Any]:
        c = entries.c
        about = sa.and_(
            c.namespace == sa.bindparam("namespace"),
            c.subject == sa.bindparam("subject"),
            c.origin.in_([sa.bindparam(place) for place in places]),
            IS_ABOUT_A_SOURCE,
        )
        return make(about)

    prepared = connections.prepare(f"{name} {len(origins)}", build)
    return prepared, {"namespace": namespace, "subject": subject, **dict(zip(places, origins, strict=True))}


def _last_of_one(about: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return sa.select(sa.func.max(entries.c.seq)).where(about)


def possible_origins(subjects: Iterable[str]) -> list[str]:
    """Return the origins that these sources may have, sorted.

    A source begins with its origin, if any: a folder of its path. The index of sources begins with them.
    """
    return sorted(
        {
            subject[:at]
            for subject in subjects
            for at in (0, *(at for at, character in enumerate(subject) if character == "/"))
        }
    )

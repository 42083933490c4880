"""Schema versions of the journal: creation, upgrades and checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from slowwave.common.pluralize import counted
from slowwave.journal.codec import encode, is_damaged
from slowwave.journal.connection import Connections, Prepared
from slowwave.journal.entry import UPGRADE
from slowwave.journal.errors import JournalError
from slowwave.journal.inserting import GIVEN
from slowwave.journal.legacy_copy import keep_former
from slowwave.journal.schema import (
    FEEDBACK_INDEXES,
    OLD_SOURCE_INDEX,
    SCHEMA_VERSION,
    SOURCE_INDEX,
    entries,
    meta,
    metadata,
)
from slowwave.scoring.days import day_of, from_microseconds

_PAYLOADS = 10_000  # read at once (count)
_NAMED = 5  # damaged entries that are named (count)
_SELECT_VERSION = sa.select(meta.c.value).where(meta.c.key == "schema_version")


def make_or_upgrade(connections: Connections, insert: Prepared) -> None:
    """Create the tables of a new journal, or upgrade those of an old one.

    Args:
        insert: Prepared insert of one entry.

    Raises:
        JournalError: A newer version of Slowwave created it.
    """
    with connections.reading() as connection:
        made = sa.inspect(connection).has_table(meta.name)
        version = connection.execute(_SELECT_VERSION).scalar() if made else None
    if version is None:
        with connections.writing() as connection:
            metadata.create_all(connection)
            row = {"key": "schema_version", "value": str(SCHEMA_VERSION)}
            # Another process may have created the tables meanwhile.
            if connection.execute(_SELECT_VERSION).scalar() is None:
                connection.execute(sa.insert(meta), [row])
    elif version in ("1", "2"):
        _upgrade(connections, insert)
    for problem in _check_version(connections):
        raise JournalError(problem)


def _upgrade(connections: Connections, insert: Prepared) -> None:
    """Upgrade to version 2 (two indexes), then to version 3 (the order of entries).

    Entries were ordered by the clock before; they keep that order. One more entry ends it, so that the next
    ones are later than all of them. Another process may be upgrading too.
    """
    with connections.writing() as connection:
        if connection.execute(_SELECT_VERSION).scalar() == str(SCHEMA_VERSION):
            return
        if connections.dialect == "sqlite":  # a server has its own backup to go back to
            keep_former(Path(connections.name))
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
            connections.insert_all(connection, insert, [_upgrade_row(last)])
        done = sa.update(meta).where(meta.c.key == "schema_version").values(value=str(SCHEMA_VERSION))
        connection.execute(done)


def _upgrade_row(last: int) -> dict[str, Any]:
    version = str(SCHEMA_VERSION)
    return {column.name: "" for column in GIVEN} | {
        "event_id": f"journal-upgrade-{version}",
        "kind": UPGRADE,
        "namespace": "-",
        "subject": version,
        "occurred_at": last,
        "day": day_of(from_microseconds(last)),
        "principal": "slowwave",
        "payload": encode({"schema_version": version}, "journal-upgrade"),
    }


def problems_of(connections: Connections) -> list[str]:
    """Return the problems of a journal, in sentences; see `Journal.check`."""
    problems = []
    checks: tuple[Callable[[Connections], list[str]], ...] = (
        _check_version,
        _check_file,
        _check_payloads,
        _check_writable,
    )
    for check in checks:
        try:
            problems += check(connections)
        except JournalError as error:
            problems.append(f"{error}.")
    return problems


def _check_version(connections: Connections) -> list[str]:
    with connections.reading() as connection:
        version = connection.execute(_SELECT_VERSION).scalar()
    if version == str(SCHEMA_VERSION):
        return []
    return [
        f"journal {connections.name} has schema version {version}, and this Slowwave supports "
        f"version {SCHEMA_VERSION}: open it with a newer Slowwave."
    ]


def _check_file(connections: Connections) -> list[str]:
    if connections.dialect != "sqlite":
        return []
    name = connections.name
    with connections.reading() as connection:
        lines = connection.exec_driver_sql("PRAGMA quick_check(10)").scalars().all()
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    problems = [
        f"journal {name} is damaged: {line}; restore it from a copy." for line in lines if line != "ok"
    ]
    if mode != "wal":
        problems.append(
            f"journal {name} is in {mode} mode instead of wal: readers and writers wait for each other; "
            "move it to a local disk."
        )
    return problems


def _check_payloads(connections: Connections) -> list[str]:
    query = sa.select(entries.c.event_id, entries.c.kind, entries.c.payload)
    with connections.reading() as connection:
        rows = connection.execution_options(yield_per=_PAYLOADS).execute(query)
        damaged = [f"{kind} {event_id}" for event_id, kind, payload in rows if is_damaged(payload)]
    if not damaged:
        return []
    named = ", ".join(damaged[:_NAMED]) + (", …" if len(damaged) > _NAMED else "")
    return [
        f"journal {connections.name} has {counted(len(damaged), 'entry', 'entries')} without a readable "
        f"payload ({named}), left out everywhere: restore it from a copy to have them again."
    ]


def _check_writable(connections: Connections) -> list[str]:
    with connections.writing() as connection:
        connection.execute(sa.update(meta).values(value=meta.c.value))
        connection.rollback()
    return []

"""Schema version of the journal: creation and checks."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from slowwave.common.pluralize import counted
from slowwave.journal.codec import is_damaged
from slowwave.journal.connection import Connections
from slowwave.journal.errors import JournalError
from slowwave.journal.schema import SCHEMA_VERSION, entries, meta, metadata

_PAYLOADS = 10_000  # read at once (count)
_NAMED = 5  # damaged entries that are named (count)
_SELECT_VERSION = sa.select(meta.c.value).where(meta.c.key == "schema_version")


def create_or_check(connections: Connections) -> None:
    """Create the tables of a new journal, or check the version of an existing one.

    Raises:
        JournalError: It has another schema version; nothing is changed then.
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
    for problem in _check_version(connections):
        raise JournalError(problem)


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
    older = version is not None and version.isdecimal() and int(version) < SCHEMA_VERSION
    remedy = "an older Slowwave first" if older else "a newer Slowwave"
    return [
        f"journal {connections.name} has schema version {version}, and this Slowwave supports "
        f"version {SCHEMA_VERSION}: open it with {remedy}."
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

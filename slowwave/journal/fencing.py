"""Fencing of a journal that a home has left: a trigger refuses every insert.

It is in the database, so that it holds for processes of any version and on any machine.
"""

from __future__ import annotations

import sqlalchemy as sa

from slowwave.journal.schema import entries

_NAME = "slowwave_moved"
_MESSAGE = "this home is moved to another place; start this process again"

_CREATE = {
    "sqlite": (
        f"CREATE TRIGGER IF NOT EXISTS {_NAME} BEFORE INSERT ON {entries.name} "
        f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END",
    ),
    "postgresql": (
        f"CREATE OR REPLACE FUNCTION {_NAME}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$",
        f"CREATE OR REPLACE TRIGGER {_NAME} BEFORE INSERT ON {entries.name} "
        f"FOR EACH ROW EXECUTE FUNCTION {_NAME}()",
    ),
}
_DROP = {
    "sqlite": (f"DROP TRIGGER IF EXISTS {_NAME}",),
    "postgresql": (f"DROP TRIGGER IF EXISTS {_NAME} ON {entries.name}", f"DROP FUNCTION IF EXISTS {_NAME}()"),
}


def fence(connection: sa.Connection) -> None:
    """Refuse inserts from the end of this transaction on."""
    _run(connection, _CREATE)


def unfence(connection: sa.Connection) -> None:
    """Allow inserts again."""
    _run(connection, _DROP)


def _run(connection: sa.Connection, statements: dict[str, tuple[str, ...]]) -> None:
    for statement in statements[connection.dialect.name]:
        connection.exec_driver_sql(statement)

"""A journal that is left behind takes no more acts: whoever has it open still is told so.

It is a trigger of the database, so that it holds for processes of any age and of any machine.
"""

from __future__ import annotations

import sqlalchemy as sa

from slowwave.journal.schema import entries

_NAME = "slowwave_moved"
_WORDS = "this home is moved to another place; start this process again"

_SET = {
    "sqlite": (
        f"CREATE TRIGGER IF NOT EXISTS {_NAME} BEFORE INSERT ON {entries.name} "
        f"BEGIN SELECT RAISE(ABORT, '{_WORDS}'); END",
    ),
    "postgresql": (
        f"CREATE OR REPLACE FUNCTION {_NAME}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_WORDS}'; END $$",
        f"CREATE OR REPLACE TRIGGER {_NAME} BEFORE INSERT ON {entries.name} "
        f"FOR EACH ROW EXECUTE FUNCTION {_NAME}()",
    ),
}
_TAKEN_AWAY = {
    "sqlite": (f"DROP TRIGGER IF EXISTS {_NAME}",),
    "postgresql": (f"DROP TRIGGER IF EXISTS {_NAME} ON {entries.name}", f"DROP FUNCTION IF EXISTS {_NAME}()"),
}


def fence(connection: sa.Connection) -> None:
    """Let the journal take no more acts from the end of this transaction on."""
    _run(connection, _SET)


def unfence(connection: sa.Connection) -> None:
    """Let it take acts again."""
    _run(connection, _TAKEN_AWAY)


def _run(connection: sa.Connection, statements: dict[str, tuple[str, ...]]) -> None:
    for statement in statements[connection.dialect.name]:
        connection.exec_driver_sql(statement)

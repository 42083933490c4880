"""Statements of journals and the tree of commands, made once for all homes and calls of a process.

SQLAlchemy compiles a statement anew for each engine, and each home has one: milliseconds for each home
that is opened. What is compiled is the same for all files of SQLite. Typer makes all commands anew for each
call of one: 60 ms, most of the time of a small command. A program is called once in a process.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
import typer.main
import typer.testing
from sqlalchemy.util import LRUCache

from slowwave.journal import connection, engines

_make = engines.sqlite_engine
_make_command = typer.main.get_command
_MOST = 2_000  # statements


class _OfAllFiles(LRUCache):
    """A cache whose keys do not name the engine's own object of the dialect."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key[1:], value)


_compiled = _OfAllFiles(_MOST)


def keep_compiled() -> None:
    """From now on in this process."""
    connection.sqlite_engine = _engine
    typer.main.get_command = typer.testing._get_command = _command


def _engine(*words: Any) -> sa.Engine:
    engine = _make(*words)
    engine.update_execution_options(compiled_cache=_compiled)
    return engine


_commands: dict[tuple[object, ...], Any] = {}


def _command(application: typer.Typer) -> Any:
    key = _shape(application)
    if key not in _commands:
        _commands[key] = _make_command(application)
    return _commands[key]


def _shape(application: typer.Typer) -> tuple[object, ...]:
    """Return what tells an application from itself with other commands; its commands stay alive in it."""
    groups = [group.typer_instance for group in application.registered_groups if group.typer_instance]
    callback = application.registered_callback.callback if application.registered_callback else None
    own = [command.callback for command in application.registered_commands]
    return (application, callback, *own, *map(_shape, groups))

"""Statements of journals that are compiled once for all homes of a process.

SQLAlchemy compiles a statement anew for each engine, and each home has one: milliseconds for each home
that is opened. What is compiled is the same for all files of SQLite.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

from slowwave.journal import connection, engines

_make = engines.sqlite_engine
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


def _engine(*words: Any) -> sa.Engine:
    engine = _make(*words)
    engine.update_execution_options(compiled_cache=_compiled)
    return engine

"""Engines of the journal's two databases: accepted URLs, and opening SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError

from slowwave.journal.errors import JournalError

Durability = Literal["full", "normal"]

LOCK_TIMEOUT_S = 30
"""Longest wait of a writer for other writers (seconds)."""

_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_WAL_RETRY_S = 0.02
_WAL_LIMIT_BYTES = 64 * 1024 * 1024


def parse(url: str | sa.URL, durability: str) -> sa.URL:
    """Parse a URL and choose its driver."""
    if durability not in ("full", "normal"):
        raise JournalError(f"durability is {durability!r}; use 'full' or 'normal'")
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError) as error:
        # The part before an @ may be a password.
        shown = str(url).rpartition("@")[2]
        raise JournalError(
            f"cannot parse journal URL {shown!r} ({type(error).__name__}); write for instance "
            "sqlite:///journal.db or postgresql://user@host/database"
        ) from error
    if (driver := _DRIVERS.get(parsed.drivername)) is None:
        raise JournalError(f"journal URL begins with {parsed.drivername!r}; use sqlite or postgresql")
    if driver == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise JournalError("a journal in memory would not outlive its process; write sqlite:///journal.db")
    return parsed.set(drivername=driver)


def sqlite_engine(url: sa.URL, durability: Durability) -> sa.Engine:
    """Open an engine on a file in WAL mode; create it with its folder if missing."""
    database = str(url.database)
    opened = False
    _make_folder(database)
    engine = sa.create_engine(
        url,
        connect_args={"timeout": LOCK_TIMEOUT_S, "check_same_thread": False, "isolation_level": None},
        pool_size=8,
        max_overflow=-1,
    )

    @event.listens_for(engine, "do_connect")
    def find(_dialect: object, _record: object, places: list[Any], options: dict[str, Any]) -> None:
        # A file removed meanwhile would be recreated empty, and its events would be lost to every home.
        if opened and not database.startswith("file:"):
            places[0], options["uri"] = f"{Path(database).absolute().as_uri()}?mode=rw", True

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - a driver's connection
        nonlocal opened
        full = durability == "full"
        connection.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
        # On macOS an fsync alone may stay in the drive's cache; elsewhere these two do nothing.
        connection.execute(f"PRAGMA fullfsync={int(full)}")
        connection.execute(f"PRAGMA checkpoint_fullfsync={int(full)}")
        connection.execute(f"PRAGMA journal_size_limit={_WAL_LIMIT_BYTES}")
        _switch_to_wal(connection)
        opened = True

    return engine


def _make_folder(database: str) -> None:
    # A name like file:journal.db?mode=ro is SQLite's own kind of URI, not a path.
    if database.startswith("file:"):
        return
    folder = Path(database).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JournalError(
            f"journal {database}: its folder {folder} cannot be created ({error.strerror}); "
            "choose another place"
        ) from error


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    # The switch does not wait for other processes that open a new file at the same time, so wait here.
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_WAL_RETRY_S)
        else:
            return


def postgres_engine(url: sa.URL) -> sa.Engine:
    """Open an engine on a server."""
    try:
        return sa.create_engine(url, pool_size=8, max_overflow=-1, pool_pre_ping=True)
    except ImportError as error:
        raise JournalError(
            f"psycopg, the driver for PostgreSQL, cannot be used ({error}); "
            "run: pip install '.[postgres]' in its folder"
        ) from error

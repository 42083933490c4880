"""Connections to the journal's database: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from slowwave.common.passwords import without_passwords
from slowwave.common.permissions import file_mode
from slowwave.journal.errors import JournalError, explain

Durability = Literal["full", "normal"]
Lock = Literal["memories", "night", "backup"]

LOCK_TIMEOUT_S = 30
"""How long a writer waits for other writers, in seconds."""

EXCLUSIVE_TIMEOUT_S = 1_800
"""How long a writer of the memories waits for another one, or a night for another night, in seconds."""

# End of the name of the file beside SQLite, and number of the advisory lock (any will do).
_LOCKS: dict[Lock, tuple[str, int]] = {
    "memories": (".lock", 7309475035214279),
    "night": (".night.lock", 7309475035214280),
    "backup": (".backup.lock", 7309475035214281),
}

_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_WAL_RETRY_S = 0.02
_LOCK_POLL_S = 0.05
_WAL_LIMIT_BYTES = 64 * 1024 * 1024
_OPEN_ENGINES: weakref.WeakSet[sa.Engine] = weakref.WeakSet()
_WRITES = "slowwave_writes"

# Writers queue at the start of a transaction, so `seq` follows the order of commits: a reader that has seen
# one `seq` can never meet a smaller one later. PostgreSQL needs a lock of ours for that; any number will do.
_BEGIN = {
    ("sqlite", False): "BEGIN",
    ("sqlite", True): "BEGIN IMMEDIATE",
    ("postgresql", True): (
        f"SELECT set_config('lock_timeout', '{LOCK_TIMEOUT_S}s', true), "
        "pg_advisory_xact_lock(7309475035214278)"
    ),
}


class Prepared(NamedTuple):
    """A statement as a driver takes it.

    Attributes:
        text: of the statement.
        order: what its places hold, where they have no names.
        fixed: what stands in some of them whatever the row.
    """

    text: str
    order: tuple[str, ...]
    fixed: Mapping[str, Any]


class Connections:
    """A pool of connections to one database, and transactions on them.

    Args:
        url: SQLAlchemy URL with the dialect ``sqlite`` (a file) or ``postgresql``.
        durability: Of SQLite: ``full`` survives a power cut, ``normal`` the end of the process only (a power
            cut may take the last transactions, whole). PostgreSQL follows its own ``synchronous_commit``.

    Raises:
        JournalError: The URL or its driver is not usable, or the database cannot be opened.
    """

    def __init__(self, url: str | sa.URL, durability: Durability) -> None:
        parsed = _parse(url, durability)
        self.name = without_passwords(parsed.render_as_string(hide_password=True))
        self.dialect = parsed.get_backend_name()
        self._closed = False
        if self.dialect == "sqlite":
            self.name = str(parsed.database)
            self._engine = _sqlite_engine(parsed, durability)
        else:
            self._engine = _postgres_engine(parsed)
        self._driver_error = self._engine.dialect.loaded_dbapi.Error
        event.listen(self._engine, "begin", self._begin)
        self._writer = self._engine.execution_options(**{_WRITES: True})
        _OPEN_ENGINES.add(self._engine)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one state of the database and does not keep writers waiting."""
        with self._transaction(self._engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that is committed, durably, at the end of the block, or rolled back by an error."""
        with self._transaction(self._writer) as connection:
            yield connection

    def prepare(self, statement: sa.Insert | sa.Select[Any]) -> Prepared:
        """A statement in the driver's own words: one for one row for `insert`, a query for `number`."""
        plain = statement.inline() if isinstance(statement, sa.Insert) else statement
        compiled = plain.compile(dialect=self._engine.dialect)
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        return Prepared(str(compiled), tuple(getattr(compiled, "positiontup", None) or ()), fixed)

    def insert(self, prepared: Prepared, row: Mapping[str, Any]) -> int:
        """Insert one row as a transaction of its own, durable when it returns; how many were added (0 or 1).

        It is done by the driver alone: SQLAlchemy's connection, transaction and result take several times as
        long as the database does.
        """
        with self._told():
            pooled = self._engine.raw_connection()
            raw: Any = pooled.driver_connection
            try:
                values = {**row, **prepared.fixed}
                if self.dialect == "sqlite":  # takes the lock of BEGIN IMMEDIATE by itself
                    return int(raw.execute(prepared.text, [values[name] for name in prepared.order]).rowcount)
                # Two statements: only the second one sees what was committed while the first one waited.
                with raw.transaction():
                    raw.execute(_BEGIN[self.dialect, True])
                    added = int(raw.execute(prepared.text, values).rowcount)
            except self._driver_error as error:
                pooled.invalidate(error)
                raise
            else:
                return added
            finally:
                pooled.close()

    def number(self, prepared: Prepared, values: Mapping[str, Any]) -> int:
        """The one number that a query gives, asked by the driver alone as in `insert`."""
        with self._told():
            pooled = self._engine.raw_connection()
            raw: Any = pooled.driver_connection
            try:
                given = values if self.dialect != "sqlite" else [values[name] for name in prepared.order]
                return int(raw.execute(prepared.text, given).fetchall()[0][0])
            except self._driver_error as error:
                pooled.invalidate(error)
                raise
            finally:
                pooled.close()

    def script(self, statements: Sequence[str]) -> Sequence[Any]:
        """Run statements outside a transaction; the first row of the last one, where it has any."""
        with self._told():
            pooled = self._engine.raw_connection()
            raw: Any = pooled.driver_connection
            try:
                if self.dialect != "sqlite":
                    raw.autocommit = True
                found: Sequence[Any] = ()
                for statement in statements:
                    done = raw.execute(statement)
                    found = done.fetchall() if done.description else ()  # an open one would block the next
                return found[0] if found else ()
            finally:
                pooled.invalidate()  # what was set belongs to this use alone
                pooled.close()

    @contextmanager
    def exclusive(
        self,
        what: Lock,
        waiting: AbstractContextManager[object] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> Iterator[bool]:
        """Held by one thread of one process at a time, for as long as the block takes; a killed one lets go.

        Args:
            what: is to be changed by one at a time.
            waiting: entered for as long as another one has it.
            until: asked again and again while another one has it; once it is true there is nothing to wait
                for.

        Yields:
            Whether it is held: not, if what `until` asks came true first.

        Raises:
            JournalError: another one has held it for longer than `EXCLUSIVE_TIMEOUT_S`.
        """
        held = self._file_lock if self.dialect == "sqlite" else self._advisory_lock
        with held(what, waiting or nullcontext(), until) as got:
            yield got

    @contextmanager
    def _file_lock(
        self, what: Lock, waiting: AbstractContextManager[object], until: Callable[[], bool] | None
    ) -> Iterator[bool]:
        from filelock import FileLock, Timeout

        path = f"{self.name}{_LOCKS[what][0]}"
        lock = FileLock(path, mode=file_mode(Path(path).parent))

        def free() -> bool:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                return False
            return True

        held = free()
        if not held:
            with waiting:
                held = self._wait(free, until)
        try:
            yield held
        finally:
            if held:
                lock.release()

    @contextmanager
    def _advisory_lock(
        self, what: Lock, waiting: AbstractContextManager[object], until: Callable[[], bool] | None
    ) -> Iterator[bool]:
        number = _LOCKS[what][1]
        with self._told(), self._engine.connect() as connection:

            def free() -> bool:
                found = connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({number})").scalar_one()
                connection.commit()  # or it would stand idle in a transaction while it waits
                return bool(found)

            held = free()
            if not held:
                with waiting:
                    held = self._wait(free, until)
            try:
                yield held
            finally:
                if held:
                    connection.exec_driver_sql(f"SELECT pg_advisory_unlock({number})")
                    connection.commit()

    def _wait(self, free: Callable[[], bool], until: Callable[[], bool] | None) -> bool:
        """Wait for a lock, or for what makes it needless; whether the lock is held."""
        deadline = time.monotonic() + EXCLUSIVE_TIMEOUT_S
        while True:
            if until is not None and until():
                return False
            if free():
                return True
            if time.monotonic() > deadline:
                raise JournalError(
                    f"another process has been writing to {self.name} for {EXCLUSIVE_TIMEOUT_S} s; "
                    "wait for it to end, then try again"
                )
            time.sleep(_LOCK_POLL_S)

    def close(self) -> None:
        """Close every connection; using this object afterwards is an error."""
        self._closed = True
        _OPEN_ENGINES.discard(self._engine)
        self._engine.dispose()

    @contextmanager
    def _transaction(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        with self._told(), engine.begin() as connection:
            yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        if self._closed:
            raise JournalError(f"journal {self.name} was closed; open it again to use it")
        try:
            yield
        except (SQLAlchemyError, self._driver_error) as error:
            raise explain(error, self.name) from error

    def _begin(self, connection: sa.Connection) -> None:
        writes = bool(connection.get_execution_options().get(_WRITES))
        if statement := _BEGIN.get((self.dialect, writes)):
            connection.exec_driver_sql(statement)


def _parse(url: str | sa.URL, durability: str) -> sa.URL:
    if durability not in ("full", "normal"):
        raise JournalError(f"durability is {durability!r}; use 'full' or 'normal'")
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError) as error:
        # What stands before an @ may be a password.
        shown = str(url).rpartition("@")[2]
        raise JournalError(
            f"journal URL {shown!r} cannot be read ({type(error).__name__}); write for instance "
            "sqlite:///journal.db or postgresql://user@host/database"
        ) from error
    if (driver := _DRIVERS.get(parsed.drivername)) is None:
        raise JournalError(f"journal URL begins with {parsed.drivername!r}; use sqlite or postgresql")
    if driver == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise JournalError("a journal in memory would not outlive its process; write sqlite:///journal.db")
    return parsed.set(drivername=driver)


def _sqlite_engine(url: sa.URL, durability: Durability) -> sa.Engine:
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
        # A file that is gone since would be made again, empty, and take acts that no home ever sees.
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
            f"journal {database}: its folder {folder} cannot be made ({error.strerror}); choose another place"
        ) from error


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    # The switch does not wait for other processes that open a new file at the same moment, so wait here.
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


def _postgres_engine(url: sa.URL) -> sa.Engine:
    try:
        return sa.create_engine(url, pool_size=8, max_overflow=-1, pool_pre_ping=True)
    except ImportError as error:
        raise JournalError(
            f"psycopg, the driver for PostgreSQL, cannot be used ({error}); "
            "run: pip install '.[postgres]' in its folder"
        ) from error


def _close_idle() -> None:
    # A forked child would share file locks and sockets with its parent, and damage both.
    for engine in list(_OPEN_ENGINES):
        engine.dispose()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_idle)

"""Connections to the journal's database: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError

from slowwave.common.passwords import without_passwords
from slowwave.common.permissions import file_mode
from slowwave.journal.engines import LOCK_TIMEOUT_S, Durability, parse, postgres_engine, sqlite_engine
from slowwave.journal.errors import JournalError, explain

Lock = Literal["memories", "night", "backup"]

EXCLUSIVE_TIMEOUT_S = 1_800
"""Longest wait of a writer for another writer, or of a nightly job for another one (seconds)."""

# End of the name of the file beside SQLite, and number of the advisory lock (any will do).
_LOCKS: dict[Lock, tuple[str, int]] = {
    "memories": (".lock", 7309475035214279),
    "night": (".night.lock", 7309475035214280),
    "backup": (".backup.lock", 7309475035214281),
}

LOOKUP_IDS = 500
"""Values that one query compares a column with (count)."""

_LOCK_POLL_S = 0.05
_OPEN_ENGINES: weakref.WeakSet[sa.Engine] = weakref.WeakSet()
_WRITES = "slowwave_writes"

# Writers queue at the start of a transaction, so `seq` follows the order of commits: a reader that has read
# one `seq` never meets a smaller new one. PostgreSQL needs an advisory lock for that; any number will do.
# Place of the last inserted row, for a SQLite without RETURNING.
_PLACE_OF_LAST = "SELECT event_id, seq, ordered_at FROM journal_entries WHERE seq = last_insert_rowid()"
_BEGIN = {
    ("sqlite", False): "BEGIN",
    ("sqlite", True): "BEGIN IMMEDIATE",
    ("postgresql", True): (
        f"SELECT set_config('lock_timeout', '{LOCK_TIMEOUT_S}s', true), "
        "pg_advisory_xact_lock(7309475035214278)"
    ),
}


T = TypeVar("T")
_TakeAndRelease = tuple[Callable[[], bool], Callable[[], object]]


def batches(values: Sequence[T]) -> list[Sequence[T]]:
    """Split values into slices of at most `LOOKUP_IDS`."""
    return [values[at : at + LOOKUP_IDS] for at in range(0, len(values), LOOKUP_IDS)]


class Prepared(NamedTuple):
    """Compiled statement in the driver's own form.

    Attributes:
        text: SQL.
        order: Names of the positional parameters, if they have no names in `text`.
        fixed: Values of parameters that are the same for every row.
    """

    text: str
    order: tuple[str, ...]
    fixed: Mapping[str, Any]


_PREPARED: dict[tuple[str, str, bool], Prepared] = {}


class Connections:
    """Pool of connections to one database, and transactions on them.

    Args:
        url: SQLAlchemy URL with the dialect ``sqlite`` (a file) or ``postgresql``.
        durability: Of SQLite: ``full`` survives a power cut, ``normal`` the end of the process only (a power
            cut may take the last transactions, whole). PostgreSQL follows its own ``synchronous_commit``.

    Raises:
        JournalError: The URL or its driver is not usable, or the database cannot be opened.
    """

    def __init__(self, url: str | sa.URL, durability: Durability) -> None:
        parsed = parse(url, durability)
        self.name = without_passwords(parsed.render_as_string(hide_password=True))
        self.dialect = parsed.get_backend_name()
        self._closed = False
        if self.dialect == "sqlite":
            self.name = str(parsed.database)
            self._engine = sqlite_engine(parsed, durability)
        else:
            self._engine = postgres_engine(parsed)
        self.returns = self._engine.dialect.insert_returning  # not of SQLite before 3.35
        self._driver_error = self._engine.dialect.loaded_dbapi.Error
        event.listen(self._engine, "begin", self._begin)
        self._writer = self._engine.execution_options(**{_WRITES: True})
        _OPEN_ENGINES.add(self._engine)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a read transaction: one state of the database, without blocking writers."""
        with self._transaction(self._engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a write transaction: committed durably at the end, rolled back on an error."""
        with self._transaction(self._writer) as connection:
            yield connection

    def prepare(self, name: str, make: Callable[[], sa.Insert | sa.Select[Any]]) -> Prepared:
        """Compile a statement for the driver, once in a process for each kind of database.

        Args:
            name: Of the statement; one for each.
            make: Builds an insert of one row, or a query for `rows`.
        """
        key = (name, self._engine.dialect.driver, self.returns)
        if key not in _PREPARED:
            statement = make()
            plain = statement.inline() if isinstance(statement, sa.Insert) else statement
            compiled = plain.compile(dialect=self._engine.dialect)
            fixed = {name: value for name, value in compiled.params.items() if value is not None}
            order = tuple(getattr(compiled, "positiontup", None) or ())
            _PREPARED[key] = Prepared(str(compiled), order, fixed)
        return _PREPARED[key]

    def insert(self, prepared: Prepared, row: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Insert one row durably in a transaction of its own; return the places of new rows.

        The driver runs alone: SQLAlchemy's connection, transaction and result take several times as long as
        the database.
        """
        with self._raw() as raw:
            if self.dialect == "sqlite":  # a single INSERT takes the lock of BEGIN IMMEDIATE itself
                return self._insert(raw, prepared, row)
            # Two statements: only the second sees commits made while the first waited for the lock.
            with raw.transaction():
                raw.execute(_BEGIN[self.dialect, True])
                return self._insert(raw, prepared, row)

    def insert_all(
        self, connection: sa.Connection, prepared: Prepared, rows: Sequence[Mapping[str, Any]]
    ) -> list[Sequence[Any]]:
        """Insert rows in an open transaction; return the places of new rows."""
        raw: Any = connection.connection.driver_connection
        if self.dialect == "sqlite":
            return [place for row in rows for place in self._insert(raw, prepared, row)]
        new: list[Sequence[Any]] = []
        with raw.cursor() as cursor:  # sent together: the server may be remote
            cursor.executemany(prepared.text, [{**row, **prepared.fixed} for row in rows], returning=True)
            more = bool(rows)
            while more:
                new += cursor.fetchall()
                more = cursor.nextset()
        return new

    def _insert(self, raw: Any, prepared: Prepared, row: Mapping[str, Any]) -> list[Sequence[Any]]:  # noqa: ANN401 - a driver's connection
        done = self._execute(raw, prepared, {**row, **prepared.fixed})
        if self.returns:
            return list(done.fetchall())
        return list(raw.execute(_PLACE_OF_LAST).fetchall()) if done.rowcount else []

    def _execute(self, raw: Any, prepared: Prepared, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of a driver
        parameters = values if self.dialect != "sqlite" else [values[name] for name in prepared.order]
        return raw.execute(prepared.text, parameters)

    def number(self, prepared: Prepared, values: Mapping[str, Any]) -> int:
        """Return the one number that a query gives, by the driver alone as in `insert`."""
        return int(self.rows(prepared, values)[0][0])

    def rows(self, prepared: Prepared, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Return the rows that a query gives, by the driver alone as in `insert`."""
        with self._raw() as raw:
            return list(self._execute(raw, prepared, {**values, **prepared.fixed}).fetchall())

    def rows_within(
        self, connection: sa.Connection, prepared: Prepared, values: Mapping[str, Any]
    ) -> list[Sequence[Any]]:
        """Return the rows that a query gives in an open transaction, as `rows` does."""
        raw: Any = connection.connection.driver_connection
        return list(self._execute(raw, prepared, {**values, **prepared.fixed}).fetchall())

    @contextmanager
    def _raw(self) -> Iterator[Any]:
        """Open a connection of the driver; drop it from the pool if it fails."""
        with self._translating_errors():
            pooled = self._engine.raw_connection()
            try:
                yield pooled.driver_connection
            except self._driver_error as error:
                pooled.invalidate(error)
                raise
            finally:
                pooled.close()

    def script(self, statements: Sequence[str]) -> Sequence[Any]:
        """Run statements outside a transaction; return the first row of the last one."""
        with self._translating_errors():
            pooled = self._engine.raw_connection()
            raw: Any = pooled.driver_connection
            try:
                if self.dialect != "sqlite":
                    raw.autocommit = True
                rows: Sequence[Any] = ()
                for statement in statements:
                    done = raw.execute(statement)
                    rows = done.fetchall() if done.description else ()  # an open cursor would block the next
                return rows[0] if rows else ()
            finally:
                pooled.invalidate()  # its settings must not leak into other uses
                pooled.close()

    @contextmanager
    def exclusive(
        self,
        what: Lock,
        waiting: AbstractContextManager[object] | None = None,
        until: Callable[[], bool] | None = None,
    ) -> Iterator[bool]:
        """Hold a named lock for one thread of one process; a killed process releases it.

        Args:
            what: What one process at a time may change.
            waiting: Entered while another process holds it.
            until: Polled while waiting; once it is true, waiting ends without the lock.

        Yields:
            Whether it is held; false if `until` came true first.

        Raises:
            JournalError: Another process held it for longer than `EXCLUSIVE_TIMEOUT_S`.
        """
        lock = self._file_lock if self.dialect == "sqlite" else self._advisory_lock
        with lock(what) as (free, release):
            held = free()
            if not held:
                with waiting or nullcontext():
                    held = self._wait(free, until)
            try:
                yield held
            finally:
                if held:
                    release()

    @contextmanager
    def _file_lock(self, what: Lock) -> Iterator[_TakeAndRelease]:
        from filelock import FileLock, Timeout

        path = f"{self.name}{_LOCKS[what][0]}"
        lock = FileLock(path, mode=file_mode(Path(path).parent))

        def free() -> bool:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                return False
            return True

        yield free, lock.release

    @contextmanager
    def _advisory_lock(self, what: Lock) -> Iterator[_TakeAndRelease]:
        number = _LOCKS[what][1]
        with self._translating_errors(), self._engine.connect() as connection:

            def ask(function: str) -> bool:
                got = connection.exec_driver_sql(f"SELECT {function}({number})").scalar_one()
                connection.commit()  # else it would idle in a transaction while it waits
                return bool(got)

            yield partial(ask, "pg_try_advisory_lock"), partial(ask, "pg_advisory_unlock")

    def _wait(self, free: Callable[[], bool], until: Callable[[], bool] | None) -> bool:
        """Wait for a lock, or until it is not needed; return whether it is held."""
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
        """Close every connection; later use is an error."""
        self._closed = True
        _OPEN_ENGINES.discard(self._engine)
        self._engine.dispose()

    @contextmanager
    def _transaction(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        with self._translating_errors(), engine.begin() as connection:
            yield connection

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
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


def _close_idle() -> None:
    # A forked child would share file locks and sockets with its parent and damage both.
    for engine in list(_OPEN_ENGINES):
        engine.dispose()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_idle)

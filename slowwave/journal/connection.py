"""Connections to the journal's database: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
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
"""How long a writer of the memories waits for another one, or a night for another night, in seconds."""

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

# Writers queue at the start of a transaction, so `seq` follows the order of commits: a reader that has seen
# one `seq` can never meet a smaller one later. PostgreSQL needs a lock of ours for that; any number will do.
# The place of the row that was inserted last, for a SQLite that cannot return it.
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


def batches(values: Sequence[T]) -> list[Sequence[T]]:
    """Return the values in slices of at most `LOOKUP_IDS`."""
    return [values[at : at + LOOKUP_IDS] for at in range(0, len(values), LOOKUP_IDS)]


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

    def insert(self, prepared: Prepared, row: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Insert one row as a transaction of its own, durable when this returns; return what is new of it.

        The driver does it alone: SQLAlchemy's connection, transaction and result take several times as long
        as the database does.
        """
        with self._raw() as raw:
            if self.dialect == "sqlite":  # takes the lock of BEGIN IMMEDIATE by itself
                return self._insert(raw, prepared, row)
            # Two statements: only the second one sees what was committed while the first one waited.
            with raw.transaction():
                raw.execute(_BEGIN[self.dialect, True])
                return self._insert(raw, prepared, row)

    def insert_all(
        self, connection: sa.Connection, prepared: Prepared, rows: Sequence[Mapping[str, Any]]
    ) -> list[Sequence[Any]]:
        """Insert rows one after the other in a transaction that is open; return what is new of them."""
        raw: Any = connection.connection.driver_connection
        if self.dialect == "sqlite":
            return [place for row in rows for place in self._insert(raw, prepared, row)]
        new: list[Sequence[Any]] = []
        with raw.cursor() as cursor:  # sent together: a server may be far away
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
        given = values if self.dialect != "sqlite" else [values[name] for name in prepared.order]
        return raw.execute(prepared.text, given)

    def number(self, prepared: Prepared, values: Mapping[str, Any]) -> int:
        """Return the one number that a query gives, asked by the driver alone as in `insert`."""
        with self._raw() as raw:
            return int(self._execute(raw, prepared, values).fetchall()[0][0])

    @contextmanager
    def _raw(self) -> Iterator[Any]:
        """A connection of the driver, given up if it fails."""
        with self._told():
            pooled = self._engine.raw_connection()
            try:
                yield pooled.driver_connection
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


def _close_idle() -> None:
    # A forked child would share file locks and sockets with its parent, and damage both.
    for engine in list(_OPEN_ENGINES):
        engine.dispose()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_idle)

"""Reading the rows of tables, with those that wait in the write-ahead log.

`TableReader.read` has what waits; every other access to a table commits it first.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa

from slowwave.common.error_translation import without_panic
from slowwave.store.connection import TableConnection
from slowwave.store.frames import batches, frame_of, one_of
from slowwave.store.instrumentation import observe_query
from slowwave.store.integrity import ERRORS, explain_error
from slowwave.store.tenancy import Readable
from slowwave.store.wal import WriteAheadLog

_OTHERWISE = re.compile(r"\bCAST\b", re.IGNORECASE)  # what Polars does not read in a filter as Lance does

_NOTHING = pl.DataFrame()

ROWS_AT_ONCE = 131_072
"""Rows of a table that are in memory together while it is read part by part (count)."""

T = TypeVar("T")


class TableReader(TableConnection, ABC):
    """Tables whose rows are read.

    Args:
        uri: a folder, or ``s3://bucket/prefix``.
        storage_options: options of the object store.
    """

    refuse_stale: Callable[[], None] | None = None
    """Asked before damage is told: tables that a home has left are nobody's to make again."""

    wal: WriteAheadLog | None = None
    """New rows that are not committed yet; a store that is opened by itself, or is in no folder, has none."""

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None = None) -> None:
        super().__init__(uri, storage_options)
        self._writing = threading.local()

    @abstractmethod
    def settle(self, name: str = "") -> None:
        """Commit what waits in the write-ahead log, if a table has rows there, or any has."""

    def logged(self, name: str = "") -> tuple[str, ...]:
        """Files of the write-ahead log with rows of a table, or of any."""
        held = self.wal is None or getattr(self._writing, "settles", False)
        return () if held or self.wal is None else self.wal.names(name)

    def logged_rows(self, names: Sequence[str], name: str) -> dict[str, pa.Table]:
        """Rows of a table by file of the log; files that are there no more are left out."""
        return {} if self.wal is None else self.wal.rows(names, name)

    # -- tables ----------------------------------------------------------------------------------

    @property
    def db(self) -> Any:  # noqa: ANN401 - lancedb.DBConnection
        """LanceDB's connection; what waits in the log is committed. `bare_db` is it without that."""
        self.settle()
        return self.bare_db

    def table(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        """An open handle; it always reads the latest version.

        Raises:
            DamageError: the table is missing or cannot be read.
        """
        self.settle(name)
        return self._opened(name)

    def handle(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table
        """The same of what is committed, for what is not about its last rows."""
        return self._opened(name)

    def dataset(self, name: str) -> Any:  # noqa: ANN401 - lance.LanceDataset
        """The latest version of a table as Lance reads it; see `committed`."""
        self.settle(name)
        return self.committed(name)

    def _open(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        with self.explaining(name):
            return super()._open(name)

    @contextmanager
    def explaining(self, name: str) -> Iterator[None]:
        """Say which command makes a table again where it turns out to be damaged.

        Raises:
            DamageError: the table is missing or cannot be read.
            StoreError: the home has left these tables.
        """
        try:
            yield
        except BaseException as raised:
            error = without_panic(raised)
            if not isinstance(error, ERRORS):
                raise
            if self.refuse_stale is not None:
                self.refuse_stale()
            told = explain_error(self, name, error) if hasattr(self, "identity") else None
            if told is None:
                if error is raised:
                    raise
                raise error from raised
            self._handles.pop(name, None)
            self._datasets.pop(name, None)
            raise told from None

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """As `explaining`; a file that is missing is no bad argument, which Lance calls it."""
        with self.explaining(name):
            try:
                yield
            except pa.ArrowInvalid as error:
                raise RuntimeError(str(error)) from error

    def read(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Rows of a table that match the filter, as a frame (in no promised order)."""
        wanted = list(columns) if columns is not None else list(self.specs[name].schema.names)
        logged = self._logged_frame(name, where)
        also = [self.specs[name].key] if not logged.is_empty() and self.specs[name].key not in wanted else []
        with observe_query("select", name) as asked, self._reading(name):
            if self.in_memory:
                query = self.table(name).search()
                query = query if where is None else query.where(where)
                found = query.select(wanted).limit(None).to_arrow()
            else:
                found = self.committed(name).to_table(filter=where, columns=[*wanted, *also])
            asked.set(rows=found.num_rows)
        frame = frame_of(found)
        if logged.is_empty():
            return frame
        new = logged.join(frame, on=self.specs[name].key, how="anti", maintain_order="left")
        return pl.concat([frame.select(wanted), new.select(wanted)])

    def read_logged(self, name: str, where: str, columns: Sequence[str]) -> pl.DataFrame:
        """What `read` has of the log alone: of rows that are committed some, all or none."""
        found = self._logged_frame(name, where)
        return self.empty(name, columns) if found.is_empty() else found.select(columns)

    def _logged_frame(self, name: str, where: str | None) -> pl.DataFrame:
        """Rows of the write-ahead log that match a filter; what Polars cannot tell is committed instead."""
        names = self.logged(name)
        if not names:
            return _NOTHING
        if where is None or not _OTHERWISE.search(where):
            assert self.wal is not None
            found = self.wal.frame(names, name)
            try:
                return found if where is None else found.filter(pl.sql_expr(where))
            except pl.exceptions.PolarsError:
                pass
        self.settle(name)
        return _NOTHING

    def scan(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """The same as `read`, for filters that let very many rows through.

        It reads whole columns, where LanceDB's query fetches row by row what the filter does not name: a
        tenth of the work when most of millions of rows match, and more work than `read` when few do.
        """
        wanted = list(columns) if columns is not None else list(self.specs[name].schema.names)
        with observe_query("scan", name) as asked, self._reading(name):
            found = self.dataset(name).to_table(filter=where, columns=wanted, late_materialization=False)
            asked.set(rows=found.num_rows)
        return frame_of(found)

    def read_by(
        self,
        name: str,
        column: str,
        values: Sequence[str],
        *,
        columns: Sequence[str] | None = None,
        also: str | None = None,
    ) -> pl.DataFrame:
        """Rows whose `column` is one of `values`; asks in slices, so any number of values will do."""
        wanted = list(dict.fromkeys(values))
        parts = [
            self.read(
                name,
                one_of(column, part) if also is None else f"{one_of(column, part)} AND ({also})",
                columns=columns,
            )
            for part in batches(wanted)
        ]
        return pl.concat(parts) if parts else self.empty(name, columns)

    def empty(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """No rows of a table."""
        return _no_rows(self.specs[name].schema, None if columns is None else tuple(columns))

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Ask for the version of each table once in this block, which writes nothing.

        A search asks for that of one table several times; what others write meanwhile is in the next search.
        """
        self._writing.looked = {}
        try:
            yield
        finally:
            self._writing.looked = None

    def mark(self, name: str) -> tuple[int, tuple[str, ...]]:
        """What a table is now, with what waits in the log: another one means that someone wrote."""
        return self._looked("mark", name, lambda: (self._version(name, self.committed), self.logged(name)))

    def version(self, name: str) -> int:
        """Of a table, now: another number means that someone wrote."""
        return self._looked("version", name, lambda: self._version(name, self.dataset))

    def _looked(self, what: str, name: str, ask: Callable[[], T]) -> T:
        looked: dict[tuple[str, str], Any] | None = getattr(self._writing, "looked", None)
        if looked is None:
            return ask()
        if (what, name) not in looked:
            looked[what, name] = ask()
        found: T = looked[what, name]
        return found

    def _version(self, name: str, opened: Callable[[str], Any]) -> int:
        with self._reading(name):
            return int((self.table if self.in_memory else opened)(name).version)

    def count(self, name: str, where: str | None = None) -> int:
        """Number of rows that match the filter."""
        logged, key = self._logged_frame(name, where), self.specs[name].key
        with observe_query("count", name), self._reading(name):
            if self.in_memory:
                return int(self.table(name).count_rows(where))
            found = self.committed(name)
            new = 0 if logged.is_empty() else logged.height - found.count_rows(one_of(key, logged[key]))
            return int(found.count_rows(where)) + new


@lru_cache(maxsize=256)
def _no_rows(schema: pa.Schema, columns: tuple[str, ...] | None) -> pl.DataFrame:
    frame = frame_of(schema.empty_table())
    return frame if columns is None else frame.select(columns)


def matching(store: Readable, name: str, where: str, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Rows of a table that match a filter, which may be most of them or a small part of millions.

    What is scanned costs by the rows of the table, what is read by the rows that match, twice as much each.
    """
    found = store.count(name, where)
    read = store.scan if 2 * found > store.count(name) else store.read
    return read(name, where, columns=columns)


def parts(
    store: Readable, name: str, where: str | None = None, *, columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """The same, part by part; at least one, which may be empty."""
    if not isinstance(store, TableReader):  # within a namespace: of the size of a tenant
        yield store.scan(name, where, columns=columns)
        return
    yield store.empty(name, columns)
    with store.explaining(name):
        for batch in store.dataset(name).to_batches(
            filter=where, columns=list(columns), batch_size=ROWS_AT_ONCE
        ):
            frame = frame_of(batch)
            yield frame


def compact(rows: pl.DataFrame) -> pl.DataFrame:
    """A copy that holds its own texts alone: what was filtered shares, and so keeps, those of all rows."""
    return frame_of(rows.to_arrow(compat_level=pl.CompatLevel.oldest()))


def distinct(store: Readable, name: str, where: str | None = None, *, columns: Sequence[str]) -> pl.DataFrame:
    """The distinct rows of some columns, in no order."""
    return pl.concat([part.unique() for part in parts(store, name, where, columns=columns)]).unique()

"""Reads of table rows, including those in the write-ahead log.

`TableReader.read` includes waiting rows; every other access to a table commits them first.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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

_NOT_IN_POLARS = re.compile(r"\bCAST\b", re.IGNORECASE)  # filters that Polars and Lance read differently

_NOTHING = pl.DataFrame()

ROWS_AT_ONCE = 131_072
"""Rows per part while a table is read in parts (count)."""

T = TypeVar("T")


class TableReader(TableConnection, ABC):
    """Connection that reads the rows of tables.

    Args:
        uri: A folder, or ``s3://bucket/prefix``.
        storage_options: Options of the object store.
    """

    refuse_stale: Callable[[], None] | None = None
    """Called before damage is reported: tables that a home has left must not be rebuilt."""

    wal: WriteAheadLog | None = None
    """Rows that are not committed yet; None without a home or a folder."""

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None = None) -> None:
        super().__init__(uri, storage_options)
        self._writing = threading.local()
        self.partitions_of_fragments: dict[str, dict[tuple[str, ...], frozenset[Any]]] = {}
        self._no_rows: dict[tuple[str, tuple[str, ...] | None], tuple[pa.Schema, pl.DataFrame]] = {}

    @abstractmethod
    def settle(self, name: str = "") -> None:
        """Commit the rows of one table, or of any, that wait in the write-ahead log."""

    def logged(self, name: str = "") -> tuple[str, ...]:
        """Return the files of the write-ahead log with rows of a table, or of any."""
        held = self.wal is None or getattr(self._writing, "settles", False)
        return () if held or self.wal is None else self.wal.names(name)

    def logged_rows(self, names: Sequence[str], name: str) -> dict[str, pa.Table]:
        """Return rows of a table by file of the log; files that are gone are left out."""
        return {} if self.wal is None else self.wal.rows(names, name)

    # -- tables ----------------------------------------------------------------------------------

    @property
    def db(self) -> Any:  # noqa: ANN401 - lancedb.DBConnection
        """LanceDB's connection, after a commit of waiting rows; `bare_db` skips the commit."""
        self.settle()
        return self.bare_db

    def table(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        """Return an open handle; it always reads the latest version.

        Raises:
            DamageError: The table is missing or cannot be read.
        """
        self.settle(name)
        return self._opened(name)

    def handle(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table
        """Return an open handle on committed rows; waiting rows are not committed first."""
        return self._opened(name)

    def dataset(self, name: str) -> Any:  # noqa: ANN401 - lance.LanceDataset
        """Return a table's latest version as a Lance dataset; see `committed`."""
        self.settle(name)
        return self.committed(name)

    def _open(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        with self.explaining(name):
            return super()._open(name)

    def _open_dataset(self, name: str, session: Any) -> Any:  # noqa: ANN401 - Lance has no types
        with self.explaining(name):
            return super()._open_dataset(name, session)

    @contextmanager
    def explaining(self, name: str) -> Iterator[None]:
        """Raise an error that names the rebuild command if the table is damaged.

        Raises:
            DamageError: The table is missing or cannot be read.
            StoreError: The home has left these tables.
        """
        try:
            yield
        except BaseException as raised:
            error = without_panic(raised)
            if not isinstance(error, ERRORS):
                raise
            if self.refuse_stale is not None:
                self.refuse_stale()
            damage = explain_error(self, name, error) if hasattr(self, "identity") else None
            if damage is None:
                if error is raised:
                    raise
                raise error from raised
            self._handles.pop(name, None)
            self._datasets.pop(name, None)
            raise damage from None

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Explain errors as `explaining`; Lance reports a missing file as a bad argument."""
        with self.explaining(name):
            try:
                yield
            except pa.ArrowInvalid as error:
                raise RuntimeError(str(error)) from error

    def read(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return the rows of a table that match the filter (in no particular order)."""
        wanted = list(columns) if columns is not None else list(self.specs[name].schema.names)
        logged = self._logged_frame(name, where)
        also = [self.specs[name].key] if not logged.is_empty() and self.specs[name].key not in wanted else []
        with observe_query("select", name) as observed, self._reading(name):
            if self.in_memory:
                query = self.table(name).search()
                query = query if where is None else query.where(where)
                arrow = query.select(wanted).limit(None).to_arrow()
            else:
                arrow = self.committed(name).to_table(filter=where, columns=[*wanted, *also])
            observed.set(rows=arrow.num_rows)
        frame = frame_of(arrow)
        if logged.is_empty():
            return frame
        new = logged.join(frame, on=self.specs[name].key, how="anti", maintain_order="left")
        return pl.concat([frame.select(wanted), new.select(wanted)])

    def read_logged(self, name: str, where: str, columns: Sequence[str]) -> pl.DataFrame:
        """Return what `read` gets from the log; some of these rows may be committed already."""
        rows = self._logged_frame(name, where)
        return self.empty(name, columns) if rows.is_empty() else rows.select(columns)

    def _logged_frame(self, name: str, where: str | None) -> pl.DataFrame:
        """Return logged rows that match a filter; commit them if Polars cannot evaluate it."""
        names = self.logged(name)
        if not names:
            return _NOTHING
        if where is None or not _NOT_IN_POLARS.search(where):
            assert self.wal is not None
            rows = self.wal.frame(names, name)
            try:
                return rows if where is None else rows.filter(pl.sql_expr(where))
            except pl.exceptions.PolarsError:
                pass
        self.settle(name)
        return _NOTHING

    def scan(
        self, name: str, where: str | None = None, *, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return the same rows as `read`, faster for filters that match very many.

        It reads whole columns, where LanceDB's query fetches other columns row by row: a tenth of the work
        when most of millions of rows match, and more than `read` when few do.
        """
        wanted = list(columns) if columns is not None else list(self.specs[name].schema.names)
        with observe_query("scan", name) as observed, self._reading(name):
            arrow = self.dataset(name).to_table(filter=where, columns=wanted, late_materialization=False)
            observed.set(rows=arrow.num_rows)
        return frame_of(arrow)

    def read_by(
        self,
        name: str,
        column: str,
        values: Sequence[str],
        *,
        columns: Sequence[str] | None = None,
        also: str | None = None,
    ) -> pl.DataFrame:
        """Return rows whose `column` is one of `values`, in batches; any number of values."""
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
        """Return an empty frame with the columns of a table."""
        schema, wanted = self.specs[name].schema, None if columns is None else tuple(columns)
        known = self._no_rows.get((name, wanted))
        if known is None or known[0] is not schema:  # other vectors since a re-embedding
            frame = frame_of(schema.empty_table())
            known = self._no_rows[name, wanted] = schema, frame if wanted is None else frame.select(wanted)
        return known[1]

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Read the version of each table only once in this block, which writes nothing.

        A search needs one table's version several times; writes of others meanwhile are in the next search.
        """
        self._writing.looked = {}
        try:
            yield
        finally:
            self._writing.looked = None

    def mark(self, name: str) -> tuple[int, tuple[str, ...]]:
        """Return a table's version and log files; a different mark means a write."""
        return self._looked("mark", name, lambda: (self._version(name, self.committed), self.logged(name)))

    def version(self, name: str) -> int:
        """Return a table's present version; a different number means a write."""
        return self._looked("version", name, lambda: self._version(name, self.dataset))

    def _looked(self, what: str, name: str, ask: Callable[[], T]) -> T:
        cache: dict[tuple[str, str], Any] | None = getattr(self._writing, "looked", None)
        if cache is None:
            return ask()
        if (what, name) not in cache:
            cache[what, name] = ask()
        cached: T = cache[what, name]
        return cached

    def _version(self, name: str, opened: Callable[[str], Any]) -> int:
        with self._reading(name):
            return int((self.table if self.in_memory else opened)(name).version)

    def count(self, name: str, where: str | None = None) -> int:
        """Count the rows that match the filter."""
        logged, key = self._logged_frame(name, where), self.specs[name].key
        with observe_query("count", name), self._reading(name):
            if self.in_memory:
                return int(self.table(name).count_rows(where))
            dataset = self.committed(name)
            new = 0 if logged.is_empty() else logged.height - dataset.count_rows(one_of(key, logged[key]))
            return int(dataset.count_rows(where)) + new


def matching(store: Readable, name: str, where: str, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows that match a filter, by the cheaper of `scan` and `read`.

    A scan costs by the rows of the table, a read by the matching rows, twice as much each.
    """
    matches = store.count(name, where)
    read = store.scan if 2 * matches > store.count(name) else store.read
    return read(name, where, columns=columns)


def parts(
    store: Readable, name: str, where: str | None = None, *, columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """Yield the rows that match a filter in parts; at least one, which may be empty."""
    if not isinstance(store, TableReader):  # within a namespace: few rows
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
    """Copy rows with their own texts only: filtered rows share, and keep, all texts."""
    return frame_of(rows.to_arrow(compat_level=pl.CompatLevel.oldest()))


def distinct(store: Readable, name: str, where: str | None = None, *, columns: Sequence[str]) -> pl.DataFrame:
    """Return the distinct rows of some columns, in no order."""
    return pl.concat([part.unique() for part in parts(store, name, where, columns=columns)]).unique()

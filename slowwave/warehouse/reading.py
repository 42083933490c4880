"""Reading the warehouse; nothing here can change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.warehouse.duck import load_duckdb

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = """
SELECT table_name, coalesce(comment, '') FROM duckdb_tables() WHERE NOT internal ORDER BY table_name
"""
_COLUMNS = """
SELECT table_name, column_name, data_type, coalesce(comment, '') FROM duckdb_columns() WHERE NOT internal
ORDER BY table_name, column_index
"""


@dataclass(frozen=True, slots=True)
class Described:
    """A table as the file itself describes it.

    Attributes:
        name: of the table.
        rows: that it has (count).
        about: what a row is.
        columns: name, type, about of each.
    """

    name: str
    rows: int
    about: str
    columns: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query gave: the names of its columns, its rows, and whether there were more of them."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    more: bool = False


@contextmanager
def opened(path: Path) -> Iterator[DuckDBPyConnection]:
    """The warehouse, to read only: no statement can write, or read another file.

    Raises:
        NotFoundError: there is none.
        SlowwaveError: DuckDB is not installed, or cannot read the file.
    """
    duckdb = load_duckdb()
    if not path.is_file():
        raise NotFoundError(f"There is no warehouse at {path}. `slowwave warehouse build` makes it.")
    try:
        connection = duckdb.connect(str(path), read_only=True, config={"enable_external_access": False})
    except duckdb.Error as error:
        raise SlowwaveError(
            f"{path} cannot be read: {error}. `slowwave warehouse build` makes it anew."
        ) from None
    with connection:
        yield connection


def described(path: Path) -> list[Described]:
    """Every table with its columns, by name."""
    with opened(path) as connection:
        columns = connection.execute(_COLUMNS).fetchall()
        of = {name: tuple(tuple(row[1:]) for row in rows) for name, rows in groupby(columns, itemgetter(0))}
        tables = connection.execute(_TABLES).fetchall()
        return [Described(name, connection.table(name).shape[0], about, of[name]) for name, about in tables]


def query(path: Path, sql: str, *, most: int | None = None) -> QueryResult:
    """What a query gives.

    Args:
        path: of the warehouse.
        sql: one query; of several statements the last one's rows are given.
        most: rows to give at most (count); None: all.

    Raises:
        SlowwaveError: DuckDB refuses it, with its own words.
    """
    duckdb = load_duckdb()
    with opened(path) as connection:
        try:
            done = connection.execute(sql)
            if done is None or done.description is None:
                raise SlowwaveError(
                    "There is no query to answer. `slowwave warehouse tables` lists what there is."
                )
            names = tuple(str(column[0]) for column in done.description)
            rows = done.fetchall() if most is None else done.fetchmany(most + 1)
        except duckdb.Error as error:
            raise SlowwaveError(f"{error}\n\n`slowwave warehouse tables` lists what there is.") from None
    return QueryResult(names, rows[:most], most is not None and len(rows) > most)

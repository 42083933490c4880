"""Read-only access to the warehouse."""

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
    """Table as the file itself describes it.

    Attributes:
        name: Name of the table.
        rows: Number of rows (count).
        about: Meaning of a row.
        columns: Name, type, description of each.
    """

    name: str
    rows: int
    about: str
    columns: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Result of a query: column names, rows, and whether more rows exist."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    more: bool = False


@contextmanager
def opened(path: Path) -> Iterator[DuckDBPyConnection]:
    """Open the warehouse read-only: no statement can write, or read another file.

    Raises:
        NotFoundError: there is none.
        SlowwaveError: DuckDB is not installed, or cannot read the file.
    """
    duckdb = load_duckdb()
    if not path.is_file():
        raise NotFoundError(f"There is no warehouse at {path}. Run `slowwave warehouse build` to create it.")
    try:
        connection = duckdb.connect(str(path), read_only=True, config={"enable_external_access": False})
    except duckdb.Error as error:
        raise SlowwaveError(
            f"Cannot read {path}: {error}. Run `slowwave warehouse build` to recreate it."
        ) from None
    with connection:
        yield connection


def described(path: Path) -> list[Described]:
    """Return every table with its columns, by name."""
    with opened(path) as connection:
        columns = connection.execute(_COLUMNS).fetchall()
        of = {name: tuple(tuple(row[1:]) for row in rows) for name, rows in groupby(columns, itemgetter(0))}
        tables = connection.execute(_TABLES).fetchall()
        return [
            Described(name, connection.table(name).shape[0], description, of[name])
            for name, description in tables
        ]


def query(path: Path, sql: str, *, most: int | None = None) -> QueryResult:
    """Run a query and return its rows.

    Args:
        path: File of the warehouse.
        sql: One query; of several statements the last one's rows are returned.
        most: Maximum rows (count); None: all.

    Raises:
        SlowwaveError: DuckDB rejects it; the message is DuckDB's.
    """
    duckdb = load_duckdb()
    with opened(path) as connection:
        try:
            result = connection.execute(sql)
            if result is None or result.description is None:
                raise SlowwaveError(
                    "The statement returns no rows. `slowwave warehouse tables` lists the tables."
                )
            names = tuple(str(column[0]) for column in result.description)
            rows = result.fetchall() if most is None else result.fetchmany(most + 1)
        except duckdb.Error as error:
            raise SlowwaveError(f"{error}\n\n`slowwave warehouse tables` lists the tables.") from None
    return QueryResult(names, rows[:most], most is not None and len(rows) > most)

"""Warehouse build: a new file is written, verified, and atomically replaces the old one.

Readers of the old file keep it, and the path always has the old or the new file. A build that is killed
leaves the old file; the next build removes its remains.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common.permissions import file_mode
from slowwave.common.progress import task
from slowwave.errors import StoreError
from slowwave.evaluation.trend import trend_until
from slowwave.store import Store, quote
from slowwave.warehouse.duck import load_duckdb
from slowwave.warehouse.mart import Mart
from slowwave.warehouse.marts import MARTS
from slowwave.warehouse.sources import MADE, SOURCES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from slowwave.home.workspace import Workspace

Connect = Callable[[Path], AbstractContextManager["DuckDBPyConnection"]]

PATIENCE_S = 600  # time-out for another build (seconds)
# Student's t at 0.975 for 1 to 10 degrees of freedom; beyond them its expansion in powers of 1/n (Abramowitz
# and Stegun, 26.7.5), which is within 0.0002 there.
_T975 = """
CREATE TEMP MACRO t975(n) AS CASE
  WHEN n < 1 THEN NULL
  WHEN n <= 10 THEN [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281][n]
  ELSE 1.959964 + 2.372272 / n + 2.822500 / n ** 2 + 2.555852 / n ** 3 END
"""


@dataclass(frozen=True, slots=True)
class Built:
    """Result of a build.

    Attributes:
        rows: Rows of each table (count).
        seconds: Duration.
        bytes: Size of the file.
    """

    rows: dict[str, int]
    seconds: float
    bytes: int


def build_home(space: Workspace, path: Path, *, connect: Connect | None = None) -> Built:
    """Build the warehouse of a home, including computed frames (`sources.MADE`).

    Raises:
        SlowwaveError: see `build`.
    """
    made = {"trend": trend_until(space, space.now()).weeks}
    return build(space.store, path, connect=connect, made=made)


def build(
    store: Store,
    path: Path,
    *,
    connect: Connect | None = None,
    made: Mapping[str, pl.DataFrame] | None = None,
) -> Built:
    """Recreate the warehouse of a store; the same tables give the same content.

    Args:
        store: Store to read.
        path: Path of the file; its folder must exist.
        connect: Opens a DuckDB file for writing; default: DuckDB itself.
        made: Frames of `sources.MADE`; a missing one has no rows.

    Raises:
        SlowwaveError: DuckDB is not installed, another build does not end, or the verification fails.
    """
    load_duckdb()
    started, new = time.perf_counter(), path.with_name(f"{path.name}.building")
    with _alone(path):
        _remove(new)
        try:
            rows = _filled(store, new, connect or _connected, made or {})
            _verify(new, rows)
            _take_the_place(new, path)
        finally:
            _remove(new)
    return Built(rows, time.perf_counter() - started, path.stat().st_size)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lock the build of a file; the system releases the lock of a killed process."""
    from filelock import FileLock, Timeout

    try:
        lock = FileLock(f"{path}.lock", mode=file_mode(path.parent)).acquire(timeout=PATIENCE_S)
    except Timeout:
        raise StoreError(
            f"Another process has been building {path} for {PATIENCE_S} s. Wait for it, then try again."
        ) from None
    with lock:
        yield


@contextmanager
def _connected(path: Path) -> Iterator[DuckDBPyConnection]:
    with load_duckdb().connect(str(path)) as connection:
        yield connection


def _filled(store: Store, path: Path, connect: Connect, made: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    """Build every table in a new file; return the rows of each."""
    rows = {}
    last = {name: mart for mart in MARTS for name in mart.reads}
    with connect(path) as connection, task("building the warehouse", len(MARTS)) as advance:
        try:
            connection.execute("SET threads = 1")  # more threads would add up sums in varying order
            connection.execute(_T975)
            connection.begin()  # one commit, not one per comment
            registered: set[str] = set()
            for mart in MARTS:
                for name in set(mart.reads) - registered:  # once, so that all tables see the same rows
                    connection.register(f"lance_{name}", _read(store, name, made).to_arrow())
                registered.update(mart.reads)
                rows[mart.name] = _create_table(connection, mart)
                for name in mart.reads:
                    if last[name] is mart:
                        connection.unregister(f"lance_{name}")
                advance(1)
            connection.commit()
            connection.execute("CHECKPOINT")
        finally:
            connection.close()  # Dagster's resource does not after an exception
    return rows


def _read(store: Store, name: str, made: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Read the input of a mart: a table, or a computed frame."""
    if name in SOURCES:
        return SOURCES[name].read(store, name)
    return made[name] if name in made else pl.DataFrame(schema=MADE[name])


def _create_table(connection: DuckDBPyConnection, mart: Mart) -> int:
    """Build one table with its comments; return its number of rows."""
    columns = ", ".join(f"{column.name} {column.type}" for column in mart.columns)
    connection.execute(f"CREATE TABLE {mart.name} ({columns})")
    order = ", ".join(str(number + 1) for number in range(mart.key))
    connection.execute(" ".join(("INSERT INTO", mart.name, mart.query, "ORDER BY", order)))
    connection.execute(f"COMMENT ON TABLE {mart.name} IS {quote(mart.about)}")
    for column in mart.columns:
        connection.execute(f"COMMENT ON COLUMN {mart.name}.{column.name} IS {quote(column.about)}")
    return _counted(connection, mart)[0]


def _counted(connection: DuckDBPyConnection, mart: Mart) -> tuple[int, int]:
    """Return the number of rows and of distinct keys of a table."""
    keys = ", ".join(mart.keys)
    relation = connection.table(f"{mart.name}")
    return relation.shape[0], relation.aggregate(keys, keys).shape[0]


def _verify(path: Path, rows: dict[str, int]) -> None:
    """Verify that the file opens and every table has its rows with unique keys.

    Raises:
        StoreError: the verification fails.
    """
    with load_duckdb().connect(str(path), read_only=True) as connection:
        for mart in MARTS:
            count, keys = _counted(connection, mart)
            if not count == keys == rows[mart.name]:
                raise StoreError(
                    f"{mart.name} was built with {rows[mart.name]:,} rows and has {count:,} with {keys:,} "
                    f"keys ({', '.join(mart.keys)}). The old warehouse stays. Run `slowwave doctor` to find "
                    f"duplicate rows."
                )


def _take_the_place(new: Path, path: Path) -> None:
    # A leftover WAL of the old file must not be applied to the new one.
    _wal(path).unlink(missing_ok=True)
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(new, path)  # noqa: PTH105 - tests patch this name to end the process here


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _wal(path).unlink(missing_ok=True)


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")

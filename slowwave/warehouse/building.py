"""Building the warehouse: into a file beside the old one, looked over, and then in its place at once.

Who reads the old file keeps reading it, and who opens the path finds either the old file or the new one. A
build that is killed leaves the old file; what it had begun is removed by the next.
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

PATIENCE_S = 600  # for another build
# Student's t at .975 for 1 to 10 degrees of freedom; beyond them its expansion in powers of 1/n (Abramowitz
# and Stegun, 26.7.5), which is within .0002 there.
_T975 = """
CREATE TEMP MACRO t975(n) AS CASE
  WHEN n < 1 THEN NULL
  WHEN n <= 10 THEN [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281][n]
  ELSE 1.959964 + 2.372272 / n + 2.822500 / n ** 2 + 2.555852 / n ** 3 END
"""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made.

    Attributes:
        rows: of each table (count).
        seconds: that it took.
        bytes: of the file.
    """

    rows: dict[str, int]
    seconds: float
    bytes: int


def build_home(space: Workspace, path: Path, *, connect: Connect | None = None) -> Built:
    """The warehouse of a home, with what its tables and its journal come to (`sources.MADE`).

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
    """Make the warehouse of a store anew; the same tables give the same content.

    Args:
        store: is only read.
        path: of the file; its folder has to be there.
        connect: opens a DuckDB file for writing; default: DuckDB itself.
        made: frames of `sources.MADE`; what is not given has no rows.

    Raises:
        SlowwaveError: DuckDB is not installed, another build does not end, or what was built is not whole.
    """
    load_duckdb()
    started, new = time.perf_counter(), path.with_name(f"{path.name}.building")
    with _alone(path):
        _remove(new)
        try:
            rows = _filled(store, new, connect or _connected, made or {})
            _look_over(new, rows)
            _take_the_place(new, path)
        finally:
            _remove(new)
    return Built(rows, time.perf_counter() - started, path.stat().st_size)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the build of a file; the system lets go of it when the process is killed."""
    from filelock import FileLock, Timeout

    try:
        held = FileLock(f"{path}.lock", mode=file_mode(path.parent)).acquire(timeout=PATIENCE_S)
    except Timeout:
        raise StoreError(
            f"Another process has been building {path} for {PATIENCE_S} s. Wait for it, then try again."
        ) from None
    with held:
        yield


@contextmanager
def _connected(path: Path) -> Iterator[DuckDBPyConnection]:
    with load_duckdb().connect(str(path)) as connection:
        yield connection


def _filled(store: Store, path: Path, connect: Connect, made: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    """Make every table in a new file; rows of each."""
    rows = {}
    last = {name: mart for mart in MARTS for name in mart.reads}
    with connect(path) as connection, task("building the warehouse", len(MARTS)) as advance:
        try:
            connection.execute("SET threads = 1")  # or sums would be added up in another order each time
            connection.execute(_T975)
            connection.begin()  # one commit, not one of each comment
            there: set[str] = set()
            for mart in MARTS:
                for name in set(mart.reads) - there:  # once: all tables see the same rows
                    connection.register(f"lance_{name}", _read(store, name, made).to_arrow())
                there.update(mart.reads)
                rows[mart.name] = _made(connection, mart)
                for name in mart.reads:
                    if last[name] is mart:
                        connection.unregister(f"lance_{name}")
                advance(1)
            connection.commit()
            connection.execute("CHECKPOINT")
        finally:
            connection.close()  # Dagster's resource does not, when something is raised
    return rows


def _read(store: Store, name: str, made: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """What a mart reads: of a table, or worked out."""
    if name in SOURCES:
        return SOURCES[name].read(store, name)
    return made[name] if name in made else pl.DataFrame(schema=MADE[name])


def _made(connection: DuckDBPyConnection, mart: Mart) -> int:
    """Make one table, with its comments; rows of it."""
    columns = ", ".join(f"{column.name} {column.type}" for column in mart.columns)
    connection.execute(f"CREATE TABLE {mart.name} ({columns})")
    order = ", ".join(str(number + 1) for number in range(mart.key))
    connection.execute(" ".join(("INSERT INTO", mart.name, mart.query, "ORDER BY", order)))
    connection.execute(f"COMMENT ON TABLE {mart.name} IS {quote(mart.about)}")
    for column in mart.columns:
        connection.execute(f"COMMENT ON COLUMN {mart.name}.{column.name} IS {quote(column.about)}")
    return _counted(connection, mart)[0]


def _counted(connection: DuckDBPyConnection, mart: Mart) -> tuple[int, int]:
    """Rows of a table, and how many keys they have."""
    keys = ", ".join(mart.keys)
    relation = connection.table(f"{mart.name}")
    return relation.shape[0], relation.aggregate(keys, keys).shape[0]


def _look_over(path: Path, rows: dict[str, int]) -> None:
    """That the file opens, and every table has its rows, one of each key.

    Raises:
        StoreError: it is not so.
    """
    with load_duckdb().connect(str(path), read_only=True) as connection:
        for mart in MARTS:
            found, keys = _counted(connection, mart)
            if not found == keys == rows[mart.name]:
                raise StoreError(
                    f"{mart.name} was built with {rows[mart.name]:,} rows and has {found:,} with {keys:,} "
                    f"keys ({', '.join(mart.keys)}). The old warehouse stays. Look for double rows with "
                    f"`slowwave doctor`."
                )


def _take_the_place(new: Path, path: Path) -> None:
    # What somebody who wrote into the old file left beside it must not be taken for a part of the new one.
    _wal(path).unlink(missing_ok=True)
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(new, path)  # noqa: PTH105 - by this name a test can end the process just before it


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _wal(path).unlink(missing_ok=True)


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")

"""Nights in the process of the tests, without what takes most of their time and is not theirs.

Dagster makes an engine of SQLAlchemy for each statement, which asks the database who it is before it is of
use, opens and closes a connection for each, and reads its migrations anew for each file; a night is some
hundred statements. Here a file has one engine and, in each thread, one connection; what is in the files is
the same. A new home gets the files of an
instance that was opened once. Pictures, a quarter of a night, are drawn where a test has the mark `pictures`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from alembic.script import ScriptDirectory
from dagster._core.execution import compute_logs
from dagster._core.storage import sql
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from sqlalchemy.pool import NullPool, SingletonThreadPool
from undrawn import undrawn

from slowwave.orchestration import cli, run_nightly
from slowwave.settings import Settings, load

_create = sql.create_engine
_make = cli.dagster_home
_MOST = 64  # engines


@pytest.fixture(autouse=True)
def _quick_nights(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A file of tests, or the conftest of a folder, has it by importing it."""
    with quick_nights(tmp_path_factory, pictures=request.node.get_closest_marker("pictures") is not None):
        yield


@contextmanager
def quick_nights(factory: pytest.TempPathFactory, *, pictures: bool = False) -> Iterator[None]:
    """For a fixture that runs nights before the tests of its file."""
    keep_connections()
    with nullcontext() if pictures else undrawn(), pytest.MonkeyPatch.context() as patched:
        for module in (cli, run_nightly):
            patched.setattr(module, "dagster_home", partial(_dagster_home, factory))
        # What runs print is in their files; four processes would show it here, too.
        patched.setattr(compute_logs, "tail_to_stream", lambda *_: nullcontext())
        yield


def keep_connections() -> None:
    """One engine and one connection for each file of Dagster's, from now on in this process."""
    for module in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
        module.create_engine = _engine
    sql.ScriptDirectory = _Scripts


def _dagster_home(factory: pytest.TempPathFactory, settings: Settings) -> Path:
    """As the program makes it, with the files that the first run would make."""
    if not (settings.home / "dagster").exists():
        shutil.copytree(_opened_once(factory.getbasetemp()), settings.home / "dagster")
    return _make(settings)


@cache
def _opened_once(place: Path) -> Path:
    folder = _make(load(place / "opened-once"))
    with dg.DagsterInstance.from_config(str(folder)):
        return folder


def _engine(address: str, *, poolclass: Any = None, connect_args: Any = None, **more: Any) -> Any:
    if poolclass is not NullPool or more:  # one that keeps connections has an end of its own
        return _create(address, poolclass=poolclass, connect_args=connect_args or {}, **more)
    try:
        file = Path(address.partition("///")[2]).stat().st_ino
    except OSError:
        return _create(address, poolclass=NullPool, connect_args=connect_args or {})
    return _kept(address, file, tuple(sorted((connect_args or {}).items())))


@lru_cache(_MOST)
def _kept(address: str, file: int, connect_args: tuple[tuple[str, Any], ...]) -> Any:
    """An engine that keeps a connection to each file; another file in its place has an engine of its own."""
    engine = _create(address, poolclass=SingletonThreadPool, connect_args=dict(connect_args))
    engine.dispose = lambda: None  # as Dagster does after each statement
    return engine


class _Scripts:
    """Migrations that were read already."""

    @classmethod
    def from_config(cls, config: Any) -> ScriptDirectory:
        return _scripts(config.get_main_option("script_location"), config.config_file_name)


@cache
def _scripts(location: str, file: str | None) -> ScriptDirectory:
    from alembic.config import Config

    config = Config(file)
    config.set_main_option("script_location", location)
    return ScriptDirectory.from_config(config)

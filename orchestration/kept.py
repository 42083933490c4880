"""Dagster's own databases, for as long as a night runs in this process: opened once, not for each statement.

Dagster connects anew for every statement, and SQLite writes its log back and waits for the disk whenever the
last connection is closed. That is most of what a night costs over which nothing changed. The files are
the same, and the web page reads them as ever. What a power cut may take of them is their last moments; the
memory rests on nothing in there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import dagster as dg
import sqlalchemy as sa
import yaml
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData

STORAGES = ("storage", "run_storage", "event_log_storage", "instance_class")
"""Settings of an instance that say where it keeps what it knows."""


class _Engines:
    """An engine for each database, which keep their connections until they are disposed of."""

    def __init__(self) -> None:
        self._kept: dict[str, sa.Engine] = {}

    @contextmanager
    def begin(self, address: str) -> Iterator[sa.Connection]:
        """A transaction."""
        if address not in self._kept:
            engine = sa.create_engine(address, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
            sa.event.listen(engine, "connect", _without_waiting)
            self._kept[address] = engine
        with self._kept[address].connect() as connection, connection.begin():
            yield connection

    def dispose(self) -> None:
        """Close every connection."""
        for engine in self._kept.values():
            engine.dispose()
        self._kept = {}


def _without_waiting(connection: Any, _: object) -> None:  # noqa: ANN401 - of the driver
    connection.execute("PRAGMA synchronous=NORMAL")  # the log is written to the disk when it is written back


class KeptRuns(SqliteRunStorage):
    """Runs."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines = _Engines()
        super().__init__(conn_string, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:  # noqa: ANN401
        """As of Dagster."""
        return cls.from_local(inst_data=inst_data, **config_value)

    @contextmanager
    def connect(self) -> Iterator[sa.Connection]:
        """A transaction."""
        with self._engines.begin(self._conn_string) as connection:
            yield connection

    def dispose(self) -> None:
        """Close the connections."""
        self._engines.dispose()
        super().dispose()


class KeptEvents(SqliteEventLogStorage):
    """What happened in runs: a database for each, and one for what is asked across them."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._engines = _Engines()
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:  # noqa: ANN401
        """As of Dagster."""
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[sa.Connection]:
        if shard not in self._initialized_dbs:
            with super()._connect(shard):  # makes what is not there
                pass
        with self._db_lock, self._engines.begin(self.conn_string_for_shard(shard)) as connection:
            yield connection

    def dispose(self) -> None:
        """Close the connections."""
        self._engines.dispose()
        super().dispose()


def instance(folder: Path) -> dg.DagsterInstance:
    """The instance in a folder, for one run in this process; one that keeps its runs elsewhere as it is."""
    given = yaml.safe_load((folder / "dagster.yaml").read_text()) or {}
    if any(name in given for name in STORAGES):
        return dg.DagsterInstance.from_config(str(folder))
    ref = InstanceRef.from_dir(str(folder))
    mine = {
        "run_storage": (KeptRuns, ref.run_storage_data),
        "event_log_storage": (KeptEvents, ref.event_storage_data),
    }
    overrides = {
        name: {
            "module": kept.__module__, "class": kept.__name__, "config": yaml.safe_load(data.config_yaml)
        }
        for name, (kept, data) in mine.items()
        if data is not None
    }  # fmt: skip
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=overrides))

"""A connection to the tables of a database: how long it lasts, and the handles that it keeps.

``read_consistency_interval=0`` makes every read see every finished write of other processes (tests in
``tests/store`` and ``tests/faults``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from slowwave.common.slim_imports import TABLES, when_used
from slowwave.store.tables import TableSpec

os.environ.setdefault("LANCE_LOG", "error")  # it warns on each query that does not select its score

METADATA_CACHE_BYTES = 64 * 2**20
INDEX_CACHE_BYTES = 2**30
"""What a connection keeps of indexes, the least used go first; its default is six times as much."""

NO_VERSION = 2**64 - 1
"""The file of a version is named by what is left to this, so that the newest comes first."""

VERSIONS_PER_SESSION = 128
"""Versions of the searched table that one connection sees at most (count)."""

HANDLES = 0.5
"""Share of the handles that a process may have with which a connection ends in any case."""

LOOK_EVERY_S = 1.0
"""How often at most it is looked whether a connection should end, in seconds."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The embedding model that a store's vectors belong to, and the tables that hold them."""

    model: str
    dimension: int
    tables: Mapping[str, str]  # logical name -> physical name, where they differ

    @classmethod
    def read(cls, fact: Mapping[str, Any]) -> Identity:
        """Read the identity from the fact ``embedding`` of the table ``meta``."""
        return cls(fact["model"], fact["dimension"], fact.get("tables", {}))


def _few_handles() -> bool:
    """Whether this process has more than `HANDLES` of the files open that it may; False where none knows."""
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return sum(1 for _ in Path("/proc/self/fd").iterdir()) > HANDLES * most
    except (ImportError, FileNotFoundError):
        return False
    except OSError:  # not even this list can be opened
        return True


class TableConnection:
    """The tables at a place, whatever state they are in: none is made.

    Args:
        uri: a folder, or ``s3://bucket/prefix``.
        storage_options: options of the object store.

    Attributes:
        in_memory: whether the tables are in LanceDB's memory, where Lance cannot read them by itself.
        elsewhere: whether they are in no folder of this machine, but in memory or in an object store.
    """

    identity: Identity
    specs: dict[str, TableSpec]

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None = None) -> None:
        self.uri = uri
        self.in_memory, self.elsewhere = uri.startswith("memory:"), "://" in uri
        self.storage_options = dict(storage_options or {})
        self.connect()

    def connect(self) -> None:
        """Begin a new connection; what the one before kept open is closed when its last query ends.

        A connection keeps what it has read of tables and indexes. Bounds of its caches bound their memory,
        and not the number of files: every version of a full-text index has some of its own, which stay open
        for as long as the cache has room. So a connection ends with `VERSIONS_PER_SESSION`, and before that
        where handles become few.
        """
        with when_used(*TABLES):
            import lancedb

        self.bare_db = lancedb.connect(
            self.uri,
            storage_options=self.storage_options or None,
            read_consistency_interval=timedelta(0),
            session=lancedb.Session(
                index_cache_size_bytes=INDEX_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES
            ),
        )
        self._handles: dict[str, Any] = {}
        self._datasets: dict[str, tuple[Any, tuple[int, int, int] | None]] = {}
        self._first_version: int | None = None
        self._next_look = 0.0
        self._commits: dict[str, tuple[int, int]] = {}

    def physical(self, name: str) -> str:
        """Physical name of a table: it differs from the logical one after a re-embedding."""
        return self.identity.tables.get(name, name) if hasattr(self, "identity") else name

    def _opened(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        """An open handle; it always reads the latest version."""
        self._end_long_session()
        handles = self._handles
        if name not in handles:
            handles[name] = self._open(name)
        return handles[name]

    def _open(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        """Open a new handle."""
        return self.bare_db.open_table(self.physical(name))

    def committed(self, name: str) -> Any:  # noqa: ANN401 - lance.LanceDataset
        """The latest version of a table as Lance reads it: a read of it costs a third of LanceDB's query.

        What waits in the write-ahead log is not in it.

        That a table in a folder was made again is seen by the file of its version, for the number may be the
        one that it had; that of a table in an object store by its name and by the works that the journal
        tells of (`Workspace.refresh_if_changed`). One request shows whether there is a newer version.
        """
        table, datasets = self._opened(name), self._datasets
        known, seen = datasets.get(name, (None, None))
        latest = None if known is None else known.latest_version
        now = None if latest is None else self.file_of(name, latest)
        if known is None or now is None or (latest == known.version and now != seen):
            import lance

            session = lance.Session(  # type: ignore[attr-defined]
                index_cache_size_bytes=METADATA_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES
            )
            known = table.to_lance(session=session)
            now = self.file_of(name, known.version)
        elif latest != known.version:
            known = known.checkout_version(latest)
        datasets[name] = known, now
        return known

    def file_of(self, name: str, version: int) -> tuple[int, int, int] | None:
        """What tells the file of a version from another one that has its name; None where there is none."""
        if self.elsewhere:
            return version, hash(self.physical(name)), 0
        folder = Path(self.uri, f"{self.physical(name)}.lance", "_versions")
        try:
            found = (folder / f"{NO_VERSION - version:020}.manifest").stat()
        except OSError:
            return None
        return version, found.st_ino, found.st_mtime_ns

    def _end_long_session(self) -> None:
        """Connect again when the searched table has had many versions since, or handles become few."""
        now, searched = time.monotonic(), self._handles.get("chunks")
        if searched is None or now < self._next_look:
            return
        self._next_look = now + LOOK_EVERY_S
        if _few_handles():
            self.connect()
            self._next_look = now + LOOK_EVERY_S
            return
        version = int(searched.version)
        if self._first_version is None:
            self._first_version = version
        elif abs(version - self._first_version) >= VERSIONS_PER_SESSION:
            self.connect()

"""Connection to the tables of a database: its lifetime and its open handles.

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

from slowwave.common.slim_imports import import_lancedb
from slowwave.store.tables import TableSpec

os.environ.setdefault("LANCE_LOG", "error")  # it warns on each query that does not select its score

METADATA_CACHE_BYTES = 64 * 2**20
INDEX_CACHE_BYTES = 2**30
"""Index cache of a connection (bytes); the library's default is six times as much."""

_FOLDER = ".lance"
"""End of the folder of a table."""

NO_VERSION = 2**64 - 1
"""Manifests are named by this minus their version, so that the newest comes first."""

VERSIONS_PER_SESSION = 128
"""Versions of the searched table after which a connection is replaced (count)."""

MAX_HANDLES = 0.5
"""Share of the process's file-handle limit at which a connection is replaced."""

CHECK_EVERY_SECONDS = 1.0
"""Shortest time between two checks whether to replace a connection (seconds)."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Embedding model of a store's vectors, and the physical names of its tables."""

    model: str
    dimension: int
    tables: Mapping[str, str]  # logical name -> physical name, where they differ

    @classmethod
    def read(cls, fact: Mapping[str, Any]) -> Identity:
        """Read the identity from the fact ``embedding`` of the table ``meta``."""
        return cls(fact["model"], fact["dimension"], fact.get("tables", {}))


def _few_handles() -> bool:
    """Whether this process has more than `MAX_HANDLES` of its file handles open.

    False if the system does not tell.
    """
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return sum(1 for _ in Path("/proc/self/fd").iterdir()) > MAX_HANDLES * most
    except (ImportError, FileNotFoundError):
        return False
    except OSError:  # no handle left even for this listing
        return True


class TableConnection:
    """Connection to the tables at a place, in whatever state; creates none.

    Args:
        uri: A folder, or ``s3://bucket/prefix``.
        storage_options: Options of the object store.

    Attributes:
        in_memory: Whether the tables are in LanceDB's memory, which Lance cannot read.
        elsewhere: Whether they are in no folder of this machine: in memory or in an object store.
    """

    identity: Identity
    specs: dict[str, TableSpec]

    _db: Any = None

    def __init__(self, uri: str, storage_options: Mapping[str, str] | None = None) -> None:
        self.uri = uri
        self.in_memory, self.elsewhere = uri.startswith("memory:"), "://" in uri
        self.storage_options = dict(storage_options or {})
        self.connect()

    def connect(self) -> None:
        """Start over with a new connection; the old one's files are closed when its last query ends.

        A connection caches what it has read of tables and indexes. Limits of the caches bound their memory,
        not the number of files: every version of a full-text index keeps its files open while the cache has
        room. So a connection is replaced after `VERSIONS_PER_SESSION` versions, and earlier if handles
        become few.
        """
        self._db = None
        self._handles: dict[str, Any] = {}
        self._datasets: dict[str, tuple[Any, tuple[int, int, int] | None]] = {}
        self._first_version: int | None = None
        self._next_check = 0.0
        self._commits: dict[str, tuple[int, int]] = {}

    @property
    def bare_db(self) -> Any:  # noqa: ANN401 - lancedb.DBConnection
        """LanceDB's connection, made on first use.

        Reading tables of a folder does not need it, and importing LanceDB takes longer than a search.
        """
        if self._db is None:
            lancedb = import_lancedb()
            self._db = lancedb.connect(
                self.uri,
                storage_options=self.storage_options or None,
                read_consistency_interval=timedelta(0),
                session=lancedb.Session(
                    index_cache_size_bytes=INDEX_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES
                ),
            )
        return self._db

    def table_names(self) -> list[str]:
        """Return the physical names of all tables, sorted; waiting rows are not committed first."""
        if self.elsewhere:
            return sorted(self.bare_db.list_tables().tables)
        try:
            entries = os.listdir(self.uri)  # noqa: PTH208 - a Path takes longer than the file system
        except FileNotFoundError:
            return []
        return sorted(name.removesuffix(_FOLDER) for name in entries if name.endswith(_FOLDER))

    def physical(self, name: str) -> str:
        """Return the physical name of a table; it changes with a re-embedding."""
        return self.identity.tables.get(name, name) if hasattr(self, "identity") else name

    def _opened(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        """Return an open handle; it always reads the latest version."""
        self._end_long_session()
        handles = self._handles
        if name not in handles:
            handles[name] = self._open(name)
        return handles[name]

    def _open(self, name: str) -> Any:  # noqa: ANN401 - lancedb.Table is untyped here
        """Open a new handle."""
        return self.bare_db.open_table(self.physical(name))

    def _open_dataset(self, name: str, session: Any) -> Any:  # noqa: ANN401 - Lance has no types
        """Open a table's latest version with Lance; a folder needs no LanceDB for that."""
        if self.elsewhere:
            return self._opened(name).to_lance(session=session)
        import lance

        return lance.dataset(f"{self.uri}/{self.physical(name)}{_FOLDER}", session=session)

    def committed(self, name: str) -> Any:  # noqa: ANN401 - lance.LanceDataset
        """Return a table's latest version as a Lance dataset.

        Reading it costs a third of LanceDB's query. Rows in the write-ahead log are not in it. A recreated
        table may have the same version number. In a folder its manifest file reveals it; in an object store
        its name and the journal's maintenance markers do (`Workspace.refresh_if_changed`). One request shows
        whether there is a newer version.
        """
        self._end_long_session()
        datasets = self._datasets
        cached, previous = datasets.get(name, (None, None))
        latest = None if cached is None else cached.latest_version
        now = None if latest is None else self.file_of(name, latest)
        if cached is None or now is None or (latest == cached.version and now != previous):
            import lance

            session = lance.Session(  # type: ignore[attr-defined]
                index_cache_size_bytes=METADATA_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES
            )
            cached = self._open_dataset(name, session)
            now = self.file_of(name, cached.version)
        elif latest != cached.version:
            cached = cached.checkout_version(latest)
        datasets[name] = cached, now
        return cached

    def file_of(self, name: str, version: int) -> tuple[int, int, int] | None:
        """Return what distinguishes a version's manifest from another of its name; None if missing.

        In a folder: version, inode and modification time (ns).
        """
        if self.elsewhere:
            return version, hash(self.physical(name)), 0
        # Not a Path: to make one takes longer than the file system.
        path = f"{self.uri}/{self.physical(name)}.lance/_versions/{NO_VERSION - version:020}.manifest"
        try:
            stat = os.stat(path)  # noqa: PTH116
        except OSError:
            return None
        return version, stat.st_ino, stat.st_mtime_ns

    def _end_long_session(self) -> None:
        """Reconnect after many versions of the searched table, or if handles become few."""
        now, (searched, _) = time.monotonic(), self._datasets.get("chunks", (None, None))
        searched = self._handles.get("chunks", searched)
        if searched is None or now < self._next_check:
            return
        self._next_check = now + CHECK_EVERY_SECONDS
        if _few_handles():
            self.connect()
            self._next_check = now + CHECK_EVERY_SECONDS
            return
        version = int(searched.version)
        if self._first_version is None:
            self._first_version = version
        elif abs(version - self._first_version) >= VERSIONS_PER_SESSION:
            self.connect()

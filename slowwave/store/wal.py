"""Write-ahead log (WAL) of new rows: many small writes become one commit per table.

A commit of LanceDB costs 10 ms and leaves a version and a fragment, however few rows it has. So new rows are
written to a file here, and `Store.settle` commits all gathered files in one upsert per table. New means that
their keys are in no table and that no writer changes them before the commit. `Store.read` includes them,
whichever process wrote them; every other access to a table commits its rows first.

A file is written atomically, belongs to one event of a writer, and is deleted once its rows are in their
tables. Committing existing rows changes nothing, so a process may be killed at any point. The log is no
second source of truth: its rows follow from events in the journal. A file with a wrong checksum, or with
rows that do not fit their table, is set aside. Its events are applied again from the journal
(`slowwave.lifecycle.recovery`).
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import stat
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pyarrow as pa

from slowwave.common.permissions import OWNER_ONLY
from slowwave.store.frames import frame_of

if TYPE_CHECKING:
    from slowwave.store.tables import TableSpec

STARTED: Final = Path("/proc/sys/kernel/random/boot_id")


def start_of_machine() -> bytes | None:
    """Return an id of this boot of the machine; None if the system has none."""
    try:
        return STARTED.read_bytes()
    except OSError:
        return None


LOG = logging.getLogger("slowwave.store")
SUFFIX = ".arrows"
_START = "started"
SET_ASIDE = ".damaged"
"""Suffix of a damaged file."""
_MAGIC = b"SLOWLOG\x02"
_DIGEST = 16  # bytes of the checksum, after the magic
_BEGUN = "."
_NAME = b"table"
_NAMED = re.compile(r"[0-9][^.]*\.[^.]+\.arrows$")


def beside(tables: str) -> Path:
    """Return the folder of the log of tables in a folder; it survives their loss."""
    return Path(f"{tables.rstrip('/')}.wal")


class WriteAheadLog:
    """Log of the tables in a folder, shared by all processes that have them open.

    Args:
        folder: Created with the first rows.
        specs: Returns the present tables by name.
        mask: Permission bits that its files lose, as in the home (`mask_of`).
    """

    def __init__(
        self, folder: Path, specs: Callable[[], Mapping[str, TableSpec]], mask: int = OWNER_ONLY
    ) -> None:
        self._folder, self._specs, self._mask = folder, specs, mask
        self._start: bytes | None = None
        self._read: dict[str, dict[str, pa.Table]] = {}
        self._frames: dict[str, tuple[tuple[str, ...], pl.DataFrame]] = {}
        self._lock = threading.RLock()

    def append(self, rows: Mapping[str, pa.Table]) -> None:
        """Write rows of tables atomically, as one file.

        Args:
            rows: By table, with its schema, or that without vectors.
        """
        written = {name: table for name, table in rows.items() if table.num_rows}
        if not written:
            return
        self._make_folder()
        name = f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}.{'+'.join(sorted(written))}{SUFFIX}"
        made = self._folder / f"{_BEGUN}{name}"
        try:
            _write(made, self._mask, written)
            try:
                made.replace(self._folder / name)
            except FileNotFoundError:  # another process deleted it as a partial file of a killed writer
                _write(made, self._mask, written)
                made.replace(self._folder / name)
        except BaseException:  # such as a full disk: no partial file may stay
            made.unlink(missing_ok=True)
            raise
        with self._lock:  # as `_tables` reads them
            self._read[name] = {table: rows.replace_schema_metadata(None) for table, rows in written.items()}

    def _make_folder(self) -> None:
        """Create the folder as private as the home, whatever the umask is."""
        self._folder.mkdir(mode=0o777 & ~self._mask, exist_ok=True)

    def remove_partial_files(self) -> None:
        """Delete partial files of killed writers."""
        for begun in self._folder.glob(f"{_BEGUN}*{SUFFIX}"):
            begun.unlink(missing_ok=True)

    def names(self, table: str = "") -> tuple[str, ...]:
        """Return the files with rows, of one table or of any, the oldest first."""
        try:
            listed = os.listdir(self._folder)  # noqa: PTH208 - a Path each costs as much again
        except FileNotFoundError:
            return ()
        names = sorted(name for name in listed if _NAMED.match(name))
        if len(self._read) > len(names):  # other processes have committed some of them
            self._forget_others(names)
        return tuple(name for name in names if not table or table in name.split(".")[1].split("+"))

    def set_aside(self, *, look: bool = False) -> tuple[str, ...]:
        """Return the damaged files; their events are in the journal only.

        Args:
            look: Read every file again, also those that this process has read before.
        """
        if look:
            self._forget_others(())
            for name in self.names():
                self._tables(name)
        try:
            return tuple(sorted(name for name in os.listdir(self._folder) if name.endswith(SET_ASIDE)))  # noqa: PTH208
        except FileNotFoundError:
            return ()

    def is_of_another_start(self) -> bool:
        """Whether the machine was restarted since the log was last complete; read once per process.

        Rows written just before a crash may be missing from the log and from the tables.
        """
        if self._start is None:
            try:
                self._start = _content(self._folder / _START) or b""
            except FileNotFoundError:
                self._start = b""
        return self._start != (start_of_machine() or b"")

    def mark_complete(self) -> None:
        """Record that all events of the journal are in the tables or in the log."""
        self._make_folder()
        self._start = start_of_machine() or b""
        made = self._folder / f"{_BEGUN}{_START}.{uuid.uuid4().hex[:8]}"
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 & ~self._mask)
        with os.fdopen(handle, "wb") as file:
            file.write(self._start)
        _remove(self._folder / _START, folders_only=True)
        made.replace(self._folder / _START)

    def forget_set_aside(self, names: Sequence[str]) -> None:
        """Delete set-aside files, once their events are in the tables."""
        for name in names:
            _remove(self._folder / name)

    def forget_strays(self) -> None:
        """Delete files that are no part of the log: copies of its files have texts."""
        kept = {*self.names(), _START, "lock"}
        for path in self._folder.glob("*"):
            if path.name not in kept:
                _remove(path)

    def _forget_others(self, names: Sequence[str]) -> None:
        with self._lock:
            self._read = {name: self._read[name] for name in names if name in self._read}
            self._frames.clear()

    def rows(self, names: Sequence[str], table: str) -> dict[str, pa.Table]:
        """Return rows of a table by file; files that are gone are left out."""
        return {name: tables[table] for name in names if table in (tables := self._tables(name))}

    def frame(self, names: Sequence[str], table: str) -> pl.DataFrame:
        """Return a table's rows of several files as one frame."""
        cached, frame = self._frames.get(table, ((), pl.DataFrame()))
        if names == cached:
            return frame
        old = len(cached) if cached and tuple(names[: len(cached)]) == cached else 0
        rows = list(self.rows(names[old:], table).values())
        more = frame_of(pa.concat_tables(rows)) if rows else pl.DataFrame()
        frame = pl.concat([frame, more]) if old and rows else frame if old else more
        self._frames[table] = tuple(names), frame
        return frame

    def _tables(self, name: str) -> dict[str, pa.Table]:
        with self._lock:
            tables = self._read.get(name)
        if tables is None:
            try:
                content = _content(self._folder / name)
            except FileNotFoundError:  # committed meanwhile
                return {}
            tables = None if content is None else _parsed(content)
            if tables is None or not self._fit(tables):
                self._put_aside(name)
                return {}
            with self._lock:
                self._read[name] = tables
        return tables

    def _fit(self, tables: Mapping[str, pa.Table]) -> bool:
        """Whether rows fit the present tables; vectors may be missing."""
        specs = self._specs()
        for name, rows in tables.items():
            wanted = specs[name].schema if name in specs else pa.schema([])
            bare = pa.schema([column for column in wanted if column.name != "vector"])
            if not (rows.schema.equals(wanted) or rows.schema.equals(bare)):
                return False
        return True

    def _put_aside(self, name: str) -> None:
        with suppress(OSError):  # a reader without write permission leaves it in place
            (self._folder / name).replace(self._folder / f"{name}{SET_ASIDE}")
        LOG.warning(
            "%s is damaged and was set aside. Its saves are in the journal: the next save applies them, or "
            "run `slowwave doctor --repair`.",
            self._folder / name,
        )

    @contextmanager
    def taking_all(self) -> Iterator[dict[str, list[pa.Table]]]:
        """Yield all rows by table for a commit; delete their files unless it fails.

        One process at a time.
        """
        from filelock import FileLock

        self._make_folder()
        with self._lock, FileLock(self._folder / "lock", mode=0o666 & ~self._mask):
            names = self.names()
            waiting: dict[str, list[pa.Table]] = {}
            for name in names:
                for table, rows in self._tables(name).items():
                    waiting.setdefault(table, []).append(rows)
            yield waiting
            for name in names:
                (self._folder / name).unlink(missing_ok=True)
            self._read.clear()
            self._frames.clear()


def _content(path: Path) -> bytes | None:
    """Return the bytes of a file; None if it is no regular file or unreadable.

    Raises:
        FileNotFoundError: It is missing.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would block
            return None
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            return None
        raise
    except OSError:
        return None


def _remove(path: Path, *, folders_only: bool = False) -> None:
    """Delete a file, or a folder in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    elif not folders_only:
        path.unlink(missing_ok=True)


def _write(path: Path, mask: int, tables: Mapping[str, pa.Table]) -> None:
    """Write a file as private as its folder: magic, checksum, then one stream per table."""
    content = pa.BufferOutputStream()
    for name, table in tables.items():
        with pa.ipc.new_stream(content, table.schema.with_metadata({_NAME: name.encode()})) as stream:
            stream.write_table(table.replace_schema_metadata({_NAME: name.encode()}))
    streams = content.getvalue()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666 & ~mask)
    with os.fdopen(handle, "wb") as file:
        file.write(_MAGIC + _checksum(streams))
        file.write(streams)


def _checksum(content: bytes | memoryview | pa.Buffer) -> bytes:
    return blake2b(content, digest_size=_DIGEST).digest()


def _parsed(content: bytes) -> dict[str, pa.Table] | None:
    """Parse a file into tables; None if it is damaged or of another version."""
    start = len(_MAGIC) + _DIGEST
    streams = memoryview(content)[start:]
    if content[: len(_MAGIC)] != _MAGIC or content[len(_MAGIC) : start] != _checksum(streams):
        return None
    source = pa.BufferReader(streams)
    tables: dict[str, pa.Table] = {}
    try:
        while source.tell() < len(streams):
            rows = pa.ipc.open_stream(source).read_all()
            tables[rows.schema.metadata[_NAME].decode()] = rows.replace_schema_metadata(None)
    except (pa.ArrowInvalid, OSError, KeyError, TypeError):  # complete, but written by another version
        return None
    return tables

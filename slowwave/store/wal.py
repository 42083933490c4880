"""A write-ahead log of new rows: many small writes become one commit of each table.

A commit of LanceDB costs ten milliseconds and leaves a version and a fragment, however few rows it has. So
rows that only come (their keys are in no table, and nobody changes them before they are committed) are put
into a file here, which is what the write costs, and `Store.settle` commits what has gathered, in one upsert
a table. A read by `Store.read` has them, whoever wrote them; whatever else is done to a table that has some
here commits them first.

A file is complete or not there, belongs to one act of a writer, and is taken away when its rows are in their
tables; a commit of rows that are there already changes nothing, so a process may be killed anywhere in
between. The log is no second truth: what it says is in the journal, as the act that brought it about. So a
file whose checksum is wrong, or whose rows do not fit their table, is set aside, and the acts that the tables
lack come in again from the journal (`slowwave.lifecycle.recovery`).
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
    """A name of this start of the machine; None where it has none."""
    try:
        return STARTED.read_bytes()
    except OSError:
        return None


LOG = logging.getLogger("slowwave.store")
SUFFIX = ".arrows"
_START = "started"
SET_ASIDE = ".damaged"
"""Ending of the name of a file that is not as it was written."""
_MAGIC = b"SLOWLOG\x02"
_DIGEST = 16  # bytes of the checksum, after the magic
_BEGUN = "."
_NAME = b"table"
_NAMED = re.compile(r"[0-9][^.]*\.[^.]+\.arrows$")


def beside(tables: str) -> Path:
    """Where the log of the tables in a folder is: who loses the tables has it still."""
    return Path(f"{tables.rstrip('/')}.wal")


class WriteAheadLog:
    """The log of the tables in a folder, shared by all processes that have them open.

    Args:
        folder: where it is; made with the first rows.
        specs: gives the tables by name, as they are now.
        mask: bits that its files lose, those of the home (`mask_of`).
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
        """Let tables have these rows from now on; all of them or, for who is killed meanwhile, none.

        Args:
            rows: by table, with the schema of it, or without its vectors.
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
            except FileNotFoundError:  # who looked for beginnings took it for one of a writer that is gone
                _write(made, self._mask, written)
                made.replace(self._folder / name)
        except BaseException:  # a full disk, for one: nothing of it may stay
            made.unlink(missing_ok=True)
            raise

    def _make_folder(self) -> None:
        """Make the folder as private as the home, whatever the umask is."""
        self._folder.mkdir(mode=0o777 & ~self._mask, exist_ok=True)

    def remove_partial_files(self) -> None:
        """Take away files of writers that were killed in the middle."""
        for begun in self._folder.glob(f"{_BEGUN}*{SUFFIX}"):
            begun.unlink(missing_ok=True)

    def names(self, table: str = "") -> tuple[str, ...]:
        """Names of the files that have rows, of one table or of any, the oldest first."""
        try:
            listed = os.listdir(self._folder)  # noqa: PTH208 - a Path each costs as much again
        except FileNotFoundError:
            return ()
        found = sorted(name for name in listed if _NAMED.match(name))
        if len(self._read) > len(found):  # others have committed some of them
            self._forget_others(found)
        return tuple(one for one in found if not table or table in one.split(".")[1].split("+"))

    def set_aside(self, *, look: bool = False) -> tuple[str, ...]:
        """Names of the files that are not as they were written: their acts are in the journal alone.

        Args:
            look: read every file anew, also those that this process has read before.
        """
        if look:
            self._forget_others(())
            for name in self.names():
                self._tables(name)
        try:
            return tuple(sorted(one for one in os.listdir(self._folder) if one.endswith(SET_ASIDE)))  # noqa: PTH208
        except FileNotFoundError:
            return ()

    def is_of_another_start(self) -> bool:
        """Whether the machine was started since the log was last known to be whole; asked once a process.

        What was written just before a machine stopped may be gone from the log, and from the tables.
        """
        if self._start is None:
            try:
                self._start = _content(self._folder / _START) or b""
            except FileNotFoundError:
                self._start = b""
        return self._start != (start_of_machine() or b"")

    def is_whole(self) -> None:
        """Remember that all acts of the journal are in the tables or in the log."""
        self._make_folder()
        self._start = start_of_machine() or b""
        made = self._folder / f"{_BEGUN}{_START}.{uuid.uuid4().hex[:8]}"
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 & ~self._mask)
        with os.fdopen(handle, "wb") as file:
            file.write(self._start)
        _remove(self._folder / _START, folders_only=True)
        made.replace(self._folder / _START)

    def forget_set_aside(self, names: Sequence[str]) -> None:
        """Take files away that were set aside, once their acts are in the tables."""
        for name in names:
            _remove(self._folder / name)

    def forget_strays(self) -> None:
        """Take away whatever is in the folder and no part of the log: copies of its files have texts."""
        kept = {*self.names(), _START, "lock"}
        for one in self._folder.glob("*"):
            if one.name not in kept:
                _remove(one)

    def _forget_others(self, names: Sequence[str]) -> None:
        with self._lock:
            self._read = {name: self._read[name] for name in names if name in self._read}
            self._frames.clear()

    def rows(self, names: Sequence[str], table: str) -> dict[str, pa.Table]:
        """Rows of a table by file; those that are there no more are left out."""
        return {name: found[table] for name in names if table in (found := self._tables(name))}

    def frame(self, names: Sequence[str], table: str) -> pl.DataFrame:
        """Rows of a table of several files as one frame."""
        known, frame = self._frames.get(table, ((), pl.DataFrame()))
        if names == known:
            return frame
        old = len(known) if known and tuple(names[: len(known)]) == known else 0
        rows = list(self.rows(names[old:], table).values())
        more = frame_of(pa.concat_tables(rows)) if rows else pl.DataFrame()
        frame = pl.concat([frame, more]) if old and rows else frame if old else more
        self._frames[table] = tuple(names), frame
        return frame

    def _tables(self, name: str) -> dict[str, pa.Table]:
        with self._lock:
            known = self._read.get(name)
        if known is None:
            try:
                content = _content(self._folder / name)
            except FileNotFoundError:  # committed meanwhile
                return {}
            known = None if content is None else _parsed(content)
            if known is None or not self._fit(known):
                self._put_aside(name)
                return {}
            with self._lock:
                self._read[name] = known
        return known

    def _fit(self, tables: Mapping[str, pa.Table]) -> bool:
        """Whether rows are those of the tables as they are now; they may lack vectors."""
        specs = self._specs()
        for name, rows in tables.items():
            wanted = specs[name].schema if name in specs else pa.schema([])
            bare = pa.schema([one for one in wanted if one.name != "vector"])
            if not (rows.schema.equals(wanted) or rows.schema.equals(bare)):
                return False
        return True

    def _put_aside(self, name: str) -> None:
        with suppress(OSError):  # who may only read leaves it where it is
            (self._folder / name).replace(self._folder / f"{name}{SET_ASIDE}")
        LOG.warning(
            "%s is not as it was written and was set aside. Its saves are in the journal: the next save "
            "takes them in, or `slowwave doctor --repair`.",
            self._folder / name,
        )

    @contextmanager
    def taken(self) -> Iterator[dict[str, list[pa.Table]]]:
        """All rows by table, for who commits them, one at a time; they leave the log unless that fails."""
        from filelock import FileLock

        self._make_folder()
        with self._lock, FileLock(self._folder / "lock", mode=0o666 & ~self._mask):
            names = self.names()
            found: dict[str, list[pa.Table]] = {}
            for name in names:
                for table, rows in self._tables(name).items():
                    found.setdefault(table, []).append(rows)
            yield found
            for name in names:
                (self._folder / name).unlink(missing_ok=True)
            self._read.clear()
            self._frames.clear()


def _content(path: Path) -> bytes | None:
    """Bytes of a file; None of what is no file, or cannot be read.

    Raises:
        FileNotFoundError: it is not there.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            return None
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            return None
        raise
    except OSError:
        return None


def _remove(path: Path, *, folders_only: bool = False) -> None:
    """Take away a file, or a folder that stands in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    elif not folders_only:
        path.unlink(missing_ok=True)


def _write(path: Path, mask: int, tables: Mapping[str, pa.Table]) -> None:
    """Write a file as private as its folder: magic, checksum of what follows, a stream a table."""
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
    """The tables of a file; None where it is not as it was written, or was written by another version."""
    start = len(_MAGIC) + _DIGEST
    streams = memoryview(content)[start:]
    if content[: len(_MAGIC)] != _MAGIC or content[len(_MAGIC) : start] != _checksum(streams):
        return None
    source = pa.BufferReader(streams)
    found: dict[str, pa.Table] = {}
    try:
        while source.tell() < len(streams):
            rows = pa.ipc.open_stream(source).read_all()
            found[rows.schema.metadata[_NAME].decode()] = rows.replace_schema_metadata(None)
    except (pa.ArrowInvalid, OSError, KeyError, TypeError):  # written whole, by another version
        return None
    return found

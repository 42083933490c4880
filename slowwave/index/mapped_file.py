"""A file of arrays and tables that processes map into their memory: one copy of it, however many they are.

It is made once and never changed: another one takes its place, and who has the earlier one mapped keeps it.
What it holds stands at the front, what tells about it at the end (as in Parquet), with checksums of both: a
file that was cut off or damaged, or is of another format, is none.

To read all of a large file at each opening would take as long as to do without it. So a file whose checksum
was right carries a mark of that in the nanoseconds of its time of change: whoever writes to it changes that,
and the mark is of this start of the machine, so that one that stopped without a word is not trusted.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from slowwave.common.permissions import mask_of
from slowwave.store.wal import start_of_machine

FORMAT = 2
_MAGIC = b"SLOWMAP\x01"
_ALIGNED = 64  # bytes, as Arrow wants it
_DIGEST = 16
_SECOND = 1_000_000_000  # nanoseconds
_END = struct.Struct(f"<{_DIGEST}sQ{len(_MAGIC)}s")
"""Checksum and length of what tells about the file."""

Array = npt.NDArray[Any]


class MappedFile:
    """An open file; what it gives is in the file, and lasts as long as somebody has it.

    Attributes:
        facts: what was said of it when it was made.
    """

    def __init__(self, mapped: mmap.mmap, told: Mapping[str, Any]) -> None:
        self._mapped = mapped
        self._sections, self._end, self._checksum = told["sections"], told["start"], told["checksum"]
        self.facts: dict[str, Any] = told["facts"]

    def is_sound(self) -> bool:
        """Whether every byte is as it was written; all of them are read."""
        with memoryview(self._mapped) as whole:
            found = blake2b(whole[: self._end], digest_size=_DIGEST).hexdigest()
        return bool(found == self._checksum)

    def array(self, name: str) -> Array:
        """An array by its name; it cannot be written to."""
        one = self._sections[name]
        flat = np.frombuffer(
            self._mapped, np.dtype(one["dtype"]), int(np.prod(one["shape"])), offset=one["start"]
        )
        return flat.reshape(one["shape"])

    def table(self, name: str) -> pa.Table:
        """A table by its name, each column in one piece."""
        one = self._sections[name]
        content = pa.py_buffer(self._mapped).slice(one["start"], one["size"])
        return pa.ipc.open_file(pa.BufferReader(content)).read_all()

    def texts(self, name: str) -> Texts:
        """Texts by their name."""
        return Texts(self.array(f"{name}:ends"), self.array(name))


class Texts:
    """Distinct texts in the order of their UTF-8, of which one is found by halves.

    Args:
        ends: where each ends, after a 0, (n + 1,).
        content: all of them, bytes.
    """

    def __init__(self, ends: Array, content: Array) -> None:
        self._ends = memoryview(cast("Any", ends))
        self._content = memoryview(cast("Any", content))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._ends) - 1

    def find(self, text: str) -> int | None:
        """The place of a text; None where it is not there."""
        wanted = text.encode("utf-8", "surrogatepass")
        ends, content = self._ends, self._content
        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high) // 2
            if content[ends[middle] : ends[middle + 1]].tobytes() < wanted:
                low = middle + 1
            else:
                high = middle
        there = low < len(self) and content[ends[low] : ends[low + 1]] == wanted
        return low if there else None


class _Summing:
    """A file that is written to, with the checksum of what was."""

    closed = False  # that Arrow asks

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sum = blake2b(digest_size=_DIGEST)
        self.tell, self.flush = file.tell, file.flush

    def write(self, content: Any) -> int:  # noqa: ANN401 - bytes of any kind
        """Write it."""
        self.sum.update(content)
        return self._file.write(content)


class Writing:
    """A file that is being made, section by section.

    Args:
        file: where to.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = cast("BinaryIO", _Summing(file))
        self._sections: dict[str, dict[str, Any]] = {}
        self._file.write(_MAGIC)

    def _start(self) -> int:
        self._file.write(b"\0" * (-self._file.tell() % _ALIGNED))
        return self._file.tell()

    def array(self, name: str, content: Array) -> None:
        """An array of numbers."""
        start, whole = self._start(), np.ascontiguousarray(content)
        self._file.write(cast("Any", whole.reshape(-1).view(np.uint8)))
        self._sections[name] = {"start": start, "dtype": whole.dtype.str, "shape": list(whole.shape)}

    def table(self, name: str, content: pa.Table) -> None:
        """A table.

        Raises:
            ValueError: a column is too large to be in one piece.
        """
        whole = content.combine_chunks()
        if any(column.num_chunks > 1 for column in whole.columns):
            raise ValueError(f"{name} is too large for one piece of memory ({whole.nbytes:,} bytes)")
        start = self._start()
        with pa.ipc.new_file(pa.PythonFile(self._file, "w"), whole.schema) as stream:
            stream.write_table(whole)
        self._sections[name] = {"start": start, "size": self._file.tell() - start}

    def texts(self, name: str, content: Iterable[str]) -> list[str]:
        """Distinct texts; in the order in which they are there."""
        coded = sorted(text.encode("utf-8", "surrogatepass") for text in content)
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        self.array(f"{name}:ends", ends)
        self.array(name, np.frombuffer(b"".join(coded), np.uint8))
        return [text.decode("utf-8", "surrogatepass") for text in coded]

    def end(self, facts: Mapping[str, Any]) -> None:
        """Tell what it is; before that it is no file of this kind."""
        start = self._start()
        told = orjson.dumps(
            {
                "format": FORMAT,
                "order": sys.byteorder,
                "start": start,
                "checksum": cast("_Summing", self._file).sum.hexdigest(),
                "sections": self._sections,
                "facts": facts,
            }
        )
        self._file.write(told)
        self._file.write(_END.pack(_checksum(told), len(told), _MAGIC))


class Putting:
    """A file that takes its place at the end of a block in which nothing went wrong.

    Args:
        path: its place; the folder is made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = path.with_name(f".{path.name}.{uuid.uuid4().hex}")

    def __enter__(self) -> Writing:
        mask = mask_of(self._path.parent.parent)
        self._path.parent.mkdir(mode=0o777 & ~mask, exist_ok=True)
        handle = os.open(self._made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 & ~mask)
        self._file = os.fdopen(handle, "wb")
        return Writing(self._file)

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            with self._file as file:
                file.flush()
                os.fsync(file.fileno())
            if kind is None:
                _put_mark(self._made)
                self._made.replace(self._path)
        finally:
            self._made.unlink(missing_ok=True)


def opened(path: Path) -> MappedFile | None:
    """A file, mapped; None where there is none, or it is not whole, or of another format or machine."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            known = _has_mark(os.fstat(file.fileno()))
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    found = _told(mapped)
    if found is None or known:
        return found
    if not found.is_sound():
        return None
    with suppress(OSError):  # who may only read looks again the next time
        _put_mark(path)
    return found


def _told(mapped: mmap.mmap) -> MappedFile | None:
    """What tells about a file; None where that is not as it was written."""
    size = len(mapped)
    if size < len(_MAGIC) + _END.size or mapped[: len(_MAGIC)] != _MAGIC:
        return None
    checksum, length, magic = _END.unpack(mapped[size - _END.size :])
    start = size - _END.size - length
    if magic != _MAGIC or start < 0:
        return None
    told = mapped[start : size - _END.size]
    if _checksum(told) != checksum:
        return None
    said = orjson.loads(told)
    if (said["format"], said["order"], said["start"]) != (FORMAT, sys.byteorder, start):
        return None
    return MappedFile(mapped, said)


def is_sound(path: Path) -> bool:
    """Whether a file is there and all of it as it was written, whatever its mark says."""
    try:
        with path.open("rb") as file:
            found = _told(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return False
    return found is not None and found.is_sound()


def _mark() -> int | None:
    """Nanoseconds of the time of change that mark a file as verified since boot; None without a boot id."""
    started = start_of_machine()
    return None if started is None else int.from_bytes(blake2b(started, digest_size=8).digest()) % _SECOND


def _has_mark(found: os.stat_result) -> bool:
    return found.st_mtime_ns % _SECOND == _mark()


def _put_mark(path: Path) -> None:
    """Mark a file as sound; its time of change stays in the same second."""
    if (mark := _mark()) is not None:
        found = path.stat()
        changed = found.st_mtime_ns // _SECOND * _SECOND + mark
        os.utime(path, ns=(found.st_atime_ns, changed))


def remove(path: Path) -> None:
    """Take a file away, and what writes that were killed have left of it; who has it mapped keeps it."""
    path.unlink(missing_ok=True)
    for one in path.parent.glob(f".{path.name}.*"):
        one.unlink(missing_ok=True)


def _checksum(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST).digest()

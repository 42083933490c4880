"""Memory-mapped file of arrays and tables, shared by all processes.

A file is immutable: a new one replaces it, and processes that have the old one mapped keep it. Content comes
first and the description last (as in Parquet), with checksums of both. A truncated or damaged file, or one of
another format, is ignored.

Verifying a large file at each opening would take as long as doing without it. So a verified file carries a
mark in the nanoseconds of its modification time. Any write changes that, and the mark is valid for this boot
only, so files are verified again after a crash.
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
import pyarrow.compute as pc

from slowwave.common.permissions import mask_of
from slowwave.store.wal import start_of_machine

FORMAT = 2
MAX_COPIED = 2**22
"""Maximum content of `Texts` that is copied to look for a part (bytes)."""
_MAGIC = b"SLOWMAP\x01"
_ALIGNED = 64  # bytes, as Arrow wants it
_DIGEST = 16
_SECOND = 1_000_000_000  # nanoseconds
_END = struct.Struct(f"<{_DIGEST}sQ{len(_MAGIC)}s")
"""Checksum and length of the description."""

Array = npt.NDArray[Any]


class MappedFile:
    """Open file; its arrays live in the file and stay valid while referenced.

    Attributes:
        facts: Facts given when it was written.
    """

    def __init__(self, mapped: mmap.mmap, description: Mapping[str, Any]) -> None:
        self._mapped = mapped
        self._sections, self._end, self._checksum = (
            description["sections"],
            description["start"],
            description["checksum"],
        )
        self.facts: dict[str, Any] = description["facts"]

    def is_sound(self) -> bool:
        """Return whether the checksum matches; every byte is read."""
        with memoryview(self._mapped) as whole:
            checksum = blake2b(whole[: self._end], digest_size=_DIGEST).hexdigest()
        return bool(checksum == self._checksum)

    def array(self, name: str) -> Array:
        """Return a read-only array by its name."""
        section = self._sections[name]
        flat = np.frombuffer(
            self._mapped, np.dtype(section["dtype"]), int(np.prod(section["shape"])), offset=section["start"]
        )
        return flat.reshape(section["shape"])

    def table(self, name: str) -> pa.Table:
        """Return a table by its name, each column in one piece."""
        section = self._sections[name]
        content = pa.py_buffer(self._mapped).slice(section["start"], section["size"])
        return pa.ipc.open_file(pa.BufferReader(content)).read_all()

    def texts(self, name: str) -> Texts:
        """Return texts by their name."""
        return Texts(self.array(f"{name}:ends"), self.array(name))


class Texts:
    """Distinct texts in UTF-8 order, with binary search.

    Args:
        ends: End of each, after a 0, (n + 1,).
        content: All of them, bytes.
    """

    def __init__(self, ends: Array, content: Array) -> None:
        self._ends = memoryview(cast("Any", ends))
        self._content = memoryview(cast("Any", content))

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._ends) - 1

    def find(self, text: str) -> int | None:
        """Return the position of a text; None if absent."""
        wanted = text.encode("utf-8", "surrogatepass")
        ends, content = self._ends, self._content
        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high) // 2
            if content[ends[middle] : ends[middle + 1]].tobytes() < wanted:
                low = middle + 1
            else:
                high = middle
        is_found = low < len(self) and content[ends[low] : ends[low + 1]] == wanted
        return low if is_found else None

    def containing(self, part: str) -> npt.NDArray[np.int64]:
        """Return the positions of all texts that contain a part, ascending."""
        # A search of all bytes at once is fast; it may also match across two texts.
        if len(self._content) <= MAX_COPIED and self._content.tobytes().find(part.encode()) < 0:
            return np.empty(0, np.int64)
        buffers = [None, pa.py_buffer(self._ends), pa.py_buffer(self._content)]
        texts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), buffers)
        return np.flatnonzero(pc.match_substring(texts, part).to_numpy(zero_copy_only=False))


class _Summing:
    """File object that computes the checksum of everything written."""

    closed = False  # Arrow reads it

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sum = blake2b(digest_size=_DIGEST)
        self.tell, self.flush = file.tell, file.flush

    def write(self, content: Any) -> int:  # noqa: ANN401 - bytes of any kind
        """Write the content and add it to the checksum."""
        self.sum.update(content)
        return self._file.write(content)


class Writing:
    """Writer of a file, section by section.

    Args:
        file: File to write to.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = cast("BinaryIO", _Summing(file))
        self._sections: dict[str, dict[str, Any]] = {}
        self._file.write(_MAGIC)

    def _start(self) -> int:
        self._file.write(b"\0" * (-self._file.tell() % _ALIGNED))
        return self._file.tell()

    def array(self, name: str, content: Array) -> None:
        """Write an array of numbers."""
        start, whole = self._start(), np.ascontiguousarray(content)
        self._file.write(cast("Any", whole.reshape(-1).view(np.uint8)))
        self._sections[name] = {"start": start, "dtype": whole.dtype.str, "shape": list(whole.shape)}

    def table(self, name: str, content: pa.Table) -> None:
        """Write a table.

        Raises:
            ValueError: a column is too large for one piece.
        """
        whole = content.combine_chunks()
        if any(column.num_chunks > 1 for column in whole.columns):
            raise ValueError(f"{name} is too large for one piece of memory ({whole.nbytes:,} bytes)")
        start = self._start()
        with pa.ipc.new_file(pa.PythonFile(self._file, "w"), whole.schema) as stream:
            stream.write_table(whole)
        self._sections[name] = {"start": start, "size": self._file.tell() - start}

    def texts(self, name: str, content: Iterable[str]) -> list[str]:
        """Write distinct texts; return them in the written order."""
        coded = sorted(text.encode("utf-8", "surrogatepass") for text in content)
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        self.array(f"{name}:ends", ends)
        self.array(name, np.frombuffer(b"".join(coded), np.uint8))
        return [text.decode("utf-8", "surrogatepass") for text in coded]

    def end(self, facts: Mapping[str, Any]) -> None:
        """Write the description; without it the file is invalid."""
        start = self._start()
        description = orjson.dumps(
            {
                "format": FORMAT,
                "order": sys.byteorder,
                "start": start,
                "checksum": cast("_Summing", self._file).sum.hexdigest(),
                "sections": self._sections,
                "facts": facts,
            }
        )
        self._file.write(description)
        self._file.write(_END.pack(_checksum(description), len(description), _MAGIC))


class Putting:
    """Context that moves the file to its path when the block succeeds.

    Args:
        path: Final path; the folder is created.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")

    def __enter__(self) -> Writing:
        mask = mask_of(self._path.parent.parent)
        self._path.parent.mkdir(mode=0o777 & ~mask, exist_ok=True)
        handle = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 & ~mask)
        self._file = os.fdopen(handle, "wb")
        return Writing(self._file)

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            with self._file as file:
                file.flush()
                os.fsync(file.fileno())
            if kind is None:
                _put_mark(self._temporary)
                self._temporary.replace(self._path)
        finally:
            self._temporary.unlink(missing_ok=True)


def opened(path: Path) -> MappedFile | None:
    """Map a file; None if missing, incomplete, or of another format or machine."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            verified = _has_mark(os.fstat(file.fileno()))
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    file_map = _described(mapped)
    if file_map is None or verified:
        return file_map
    if not file_map.is_sound():
        return None
    with suppress(OSError):  # without write access it is verified again next time
        _put_mark(path)
    return file_map


def _described(mapped: mmap.mmap) -> MappedFile | None:
    """Parse the description of a file; None if it is damaged."""
    size = len(mapped)
    if size < len(_MAGIC) + _END.size or mapped[: len(_MAGIC)] != _MAGIC:
        return None
    checksum, length, magic = _END.unpack(mapped[size - _END.size :])
    start = size - _END.size - length
    if magic != _MAGIC or start < 0:
        return None
    encoded = mapped[start : size - _END.size]
    if _checksum(encoded) != checksum:
        return None
    description = orjson.loads(encoded)
    if (description["format"], description["order"], description["start"]) != (FORMAT, sys.byteorder, start):
        return None
    return MappedFile(mapped, description)


def is_sound(path: Path) -> bool:
    """Return whether a file exists and its checksum matches, whatever its mark."""
    try:
        with path.open("rb") as file:
            file_map = _described(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return False
    return file_map is not None and file_map.is_sound()


def _mark() -> int | None:
    """Return the nanoseconds that mark a file as verified since boot; None without a boot id."""
    started = start_of_machine()
    return None if started is None else int.from_bytes(blake2b(started, digest_size=8).digest()) % _SECOND


def _has_mark(status: os.stat_result) -> bool:
    return status.st_mtime_ns % _SECOND == _mark()


def _put_mark(path: Path) -> None:
    """Mark a file as verified; its modification time stays in the same second."""
    if (mark := _mark()) is not None:
        status = path.stat()
        changed = status.st_mtime_ns // _SECOND * _SECOND + mark
        os.utime(path, ns=(status.st_atime_ns, changed))


def remove(path: Path) -> None:
    """Delete a file and remains of killed writes; processes that have it mapped keep it."""
    path.unlink(missing_ok=True)
    for leftover in path.parent.glob(f".{path.name}.*"):
        leftover.unlink(missing_ok=True)


def _checksum(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST).digest()

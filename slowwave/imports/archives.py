"""Files of an export: one file, a folder, or the members of a .zip. Nothing is unpacked to disk.

A member of an archive is read as a stream; its name is only compared, never used as a path.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from slowwave.common import progress
from slowwave.common.archive_errors import damage_explained
from slowwave.imports.model import ImportFailedError

MAX_BYTES = 4 * 2**30
"""Maximum size of a file or archive member (bytes, unpacked)."""
MAX_COMPRESSION_RATIO = 200
"""Maximum compression ratio of a large member; that of text is 3 to 20."""
LARGE = 64 * 2**20
"""Size (bytes) from which the compression ratio is checked."""
MAX_WHOLE_BYTES = 256 * 2**20
"""Maximum size of one conversation, or of a file that must be read whole (bytes)."""

_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_OF_A_MAC = "__MACOSX/"
_DAMAGE: Final = (ImportFailedError, ". Get another copy of it.", ". Unpack it and give the folder.")


class Member(NamedTuple):
    """File of an export: its name for people, its size (bytes), and its opener."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def members(path: str, *patterns: str, nested: bool = False) -> list[Member]:
    """List the files of an export.

    Args:
        path: A file, a .zip or a folder.
        patterns: Of names in an archive or a folder (``memories/*.json``), at any depth. A single file is
            always included.
        nested: Read the archives within an archive, too.

    Raises:
        ImportFailedError: The file does not exist, is damaged, or is beyond the limits.
        OSError: It cannot be opened.
    """
    place = Path(path).expanduser()
    if not place.exists():
        raise ImportFailedError(f"{path} does not exist. Give the path of the export.")
    if place.is_dir():
        files = sorted(file for file in place.rglob("*") if file.is_file())
        return [
            _file(file, str(file.relative_to(place)))
            for file in files
            if _matches(file.relative_to(place).as_posix(), patterns)
        ]
    if not place.is_file():
        raise ImportFailedError(f"{path} is a pipe or a device, not a file. Give the path of the export.")
    with place.open("rb") as stream:
        first = stream.read(len(_ZIP))
    if first in (_ZIP, _EMPTY_ZIP):
        return _packed(place, place.name, patterns, nested=nested)
    return [_file(place, place.name)]


@contextmanager
def reading(member: Member) -> Iterator[IO[bytes]]:
    """Open a file with a progress bar and explained errors.

    Raises:
        ImportFailedError: It is damaged, or its compression is not supported.
    """
    with (
        damage_explained(member.name, *_DAMAGE),
        progress.task(f"reading {short_name(member.name)}", member.size) as advance,
        member.open() as stream,
    ):
        yield cast("IO[bytes]", _Counted(stream, advance))


def read_whole(member: Member) -> bytes:
    """Read a whole file.

    Raises:
        ImportFailedError: It is too large for that.
    """
    if member.size > MAX_WHOLE_BYTES:
        raise ImportFailedError(
            f"{member.name} has {member.size:,} bytes; the maximum is {MAX_WHOLE_BYTES:,}. "
            f"Split it into several files."
        )
    with reading(member) as stream:
        return stream.read()


def short_name(name: str, max_length: int = 24) -> str:
    """Shorten a name to its end, for a narrow place."""
    return name if len(name) <= max_length else f"…{name[1 - max_length :]}"


class _Counted:
    """Stream wrapper that reports progress."""

    def __init__(self, stream: IO[bytes], advance: Callable[[int], None]) -> None:
        self._stream, self._advance = stream, advance

    def read(self, size: int = -1) -> bytes:
        """Read as from a file."""
        return self._count(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        """Read as from a file."""
        return self._count(self._stream.readline(size))

    def _count(self, data: bytes) -> bytes:
        self._advance(len(data))
        return data


def _file(path: Path, name: str) -> Member:
    size = path.stat().st_size
    _bounded(name, size)
    return Member(name, size, lambda: path.open("rb"))


def _packed(
    source: Path | bytes, name: str, patterns: tuple[str, ...], *, nested: bool = False
) -> list[Member]:
    """List the members of an archive: of a file, or of the bytes of an archive within one."""
    found = []
    with damage_explained(name, *_DAMAGE), _archive(source) as archive:
        for info in archive.infolist():
            if info.is_dir() or info.filename.startswith(_OF_A_MAC):
                continue
            inner = nested and info.filename.lower().endswith(".zip")
            if not inner and not _matches(info.filename.replace("\\", "/"), patterns):
                continue
            _sound(info, name)
            member = _member(source, info)
            found += _packed(read_whole(member), info.filename, patterns) if inner else [member]
    return found


def _archive(source: Path | bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)


def _sound(info: zipfile.ZipInfo, name: str) -> None:
    _bounded(info.filename, info.file_size)
    if info.file_size >= LARGE and info.file_size > MAX_COMPRESSION_RATIO * max(info.compress_size, 1):
        raise ImportFailedError(
            f"{info.filename} in {name} is {info.file_size // max(info.compress_size, 1):,} times "
            f"larger than its packed form, which no text is. It was not opened."
        )


def _member(source: Path | bytes, info: zipfile.ZipInfo) -> Member:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with _archive(source) as archive, archive.open(info) as stream:
            yield stream

    return Member(info.filename, info.file_size, opened)


def _bounded(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise ImportFailedError(f"{name} has {size:,} bytes; the maximum is {MAX_BYTES:,}. Split it.")


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) or fnmatch(name, f"*/{pattern}") for pattern in patterns)

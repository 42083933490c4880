"""The files of an export: one file, those of a folder, or those in a .zip. Nothing is unpacked to disk.

A member of an archive is read as a stream; its name is only compared, never used as a path.
"""

from __future__ import annotations

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
"""Size of a file, or of a member of an archive, above which it is refused (bytes, unpacked)."""
MAX_COMPRESSED_BYTES = 200
"""How many times larger than its packed form a large member may be: text gets 3 to 20 times smaller."""
LARGE = 64 * 2**20
"""From this size on (bytes) that is asked."""
MAX_WHOLE_BYTES = 256 * 2**20
"""Size of a file that has to be read as a whole, and of one conversation (bytes)."""

_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_OF_A_MAC = "__MACOSX/"
_DAMAGE: Final = (ImportFailedError, ". Get another copy of it.", ". Unpack it and give the folder.")


class Member(NamedTuple):
    """One file: its name for people, its size (bytes), and how to open it."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def members(path: str, *patterns: str) -> list[Member]:
    """The files of an export.

    Args:
        path: a file, a .zip or a folder.
        patterns: of names in an archive or a folder (``memories/*.json``), wherever they stand in it; a file
            that is given by itself is taken whatever its name is.

    Raises:
        ImportFailedError: there is no such file, or it is damaged or beyond the limits.
        OSError: it cannot be opened.
    """
    place = Path(path).expanduser()
    if not place.exists():
        raise ImportFailedError(f"There is no {path}. Give the path of the export.")
    if place.is_dir():
        files = sorted(one for one in place.rglob("*") if one.is_file())
        return [
            _file(one, str(one.relative_to(place)))
            for one in files
            if _matches(one.relative_to(place).as_posix(), patterns)
        ]
    if not place.is_file():
        raise ImportFailedError(f"{path} is no file: a pipe or a device. Give the path of the export.")
    with place.open("rb") as file:
        first = file.read(len(_ZIP))
    if first in (_ZIP, _EMPTY_ZIP):
        return _packed(place, patterns)
    return [_file(place, place.name)]


@contextmanager
def reading(member: Member) -> Iterator[IO[bytes]]:
    """The bytes of a file, with a bar of how far they were read, and damage told.

    Raises:
        ImportFailedError: it is damaged, or packed in a way that nobody here knows.
    """
    with (
        damage_explained(member.name, *_DAMAGE),
        progress.task(f"reading {short_name(member.name)}", member.size) as advance,
        member.open() as stream,
    ):
        yield cast("IO[bytes]", _Counted(stream, advance))


def read_whole(member: Member) -> bytes:
    """All bytes of a file.

    Raises:
        ImportFailedError: it is too large for that.
    """
    if member.size > MAX_WHOLE_BYTES:
        raise ImportFailedError(
            f"{member.name} has {member.size:,} bytes; at most {MAX_WHOLE_BYTES:,} are read as a whole. "
            f"Split it into files."
        )
    with reading(member) as stream:
        return stream.read()


def short_name(name: str, most: int = 24) -> str:
    """The end of a name, for a narrow place."""
    return name if len(name) <= most else f"…{name[1 - most :]}"


class _Counted:
    """A stream that says how far it was read."""

    def __init__(self, stream: IO[bytes], advance: Callable[[int], None]) -> None:
        self._stream, self._advance = stream, advance

    def read(self, size: int = -1) -> bytes:
        """As of a file."""
        return self._told(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        """As of a file."""
        return self._told(self._stream.readline(size))

    def _told(self, data: bytes) -> bytes:
        self._advance(len(data))
        return data


def _file(path: Path, name: str) -> Member:
    size = path.stat().st_size
    _bounded(name, size)
    return Member(name, size, lambda: path.open("rb"))


def _packed(path: Path, patterns: tuple[str, ...]) -> list[Member]:
    with damage_explained(str(path), *_DAMAGE), zipfile.ZipFile(path) as archive:
        found = [
            one
            for one in archive.infolist()
            if not one.is_dir()
            and not one.filename.startswith(_OF_A_MAC)
            and _matches(one.filename.replace("\\", "/"), patterns)
        ]
    for one in found:
        _bounded(one.filename, one.file_size)
        if one.file_size >= LARGE and one.file_size > MAX_COMPRESSED_BYTES * max(one.compress_size, 1):
            raise ImportFailedError(
                f"{one.filename} in {path.name} is {one.file_size // max(one.compress_size, 1):,} times "
                f"larger than its packed form: no text is. It was not opened."
            )
    return [_member(path, one) for one in found]


def _member(path: Path, info: zipfile.ZipInfo) -> Member:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with zipfile.ZipFile(path) as archive, archive.open(info) as stream:
            yield stream

    return Member(info.filename, info.file_size, opened)


def _bounded(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise ImportFailedError(f"{name} has {size:,} bytes; at most {MAX_BYTES:,} are read. Split it.")


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, one) or fnmatch(name, f"*/{one}") for one in patterns)

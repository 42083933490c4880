"""Record-wise reader of JSON: elements of an array, or JSON lines.

A list of conversations may have hundreds of megabytes in one array. Its elements are found by their brackets
and parsed one by one. So only one conversation is in memory, a broken one is reported by its number, and a
truncated export yields what it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import orjson

from slowwave.imports.archives import MAX_WHOLE_BYTES, Member, reading
from slowwave.imports.model import ImportFailedError, Unread

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)
_BETWEEN = b", \t\r\n"
_BOM = b"\xef\xbb\xbf"
_PIECE = 1 << 20  # bytes read at a time
_SHOWN = 40  # bytes of unexpected content in an error


class Element(NamedTuple):
    """Value of a file, with its place for people and its number from 1."""

    place: str
    number: int
    value: Any


def elements(member: Member) -> Iterator[Element | Unread]:
    """Yield the objects of a file that is one array or one object.

    Raises:
        ImportFailedError: It is neither, or it is damaged.
    """
    with reading(member) as stream:
        for number, piece in enumerate(_pieces(stream, member.name), start=1):
            place = f"{member.name}, record {number:,}"
            yield piece if isinstance(piece, Unread) else _element(place, number, piece)


def lines(member: Member) -> Iterator[Element | Unread]:
    """Yield the values of a file of JSON lines, without blank lines.

    Raises:
        ImportFailedError: It is damaged, or in UTF-16.
    """
    with reading(member) as stream:
        number = 0
        while line := stream.readline(MAX_WHOLE_BYTES):
            number += 1
            if number == 1:
                _refuse_utf16(line, member.name)
                line = line.removeprefix(_BOM)
            if not line.strip():
                continue
            yield _element(f"{member.name}, line {number:,}", number, line)


def _element(place: str, number: int, data: bytes) -> Element | Unread:
    try:
        return Element(place, number, orjson.loads(data))
    except orjson.JSONDecodeError as error:
        return Unread(place, f"not JSON: {error}")


def parsed(data: bytes, name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Parse a whole file as JSON.

    Raises:
        ImportFailedError: It is not JSON.
    """
    _refuse_utf16(data, name)
    try:
        return orjson.loads(data.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        raise ImportFailedError(f"{name} is not JSON: {error}.") from None


def found(value: object) -> str:
    """Describe a value, for an error."""
    if isinstance(value, dict):
        names = sorted(str(name) for name in value)
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        return f"an object with {', '.join(names[:8])}{more}" if names else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    return f"{type(value).__name__} {str(value)[:_SHOWN]!r}"


def _pieces(stream: IO[bytes], name: str) -> Iterator[bytes | Unread]:
    """Yield the bytes of each object of an array."""
    data = stream.read(_PIECE)
    _refuse_utf16(data, name)
    data = data.removeprefix(_BOM).lstrip()
    if data[:1] == b"{":
        yield _rest(stream, data, name)
        return
    if data[:1] != b"[":
        what = ascii(data[:_SHOWN].decode("utf-8", "replace")) if data else "nothing"
        raise ImportFailedError(f"{name} is not a JSON list: it begins with {what}.")
    scan = _ArrayScan(data)
    yield from scan.objects()
    while not scan.over:
        more = stream.read(max(_PIECE, len(scan.data)))
        if not more:
            yield Unread(name, "the file is truncated; the records before the end were read")
            return
        if len(scan.data) + len(more) > MAX_WHOLE_BYTES + _PIECE:
            raise ImportFailedError(f"{name}: one record has more than {MAX_WHOLE_BYTES:,} bytes.")
        scan.add(more)
        yield from scan.objects()


class _ArrayScan:
    """Scanner for the objects of an array, whatever pieces its bytes arrive in."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.over = False
        self._at, self._start, self._depth = 1, 1, 1  # after the opening bracket

    def add(self, more: bytes) -> None:
        """Append bytes, and drop those of finished objects."""
        self.data = self.data[self._start :] + more
        self._at -= self._start
        self._start = 0

    def objects(self) -> Iterator[bytes | Unread]:
        """Yield the objects that are complete so far."""
        for match in _TOKEN.finditer(self.data, self._at):
            token = match[0]
            if token == b'"':  # the string continues in the next piece
                return
            self._at = match.end()
            if token in (b"{", b"["):
                self._depth += 1
                if self._depth == 2:
                    yield from self._other(match.start())
                    self._start = match.start()
            elif token in (b"}", b"]"):
                self._depth -= 1
                if self._depth == 1:
                    yield self.data[self._start : self._at]
                    self._start = self._at
                elif self._depth == 0:
                    yield from self._other(match.start())
                    self.over = True
                    return

    def _other(self, until: int) -> Iterator[Unread]:
        """Yield an error for anything but commas between two objects."""
        between = self.data[self._start : until].strip(_BETWEEN)
        if between:
            shown = ascii(between[:_SHOWN].decode("utf-8", "replace"))
            yield Unread("between two records", f"{shown} is not an object")


def _rest(stream: IO[bytes], data: bytes, name: str) -> bytes:
    parts, size = [data], len(data)
    while more := stream.read(_PIECE):
        parts.append(more)
        size += len(more)
        if size > MAX_WHOLE_BYTES:
            raise ImportFailedError(f"{name}: one record has more than {MAX_WHOLE_BYTES:,} bytes.")
    return b"".join(parts)


def _refuse_utf16(data: bytes, name: str) -> None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ImportFailedError(f"{name} looks like UTF-16; save it as UTF-8.")

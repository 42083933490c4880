"""The records of a file, one at a time: elements of a JSON array, or JSON lines.

A list of conversations may have hundreds of megabytes and is one array: its elements are found by their
brackets, and each is parsed by itself. So memory holds one conversation, a broken one is told by its number
and the others are read, and an export that was cut off gives what it has.
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
_SHOWN = 40  # bytes of what was found instead


class Element(NamedTuple):
    """A value of a file: its place for people, its number from 1, and what it is."""

    place: str
    number: int
    value: Any


def elements(member: Member) -> Iterator[Element | Unread]:
    """The objects in an array that is the whole file; of a file that is one object, that object.

    Raises:
        ImportFailedError: it is neither, or it is damaged.
    """
    with reading(member) as stream:
        for number, piece in enumerate(_pieces(stream, member.name), start=1):
            place = f"{member.name}, record {number:,}"
            yield piece if isinstance(piece, Unread) else _element(place, number, piece)


def lines(member: Member) -> Iterator[Element | Unread]:
    """The values of a file of JSON lines; blank lines are passed over.

    Raises:
        ImportFailedError: it is damaged, or in UTF-16.
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
        return Unread(place, f"it is no JSON: {error}")


def parsed(data: bytes, name: str) -> Any:  # noqa: ANN401 - any JSON value
    """A whole file as JSON.

    Raises:
        ImportFailedError: it is none.
    """
    _refuse_utf16(data, name)
    try:
        return orjson.loads(data.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        raise ImportFailedError(f"{name} is no JSON: {error}.") from None


def found(value: object) -> str:
    """What a value is, in words, for an error."""
    if isinstance(value, dict):
        names = sorted(str(name) for name in value)
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        return f"an object with {', '.join(names[:8])}{more}" if names else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    return f"{type(value).__name__} {str(value)[:_SHOWN]!r}"


def _pieces(stream: IO[bytes], name: str) -> Iterator[bytes | Unread]:
    """The bytes of each object of an array."""
    data = stream.read(_PIECE)
    _refuse_utf16(data, name)
    data = data.removeprefix(_BOM).lstrip()
    if data[:1] == b"{":
        yield _rest(stream, data, name)
        return
    if data[:1] != b"[":
        what = ascii(data[:_SHOWN].decode("utf-8", "replace")) if data else "nothing"
        raise ImportFailedError(f"{name} is no JSON: a list is expected, and it begins with {what}.")
    scan = _ArrayScan(data)
    yield from scan.objects()
    while not scan.over:
        more = stream.read(max(_PIECE, len(scan.data)))
        if not more:
            yield Unread(name, "it ends in the middle: it was cut off; what stands before was read")
            return
        if len(scan.data) + len(more) > MAX_WHOLE_BYTES + _PIECE:
            raise ImportFailedError(f"{name}: one record has more than {MAX_WHOLE_BYTES:,} bytes.")
        scan.add(more)
        yield from scan.objects()


class _ArrayScan:
    """Finds objects in the bytes of an array, whatever the pieces are that they come in."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.over = False
        self._at, self._start, self._depth = 1, 1, 1  # after the bracket that opens the array

    def add(self, more: bytes) -> None:
        """Further bytes; what is done with is let go."""
        self.data = self.data[self._start :] + more
        self._at -= self._start
        self._start = 0

    def objects(self) -> Iterator[bytes | Unread]:
        """Those that end in what is there."""
        for match in _TOKEN.finditer(self.data, self._at):
            token = match[0]
            if token == b'"':  # the text goes on in the next piece
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
        """What stands between two objects and is no comma."""
        between = self.data[self._start : until].strip(_BETWEEN)
        if between:
            said = ascii(between[:_SHOWN].decode("utf-8", "replace"))
            yield Unread("between two records", f"{said} is no object")


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

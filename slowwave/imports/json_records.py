"""Record-wise reader of JSON: elements of an array, or JSON lines.

A list of conversations may have hundreds of megabytes in one array. Its elements are found by their brackets
and parsed one by one. So only one conversation is in memory, and a truncated export yields what it has. A
broken record is reported by its number, and records are searched in what it left without an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

import orjson

from slowwave.common.arguments import shown
from slowwave.common.json_repair import Damaged, Parsed, objects_with, parse, records, repeated_key
from slowwave.imports.archives import MAX_WHOLE_BYTES, Member, reading
from slowwave.imports.model import ImportFailedError, Repaired, Unread

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\]]', re.DOTALL)
_BETWEEN = b", \t\r\n"
_BOM = b"\xef\xbb\xbf"
_BLANK = b"\0 \t\r\n\x0b\x0c"
_PIECE = 1 << 20  # bytes read at a time
_SHOWN = 40  # bytes of unexpected content in an error


class Element(NamedTuple):
    """Value of a file, with its place for people and its number from 1.

    Attributes:
        place: For people.
        number: Of its line or record.
        value: Any JSON value.
        part: Of several records on one line, the number from 0.
    """

    place: str
    number: int
    value: Any
    part: int = 0

    @property
    def line(self) -> str:
        """Name of its line, which no other record of the file has."""
        return f"line-{self.number}.{self.part}" if self.part else f"line-{self.number}"


class _Rest(bytes):
    """Bytes of an array from its last complete object to the end of a file."""


def elements(member: Member, *names: str) -> Iterator[Element | Unread | Repaired]:
    """Yield the objects of a file that is one array or one object.

    Args:
        member: The file.
        names: An object with one of them is a record; such objects are searched in what a broken record left
            without an end.

    Raises:
        ImportFailedError: It is neither, or it is damaged.
    """
    with reading(member) as stream:
        number = 0
        for piece in _pieces(stream, member.name):
            for part in [piece] if isinstance(piece, Unread) else _parts(piece, names):
                number += 1
                place = f"{member.name}, record {number:,}"
                if isinstance(part, Parsed):
                    yield from _found(Element(place, number, part.value), part.replaced)
                else:
                    yield part if isinstance(part, Unread) else Unread(place, part.why)


def lines(member: Member) -> Iterator[Element | Unread | Repaired]:
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
            if line.strip(_BLANK):
                yield from _on_line(f"{member.name}, line {number:,}", number, line)


def _on_line(place: str, number: int, line: bytes) -> Iterator[Element | Unread | Repaired]:
    part = 0
    if name := repeated_key(line):
        yield Unread(place, repeats(name))
        return
    for record in _quick(line) or records(line):
        if isinstance(record, Damaged):
            yield Unread(place, f"not JSON: {record.why}")
        else:
            yield from _found(Element(place, number, record.value, part), record.replaced)
            part += 1


def _found(element: Element, replaced: int) -> Iterator[Element | Repaired]:
    yield element
    if replaced:
        yield Repaired(element.place, replaced)


def repeats(name: str) -> str:
    """Return why a record with a repeated key is not read."""
    return f"the key {shown(name)} is there twice, with different values; keep one of them"


def _quick(data: bytes) -> list[Parsed]:
    """Return the one value of sound JSON; empty: something needs repair."""
    try:
        return [Parsed(orjson.loads(data), 0)]
    except orjson.JSONDecodeError:
        return []


def _parts(piece: bytes, names: tuple[str, ...]) -> Iterable[Parsed | Damaged]:
    """Return the records of a piece: one, or those that a broken one has swallowed."""
    if isinstance(piece, _Rest):
        swallowed = list(objects_with(piece, names))
        return [Damaged("not JSON: it has no end"), *swallowed] if swallowed else []
    if name := repeated_key(piece):
        return [Damaged(repeats(name))]
    try:
        return _quick(piece) or [parse(piece)]
    except ValueError as error:
        return [Damaged(f"not JSON: {error}"), *objects_with(piece, names)]


def whole(data: bytes, name: str) -> Parsed:
    """Parse a whole file as JSON.

    Raises:
        ImportFailedError: It is not JSON.
    """
    _refuse_utf16(data, name)
    data = data.removeprefix(_BOM)
    if key := repeated_key(data):
        raise ImportFailedError(f"{name}: {repeats(key)}.")
    try:
        return (_quick(data) or [parse(data)])[0]
    except ValueError as error:
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
            yield _Rest(scan.data[scan.start :])
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
        self._at, self.start, self._depth = 1, 1, 1  # after the opening bracket

    def add(self, more: bytes) -> None:
        """Append bytes, and drop those of finished objects."""
        self.data = self.data[self.start :] + more
        self._at -= self.start
        self.start = 0

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
                    self.start = match.start()
            elif token == b"]" or (token == b"}" and self._depth > 1):
                self._depth -= 1
                if self._depth == 1:
                    yield self.data[self.start : self._at]
                    self.start = self._at
                elif self._depth == 0:
                    yield from self._other(match.start())
                    self.over = True
                    return

    def _other(self, until: int) -> Iterator[Unread]:
        """Yield an error for anything but commas between two objects."""
        between = self.data[self.start : until].strip(_BETWEEN)
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

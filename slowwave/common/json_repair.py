"""Tolerant JSON parser: a bad character or a bad record costs itself, and is counted.

A client that cuts a text in the middle of an emoji writes half of a surrogate pair, which no UTF-8 text can
have. Two processes that write one file leave half lines, and two records on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from slowwave.common.pluralize import counted

REPLACEMENT: Final = "\ufffd"
"""Character in the place of one that is not Unicode."""
MAX_ATTEMPTS: Final = 1_000
"""Maximum places at which a broken text is searched for a record (count)."""

_DECODER: Final = json.JSONDecoder(strict=False, parse_constant=lambda _: None)
_BETWEEN: Final = " \t\r\n,\0\ufeff"
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_BEGINNING: Final = re.compile(r'\{\s*"(?:[^"\\]|\\.){0,100}"\s*:')


class Parsed(NamedTuple):
    """Value of a text, with the count of its replaced characters."""

    value: Any
    replaced: int


class Damaged(NamedTuple):
    """Part of a text that is not JSON, with the reason."""

    why: str


def replaced_characters(count: int) -> str:
    """Return the remark about replaced characters, for a person."""
    return f"{counted(count, 'character')} without a Unicode value, replaced by {REPLACEMENT}"


def replace_invalid_text(text: str) -> Parsed:
    """Return a text that is Unicode: surrogate pairs are joined, halves are replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        sound = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return Parsed(sound, sound.count(REPLACEMENT) - text.count(REPLACEMENT))
    return Parsed(text, 0)


def replace_invalid(value: Any) -> Parsed:  # noqa: ANN401 - any JSON value
    """Repair every text of a JSON value, names included.

    Raises:
        ValueError: It is nested too deeply.
    """
    try:
        return _replaced(value)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parse(data: bytes | str) -> Parsed:
    """Parse a text as one JSON value, and repair its characters.

    Raises:
        ValueError: It is not JSON.
    """
    text, replaced = _decoded(data)
    try:
        value = json.loads(text, strict=False, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _SURROGATE.search(text) is None:
        return Parsed(value, replaced)
    value, more = replace_invalid(value)
    return Parsed(value, replaced + more)


class _RepeatedKeyError(ValueError):
    """A key that one object has twice."""


def repeated_key(data: bytes) -> str:
    """Return a key that one object of sound JSON has with two values; empty without one.

    Parsers keep the last value only. Equal values are no loss.
    """
    try:
        json.loads(data, object_pairs_hook=_require_distinct)
    except _RepeatedKeyError as error:
        return str(error)
    except (ValueError, RecursionError):
        return ""
    return ""


def _require_distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        for name, value in pairs:
            if values[name] != value:
                raise _RepeatedKeyError(name)
    return values


def records(line: bytes | str) -> Iterator[Parsed | Damaged]:
    """Yield the records of a line: one, several without a line break, or the one after a half record."""
    try:
        whole = parse(line)
    except json.JSONDecodeError as error:
        why = f"{error.msg} at character {error.pos + 1:,}"
    except ValueError as error:
        why = str(error)
    else:
        yield whole
        return
    text, replaced = _decoded(line)
    at, end = 0, len(text)
    for _ in range(MAX_ATTEMPTS):
        if at >= end:
            return
        one = _object_at(text, at)
        if one is None:
            yield Damaged(why)
            at = _next_record(text, at)
            continue
        value, at = one
        yield Parsed(value.value, value.replaced + replaced)
        replaced = 0
        at = _after(text, at)
    yield Damaged("too many broken records on one line")


def objects_with(data: bytes | str, names: Collection[str]) -> Iterator[Parsed]:
    """Yield the objects in a broken text that have one of these names.

    An object that is whole is not searched for further ones.
    """
    text, _ = _decoded(data)
    at, attempts = text.find("{"), 0
    while at >= 0 and attempts < MAX_ATTEMPTS:
        one = _object_at(text, at)
        if one is None:
            attempts += 1
            at = text.find("{", at + 1)
            continue
        value, end = one
        if any(name in value.value for name in names):
            yield value
        at = text.find("{", end)


def _decoded(data: bytes | str) -> tuple[str, int]:
    """Return the text of UTF-8 bytes, and the count of the replaced ones."""
    if isinstance(data, str):
        return data.strip(_BETWEEN), 0
    text = data.decode("utf-8", "replace")
    return text.strip(_BETWEEN), text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())


def _object_at(text: str, at: int) -> tuple[Parsed, int] | None:
    """Return the object that begins here, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, at)
        return (replace_invalid(value), end) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def _next_record(text: str, at: int) -> int:
    """Return where the next sound record begins after a broken one.

    All from there to the end is sound. Records of one file begin alike, so
    parts of the broken one are not taken for records.
    """
    own = _BEGINNING.match(text, at)
    beginning = re.compile(re.escape(own[0])) if own else _BEGINNING
    for count, match in enumerate(beginning.finditer(text, at + 1)):
        if count >= MAX_ATTEMPTS:
            break
        if _is_sound(text, match.start()):
            return match.start()
    return len(text)


def _is_sound(text: str, at: int) -> bool:
    """Whether the text from here to its end consists of objects."""
    while at < len(text):
        one = _object_at(text, at)
        if one is None:
            return False
        at = _after(text, one[1])
    return True


def _after(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at


def _replaced(value: Any) -> Parsed:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return replace_invalid_text(value)
    if isinstance(value, list):
        parts = [_replaced(part) for part in value]
        return Parsed([part.value for part in parts], sum(part.replaced for part in parts))
    if isinstance(value, Mapping):
        pairs = [(replace_invalid_text(name), _replaced(part)) for name, part in value.items()]
        replaced = sum(name.replaced + part.replaced for name, part in pairs)
        return Parsed({name.value: part.value for name, part in pairs}, replaced)
    return Parsed(value, 0)

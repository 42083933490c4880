"""Edits of a JSON text at one place that keep every other character.

A JSON library would rewrite the whole text: indentation, escapes and numbers of other entries would change.
Here Python's decoder finds where values begin and end, and only our part is inserted or removed.

The layout shows what existed before, so that removing an entry restores the exact text. A container that was
created for it opens with a line break. A container that existed and was empty gets its first entry on the
line of its brace. The first is removed with its last entry, the second stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from json import JSONDecoder
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder()
_STRING_OR_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')
_STEP = "  "  # indentation of a text without any

Key = str | int


@dataclass(frozen=True, slots=True)
class _Edit:
    """Member of an object or array: positions of key, value and end."""

    key: Key
    begin: int
    value: int
    end: int


class PathError(Exception):
    """A part of the path is neither object nor array; the message says which."""


def without_comments(text: str) -> str:
    """Replace comments and trailing commas by spaces; all other positions stay."""
    bare = _STRING_OR_COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
    return _STRING_OR_COMMA.sub(lambda match: match[1] or " ", bare)


def put(text: str, path: Sequence[Key], value: Any, *, blank: bool = False) -> str:  # noqa: ANN401 - any JSON
    """Return the text with a value at a path of keys; missing objects are created.

    Args:
        text: a JSON object, or white space alone.
        path: keys of objects, and positions in arrays; an array's length appends.
        value: any JSON value.
        blank: the file exists and is empty: its ending stays.

    Raises:
        PathError: a part of the path is neither object nor array.
    """
    if not text.strip(" \t\r\n"):
        # A created file ends with a line break; a blank existing file keeps its ending.
        return text + _made(path, value, "", _STEP, "\n") + ("" if text or blank else "\n")
    at = _value(text, 0)
    for depth, key in enumerate(path):
        parts = _parts(text, at, path[:depth], key)
        part_at_key = next((part for part in reversed(parts) if part.key == key), None)
        if part_at_key is None:
            return _cut_in(text, at, parts, path[depth:], value)
        at, end = part_at_key.value, part_at_key.end
    return text[:at] + _lines(value, _indent(text, at), _step(text), _newline(text)) + text[end:]


def taken_out(text: str, path: Sequence[Key]) -> str:
    """Return the text without the value at a path.

    Containers that `put` created for it are removed, too.

    Args:
        text: a JSON object.
        path: of an existing value.

    Returns:
        The text; white space alone if nothing else is left.
    """
    places, at = [], _value(text, 0)
    for depth, key in enumerate(path):
        parts = _parts(text, at, path[:depth], key)
        number = max(number for number, part in enumerate(parts) if part.key == key)
        places.append((at, parts, number))
        at = parts[number].value
    while places:
        at, parts, number = places.pop()
        part = parts[number]
        if len(parts) > 1:
            last = number == len(parts) - 1
            begin, end = (parts[number - 1].end, part.end) if last else (part.begin, parts[number + 1].begin)
            return text[:begin] + text[end:]
        if "\n" not in text[at + 1 : part.begin]:  # it existed before, and was empty
            return text[: part.begin] + text[part.end :]
    return text[:at] + text[_DECODER.raw_decode(text, at)[1] :]


def _cut_in(text: str, at: int, parts: Sequence[_Edit], path: Sequence[Key], value: Any) -> str:  # noqa: ANN401
    """Return the text with one more member in the container at a position."""
    newline, step = _newline(text), _step(text)
    if not parts:
        own = _named(path, value, _indent(text, at), step, newline)
        return text[: at + 1] + own + text[at + 1 :]
    last = parts[-1]
    begin = at if len(parts) == 1 else text.index(",", parts[-2].end)
    gap = text[begin + 1 : last.begin]  # white space before the last member
    if "\n" in gap or len(path) > 1:
        own = _named(path, value, gap.rpartition("\n")[2] if "\n" in gap else "", step, newline)
    else:  # everything is on one line
        own = _key(path[0]) + json.dumps(value, ensure_ascii=False)
    return text[: last.end] + "," + gap + own + text[last.end :]


def _named(path: Sequence[Key], value: Any, indent: str, step: str, newline: str) -> str:  # noqa: ANN401
    """Return a member: its key, and the value with the containers created around it."""
    return _key(path[0]) + _made(path[1:], value, indent, step, newline)


def _made(path: Sequence[Key], value: Any, indent: str, step: str, newline: str) -> str:  # noqa: ANN401
    if not path:
        return _lines(value, indent, step, newline)
    inner = indent + step
    begins, ends = "[]" if isinstance(path[0], int) else "{}"
    return f"{begins}{newline}{inner}{_named(path, value, inner, step, newline)}{newline}{indent}{ends}"


def _key(key: Key) -> str:
    return f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""


def _lines(value: Any, indent: str, step: str, newline: str) -> str:  # noqa: ANN401
    """Return a value over several lines; the first is on the line of its key."""
    return json.dumps(value, ensure_ascii=False, indent=step).replace("\n", newline + indent)


def _parts(text: str, at: int, path: Sequence[Key], key: Key) -> list[_Edit]:
    """Return the members of the container at a position.

    Raises:
        PathError: the container has no keys of this type.
    """
    bracket = "{" if isinstance(key, str) else "["
    if text[at : at + 1] != bracket:
        kind = "an object" if bracket == "{" else "a list"
        raise PathError(f"{'.'.join(map(str, path)) or 'the document'} is not {kind}")
    members: list[_Edit] = []
    named: Key
    at = _value(text, at + 1)
    while text[at] not in "}]":
        begin, named = at, len(members)
        if bracket == "{":
            named, at = _DECODER.raw_decode(text, at)
            at = _value(text, _value(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        members.append(_Edit(named, begin, at, end))
        at = _value(text, end)
        if text[at] == ",":
            at = _value(text, at + 1)
    return members


def _value(text: str, at: int) -> int:
    """Return the position of the next character that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _indent(text: str, at: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """Return the indentation of the first indented line: one level of this text."""
    match = re.search(r"\n([ \t]+)[^ \t\r\n]", text)
    return match[1] if match else _STEP


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"

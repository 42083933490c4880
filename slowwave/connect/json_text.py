"""Changing one place of a JSON text and leaving every other character as it is.

A library that reads and writes JSON makes the whole text anew: indentation, escapes and numbers of other
people's entries would change. Here Python's decoder finds where values begin and end, and only what is ours
is cut in or out.

What was there before can be seen from how it stands, so that taking an entry out restores the very text: a
container that was made for it opens with a line break, and one that was there and empty gets its first entry
on the line of its brace. The first goes with its last entry, the second stays.
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
_STEP = "  "  # of a text that shows none of its own

Key = str | int


@dataclass(frozen=True, slots=True)
class _Edit:
    """A member of an object or an array: where its key and its value begin, and where it ends."""

    key: Key
    begin: int
    value: int
    end: int


class PathError(Exception):
    """Something on the way to a place is no object or no list; the message says what."""


def without_comments(text: str) -> str:
    """The text with comments and trailing commas as spaces: every other character keeps its place."""
    bare = _STRING_OR_COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
    return _STRING_OR_COMMA.sub(lambda match: match[1] or " ", bare)


def put(text: str, path: Sequence[Key], value: Any, *, blank: bool = False) -> str:  # noqa: ANN401 - any JSON
    """The text with a value at the end of a path of keys; objects on the way are made.

    Args:
        text: a JSON object, or white space alone.
        path: keys of objects; numbers are places of arrays, an array's length the place after its last.
        value: that JSON can have.
        blank: The file is there, and nothing is in it: it ends as it did.

    Raises:
        PathError: something on the way is neither object nor array.
    """
    if not text.strip(" \t\r\n"):
        # A file that is made ends with a line break; one that was there and blank ends as it did.
        return text + _made(path, value, "", _STEP, "\n") + ("" if text or blank else "\n")
    at = _value(text, 0)
    for depth, key in enumerate(path):
        parts = _parts(text, at, path[:depth], key)
        found = next((part for part in reversed(parts) if part.key == key), None)
        if found is None:
            return _cut_in(text, at, parts, path[depth:], value)
        at, end = found.value, found.end
    return text[:at] + _lines(value, _indent(text, at), _step(text), _newline(text)) + text[end:]


def taken_out(text: str, path: Sequence[Key]) -> str:
    """The text without what is at the end of a path, and without what `put` made for it alone.

    Args:
        text: a JSON object.
        path: of something that is there.

    Returns:
        The text; white space alone if nothing is left that was there before.
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
        if "\n" not in text[at + 1 : part.begin]:  # it was there before, and empty
            return text[: part.begin] + text[part.end :]
    return text[:at] + text[_DECODER.raw_decode(text, at)[1] :]


def _cut_in(text: str, at: int, parts: Sequence[_Edit], path: Sequence[Key], value: Any) -> str:  # noqa: ANN401
    """The text with one more member in the container that begins at a place."""
    newline, step = _newline(text), _step(text)
    if not parts:
        own = _named(path, value, _indent(text, at), step, newline)
        return text[: at + 1] + own + text[at + 1 :]
    last = parts[-1]
    begin = at if len(parts) == 1 else text.index(",", parts[-2].end)
    gap = text[begin + 1 : last.begin]  # white space before the last member
    if "\n" in gap or len(path) > 1:
        own = _named(path, value, gap.rpartition("\n")[2] if "\n" in gap else "", step, newline)
    else:  # all on one line, and so is this
        own = _key(path[0]) + json.dumps(value, ensure_ascii=False)
    return text[: last.end] + "," + gap + own + text[last.end :]


def _named(path: Sequence[Key], value: Any, indent: str, step: str, newline: str) -> str:  # noqa: ANN401
    """A member: its key, and the value with the containers that are made around it."""
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
    """A value over several lines, the first of which is on the line of its key."""
    return json.dumps(value, ensure_ascii=False, indent=step).replace("\n", newline + indent)


def _parts(text: str, at: int, path: Sequence[Key], key: Key) -> list[_Edit]:
    """The members of the container that begins at a place and has, or is to have, a key."""
    opened = "{" if isinstance(key, str) else "["
    if text[at : at + 1] != opened:
        kind = "an object" if opened == "{" else "a list"
        raise PathError(f"{'.'.join(map(str, path)) or 'the whole of it'} is not {kind}")
    found: list[_Edit] = []
    named: Key
    at = _value(text, at + 1)
    while text[at] not in "}]":
        begin, named = at, len(found)
        if opened == "{":
            named, at = _DECODER.raw_decode(text, at)
            at = _value(text, _value(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        found.append(_Edit(named, begin, at, end))
        at = _value(text, end)
        if text[at] == ",":
            at = _value(text, at + 1)
    return found


def _value(text: str, at: int) -> int:
    """Where the next character that is no white space is."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _indent(text: str, at: int) -> str:
    """White space with which the line of a place begins."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """What the first line that is indented is indented by: a level of this text."""
    found = re.search(r"\n([ \t]+)[^ \t\r\n]", text)
    return found[1] if found else _STEP


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"

"""Checks of arguments of public calls and commands, by their annotations and maximum sizes.

Python, the command line, MCP and HTTP name an argument alike, so its bounds are declared once, by its name.
What `LIMITS` does not name has the bounds of `ANY`.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from functools import lru_cache
from numbers import Integral
from typing import Any, Final, Literal, get_origin

from slowwave.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Limit:
    """Bounds of an argument.

    Attributes:
        characters: of a text, and of each text of a list (count).
        values: of a list (count).
    """

    characters: int = 20_000
    values: int = 1_000


ANY: Final = Limit()
_LABELS: Final = Limit(200, 100)
_ID: Final = Limit(300)
LIMITS: Final[Mapping[str, Limit]] = {
    "query": Limit(4_000),
    "content": Limit(4_000_000),
    "response": Limit(4_000_000),
    "text": Limit(4_000_000),
    "title": Limit(1_000),
    "key": Limit(1_000),
    "follows": Limit(1_000),
    "source": Limit(1_000),
    "project": Limit(200),
    "request": _ID,
    "search_id": _ID,
    "memory_id": _ID,
    "decision_id": _ID,
    "quarantine_id": _ID,
    "result": _ID,
    "cited": _LABELS,
    "tags": _LABELS,
    "memory_type": _LABELS,
    "tier": _LABELS,
    "sensitivity": _LABELS,
    "trigger_phrases": _LABELS,
    "aliases": _LABELS,
    "notes": Limit(values=1_000_000),
    "memory_ids": Limit(300, 100_000),
}
"""Bounds by the name of the argument."""
METADATA_BYTES: Final = 65_536
"""Most that the metadata of a note may have as JSON, as much as the front matter of a file."""


def limit_of(name: str) -> Limit:
    """Bounds of an argument, by its name."""
    return LIMITS.get(name, ANY)


FIRST_YEAR, LAST_YEAR = 1000, 9998  # so that a day more or less is still a date everywhere
MOST = 1_000_000  # that a number may be
MOST_DAYS = 36_500  # that a period may have
COUNTS = frozenset({"limit"})  # that may be 0
QUESTIONED = frozenset({"query", "response"})  # any characters may be asked for
_DEEPEST = 4  # levels of lists and mappings in which texts are looked at (count)
_SHOWN = 80  # characters of a value in an error
_UNION = re.compile(r"\s*\|\s*(?![^\[]*\])")  # not inside brackets


def sound_text(name: str, text: str) -> str:
    """The text, if it can be stored.

    Raises:
        ArgumentError: it has a NUL character or half of a surrogate pair.
    """
    if "\0" in text and name not in QUESTIONED:
        at = text.index(chr(0))
        raise ArgumentError(f"{name} = {shown(text)}: it has a NUL character at {at}. Remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"{name} = {shown(text)}: it is not valid Unicode at character {error.start}. Give it as UTF-8."
        ) from None
    return text


def sound(name: str, value: object, depth: int = 0) -> None:
    """Look at every text in a value.

    Raises:
        ArgumentError: as of :func:`sound_text`.
    """
    if isinstance(value, str):
        sound_text(name, value)
    elif isinstance(value, os.PathLike):
        sound_text(name, str(value))
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for key, part in value.items():
            sound(f"a key of {name}", key, depth + 1)
            sound(f"{name}.{key}", part, depth + 1)
    elif depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
        for part in value:
            sound(name, part, depth + 1)


def moment(name: str, value: object) -> datetime:
    """An aware moment, in UTC.

    Raises:
        ArgumentError: it is none, has no time zone, or is of a year before 1000 or after 9998.
    """
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise ArgumentError(f"{name} = {shown(value)}: give a datetime with a time zone.")
    try:
        in_utc = value.astimezone(UTC)
    except OverflowError:
        in_utc = datetime.min.replace(tzinfo=UTC)
    _of_a_known_year(name, value, in_utc)
    return in_utc


def check(call: Callable[..., Any], given: Mapping[str, object]) -> None:
    """Check arguments by the annotations of a call.

    Args:
        call: whose annotations are text (``from __future__ import annotations``).
        given: its arguments by name.

    Raises:
        ArgumentError: one has the wrong type, is out of range, or is text that cannot be stored.
    """
    kinds = _kinds(call)
    for name, value in given.items():
        if name == _of_kind(call, inspect.Parameter.VAR_KEYWORD) and isinstance(value, Mapping):
            for key, part in value.items():  # arguments with names of their own
                sound("the name of an argument", key)
                sound(key, part)
            continue
        for one in (
            value
            if name == _of_kind(call, inspect.Parameter.VAR_POSITIONAL) and isinstance(value, tuple)
            else (value,)
        ):
            for kind in kinds.get(name, ("Any",)):
                if _is_a(kind, one):
                    break
            else:
                raise ArgumentError(_refusal(name, kinds[name], one))
            bounded(name, one)


def bounded(name: str, value: object) -> None:
    """Look at a value that has the right type: its texts, their length, its moment or day, its size.

    Raises:
        ArgumentError: it is out of range, or is text that cannot be stored.
    """
    within(name, value)
    sound(name, value)
    if isinstance(value, datetime):
        moment(name, value)
    elif isinstance(value, date):
        _of_a_known_year(name, value, value)
    elif _is_a("int", value):
        _in_range(name, int(value))  # type: ignore[call-overload]


def within(name: str, value: object, told: str = "") -> None:
    """See that a text or a list is no longer than its argument may be (`LIMITS`).

    Args:
        name: of the argument.
        value: of it.
        told: how an error names it; else as it is.

    Raises:
        ArgumentError: it is longer.
    """
    limit = limit_of(name)
    if isinstance(value, str) and len(value) > limit.characters:
        raise ArgumentError(
            f"{told or name} = {shown(value)} has {len(value):,} characters: give at most "
            f"{limit.characters:,}."
        )
    if isinstance(value, Sequence | Set) and not isinstance(value, str | bytes):
        if len(value) > limit.values:
            raise ArgumentError(f"{told or name} has {len(value):,} values: give at most {limit.values:,}.")
        for one in value if not isinstance(value, range) else ():
            if isinstance(one, str):
                within(name, one, told)


def known_word(name: str, word: str, there: Collection[str]) -> str:
    """The word, if it is one of those that there are.

    Raises:
        ArgumentError: it is not; says which there are, and which one may be meant.
    """
    if word in there:
        return word
    near = get_close_matches(word, sorted(there), 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise ArgumentError(f"{name} = {shown(word)} is unknown.{meant} There are {', '.join(sorted(there))}.")


def parsed_day(name: str, text: str) -> date:
    """The day that somebody wrote.

    Raises:
        ArgumentError: it is not written as YYYY-MM-DD, or of a year before 1000 or after 9998.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        said = text if text.isprintable() and len(text) <= _SHOWN else shown(text)
        raise ArgumentError(f"{name} {said}: give a day as YYYY-MM-DD.") from None
    _of_a_known_year(name, text, day)
    return day


@lru_cache(maxsize=256)
def _kinds(call: Callable[..., Any]) -> dict[str, tuple[str, ...]]:
    """What each parameter may be: the parts of its annotation."""
    known = getattr(inspect.unwrap(call), "__globals__", {})
    return {
        name: tuple(_kind(part, known) for part in _UNION.split(str(parameter.annotation)))
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.annotation is not inspect.Parameter.empty
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


@lru_cache(maxsize=256)
def _of_kind(call: Callable[..., Any], kind: object) -> str:
    """The name of the parameter that takes any number of arguments (``*names``, ``**labels``), or nothing."""
    parameters = inspect.signature(call).parameters.values()
    return next((one.name for one in parameters if one.kind is kind), "")


def _kind(part: str, known: Mapping[str, Any]) -> str:
    named = part.partition("[")[0]
    return "str" if named == "Literal" or get_origin(known.get(named)) is Literal else named


_TYPES: dict[str, type | tuple[type, ...]] = {
    "None": type(None),
    "str": str,
    "float": (int, float),
    "Path": os.PathLike,
    "Mapping": Mapping,
    "datetime": datetime,
}


def _is_a(kind: str, value: object) -> bool:
    """Whether a value is of a kind; a class that is not known here is known by its name."""
    if kind == "Any":
        return True
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind == "date":
        return isinstance(value, date) and not isinstance(value, datetime)
    if kind in ("Sequence", "Collection", "list", "tuple"):
        return isinstance(value, Collection) and not isinstance(value, str | bytes | bytearray | Mapping)
    if kind == "Callable":
        return callable(value)
    if kind in _TYPES:
        return isinstance(value, _TYPES[kind])
    return any(known.__name__ == kind for known in type(value).__mro__)


_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "Path": "a path",
    "Sequence": "a list",
    "Collection": "a list",
    "datetime": "a datetime with a time zone",
    "date": "a date",
    "None": "None",
    "Callable": "a function",
    "Mapping": "a mapping",
}


def _refusal(name: str, kinds: Collection[str], value: object) -> str:
    wanted = " or ".join(dict.fromkeys(_WORDS.get(kind, f"a {kind}") for kind in kinds))
    return f"{name} = {shown(value)}: give {wanted}, not {type(value).__name__}."


def _in_range(name: str, value: int) -> None:
    if name in COUNTS and value < 0:
        raise ArgumentError(f"{name} = {shown(value)}: ask for 0 or more.")
    most = MOST_DAYS if name == "days" else MOST
    if abs(value) > most:
        raise ArgumentError(f"{name} = {shown(value)}: give a number of at most {most:,}.")


def _of_a_known_year(name: str, value: object, when: date) -> None:
    if not FIRST_YEAR <= when.year <= LAST_YEAR:
        raise ArgumentError(f"{name} = {shown(value)}: give a year from {FIRST_YEAR} to {LAST_YEAR}.")


def shown(value: object) -> str:
    """A value, short and printable, for an error."""
    try:
        text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    except Exception as error:  # any class may say what it likes about itself
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

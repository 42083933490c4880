"""Validation of arguments of public calls and commands, by annotation and maximum size.

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
    "idempotency_key": _ID,
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
"""Maximum bytes of a note's metadata as JSON, equal to that of a file's front matter."""


def limit_of(name: str) -> Limit:
    """Return the bounds of an argument, by its name."""
    return LIMITS.get(name, ANY)


FIRST_YEAR, LAST_YEAR = 1000, 9998  # one day more or less is still a valid date
MAX_NUMBER = 1_000_000
MAX_DAYS = 36_500  # of a period
COUNTS = frozenset({"limit"})  # may be 0
QUESTIONED = frozenset({"query", "response"})  # may have any characters
_MAX_DEPTH = 4  # levels of lists and mappings in which texts are checked (count)
_SHOWN = 80  # characters of a value in an error
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DAY_LIKE = re.compile(r"\d{4}-(?:0\d|1[0-2])-[0-3]\d(?!\d)")
_UNION = re.compile(r"\s*\|\s*(?![^\[]*\])")  # not inside brackets


def sound_text(name: str, text: str) -> str:
    """Return the text, if it can be stored.

    Raises:
        ArgumentError: It has a NUL character or half of a surrogate pair.
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


def one_line_text(name: str, text: str) -> str:
    """Return the text, if it has no line break or other control character.

    Raises:
        ArgumentError: It has one.
    """
    if _CONTROL.search(text):
        raise ArgumentError(f"{name} = {shown(text)}: it has a line break or a control character. Remove it.")
    return text


def on_one_line(text: str) -> str:
    """Return the text with a space for each run of white space and control characters."""
    return " ".join(_CONTROL.sub(" ", text).split()) if _CONTROL.search(text) else text


def sound(name: str, value: object, depth: int = 0) -> None:
    """Check every text in a value.

    Raises:
        ArgumentError: As for :func:`sound_text`.
    """
    if isinstance(value, str):
        sound_text(name, value)
    elif isinstance(value, os.PathLike):
        sound_text(name, str(value))
    elif depth < _MAX_DEPTH and isinstance(value, Mapping):
        for key, part in value.items():
            if not _is_plain(key):
                sound(f"a key of {name}", key, depth + 1)
            if not _is_plain(part):
                sound(f"{name}.{key}", part, depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        for part in value:
            sound(name, part, depth + 1)


def _is_plain(value: object) -> bool:
    """Whether a value is text that surely can be stored: a fast check for most."""
    return type(value) is str and value.isascii() and "\0" not in value


def moment(name: str, value: object) -> datetime:
    """Return an aware time, in UTC.

    Raises:
        ArgumentError: It is not a datetime, has no time zone, or its year is before 1000 or after 9998.
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
    """Check arguments against the annotations of a call.

    Args:
        call: Its annotations are text (``from __future__ import annotations``).
        given: Arguments by name.

    Raises:
        ArgumentError: One has the wrong type, is out of range, or is text that cannot be stored.
    """
    kinds = _kinds(call)
    for name, value in given.items():
        if name == _of_kind(call, inspect.Parameter.VAR_KEYWORD) and isinstance(value, Mapping):
            for key, part in value.items():  # arguments with names of their own
                sound("the name of an argument", key)
                sound(key, part)
            continue
        for part_value in (
            value
            if name == _of_kind(call, inspect.Parameter.VAR_POSITIONAL) and isinstance(value, tuple)
            else (value,)
        ):
            for kind in kinds.get(name, ("Any",)):
                if _is_a(kind, part_value):
                    break
            else:
                raise ArgumentError(_refusal(name, kinds[name], part_value))
            bounded(name, part_value)


def bounded(name: str, value: object) -> None:
    """Check the bounds of a value of the right type: texts, lengths, times, sizes.

    Raises:
        ArgumentError: It is out of range, or is text that cannot be stored.
    """
    within(name, value)
    sound(name, value)
    if isinstance(value, datetime):
        moment(name, value)
    elif isinstance(value, date):
        _of_a_known_year(name, value, value)
    elif _is_a("int", value):
        _in_range(name, int(value))  # type: ignore[call-overload]


def within(name: str, value: object, label: str = "") -> None:
    """Check that a text or a list is within the maximum of its argument (`LIMITS`).

    Args:
        name: Of the argument.
        value: Of the argument.
        label: Name in the error; default: `name`.

    Raises:
        ArgumentError: It is longer.
    """
    limit = limit_of(name)
    if isinstance(value, str):
        if len(value) > limit.characters:
            raise ArgumentError(
                f"{label or name} = {shown(value)} has {len(value):,} characters: give at most "
                f"{limit.characters:,}."
            )
    elif isinstance(value, Sequence | Set) and not isinstance(value, bytes):
        if len(value) > limit.values:
            raise ArgumentError(f"{label or name} has {len(value):,} values: give at most {limit.values:,}.")
        for part in value if not isinstance(value, range) else ():
            if isinstance(part, str):
                within(name, part, label)


def known_word(name: str, word: str, known: Collection[str]) -> str:
    """Return the word, if it is one of the known ones.

    Raises:
        ArgumentError: It is not; the message lists the known ones and the closest match.
    """
    if word in known:
        return word
    near = get_close_matches(word, sorted(known), 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise ArgumentError(f"{name} = {shown(word)} is unknown.{meant} There are {', '.join(sorted(known))}.")


def parsed_day(name: str, text: str) -> date:
    """Parse a day.

    Raises:
        ArgumentError: It is not YYYY-MM-DD, or its year is before 1000 or after 9998.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ArgumentError(f"{name} {_given(text)}: give a day as YYYY-MM-DD.{_no_such(text)}") from None
    _of_a_known_year(name, text, day)
    return day


def unknown_moment(name: str, text: str) -> ArgumentError:
    """Return the error for a text that is neither a day nor a time."""
    return ArgumentError(
        f"{name} {_given(text)}: give a day as YYYY-MM-DD, or a time as YYYY-MM-DDTHH:MM:SSZ.{_no_such(text)}"
    )


def _given(text: str) -> str:
    return text if text.isprintable() and len(text) <= _SHOWN else shown(text)


def _no_such(text: str) -> str:
    """Return a sentence for a text that begins with a day that no calendar has."""
    if found := _DAY_LIKE.match(text):
        try:
            date.fromisoformat(found[0])
        except ValueError:
            return " No calendar has that day."
    return ""


@lru_cache(maxsize=256)
def _kinds(call: Callable[..., Any]) -> dict[str, tuple[str, ...]]:
    """Return the allowed kinds of each parameter: the parts of its annotation."""
    known = getattr(inspect.unwrap(call), "__globals__", {})
    return {
        name: tuple(_kind(part, known) for part in _UNION.split(str(parameter.annotation)))
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.annotation is not inspect.Parameter.empty
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


@lru_cache(maxsize=256)
def _of_kind(call: Callable[..., Any], kind: object) -> str:
    """Return the name of the variadic parameter (``*names``, ``**labels``), or an empty text."""
    parameters = inspect.signature(call).parameters.values()
    return next((parameter.name for parameter in parameters if parameter.kind is kind), "")


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
    """Whether a value is of a kind; classes unknown here are matched by name."""
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
    maximum = MAX_DAYS if name == "days" else MAX_NUMBER
    if abs(value) > maximum:
        raise ArgumentError(f"{name} = {shown(value)}: give a number of at most {maximum:,}.")


def _of_a_known_year(name: str, value: object, when: date) -> None:
    if not FIRST_YEAR <= when.year <= LAST_YEAR:
        given = value.isoformat() if isinstance(value, date) else shown(value)
        raise ArgumentError(f"{name} = {given}: give a year from {FIRST_YEAR} to {LAST_YEAR}.")


def shown(value: object) -> str:
    """Return a value, short and printable, for an error."""
    try:
        text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    except Exception as error:  # any class may raise in its repr
        text = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

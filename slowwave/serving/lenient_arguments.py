"""Lenient reading of arguments, the same for MCP, HTTP and adapters: what a client meant is served.

Clients send null for "not given", numbers as texts, lists as one text, and fields of their own. What such a
value means is certain. A value that means nothing is left as it is, so its validation names it.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from slowwave.common.arguments import shown
from slowwave.common.json_repair import REPLACEMENT, parse, replace_invalid, replaced_characters
from slowwave.errors import ArgumentError

ENVELOPES: Final = frozenset({"arguments", "args", "input", "parameters", "params", "kwargs"})
"""Names under which a client nests all arguments."""
NEVER_IGNORED: Final = frozenset({
    "namespace", "tenant", "principal", "user", "owner", "account", "organization", "organisation", "org",
    "workspace", "role", "right", "scope", "permission", "token", "admin", "onbehalfof", "sensitivity",
    "visibility", "private", "public", "secret", "confidential", "label", "dryrun", "preview", "simulate",
    "acl", "hidden", "restricted", "sensitive", "classification", "privacy", "access", "reader", "audience",
    "shared", "sharing", "protected", "test", "readonly", "validateonly", "checkonly", "nosave", "noop",
})  # fmt: skip
"""Names that say who sees a note, whose it is, or whether anything is done: validation refuses them.

Also with an ending or a beginning: `user_id`, `tenantName`, `roles`, `include_secret`; and any name whose
value holds such a name, or is a word of `CLOSED`. A guess about rights or about whose a note is would be
silent and could not be undone, so none is made.
"""
_ENDING: Final = re.compile("(?:ids?|names?|levels?|s)$")
_BEGINNING: Final = re.compile("^(?:is|make|keep|mark|include)")
CLOSING: Final = frozenset({
    "sensitivity", "visibility", "private", "secret", "confidential", "acl", "hidden", "restricted",
    "sensitive", "classification", "privacy", "access", "reader", "audience", "shared", "sharing",
    "protected",
})  # fmt: skip
"""Those of them by which a client wants to close a note."""
CLOSED: Final = frozenset({"secret", "private", "confidential", "restricted", "hidden"})
"""Values of an unknown argument that mean a closed note."""
MAX_NAMED: Final = 5  # ignored arguments in a remark (count)
_WORDS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_WHOLE: Final = re.compile(r"[+-]?\d{1,15}(?:\.0+)?")


class Arguments(NamedTuple):
    """Arguments of a call by name, and remarks about what was ignored or replaced."""

    values: dict[str, Any]
    remarks: tuple[str, ...]


def read_arguments(model: type[BaseModel], given: object) -> Arguments:
    """Return the arguments that a client meant.

    Args:
        model: Of the arguments.
        given: An object, or its JSON text; None: no arguments.

    Returns:
        Values that are not validated yet. What may not be ignored is among them.

    Raises:
        ArgumentError: They are not an object, or are nested too deeply.
    """
    fields = model.model_fields
    named, ignored = _named(fields, _unwrapped(fields, _object(given)))
    values: dict[str, Any] = {}
    replaced: dict[str, int] = {}
    for name, value in named.items():
        mended = _mended(name, value)
        if count := _lost(mended):
            replaced[name] = count
        field = fields.get(name)
        meant = _meant(field.annotation, mended) if field else mended
        not_given = meant is None or (isinstance(meant, str) and not meant.strip())
        if field is None or field.is_required() or not not_given:
            values[name] = meant
    return Arguments(values, tuple(_remarks(ignored, replaced)))


def _object(given: object) -> Mapping[str, Any]:
    value = given
    if isinstance(value, str) and value.strip():
        value = _parsed(value)
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise ArgumentError(f"The arguments are {shown(given)}: give an object with names and values.")
    return value


def _parsed(text: str) -> object:
    """Return the value of a JSON text; another text is returned as it is."""
    try:
        return parse(text).value
    except ValueError:
        return text


def _unwrapped(fields: Mapping[str, FieldInfo], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments without an object around them."""
    for _ in range(2):
        inner = next((name for name in given if _plain(name) in ENVELOPES and name not in fields), None)
        if inner is None or any(
            _field_of(fields, name) and value not in (None, "") for name, value in given.items()
        ):
            break
        value = given[inner]
        value = _parsed(value) if isinstance(value, str) else value
        if not isinstance(value, Mapping):
            break
        given = {name: part for name, part in given.items() if name != inner} | dict(value)
    return given


def _named(fields: Mapping[str, FieldInfo], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return values by the names of the arguments, and the ignored names."""
    named = {name: value for name, value in given.items() if name in fields}
    ignored = []
    for name, value in given.items():
        if name in fields:
            continue
        field = _field_of(fields, name)
        if field and field not in named:
            named[field] = value
        elif value not in (None, "") and _may_not_be_ignored(name, value):
            named[name] = value
        else:
            ignored.append(name)
    return named, sorted(ignored)


def _field_of(fields: Mapping[str, FieldInfo], name: str) -> str:
    """Return the argument of a name in another spelling (searchId), or an empty text."""
    plain = _plain(name)
    return next((field for field in fields if _plain(field) == plain), "")


def _may_not_be_ignored(name: str, value: object) -> bool:
    return _is_among(NEVER_IGNORED, name) or means_closing(name, value)


def _closes(part: str) -> bool:
    return means_closing(part) or _plain(part) in CLOSED


def _parts_of(value: object) -> Iterator[str]:
    """Yield the names in a value, and its texts, at any depth."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            left += [*part, *part.values()]
        elif isinstance(part, list):
            left += part


def means_closing(name: str, value: object = None) -> bool:
    """Whether an argument of this name, or with this value, means to close a note."""
    return _is_among(CLOSING, name) or any(map(_closes, _parts_of(value)))


def _is_among(names: frozenset[str], name: str) -> bool:
    plain = _plain(name)
    spellings = {plain, _BEGINNING.sub("", plain)}
    return not names.isdisjoint({*spellings, *(_ENDING.sub("", spelling) for spelling in spellings)})


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", str(name)).casefold()


def _mended(name: str, value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Replace the characters of a value that are not Unicode."""
    try:
        return replace_invalid(value).value
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}. Give a plain value.") from None


def _lost(value: object) -> int:
    """Return the count of characters that were replaced, here or before."""
    if isinstance(value, str):
        return value.count(REPLACEMENT)
    return sum(map(_lost, value)) if isinstance(value, list) else 0


def _meant(kind: Any, value: Any) -> Any:  # noqa: ANN401 - of an annotation and of JSON
    """Return the value of an argument's type that is meant, else the value."""
    kind = _bare(kind)
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _either([_bare(part) for part in parts], value)
    if origin in (list, tuple):
        return _list(parts[0], value)
    if kind is dict or origin is dict:
        return _parsed(value) if isinstance(value, str) else value
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if origin is Literal:
        return _word(parts, value)
    return _SCALARS[kind](value) if kind in _SCALARS else value


def _either(kinds: list[Any], value: Any) -> Any:  # noqa: ANN401 - of annotations and of JSON
    """Return the value of one of several types that is meant."""
    if type(None) in kinds and isinstance(value, str) and not value.strip():
        return None
    number = _number(value) if int in kinds else None
    if number is not None and (str not in kinds or not isinstance(value, str) or _is_rank(value)):
        return number
    return _text(value) if str in kinds else value


def _list(kind: Any, value: Any) -> Any:  # noqa: ANN401 - of an annotation and of JSON
    """Return a list: of a JSON text, a text with commas, or a single value."""
    if isinstance(value, str):
        parsed = _parsed(value) if value.lstrip()[:1] in ("[", '"') else value
        value = parsed if isinstance(parsed, list) else str(parsed).split(",")
    elif isinstance(value, bool | int | float):
        value = [value]
    if not isinstance(value, list | tuple):
        return value
    parts = [part.strip() if isinstance(part, str) else part for part in value]
    return [_meant(kind, part) for part in parts if part is not None and part != ""]


def _text(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the text of a number or a boolean."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, int | float) else value


def _number(value: object) -> int | None:
    """Return a whole number, also of a text or a float without a fraction."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(float(value)) if "." in value else int(value)
    return value if isinstance(value, int) else None


def _truth(value: object) -> object:
    if isinstance(value, str):
        return _WORDS.get(value.strip().casefold(), _number(value) if _number(value) in (0, 1) else value)
    return bool(value) if isinstance(value, int | float) and value in (0, 1) else value


def _word(words: tuple[Any, ...], value: object) -> object:
    if not isinstance(value, str):
        return value
    return next((word for word in words if str(word).casefold() == value.strip().casefold()), value.strip())


def _bare(kind: Any) -> Any:  # noqa: ANN401 - an annotation
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_rank(text: str) -> bool:
    """Whether a text is the rank of a result; no id is so short."""
    return len(text.strip().partition(".")[0]) < 4


def _whole(value: object) -> object:
    number = _number(value)
    return value if number is None else number


_SCALARS: Final[Mapping[Any, Callable[[Any], Any]]] = {str: _text, int: _whole, bool: _truth}


def _remarks(ignored: list[str], replaced: Mapping[str, int]) -> list[str]:
    remarks = []
    if ignored:
        more = f" and {len(ignored) - MAX_NAMED:,} more" if len(ignored) > MAX_NAMED else ""
        names = ", ".join(f"{name[:80]!a}" for name in ignored[:MAX_NAMED])
        remarks.append(f"Unknown arguments were ignored: {names}{more}.")
    return remarks + [f"{name}: {replaced_characters(count)}." for name, count in replaced.items()]

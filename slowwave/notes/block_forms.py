"""Forms of front matter: YAML, TOML and JSON blocks with their fences, and the page properties of Logseq."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import time
from math import isfinite
from typing import Any

from slowwave.common.json_repair import parse
from slowwave.notes.fields import KNOWN_FIELDS, LIST_FIELDS, field_name
from slowwave.notes.yaml_mapping import BadYamlError, check_size, load_mapping

_MAX_INTEGER = 10**18
_LINE = re.MULTILINE
_NAME_EQUALS = re.compile(r"^([ \t]*[\"']?[\w.\-]+[\"']?[ \t]*)=", _LINE)
_JSON_LINE = re.compile(r"^[ \t]*([{}])[ \t]*$|,[ \t]*$", _LINE)
_PROPERTY = re.compile(r"(?:-[ \t]+)?(?P<name>\w[\w.\-/]*(?:[ \t]+[\w.\-/]+){0,3})::(?P<value>[ \t].*|)")


@dataclass(frozen=True, slots=True)
class BlockForm:
    """Form of a block of labels.

    Attributes:
        opening: Its first line, with the line break.
        closing: Its last line.
        load: Returns the fields of its content; raises BadYamlError.
        as_lines: Returns the content as `name: value` lines, of the same numbers.
    """

    opening: re.Pattern[str]
    closing: re.Pattern[str]
    load: Callable[[str], dict[str, Any]]
    as_lines: Callable[[str], str]


def _load_toml(head: str) -> dict[str, Any]:
    check_size(head)
    try:
        fields: dict[str, Any] = _tame(tomllib.loads(head))
    except (ValueError, RecursionError) as error:
        raise BadYamlError(str(error)) from error
    return fields


def _load_json(head: str) -> dict[str, Any]:
    check_size(head)
    text = head.strip()
    try:
        fields = _tame(parse(text if text.startswith("{") else f"{{{text}}}").value)
    except ValueError as error:
        raise BadYamlError(str(error)) from error
    if not isinstance(fields, dict):
        raise BadYamlError("not an object")
    return fields


def _tame(value: Any) -> Any:  # noqa: ANN401 - any value of JSON or TOML
    """Return the value without numbers and times that no JSON can have."""
    if isinstance(value, dict):
        return {name: _tame(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_tame(inner) for inner in value]
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, int):
        return value if -_MAX_INTEGER < value < _MAX_INTEGER else str(value)
    return value.isoformat() if isinstance(value, time) else value


def _lines_of_toml(head: str) -> str:
    return _NAME_EQUALS.sub(r"\1: ", head)


def _lines_of_json(head: str) -> str:
    return _JSON_LINE.sub(lambda found: "#" if found[1] else "", head)


def _form(
    opening: str,
    closing: str,
    load: Callable[[str], dict[str, Any]],
    as_lines: Callable[[str], str] = str,
) -> BlockForm:
    ending = re.compile(rf"^(?:{closing})[ \t]*(?:\n|\Z)", _LINE)
    return BlockForm(re.compile(rf"(?:{opening})[ \t]*\n", re.IGNORECASE), ending, load, as_lines)


YAML = _form(r"---[ \t]*(?:ya?ml)?", r"---|\.\.\.", load_mapping)
_FORMS = (
    YAML,
    _form(r"---[ \t]*toml", "---", _load_toml, _lines_of_toml),
    _form(r"\+\+\+(?:[ \t]*toml)?", r"\+\+\+", _load_toml, _lines_of_toml),
    _form(r"---[ \t]*json", "---", _load_json, _lines_of_json),
    _form(r";;;(?:[ \t]*json)?", ";;;", _load_json, _lines_of_json),
)


def form_at(text: str) -> BlockForm | None:
    """Return the form of the block that a text begins with; None if there is none."""
    if text[:3] not in ("---", "+++", ";;;"):
        return None
    return next((form for form in _FORMS if form.opening.match(text)), None)


def page_properties(text: str) -> tuple[dict[str, Any], str, str] | None:
    """Return the properties `name:: value` that a page begins with; None without a known one, or a text.

    Returns:
        Fields, the lines that have them, and the text below.
    """
    fields: dict[str, Any] = {}
    end = 0
    for line in text.splitlines(keepends=True):
        found = _PROPERTY.fullmatch(line.rstrip())
        if found is None:
            break
        end += len(line)
        name, value = found["name"], found["value"].strip()
        listed = [item.strip(" #[]") for item in value.split(",")]
        fields.setdefault(name, listed if field_name(name) in LIST_FIELDS else value)
    if not text[end:].strip() or not any(field_name(name) in KNOWN_FIELDS for name in fields):
        return None
    return fields, text[:end], text[end:].lstrip("\n")

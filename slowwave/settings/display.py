"""Settings as a person sees them: which value is in force, where it comes from, with its secrets covered."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import TomlConfigSettingsSource

from slowwave.common.passwords import without_passwords
from slowwave.settings.deprecated import DEPRECATED, with_current_names
from slowwave.settings.groups import Group
from slowwave.settings.home_discovery import ENV_PREFIX
from slowwave.settings.tree import CONFIG_FILE, COVERED, SECRET, Settings

_DEEPEST = 8  # levels of a value that are shown (count); no setting has so many


def covered(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any setting
    """A value as plain data with its secrets covered, fit for a screen."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {
            key: COVERED if SECRET.search(str(key)) else covered(part, depth + 1)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [covered(part, depth + 1) for part in value]
    return without_passwords(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class InForce:
    """One setting as it is in force.

    Attributes:
        name: with its group, as `gate.mode`.
        value: in force.
        origin: where it comes from: default, the file, a variable, or an argument.
        description: what it means, with its unit.
        default: what it is where nobody says otherwise.
        allowed: its range or words; empty: any of its type.
    """

    name: str
    value: Any
    origin: str
    description: str
    default: Any = None
    allowed: str = ""

    @property
    def changed(self) -> bool:
        """Whether it is other than its default, or said somewhere although it is the same."""
        return self.origin != "default"

    @property
    def shown(self) -> Any:  # noqa: ANN401 - any setting
        """The value with its secrets covered, fit for a screen."""
        return covered(self.value)


def variable_of(path: tuple[str, ...]) -> str:
    """The environment variable of a setting."""
    return ENV_PREFIX + "__".join(path).upper()


def _allowed(field: FieldInfo) -> str:
    """The range of a number, or the words that a setting may be."""
    words = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    if words:
        return ", ".join(map(str, words))
    signs = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
    bounds = {name: getattr(rule, name) for rule in field.metadata for name in signs if hasattr(rule, name)}
    told = [signs[name].format(f"{bounds[name]:,}") for name in signs if bounds.get(name) is not None]
    return " ".join(told)


def _same(value: object, given: object) -> bool:
    """Whether a value is what was given, as text, number, list or mapping."""
    if isinstance(value, dict | tuple):
        return True
    if isinstance(value, bool):
        return str(given).lower() in {str(value).lower(), str(int(value))}
    if isinstance(value, Path):
        path = Path(str(given))
        return value in (path, path.expanduser().resolve())
    if isinstance(value, int | float):
        return float(value) == float(str(given))
    return str(value) == str(given)


def in_force(settings: Settings) -> list[InForce]:
    """Each setting with its value, where the value comes from, and what it means."""
    variables = {name.lower(): text for name, text in os.environ.items()}
    path = settings.home / CONFIG_FILE
    file = with_current_names(TomlConfigSettingsSource(Settings, path)(), str(path))
    deprecated = {current: old for old, current in DEPRECATED.items()}
    rows: list[InForce] = []

    def origin(path: tuple[str, ...], value: object, default: object) -> str:
        names = (".".join(path), deprecated.get(".".join(path), ""))
        node: Any = file
        for part in path:
            node = node.get(part) if isinstance(node, dict) else None
        for variable in (variable_of(tuple(name.split("."))) for name in names if name):
            given = variables.get(variable.lower())
            if given is not None and _same(value, given):
                return variable
        if node is not None and _same(value, node):
            return CONFIG_FILE
        return "default" if value == default else "argument"

    def walk(model: BaseModel, path: tuple[str, ...]) -> None:
        for name, field in type(model).model_fields.items():
            value = getattr(model, name)
            if isinstance(value, Group):
                walk(value, (*path, name))
                continue
            default = field.get_default(call_default_factory=True, validated_data={})
            here = (*path, name)
            rows.append(
                InForce(
                    ".".join(here), value, origin(here, value, default), field.description or "",
                    default=covered(default), allowed=_allowed(field),
                )
            )  # fmt: skip

    walk(settings, ())
    return rows

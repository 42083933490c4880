"""Display of settings: current value, origin, range, with secrets masked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import TomlConfigSettingsSource

from slowwave.common.home_discovery import ENV_PREFIX, default_home
from slowwave.common.passwords import without_passwords
from slowwave.settings.deprecated import DEPRECATED, with_current_names
from slowwave.settings.groups import Group
from slowwave.settings.tree import CONFIG_FILE, COVERED, SECRET, Settings

_MAX_DEPTH = 8  # levels of a value that are shown (count); no setting has so many


def covered(value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any setting
    """Return a value as plain data with its secrets masked, fit for a screen."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if depth > _MAX_DEPTH:
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
    """Setting with its current value.

    Attributes:
        name: With its group, as `gate.mode`.
        value: Current value.
        origin: default, the file, a variable, or an argument.
        description: Meaning, with unit.
        default: Default value.
        allowed: Range or words; empty: any of its type.
    """

    name: str
    value: Any
    origin: str
    description: str
    default: Any = None
    allowed: str = ""

    @property
    def changed(self) -> bool:
        """Whether it is set anywhere, even to its default."""
        return self.origin != "default"

    @property
    def shown(self) -> Any:  # noqa: ANN401 - any setting
        """The value with its secrets masked, fit for a screen."""
        return covered(self.value)

    @property
    def line(self) -> str:
        """Its line in the settings file, without a value."""
        group, _, name = self.name.rpartition(".")
        return f"[{group}] {name} = …" if group else f"{name} = …"

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return variable_of(tuple(self.name.split(".")))

    @property
    def value_text(self) -> str:
        """The value as text, "(empty)" for an empty one."""
        return value_text(self.shown)


def value_text(value: object) -> str:
    """Return a value as text: "(empty)" for an empty one, true or false as in the settings file."""
    if isinstance(value, bool):
        return str(value).lower()  # as in the settings file
    return "(empty)" if value in ("", [], {}, None) else str(value)


def variable_of(path: tuple[str, ...]) -> str:
    """Return the environment variable of a setting."""
    return ENV_PREFIX + "__".join(path).upper()


def _allowed(field: FieldInfo) -> str:
    """Return the range of a number, or the words that a setting may be."""
    words = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    if words:
        return ", ".join(map(str, words))
    signs = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
    bounds = {name: getattr(rule, name) for rule in field.metadata for name in signs if hasattr(rule, name)}
    parts = [signs[name].format(f"{bounds[name]:,}") for name in signs if bounds.get(name) is not None]
    return " ".join(parts)


def _same(value: object, given: object) -> bool:
    """Whether a value equals the given text, number, list or mapping."""
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
    """Return each setting with its value, origin and meaning."""
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
        if path == ("home",) and value == default_home():
            return "default home"
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

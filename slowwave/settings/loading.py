"""Loading of a home's settings, with explained errors."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError as UnreadableVariableError

from slowwave.common.arguments import shown
from slowwave.common.home_discovery import (
    CONFIG_DIR,
    ENV_PREFIX,
    find_home,
    has_only_others,
    is_home,
    locate_home,
)
from slowwave.errors import SettingsError
from slowwave.settings.display import covered, variable_of
from slowwave.settings.groups import Group
from slowwave.settings.tree import CONFIG_FILE, COVERED, SECRET, Settings

_NO_SETTINGS = frozenset(
    {f"{ENV_PREFIX}DEBUG", f"{ENV_PREFIX}ASK", CONFIG_DIR}
)  # variables that are read but are not settings


def load(home: Path | str | None = None, **overrides: Any) -> Settings:  # noqa: ANN401 - any setting
    """Load the settings of `home` (default: :func:`find_home`).

    Raises:
        SettingsError: A value is not allowed; the message names it and the allowed range.
    """
    import tomllib

    where = Path(home).expanduser().resolve() if home is not None else find_home()
    _refuse_unknown_variables()
    try:
        return Settings(home=where, **overrides)
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None
    except UnreadableVariableError as error:
        raise SettingsError(_not_json(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{where / CONFIG_FILE} is not valid TOML: {error}. Fix that line.") from None
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{where / CONFIG_FILE} is not UTF-8 (byte {error.start}). Save it again in that encoding."
        ) from None


def _not_json(error: UnreadableVariableError) -> str:
    """Return the message about a variable whose list or mapping is not JSON."""
    given = getattr(error.__cause__, "doc", None)
    own = {name: value for name, value in os.environ.items() if name.upper().startswith(ENV_PREFIX)}
    names = sorted(name for name, value in own.items() if value == given)
    return (
        f"{' or '.join(names) or error}: a list or mapping in a variable must be JSON, as in "
        f'["one", "two"] or {{"name": "value"}}.'
    )


def _refuse_unknown_variables() -> None:
    """Refuse unknown variables: a misspelt one would be ignored silently."""
    known = {variable_of((name,)) for name in Settings.model_fields}
    for name in os.environ:
        upper = name.upper()
        if not upper.startswith(ENV_PREFIX) or upper.startswith(f"{ENV_PREFIX}TEST_"):
            continue
        if upper not in _NO_SETTINGS and upper.split("__")[0] not in known:
            raise SettingsError(_no_setting(name, known, upper.split("__")[0]))


def _no_setting(name: str, known: Iterable[str], wrong: str = "") -> str:
    """Return the message about an unknown setting, with the closest match."""
    near = get_close_matches(wrong or name, sorted(known), n=1, cutoff=0.5)
    meant = f" Did you mean {near[0]}{name[len(wrong) :] if wrong else ''}?" if near else ""
    return f"{name} is not a setting.{meant} `slowwave settings` lists all of them."


def _names(model: type[BaseModel] | None = None, path: tuple[str, ...] = ()) -> list[str]:
    """Return the names of all settings and groups."""
    names = []
    for name, field in (model or Settings).model_fields.items():
        names.append(".".join((*path, name)))
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            names += _names(kind, (*path, name))
    return names


def has_home(settings: Settings) -> bool:
    """Whether the home exists: its folder, with more than a Dagster instance in it.

    A home with journal or tables elsewhere may have no more than that.
    """
    if not settings.home.is_dir():
        return False
    return _is_elsewhere(settings) or (is_home(settings.home) and not has_only_others(settings.home))


def _is_elsewhere(settings: Settings) -> bool:
    """Whether journal or tables are not in the home's folder."""
    return bool(settings.journal.url) or "://" in settings.store.uri


def require_home(settings: Settings) -> Settings:
    """Return the settings, if their home exists.

    Raises:
        SettingsError: It does not; the message says how to create one.
    """
    if not has_home(settings):
        raise SettingsError(
            f"There is no home at {settings.home}. Create it with `slowwave init`, or name another with "
            f"`slowwave --home FOLDER` or the variable {ENV_PREFIX}HOME."
        )
    return settings


def require_named_home(settings: Settings) -> Settings:
    """Return the settings, if their home exists or was named: nothing creates a home by accident.

    Raises:
        SettingsError: It is missing, and neither a variable nor an argument names it.
    """
    if has_only_others(settings.home) and not _is_elsewhere(settings):
        raise SettingsError(
            f"{settings.home} is no home, and has other files. Name a new or an empty folder: "
            f"`slowwave --home FOLDER` or the variable {ENV_PREFIX}HOME."
        )
    found = locate_home()
    return require_home(settings) if found.origin == "none" and found.home == settings.home else settings


def _explain(error: ValidationError) -> str:
    lines = []
    for fault in error.errors():
        name = ".".join(str(part) for part in fault["loc"]) or "settings"
        if fault["type"] == "extra_forbidden":
            lines.append(_no_setting(name, _names()))
        else:
            named = next((part for part in reversed(fault["loc"]) if isinstance(part, str)), "")
            given = COVERED if SECRET.search(named) else shown(covered(fault["input"]))
            lines.append(f"{name} = {given}: {fault['msg']}.")
    return "\n".join(lines)

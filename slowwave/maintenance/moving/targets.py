"""Targets of a move, parsed from the command line into settings."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self

from slowwave.errors import SettingsError
from slowwave.home.relocation import SETTINGS_OF, Part, places, variables
from slowwave.settings import Settings
from slowwave.settings.display import covered

FILES = "files"
_JOURNALS = ("postgresql", "postgres")


class MoveTargets:
    """New places of the parts to move.

    Args:
        settings: Of the home's current place.
        to: `files`, a place of tables, the URL of a journal, or a TOML file with `[store]` and `[journal]`,
            as the settings will have them.
        only: One part alone; None: all parts that `to` names.

    Raises:
        SettingsError: Two words name the same part, a file cannot be read or has secrets that others may
            read, or an environment variable sets the place of a part.
    """

    def __init__(self, settings: Settings, to: Sequence[str], only: Part | None = None) -> None:
        values_of: dict[Part, dict[str, Any]] = {}
        for word in to:
            for part, values in _parse(word).items():
                if part in values_of:
                    raise SettingsError(
                        f"--to {covered(word)}: the place of the {part} is given twice. Give it once."
                    )
                values_of[part] = values
        if only is not None:
            values_of = {part: values for part, values in values_of.items() if part == only}
        if not values_of:
            raise SettingsError(
                "No target given. Use --to s3://bucket/prefix for the tables, --to postgresql://… for the "
                "journal, or --to files to move both back into the home."
            )
        _refuse_variables(values_of)
        self.values = dict(sorted(values_of.items(), reverse=True))
        self.settings = _with(settings, self.values)
        self._own, self._to, self._only = settings, tuple(map(_absolute_target, to)), only

    @property
    def parts(self) -> tuple[Part, ...]:
        """Parts to move."""
        return tuple(self.values)

    @property
    def command(self) -> str:
        """Command that resumes the move, from any folder; a password in it is masked."""
        to = [part for word in self._to for part in ("--to", word)]
        return shlex.join(["slowwave", "move", *to, *(("--only", self._only) if self._only else ())])

    def elsewhere(self) -> Self:
        """Return the targets without parts that are there already; it may have no parts."""
        current, to = places(self._own, self.parts), self.places()
        remaining = copy(self)
        remaining.values = {part: values for part, values in self.values.items() if current[part] != to[part]}
        remaining.settings = _with(self._own, remaining.values)
        return remaining

    def places(self) -> dict[str, str]:
        """Return the new place of each part, without a password."""
        return places(self.settings, self.parts)


def _absolute_target(word: str) -> str:
    """Return a word of `--to` that means the same in any folder, without a password."""
    return word if word == FILES else str(covered(word)) if _is_address(word) else _absolute(word)


def _is_address(word: str) -> bool:
    return "://" in word or word.split(":")[0].split("+")[0] in _JOURNALS


def _absolute(word: str) -> str:
    return str(Path(word).expanduser().absolute())


def _parse(word: str) -> dict[Part, dict[str, Any]]:
    if word == FILES:
        return {"tables": {"uri": "", "storage_options": {}}, "journal": {"url": ""}}
    if not word.strip() or not word.isprintable():
        raise SettingsError(
            f"--to {word!r} is not a place. Give an address or a folder without control characters."
        )
    if word.endswith(".toml"):
        return _of_file(Path(word).expanduser())
    if word.split(":")[0].split("+")[0] in _JOURNALS:
        return {"journal": {"url": word}}
    return {"tables": {"uri": word if _is_address(word) else _absolute(word), "storage_options": {}}}


def _of_file(path: Path) -> dict[Part, dict[str, Any]]:
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        mode = path.stat().st_mode
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"Cannot read --to {path}: {error}. Give a TOML file.") from None
    named = {(group, name) for group, values in document.items() for name in _names(values)}
    if unknown := {".".join(setting) for setting in named.difference(*SETTINGS_OF.values())}:
        raise SettingsError(
            f"--to {path} sets {', '.join(sorted(unknown))}, which is no place of tables or journal. Remove "
            "it."
        )
    if wrong := [name for name, value in _texts(document).items() if not isinstance(value, str)]:
        raise SettingsError(f"--to {path}: {', '.join(wrong)} is not a text. Write it in quotation marks.")
    if os.name == "posix" and mode & 0o077 and _has_secrets(document):
        raise SettingsError(
            f"Other users of this machine may read {path}, which has keys or a password. Run: chmod 600 "
            f"{shlex.quote(str(path))}"
        )
    groups = {part: paths[0][0] for part, paths in SETTINGS_OF.items()}
    return {
        part: {**_parse(FILES)[part], **document[group]}
        for part, group in groups.items()
        if group in document
    }


def _texts(document: Mapping[str, Mapping[str, Any]]) -> dict[str, object]:
    """Return the values of a target file by dotted name; all must be texts."""
    values_by_name: dict[str, object] = {}
    for group, values in document.items():
        for name, value in values.items():
            if name == "storage_options" and isinstance(value, dict):
                values_by_name |= {f"{group}.{name}.{option}": text for option, text in value.items()}
            else:
                values_by_name[f"{group}.{name}"] = value
    return values_by_name


def _has_secrets(document: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a target file has object-store options (with keys) or an address with a password."""
    texts = _texts(document)
    return any(".storage_options." in name or covered(value) != value for name, value in texts.items())


def _names(group: object) -> Sequence[str]:
    return list(group) if isinstance(group, dict) else ["?"]


def _refuse_variables(parts: Mapping[Part, object]) -> None:
    """Refuse environment variables, which override the settings file that a move changes."""
    for part in parts:
        for name in variables(*SETTINGS_OF[part]):
            raise SettingsError(
                f"{name} sets the place of the {part}, but a move changes slowwave.toml. Write the value "
                f"there, unset the variable, and run it again."
            )


def _with(settings: Settings, values: Mapping[Part, Mapping[str, Any]]) -> Settings:
    store = settings.store.model_copy(update=dict(values.get("tables", {})))
    journal = settings.journal.model_copy(update=dict(values.get("journal", {})))
    return settings.model_copy(update={"store": store, "journal": journal})

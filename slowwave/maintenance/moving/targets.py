"""Where a home is to go: what a person says, as settings."""

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
    """The places of what is moved.

    Args:
        settings: of the home as it is.
        to: `files`, a place of tables, the URL of a journal, or a TOML file that has `[store]` and
            `[journal]` as the settings will have them.
        only: one part alone; None: all that `to` names.

    Raises:
        SettingsError: two words say where the same part goes, a file cannot be read, or has secrets that
            others may read, or an environment variable says where a part is.
    """

    def __init__(self, settings: Settings, to: Sequence[str], only: Part | None = None) -> None:
        found: dict[Part, dict[str, Any]] = {}
        for word in to:
            for part, values in _meant(word).items():
                if part in found:
                    raise SettingsError(
                        f"--to {covered(word)}: where the {part} go is said twice. Say it once."
                    )
                found[part] = values
        if only is not None:
            found = {part: values for part, values in found.items() if part == only}
        if not found:
            raise SettingsError(
                "Where to? --to s3://bucket/prefix for the tables, --to postgresql://… for the journal, "
                "--to files for both back into the home."
            )
        _refuse_variables(found)
        self.values = dict(sorted(found.items(), reverse=True))
        self.settings = _with(settings, self.values)
        self._own, self._said, self._only = settings, tuple(map(_lasting, to)), only

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is moved."""
        return tuple(self.values)

    @property
    def command(self) -> str:
        """What goes on with it, from any folder; a password in it is covered."""
        to = [part for word in self._said for part in ("--to", word)]
        return shlex.join(["slowwave", "move", *to, *(("--only", self._only) if self._only else ())])

    def elsewhere(self) -> Self:
        """Only what is not there yet; it has no parts where the home is there already."""
        was, to = places(self._own, self.parts), self.places()
        found = copy(self)
        found.values = {part: values for part, values in self.values.items() if was[part] != to[part]}
        found.settings = _with(self._own, found.values)
        return found

    def places(self) -> dict[str, str]:
        """Where each part goes, without a password."""
        return places(self.settings, self.parts)


def _lasting(word: str) -> str:
    """A word of `--to` that means the same in another folder, without a password."""
    return word if word == FILES else str(covered(word)) if _is_address(word) else _absolute(word)


def _is_address(word: str) -> bool:
    return "://" in word or word.split(":")[0].split("+")[0] in _JOURNALS


def _absolute(word: str) -> str:
    return str(Path(word).expanduser().absolute())


def _meant(word: str) -> dict[Part, dict[str, Any]]:
    if word == FILES:
        return {"tables": {"uri": "", "storage_options": {}}, "journal": {"url": ""}}
    if not word.strip() or not word.isprintable():
        raise SettingsError(f"--to {word!r} is no place. Give an address or a folder that can be printed.")
    if word.endswith(".toml"):
        return _of_file(Path(word).expanduser())
    if word.split(":")[0].split("+")[0] in _JOURNALS:
        return {"journal": {"url": word}}
    return {"tables": {"uri": word if _is_address(word) else _absolute(word), "storage_options": {}}}


def _of_file(path: Path) -> dict[Part, dict[str, Any]]:
    import tomllib

    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        mode = path.stat().st_mode
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"--to {path} cannot be read: {error}. Give a TOML file.") from None
    said = {(group, name) for group, values in told.items() for name in _names(values)}
    if strange := {".".join(one) for one in said.difference(*SETTINGS_OF.values())}:
        raise SettingsError(
            f"--to {path} says {', '.join(sorted(strange))}, which is not where tables or journal are."
        )
    if wrong := [name for name, value in _texts(told).items() if not isinstance(value, str)]:
        raise SettingsError(f"--to {path}: {', '.join(wrong)} is no text. Write it in quotation marks.")
    if os.name == "posix" and mode & 0o077 and _has_secrets(told):
        raise SettingsError(
            f"Others on this machine may read {path}, which has keys or a password: chmod 600 "
            f"{shlex.quote(str(path))}"
        )
    groups = {part: paths[0][0] for part, paths in SETTINGS_OF.items()}
    return {part: {**_meant(FILES)[part], **told[group]} for part, group in groups.items() if group in told}


def _texts(told: Mapping[str, Mapping[str, Any]]) -> dict[str, object]:
    """The values of a target file, which all have to be texts, by their names."""
    found: dict[str, object] = {}
    for group, values in told.items():
        for name, value in values.items():
            if name == "storage_options" and isinstance(value, dict):
                found |= {f"{group}.{name}.{option}": one for option, one in value.items()}
            else:
                found[f"{group}.{name}"] = value
    return found


def _has_secrets(told: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a target file has options of an object store, where keys are, or an address with a password."""
    texts = _texts(told)
    return any(".storage_options." in name or covered(value) != value for name, value in texts.items())


def _names(group: object) -> Sequence[str]:
    return list(group) if isinstance(group, dict) else ["?"]


def _refuse_variables(parts: Mapping[Part, object]) -> None:
    """What a variable says is stronger than the settings file that a move changes."""
    for part in parts:
        for name in variables(*SETTINGS_OF[part]):
            raise SettingsError(
                f"{name} says where the {part} are, and a move changes slowwave.toml. Write it there, take "
                f"the variable away, and run it again."
            )


def _with(settings: Settings, values: Mapping[Part, Mapping[str, Any]]) -> Settings:
    store = settings.store.model_copy(update=dict(values.get("tables", {})))
    journal = settings.journal.model_copy(update=dict(values.get("journal", {})))
    return settings.model_copy(update={"store": store, "journal": journal})

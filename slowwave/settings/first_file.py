"""Initial settings file of a new home: the choices at its creation, and common settings as comments.

An existing file is never overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from slowwave.common.ids import new_event_id
from slowwave.common.permissions import make_private
from slowwave.settings.tree import CONFIG_FILE, Settings

_WIDTH: Final = 78  # characters of a line, without its mark
_HEAD: Final = (
    "Settings of this Slowwave home, written at its creation. Change them as you like; comments show "
    "defaults. `slowwave settings` lists all settings with the origin of each value. An environment "
    "variable, such as SLOWWAVE_GATE__MODE, overrides this file."
)
_NAMESPACE: Final = "Namespace (tenant) of a command that names none."
_MODEL: Final = (
    "Embedding model of this home. The tables have its vectors, so do not change it here: "
    "`slowwave reembed --model NAME` switches to another one."
)
_EXAMPLES_FOLLOW: Final = "Common settings. To change one, remove the # before it and before its [group]."
_EXAMPLES: Final = (
    (
        "gate", "mode",
        "Save gate for notes of low quality. warn: store them, and refuse them after gate.warn_days. "
        "enforce: refuse them at once. off: store everything.",
    ),
    (
        "learning", "enabled",
        "Learn from use. Proposals are applied only when the learning gate is open: see "
        "`slowwave learning status`.",
    ),
    ("night", "hour", "Hour (UTC) of the nightly job."),
    (
        "judge", "kind",
        "Automatic judge of search results. default: a small model on this machine. openai: a model "
        "behind judge.base_url. off: none.",
    ),
)  # fmt: skip


def write_first(home: Path, *, namespace: str = "", model: str = "") -> bool:
    """Write the settings file of a home that has none; of several processes one succeeds.

    Args:
        home: Existing folder.
        namespace: Chosen namespace; empty: none.
        model: Chosen model; empty: none.

    Returns:
        Whether this call wrote it.

    Raises:
        OSError: The folder cannot be written.
    """
    path = home / CONFIG_FILE
    if path.exists():
        return False
    begun = home / f".{CONFIG_FILE}-{new_event_id()}"  # readers see a whole file or none
    try:
        make_private(begun, home)
        begun.write_text(text(namespace=namespace, model=model), encoding="utf-8")
        return _put(begun, path)
    finally:
        begun.unlink(missing_ok=True)


def _put(begun: Path, path: Path) -> bool:
    """Rename a file unless the target exists."""
    try:
        os.link(begun, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links; a rename would replace an existing file
        with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            path.chmod(begun.stat().st_mode & 0o777)
            file.write(begun.read_text(encoding="utf-8"))
            return True
        return False
    return True


def text(*, namespace: str = "", model: str = "") -> str:
    """Return the text of the initial settings file."""
    defaults = Settings.model_construct()
    parts = [
        _about(_HEAD),
        _about(_NAMESPACE) + _line("namespace", namespace or defaults.namespace, chosen=bool(namespace)),
        _group("embedding", "model", _MODEL, model or defaults.embedding.model, chosen=bool(model)),
        _about(_EXAMPLES_FOLLOW),
    ]
    for group, name, meaning in _EXAMPLES:
        parts.append(_group(group, name, meaning, getattr(getattr(defaults, group), name), chosen=False))
    return "\n".join(parts)


def _about(meaning: str) -> str:
    import textwrap

    return "".join(f"# {line}\n" for line in textwrap.wrap(meaning, _WIDTH, break_on_hyphens=False))


def _group(group: str, name: str, meaning: str, value: Any, *, chosen: bool) -> str:  # noqa: ANN401 - any setting
    mark = "" if chosen else "# "
    return f"{_about(meaning)}{mark}[{group}]\n{_line(name, value, chosen=chosen)}"


def _line(name: str, value: Any, *, chosen: bool) -> str:  # noqa: ANN401 - any setting
    import tomlkit

    return f"{'' if chosen else '# '}{name} = {tomlkit.item(value).as_string()}\n"


def file_values(home: Path) -> Mapping[str, Any]:
    """Return the groups of the settings file; empty if it is missing or unreadable."""
    import tomllib

    try:
        return tomllib.loads((home / CONFIG_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # loading the settings reports the error
        return {}


def model_said(home: Path) -> str:
    """Return the model that the settings file names; empty if none."""
    group = file_values(home).get("embedding")
    return str(group.get("model", "")) if isinstance(group, Mapping) else ""

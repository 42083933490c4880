"""The settings file that a new home gets: what was chosen when it was made, and what people change most.

It is a comment where nothing was chosen. A file that is there is never written over.
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
    "Settings of this Slowwave home, written when it was made. Change them as you like; what is a comment "
    "is as it is by default. `slowwave settings` lists all settings and says where each value comes from. An "
    "environment variable, such as SLOWWAVE_GATE__MODE, wins over this file."
)
_NAMESPACE: Final = "Namespace (tenant) of the command line, where a command is given none."
_MODEL: Final = (
    "Embedding model of this home. The tables hold its vectors, so do not change it here: "
    "`slowwave reembed --model NAME` moves the home to another one."
)
_EXAMPLES_FOLLOW: Final = (
    "What people change most. To change a value, take away the # before it and before its [group]."
)
_EXAMPLES: Final = (
    (
        "gate", "mode",
        "What happens to notes that are not worth keeping. warn: they enter, and are refused from the day "
        "that gate.warn_days gives. enforce: they are refused at once. off: everything enters.",
    ),
    (
        "learning", "enabled",
        "Whether the memory may learn from use. What it proposes is applied only when its gate opens: see "
        "`slowwave learning status`.",
    ),
    ("night", "hour", "Hour of the day (UTC) at which the scheduled night runs."),
    (
        "judge", "kind",
        "Who grades search results beside people. default: a small model on this machine. openai: a model "
        "behind judge.base_url. off: nobody.",
    ),
)  # fmt: skip


def write_first(home: Path, *, namespace: str = "", model: str = "") -> bool:
    """Write the settings file of a home that has none; of several processes one does.

    Args:
        home: the folder; it is there.
        namespace: that was chosen; empty: none.
        model: that was chosen; empty: none.

    Returns:
        Whether this call wrote it.

    Raises:
        OSError: the folder cannot be written.
    """
    path = home / CONFIG_FILE
    if path.exists():
        return False
    begun = home / f".{CONFIG_FILE}-{new_event_id()}"  # who reads meanwhile sees a whole file or none
    try:
        make_private(begun, home)
        begun.write_text(text(namespace=namespace, model=model), encoding="utf-8")
        return _put(begun, path)
    finally:
        begun.unlink(missing_ok=True)


def _put(begun: Path, path: Path) -> bool:
    """Give a file its name unless another one has it."""
    try:
        os.link(begun, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links; a rename would replace what is there
        with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            path.chmod(begun.stat().st_mode & 0o777)
            file.write(begun.read_text(encoding="utf-8"))
            return True
        return False
    return True


def text(*, namespace: str = "", model: str = "") -> str:
    """What stands in it."""
    known = Settings.model_construct()
    parts = [
        _about(_HEAD),
        _about(_NAMESPACE) + _line("namespace", namespace or known.namespace, chosen=bool(namespace)),
        _group("embedding", "model", _MODEL, model or known.embedding.model, chosen=bool(model)),
        _about(_EXAMPLES_FOLLOW),
    ]
    for group, name, meaning in _EXAMPLES:
        parts.append(_group(group, name, meaning, getattr(getattr(known, group), name), chosen=False))
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


def said(home: Path) -> Mapping[str, Any]:
    """What the settings file says now, as groups; nothing where there is none or it cannot be read."""
    import tomllib

    try:
        return tomllib.loads((home / CONFIG_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # whoever loads the settings says what is wrong with it
        return {}


def model_said(home: Path) -> str:
    """The model that the settings file names now; empty where it names none."""
    group = said(home).get("embedding")
    return str(group.get("model", "")) if isinstance(group, Mapping) else ""

"""The settings file of a restored home: all that the backup has, but for where things are.

Two homes with one set of tables would write over each other. So of what says where tables and journal are,
only what lies within the home comes back; the rest is what the new home's own file says, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from slowwave.errors import BackupError
from slowwave.home.relocation import SETTINGS_OF
from slowwave.settings import CONFIG_FILE


def with_own_places(text: str, home: Path) -> tuple[str, tuple[str, ...]]:
    """What is written to a restored home.

    Args:
        text: of the backup's settings file.
        home: the folder; the file that is there says where tables and journal are.

    Returns:
        The text, and the names of settings that are other ones than in the backup.

    Raises:
        BackupError: one of the two is not TOML.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    own_file = home / CONFIG_FILE
    try:
        document: Any = tomlkit.parse(text)
        own: Any = tomlkit.parse(own_file.read_text(encoding="utf-8")) if own_file.exists() else {}
    except TOMLKitError as error:
        raise BackupError(f"{CONFIG_FILE} is not valid TOML: {error}. Mend the one in {home}.") from None
    changed = []
    for group, name in chain(*SETTINGS_OF.values()):
        was, now = _value(document, group, name), _value(own, group, name)
        if was == now or (now is None and was is not None and _within(name, was)):
            continue
        changed.append(f"{group}.{name}")
        if now is None:
            del document[group][name]
        else:
            document.setdefault(group, tomlkit.table())[name] = now
    return tomlkit.dumps(document), tuple(changed)


def _value(document: Mapping[str, Any], group: str, name: str) -> Any:  # noqa: ANN401 - any setting
    found = document.get(group)
    return found.get(name) if isinstance(found, Mapping) else None


def _within(name: str, value: object) -> bool:
    """Whether a place is one within the home, wherever that is."""
    return name == "uri" and "://" not in str(value) and not Path(str(value)).expanduser().is_absolute()

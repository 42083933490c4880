"""Settings file of a restored home: that of the backup, except the places of tables and journal.

Two homes with the same tables would overwrite each other. So a place is restored only if it is inside the
home; other places come from the new home's own file, or are dropped.
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
    """Return the settings file of a restored home.

    Args:
        text: Settings file of the backup.
        home: Folder; an existing settings file there decides the places of tables and journal.

    Returns:
        The text, and the names of settings that differ from the backup.

    Raises:
        BackupError: One of the two is not TOML.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    own_file = home / CONFIG_FILE
    try:
        document: Any = tomlkit.parse(text)
        own: Any = tomlkit.parse(own_file.read_text(encoding="utf-8")) if own_file.exists() else {}
    except TOMLKitError as error:
        raise BackupError(f"{CONFIG_FILE} is not valid TOML: {error}. Fix the one in {home}.") from None
    changed = []
    for group, name in chain(*SETTINGS_OF.values()):
        old, new = _value(document, group, name), _value(own, group, name)
        if old == new or (new is None and old is not None and _within(name, old)):
            continue
        changed.append(f"{group}.{name}")
        if new is None:
            del document[group][name]
        else:
            document.setdefault(group, tomlkit.table())[name] = new
    return tomlkit.dumps(document), tuple(changed)


def _value(document: Mapping[str, Any], group: str, name: str) -> Any:  # noqa: ANN401 - any setting
    section = document.get(group)
    return section.get(name) if isinstance(section, Mapping) else None


def _within(name: str, value: object) -> bool:
    """Whether a place is inside the home."""
    return name == "uri" and "://" not in str(value) and not Path(str(value)).expanduser().is_absolute()

"""Discovery of the home folder, with the standard library only, because every command needs it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

ENV_PREFIX = "SLOWWAVE_"
HOME_FOLDER = ".slowwave"
DAGSTER_FOLDER = "dagster"
"""Folder of a home with its Dagster instance; it may exist before the home."""
_OF_A_HOME: Final = (
    "slowwave", "journal", "lance", DAGSTER_FOLDER, "restoring", "moved-from", "up.", "warehouse", "capture",
    "nights.json", "backup.json", "sessions", "erasing",
)  # fmt: skip
"""Beginnings of the names of files and folders of a home."""
CONFIG_DIR: Final = f"{ENV_PREFIX}CONFIG_DIR"
"""Variable that names the folder of the user's configuration."""
DEFAULT_FILE: Final = "default-home"
"""File of that folder with the path of the default home."""

Origin = Literal["variable", "folder", "default", "none"]


class LocatedHome(NamedTuple):
    """Place of the home, and the reason for it.

    Attributes:
        home: Its folder; it may not exist.
        origin: variable (``SLOWWAVE_HOME``, also of ``--home``), folder (a ``.slowwave`` here or above),
            default (remembered by ``slowwave init``), or none: nothing names a home.
    """

    home: Path
    origin: Origin


def is_home(folder: Path) -> bool:
    """Whether a folder exists and has more than a Dagster instance without a home."""
    return folder.is_dir() and [path.name for path in folder.iterdir()] != [DAGSTER_FOLDER]


def has_only_others(folder: Path) -> bool:
    """Whether a folder has files, and none that a home has: a folder of somebody's notes, by mistake."""
    if not folder.is_dir():
        return False
    names = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    return bool(names) and not any(name.startswith(_OF_A_HOME) for name in names)


def find_home(start: Path | None = None) -> Path:
    """Return the home: ``SLOWWAVE_HOME``, the nearest ``.slowwave`` upwards, the default, or one here."""
    return locate_home(start).home


def locate_home(start: Path | None = None, *, default: bool = True) -> LocatedHome:
    """Return the home and the reason for it; see `find_home`.

    Args:
        start: Folder to begin in; None: the current one.
        default: Whether a remembered default home counts.
    """
    if named := os.environ.get(f"{ENV_PREFIX}HOME"):
        return LocatedHome(Path(named).expanduser().resolve(), "variable")
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if is_home(folder / HOME_FOLDER):
            return LocatedHome(folder / HOME_FOLDER, "folder")
    remembered = default_home() if default else None
    if remembered is not None:
        return LocatedHome(remembered, "default")
    return LocatedHome(start / HOME_FOLDER, "none")


def user_config_dir() -> Path:
    """Return the folder of the user's configuration, by the platform's convention."""
    if named := os.environ.get(CONFIG_DIR):
        return Path(named).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif xdg := os.environ.get("XDG_CONFIG_HOME"):
        base = Path(xdg)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path.home() / ".config"
    return base / "slowwave"


def default_home() -> Path | None:
    """Return the default home; None if none is remembered, or the remembered one is gone."""
    with suppress(OSError, RuntimeError, UnicodeDecodeError):  # RuntimeError: the user has no home folder
        text = (user_config_dir() / DEFAULT_FILE).read_text(encoding="utf-8").strip()
        if text and is_home(Path(text)):
            return Path(text)
    return None


def remember_default(home: Path) -> bool:
    """Make a home the default of the user; return False if the configuration cannot be written."""
    with suppress(OSError, RuntimeError, UnicodeEncodeError):
        file = user_config_dir() / DEFAULT_FILE
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
        partial.write_text(f"{home}\n", encoding="utf-8")
        partial.replace(file)
        return True
    return False

"""Discovery of the home folder, with the standard library only, because every command needs it."""

from __future__ import annotations

import os
from pathlib import Path

ENV_PREFIX = "SLOWWAVE_"
HOME_FOLDER = ".slowwave"
DAGSTER_FOLDER = "dagster"
"""Folder of a home with its Dagster instance; it may exist before the home."""


def is_home(folder: Path) -> bool:
    """Whether a folder exists and has more than a Dagster instance without a home."""
    return folder.is_dir() and [path.name for path in folder.iterdir()] != [DAGSTER_FOLDER]


def find_home(start: Path | None = None) -> Path:
    """Return the home: ``SLOWWAVE_HOME``, else the nearest ``.slowwave`` upwards, else one in `start`."""
    if named := os.environ.get(f"{ENV_PREFIX}HOME"):
        return Path(named).expanduser().resolve()
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if is_home(folder / HOME_FOLDER):
            return folder / HOME_FOLDER
    return start / HOME_FOLDER

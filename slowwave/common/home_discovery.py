"""Where a home is; of the standard library alone, as every command asks it."""

from __future__ import annotations

import os
from pathlib import Path

ENV_PREFIX = "SLOWWAVE_"
HOME_FOLDER = ".slowwave"
DAGSTER_FOLDER = "dagster"
"""Folder of a home with its Dagster instance; it may be made before the home is."""


def is_home(folder: Path) -> bool:
    """Whether a folder is there and has more in it than an instance of Dagster that waits for a home."""
    return folder.is_dir() and [one.name for one in folder.iterdir()] != [DAGSTER_FOLDER]


def find_home(start: Path | None = None) -> Path:
    """The home folder: ``SLOWWAVE_HOME``, else the nearest ``.slowwave`` upwards, else one in `start`."""
    if named := os.environ.get(f"{ENV_PREFIX}HOME"):
        return Path(named).expanduser().resolve()
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if is_home(folder / HOME_FOLDER):
            return folder / HOME_FOLDER
    return start / HOME_FOLDER

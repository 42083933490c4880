"""Where a home is; of the standard library alone, as every command asks it."""

from __future__ import annotations

import os
from pathlib import Path

ENV_PREFIX = "SLOWWAVE_"
HOME_FOLDER = ".slowwave"


def find_home(start: Path | None = None) -> Path:
    """The home folder: ``SLOWWAVE_HOME``, else the nearest ``.slowwave`` upwards, else one in `start`."""
    if named := os.environ.get(f"{ENV_PREFIX}HOME"):
        return Path(named).expanduser().resolve()
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / HOME_FOLDER).is_dir():
            return folder / HOME_FOLDER
    return start / HOME_FOLDER

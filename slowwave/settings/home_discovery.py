"""Discovery of the home, re-exported for users of settings; see :mod:`slowwave.common.home_discovery`."""

from __future__ import annotations

from slowwave.common.home_discovery import (
    CONFIG_DIR,
    ENV_PREFIX,
    HOME_FOLDER,
    LocatedHome,
    default_home,
    find_home,
    is_home,
    locate_home,
    remember_default,
)

__all__ = [
    "CONFIG_DIR",
    "ENV_PREFIX",
    "HOME_FOLDER",
    "LocatedHome",
    "default_home",
    "find_home",
    "is_home",
    "locate_home",
    "remember_default",
]

"""Discovery of the home, re-exported for users of settings; see :mod:`slowwave.common.home_discovery`."""

from __future__ import annotations

from slowwave.common.home_discovery import ENV_PREFIX, HOME_FOLDER, find_home, is_home

__all__ = ["ENV_PREFIX", "HOME_FOLDER", "find_home", "is_home"]

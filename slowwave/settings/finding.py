"""Where a home is, for those that read settings; see :mod:`slowwave.common.finding`."""

from __future__ import annotations

from slowwave.common.finding import ENV_PREFIX, HOME_FOLDER, find_home, is_home

__all__ = ["ENV_PREFIX", "HOME_FOLDER", "find_home", "is_home"]

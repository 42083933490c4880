"""Hot reload of settings in long-running processes."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from slowwave.errors import SettingsError
from slowwave.settings.loading import load
from slowwave.settings.tree import CONFIG_FILE, Settings

LOG = logging.getLogger("slowwave.settings")


class _Stamp(NamedTuple):
    """File metadata that identifies a state of a file without reading it."""

    modified_ns: int
    size: int
    inode: int


class WatchedSettings:
    """Current settings of a home, reloaded when the file changes.

    An invalid file (half-written, or with a mistake) changes nothing until it is valid: the previous settings
    stay, and one warning is logged.

    Args:
        home: Folder.

    Raises:
        SettingsError: They are invalid at the start.
    """

    def __init__(self, home: Path) -> None:
        self._home, self._lock = home, Lock()
        self._seen = self._stamp()  # before the read, so a change meanwhile is seen next time
        self._settings = load(home)

    def settings(self) -> Settings:
        """Return the settings; the file is read only if it has changed."""
        stamp = self._stamp()
        if stamp != self._seen:
            with self._lock:
                if stamp != self._seen:
                    self._seen = stamp
                    try:
                        self._settings = load(self._home)
                    except SettingsError as error:
                        LOG.warning("%s is invalid, so the previous settings stay: %s", CONFIG_FILE, error)
        return self._settings

    def _stamp(self) -> _Stamp | None:
        try:
            status = (self._home / CONFIG_FILE).stat()
        except OSError:
            return None
        return _Stamp(status.st_mtime_ns, status.st_size, status.st_ino)

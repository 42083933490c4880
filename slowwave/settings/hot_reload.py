"""Settings that are read again when their file has changed, for what runs long."""

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
    """What tells one state of a file from another without reading it."""

    modified_ns: int
    size: int
    inode: int


class WatchedSettings:
    """The settings of a home as they are now.

    A file that cannot be read (half written, or with a slip of a person) changes nothing until it can: what
    counted before counts on, and the log says so once.

    Args:
        home: folder.

    Raises:
        SettingsError: they cannot be read at the beginning.
    """

    def __init__(self, home: Path) -> None:
        self._home, self._lock = home, Lock()
        self._seen = self._stamp()  # before it is read: what changes meanwhile is seen the next time
        self._settings = load(home)

    def settings(self) -> Settings:
        """The settings; one look at the file, which is read only where it has changed."""
        stamp = self._stamp()
        if stamp != self._seen:
            with self._lock:
                if stamp != self._seen:
                    self._seen = stamp
                    try:
                        self._settings = load(self._home)
                    except SettingsError as error:
                        LOG.warning("What %s says now is not taken: %s", CONFIG_FILE, error)
        return self._settings

    def _stamp(self) -> _Stamp | None:
        try:
            found = (self._home / CONFIG_FILE).stat()
        except OSError:
            return None
        return _Stamp(found.st_mtime_ns, found.st_size, found.st_ino)

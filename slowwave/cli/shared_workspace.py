"""Shared workspace of a server: opened once for all commands that it runs.

Each request compares the disk with what was opened: settings, the files that they name, and the identity of
journal and table files. If any differs, the workspace is opened again. Maintenance of tables (rebuild,
re-embed, restore) is noticed by `Workspace.refresh_if_changed`, as in every long-running process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from slowwave.errors import SlowwaveError
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.settings import Settings

_WARM: ContextVar[WorkspacePool | None] = ContextVar("slowwave_warm", default=None)


class _OpenWorkspace:
    """Open workspace, its number of users, and the disk state at opening."""

    def __init__(self, settings: Settings) -> None:
        self.space, self.users, self.current = Workspace(settings), 0, True
        self.settings_text = _settings_text(settings)
        self.files = _config_files(settings)

    def holds(self, settings: Settings) -> bool:
        """Whether a standalone command would open the same workspace."""
        if self.space.settings != settings or self.settings_text != _settings_text(settings):
            return False
        files = _config_files(settings)
        for name, number in self.files.items():
            if files.get(name) != number:
                return False
        self.files = files  # new files, such as the tables of a new home
        return True


class WorkspacePool:
    """Pool that lends the workspace of one home. It reopens the workspace if the home has changed.

    Attributes:
        page_link: creates a sign-in link for the page that the server serves; None without a page.
    """

    def __init__(self) -> None:
        self.page_link: Callable[[], str] | None = None
        self._lock = threading.Lock()
        self._open: _OpenWorkspace | None = None

    @contextmanager
    def lending(self) -> Iterator[None]:
        """Let commands in this block use the pool."""
        token = _WARM.set(self)
        try:
            yield
        finally:
            _WARM.reset(token)

    @contextmanager
    def parts(self, settings: Settings) -> Iterator[Workspace]:
        """Yield the workspace; it stays open inside the block."""
        lent = self._take(settings)
        try:
            yield lent.space
        finally:
            self._give_back(lent)

    def memory(self, settings: Settings, namespace: str, principal: str) -> Memory:
        """Return a memory on the shared workspace; closing it returns the workspace.

        During maintenance of the tables it opens a workspace of its own and gets the same errors as a
        standalone command.
        """
        lent = self._take(settings)
        try:
            lent.space.refresh_if_changed()
            return PooledMemory(settings, namespace, principal, lent.space, lambda: self._give_back(lent))
        except SlowwaveError:
            self._give_back(lent)
        except BaseException:
            self._give_back(lent)
            raise
        return Memory(settings, namespace=namespace, principal=principal)

    def _take(self, settings: Settings) -> _OpenWorkspace:
        with self._lock:
            if self._open is not None and not self._open.holds(settings):
                self._retire(self._open)
                self._open = None
            if self._open is None:
                self._open = _OpenWorkspace(settings)
            self._open.users += 1
            return self._open

    def _give_back(self, lent: _OpenWorkspace) -> None:
        with self._lock:
            lent.users -= 1
            if not lent.current and not lent.users:
                lent.space.close()

    def _retire(self, lent: _OpenWorkspace) -> None:
        """Close a workspace as soon as it has no users."""
        lent.current = False
        if not lent.users:
            lent.space.close()

    def close(self) -> None:
        """Close the open workspace."""
        with self._lock:
            if self._open is not None:
                self._retire(self._open)
                self._open = None


class PooledMemory(Memory):
    """Memory on a workspace that others use, too."""

    def __init__(
        self, settings: Settings, namespace: str, principal: str, space: Workspace, end: Callable[[], None]
    ) -> None:
        super().__init__(settings, namespace=namespace, principal=principal, space=space)
        self._end: Callable[[], None] | None = end

    def close(self) -> None:
        """Return the workspace to the pool."""
        end, self._end = self._end, None
        if end is not None:
            end()


def shared_memory(settings: Settings, namespace: str, principal: str) -> Memory:
    """Return the memory of a command: on the server's workspace, else on its own."""
    warm = _WARM.get()
    if warm is None:
        return Memory(settings, namespace=namespace, principal=principal)
    return warm.memory(settings, namespace, principal)


def current_pool() -> WorkspacePool | None:
    """Return the pool of the server that runs this command; None if standalone."""
    return _WARM.get()


def _settings_text(settings: Settings) -> tuple[Any, ...]:
    """Return the contents of files that the settings name; None for a missing one."""
    named = (settings.ranking.policy_file, settings.evaluation.interleave)
    contents: list[bytes | None] = []
    for file in named:
        text = None
        if file is not None:
            with suppress(OSError):
                text = settings.in_home(file).read_bytes()
        contents.append(text)
    return tuple(contents)


def _config_files(settings: Settings) -> dict[str, tuple[int, int]]:
    """Return (device, inode) of each file and folder of a home, by path."""
    places = [settings.home]
    if not settings.journal.url:
        places.append(settings.journal_file)
    if "://" not in settings.store_uri:
        tables = Path(settings.store_uri)
        places.append(tables)
        with suppress(OSError):
            places += [entry for entry in tables.iterdir() if entry.suffix == ".lance"]
    numbers = {}
    for place in places:
        with suppress(OSError):
            status = place.stat()
            numbers[str(place)] = status.st_dev, status.st_ino
    return numbers

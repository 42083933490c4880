"""The memory that commands of a running one share: open once, and still what a cold one would open.

What a cold command would find on the disk is compared at each request: the settings, the files that they
name, and which files the journal and the tables are. Where any of it differs the parts are opened again.
Works on the tables (a rebuild, another model, a restored checkpoint) are seen as every long-running process
sees them, by `Workspace.refresh_if_changed`.
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
    """Parts that are open, how many use them, and what the disk was like."""

    def __init__(self, settings: Settings) -> None:
        self.space, self.users, self.current = Workspace(settings), 0, True
        self.said = _settings_text(settings)
        self.files = _config_files(settings)

    def holds(self, settings: Settings) -> bool:
        """Whether a cold command would open the same."""
        if self.space.settings != settings or self.said != _settings_text(settings):
            return False
        there = _config_files(settings)
        for name, number in self.files.items():
            if there.get(name) != number:
                return False
        self.files = there  # what came since, such as the tables of a new home
        return True


class WorkspacePool:
    """Lends the parts of one home to those who ask, and opens them again where the home has changed.

    Attributes:
        page_link: makes a link by which a person comes in to the page that is served beside it, where one is.
    """

    def __init__(self) -> None:
        self.page_link: Callable[[], str] | None = None
        self._lock = threading.Lock()
        self._open: _OpenWorkspace | None = None

    @contextmanager
    def lending(self) -> Iterator[None]:
        """Commands inside get their memory from here."""
        token = _WARM.set(self)
        try:
            yield
        finally:
            _WARM.reset(token)

    @contextmanager
    def parts(self, settings: Settings) -> Iterator[Workspace]:
        """The parts themselves, which stay open inside whatever others do."""
        lent = self._take(settings)
        try:
            yield lent.space
        finally:
            self._give_back(lent)

    def memory(self, settings: Settings, namespace: str, principal: str) -> Memory:
        """A memory on the shared parts; to close it gives them back.

        While a work on the tables is under way it has parts of its own, and meets what a cold command meets.
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
        """Close parts as soon as nobody uses them."""
        lent.current = False
        if not lent.users:
            lent.space.close()

    def close(self) -> None:
        """Close what is open."""
        with self._lock:
            if self._open is not None:
                self._retire(self._open)
                self._open = None


class PooledMemory(Memory):
    """A memory on parts that others use, too."""

    def __init__(
        self, settings: Settings, namespace: str, principal: str, space: Workspace, end: Callable[[], None]
    ) -> None:
        super().__init__(settings, namespace=namespace, principal=principal, space=space)
        self._end: Callable[[], None] | None = end

    def close(self) -> None:
        """Give the parts back."""
        end, self._end = self._end, None
        if end is not None:
            end()


def shared_memory(settings: Settings, namespace: str, principal: str) -> Memory:
    """The memory of a command: on the parts that a running one lends, else on its own."""
    warm = _WARM.get()
    if warm is None:
        return Memory(settings, namespace=namespace, principal=principal)
    return warm.memory(settings, namespace, principal)


def activate() -> WorkspacePool | None:
    """The running memory that this command is done by; None where it is done by itself."""
    return _WARM.get()


def _settings_text(settings: Settings) -> tuple[Any, ...]:
    """What stands in the files that the settings name."""
    named = (settings.ranking.policy_file, settings.evaluation.interleave)
    found: list[bytes | None] = []
    for file in named:
        text = None
        if file is not None:
            with suppress(OSError):
                text = settings.in_home(file).read_bytes()
        found.append(text)
    return tuple(found)


def _config_files(settings: Settings) -> dict[str, tuple[int, int]]:
    """Which file or folder each part of a home is: device and number, by its path."""
    places = [settings.home]
    if not settings.journal.url:
        places.append(settings.journal_file)
    if "://" not in settings.store_uri:
        tables = Path(settings.store_uri)
        places.append(tables)
        with suppress(OSError):
            places += [one for one in tables.iterdir() if one.suffix == ".lance"]
    numbers = {}
    for place in places:
        with suppress(OSError):
            status = place.stat()
            numbers[str(place)] = status.st_dev, status.st_ino
    return numbers

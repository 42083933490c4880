"""Place of the home in use: its folder, the reason for it, size and counts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from slowwave.common.home_discovery import CONFIG_DIR, locate_home
from slowwave.settings import has_home
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from pathlib import Path

    from slowwave.settings import Settings

REASONS: Final[Mapping[str, str]] = {
    "variable": "--home or the variable SLOWWAVE_HOME names it",
    "folder": "it is the nearest .slowwave, from the current folder upwards",
    "default": f"it is the default home (`slowwave init FOLDER --default` changes it; {CONFIG_DIR})",
    "none": "nothing names a home; `slowwave init` creates one here",
}
"""Reasons in words, by origin."""


@dataclass(frozen=True, slots=True)
class HomePlace:
    """Home in use, and the reason for it.

    Attributes:
        home: Its folder.
        origin: variable, folder, default or none.
        exists: Whether there is a home.
        namespace: The tenant that the counts are of.
        counts: Memories by status (count).
        quarantined: Refused notes that wait (count).
        bytes: Size of all files in the folder.
    """

    home: str
    origin: str
    exists: bool
    namespace: str
    counts: Mapping[str, int] = field(default_factory=dict)
    quarantined: int = 0
    bytes: int = 0


def place_of(settings: Settings, namespace: str = "") -> HomePlace:
    """Return the place of the home; a missing one is not created."""
    from slowwave.home.workspace import Workspace

    name = namespace or settings.namespace
    origin = locate_home().origin
    if not has_home(settings):
        return HomePlace(str(settings.home), origin, exists=False, namespace=name)
    with closing(Workspace(settings)) as space:
        statuses = space.store.read("memories", within(name), columns=["status"])["status"]
        held = space.store.count("quarantine", within(name, "status = 'held'"))
    counts = dict(sorted(statuses.value_counts().iter_rows()))
    size = _bytes(settings.home)
    return HomePlace(
        str(settings.home), origin, exists=True, namespace=name, counts=counts, quarantined=held, bytes=size
    )


def _bytes(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # files come and go
            if path.is_file() and not path.is_symlink():
                size += path.stat().st_size
    return size

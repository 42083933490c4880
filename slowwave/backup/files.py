"""Which files of a home's folder are in a backup, beside its tables and its journal.

Everything that a person may have put there: the settings, rankings, pages, exports. Not what is made again
(the warehouse), what belongs to a process (locks, sockets, what was begun and not ended), what is about
backups, and not Dagster's folder: its history of runs is large, is written all the time, and no result rests
on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatch
from pathlib import Path

from slowwave.backup import known
from slowwave.home.model import RESTORING as MARKER
from slowwave.settings import CONFIG_FILE, Settings

LEFT_OUT = (
    "dagster", "lance.wal", "journal.db", "journal.db-*", "journal.db.*", "warehouse.duckdb*", "up.json",
    "up.lock", "capture.log", "erasing-*", known.FILE, MARKER, "*.lock", "*.partial",
    ".*.partial", f".{CONFIG_FILE}-*",
)  # fmt: skip
"""Names, at the top of the home, of what is in no backup."""


def of_home(settings: Settings, spared: Collection[Path]) -> Iterator[Path]:
    """The files that are kept, relative to the home, in order.

    Args:
        settings: of the home.
        spared: files and folders that are not kept: the tables, the key, backups themselves.
    """
    home = settings.home.resolve()
    not_these = {path.expanduser().resolve() for path in spared}
    for path in sorted(home.rglob("*")):
        inside = path.relative_to(home)
        if any(fnmatch(inside.parts[0], name) for name in LEFT_OUT):
            continue
        if path.is_symlink() or not path.is_file():
            continue
        if not_these.isdisjoint({path, *path.parents}):
            yield inside


def leftovers(settings: Settings) -> list[str]:
    """What is in a folder that is to become a home, but for what may be there: settings, and locks."""
    home = settings.home
    if not home.is_dir():
        return []
    allowed = {CONFIG_FILE, MARKER, known.FILE}
    return sorted(
        path.name
        for path in home.iterdir()
        if path.name not in allowed
        and not fnmatch(path.name, "*.lock")
        and not fnmatch(path.name, "*.partial")
    )

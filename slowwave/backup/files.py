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

import orjson

from slowwave.backup import catalog
from slowwave.common.home_discovery import is_home
from slowwave.home.connections import journal_files, table_folders
from slowwave.home.embedding_model import MOVED_FROM
from slowwave.home.embedding_model import RESTORING as MARKER
from slowwave.settings import CONFIG_FILE, Settings

LEFT_OUT = (
    "dagster", "lance", "lance.wal", "journal.db", "journal.db-*", "journal.db.*", "warehouse.duckdb*",
    "up.json", "up.lock", "capture.log", "erasing-*", catalog.FILE, MARKER, MOVED_FROM, "*.lock", "*.partial",
    ".*.partial", f".{CONFIG_FILE}-*",
)  # fmt: skip
"""Names, at the top of the home, of what is in no backup: tables and journal are kept otherwise."""


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
        if is_left_out(inside) or path.is_symlink() or not path.is_file():
            continue
        if not_these.isdisjoint({path, *path.parents}):
            yield inside


def old_places(home: Path) -> list[Path]:
    """Where tables and journal were before the home was moved, if that was on this machine."""
    try:
        told = orjson.loads((home / MOVED_FROM).read_bytes())
        tables, journal = told.get("tables", {}).get("uri", ""), told.get("journal", {}).get("file", "")
    except (OSError, ValueError, AttributeError):
        return []
    return table_folders(tables) + (journal_files(Path(journal)) if journal else [])


def is_left_out(inside: Path) -> bool:
    """Whether a file, relative to the home, is in no backup, and is not restored from one that has it."""
    return _is_one_of(inside.parts[0], LEFT_OUT)


def _is_one_of(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def leftovers(settings: Settings) -> list[str]:
    """What is in a folder that is to become a home, but for what may be there: settings, locks, places."""
    home = settings.home
    if not is_home(home):
        return []
    allowed = (CONFIG_FILE, MARKER, MOVED_FROM, catalog.FILE, "*.lock", "*.partial")
    return sorted(path.name for path in home.iterdir() if not _is_one_of(path.name, allowed))

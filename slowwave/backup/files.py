"""Selection of a home's files for a backup, beside tables and journal.

Includes everything that a person may have put there: settings, rankings, pages, exports. Excludes what can be
recreated (the warehouse), what belongs to a process (locks, sockets, partial files), backup files, and
Dagster's folder. That history of runs is large and always changing, and no result depends on it.
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
    "sessions", ".*.partial", f".{CONFIG_FILE}-*",
)  # fmt: skip
"""Top-level names that are excluded; tables and journal are backed up separately."""


def of_home(settings: Settings, spared: Collection[Path]) -> Iterator[Path]:
    """Yield the files to back up, relative to the home, in order.

    Args:
        settings: Of the home.
        spared: Excluded files and folders: the tables, the key, backups themselves.
    """
    home = settings.home.resolve()
    excluded = {path.expanduser().resolve() for path in spared}
    for path in sorted(home.rglob("*")):
        inside = path.relative_to(home)
        if is_left_out(inside) or path.is_symlink() or not path.is_file():
            continue
        if excluded.isdisjoint({path, *path.parents}):
            yield inside


def old_places(home: Path) -> list[Path]:
    """Return previous places of tables and journal on this machine, if the home was moved."""
    try:
        record = orjson.loads((home / MOVED_FROM).read_bytes())
        tables, journal = record.get("tables", {}).get("uri", ""), record.get("journal", {}).get("file", "")
    except (OSError, ValueError, AttributeError):
        return []
    return table_folders(tables) + (journal_files(Path(journal)) if journal else [])


def is_left_out(inside: Path) -> bool:
    """Whether a file, relative to the home, is excluded from backup and restore."""
    return _is_one_of(inside.parts[0], LEFT_OUT)


def _is_one_of(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def leftovers(settings: Settings) -> list[str]:
    """Return unexpected files in the folder of a new home; settings, locks and place records are allowed."""
    home = settings.home
    if not is_home(home):
        return []
    allowed = (CONFIG_FILE, MARKER, MOVED_FROM, catalog.FILE, "*.lock", "*.partial")
    return sorted(path.name for path in home.iterdir() if not _is_one_of(path.name, allowed))

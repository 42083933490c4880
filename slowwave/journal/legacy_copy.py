"""Copy of the journal before a schema upgrade, by which the upgrade can be undone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from slowwave.common.permissions import make_private

_COPY = ".before-upgrade"


def former(path: Path) -> Path:
    """Return the path of the copy of a journal's file."""
    return path.with_name(path.name + _COPY)


def keep_former(path: Path) -> None:
    """Copy a journal's file as last committed; the copy is atomic.

    The caller holds the journal's write lock.
    """
    copy = former(path)
    beside = copy.with_name(f".{copy.name}.partial")
    beside.unlink(missing_ok=True)
    make_private(beside, path.parent)
    with closing(readonly(path)) as source, closing(sqlite3.connect(beside)) as target:
        source.backup(target)
    beside.replace(copy)


def readonly(path: Path) -> sqlite3.Connection:
    """Open a read-only connection to a journal's file."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)

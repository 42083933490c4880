"""The journal as it was before its schema was upgraded: a copy by which the upgrade is taken back."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from slowwave.common.permissions import make_private

_COPY = ".before-upgrade"


def former(path: Path) -> Path:
    """Path of the copy of a journal's file."""
    return path.with_name(path.name + _COPY)


def keep_former(path: Path) -> None:
    """Copy a journal's file as it was last committed; the copy is whole or not there.

    One process at a time: the caller holds the journal's write lock.
    """
    copy = former(path)
    beside = copy.with_name(f".{copy.name}.partial")
    beside.unlink(missing_ok=True)
    make_private(beside, path.parent)
    with closing(readonly(path)) as source, closing(sqlite3.connect(beside)) as target:
        source.backup(target)
    beside.replace(copy)


def readonly(path: Path) -> sqlite3.Connection:
    """A connection to a journal's file that writes nothing."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)

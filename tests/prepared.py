"""Homes as their first opening leaves them, or as many tests want them: made once, and copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from slowwave.change_log import backfill_existing
from slowwave.journal import Journal
from slowwave.store import Store
from slowwave.store.wal import WriteAheadLog, beside

DIMENSIONS = {"wordllama-256": 256, "hash-8": 8}
places: list[Path] = []
"""The folder of this session that they are kept in."""


def take_over(home: Path, model: str = "wordllama-256") -> None:
    """Make the tables of a home as its first opening does, and let its journal know them as it does then.

    The log says that it was complete in this run of the machine: the first save need not look whether
    anything was lost.

    A home that has tables stays as it is; a journal that is there already learns of them with the first
    change of a row, as it would otherwise.
    """
    if (home / "lance").exists():
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lay(empty(model) / "lance", home / "lance")
    if not (home / "journal.db").exists():
        shutil.copy(empty(model) / "journal.db", home / "journal.db")
        if not (home / "lance.wal").exists():
            lay(empty(model) / "lance.wal", home / "lance.wal")


def kept(name: str, home: Path, make: Callable[[], object]) -> None:
    """Bring a home that is not there yet into a state that many tests begin with: made once, and copied.

    Args:
        name: of the state, one for each that is made otherwise.
        home: where it is wanted.
        make: makes it there, and has closed all that it opened when it returns.
    """
    place = places[0] / "kept" / name
    if place.exists():
        shutil.copytree(place, home)
    else:
        make()
        shutil.copytree(home, place)


def lay(folder: Path, to: Path) -> None:
    """Copy a folder that stays as it is, in a fifth of the time of `shutil.copytree`."""
    for name, mode, content in _content(folder):
        path = f"{to}{name}"
        if content is None:
            os.mkdir(path, mode)  # noqa: PTH102
        else:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
            os.write(handle, content)
            os.close(handle)


@cache
def _content(folder: Path) -> list[tuple[str, int, bytes | None]]:
    """Name, mode and content of each file in a folder, of which none is large; folders have none."""
    return [
        (
            str(path)[len(str(folder)) :],
            path.stat().st_mode & 0o777,
            None if path.is_dir() else path.read_bytes(),
        )
        for path in (folder, *sorted(folder.rglob("*")))
    ]


@cache
def empty(model: str) -> Path:
    """The home that is copied."""
    home = places[0] / model
    home.mkdir(mode=0o700)
    store = Store(str(home / "lance"), model=model, dimension=DIMENSIONS[model])
    with Journal.open_path(home / "journal.db") as journal:
        backfill_existing(store, journal, first=True)
    WriteAheadLog(beside(store.uri), lambda: store.specs).mark_complete()
    return home

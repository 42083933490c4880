"""Access rights of a home: its owner only, or also a group that a person chose.

The mode of the home's folder decides for everything in it. A folder open to others is rarely intended (it is
the default of ``mkdir``), so new homes are closed to them, and ``slowwave doctor`` finds old ones.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slowwave.errors import StoreError

OWNER_ONLY, WITH_GROUP = 0o077, 0o007  # bits removed from files
_OTHERS, _GROUP = stat.S_IRWXO, stat.S_IRWXG


def mask_of(home: Path) -> int:
    """Return the bits removed from files of the home; a group-only folder keeps the group's bits."""
    mode = home.stat().st_mode if home.is_dir() else 0
    return WITH_GROUP if mode & _GROUP and not mode & _OTHERS else OWNER_ONLY


@contextmanager
def private_files(home: Path) -> Iterator[None]:
    """Make new files of this process as private as the home, inside the block.

    For programs only: a library leaves the umask to its application.
    """
    previous = os.umask(OWNER_ONLY)
    os.umask(previous | mask_of(home))
    try:
        yield
    finally:
        os.umask(previous)


def make_home(home: Path) -> None:
    """Create a home's folder as private; tighten an empty one, leave one in use unchanged.

    Raises:
        StoreError: A file is in its place, or it cannot be created.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.stat().st_mode & _OTHERS and not any(home.iterdir()):
            home.chmod(0o700)
    except OSError as error:
        raise StoreError(f"Cannot create the home {home} ({error.strerror}). Give another folder.") from None


def make_private(path: Path, home: Path, *, folder: bool = False) -> None:
    """Create a private file or folder of a home before a library creates it."""
    if path.exists():
        return
    mask = mask_of(home)
    if folder:
        path.mkdir(mode=0o777 & ~mask, parents=True, exist_ok=True)
    else:
        path.touch(mode=0o666 & ~mask, exist_ok=True)


def file_mode(folder: Path) -> int:
    """Return the mode of new files in a folder of a home."""
    return 0o666 & ~mask_of(folder)


def is_open(home: Path) -> bool:
    """Whether others than the owner and the group may enter a home."""
    return os.name == "posix" and bool(home.stat().st_mode & _OTHERS)


def close(home: Path) -> int:
    """Remove the rights of group and others from a home and its content. Return the count of changes."""
    changed = 0
    for path in (home, *home.rglob("*")):
        if path.is_symlink():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OWNER_ONLY:
            path.chmod(mode & ~OWNER_ONLY)
            changed += 1
    return changed

"""Who may read a home: its owner alone, or also the group that a person has given it to.

The mode of the home's folder decides, for all that is in it. A folder that others may enter is nobody's wish
(it is what ``mkdir`` makes), so new homes are closed to them, and ``slowwave doctor`` finds old ones.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slowwave.errors import StoreError

OWNER_ONLY, WITH_GROUP = 0o077, 0o007  # bits that files lose
_OTHERS, _GROUP = stat.S_IRWXO, stat.S_IRWXG


def mask_of(home: Path) -> int:
    """Bits that files of a home lose: the group keeps its own where the folder is open to it alone."""
    mode = home.stat().st_mode if home.is_dir() else 0
    return WITH_GROUP if mode & _GROUP and not mode & _OTHERS else OWNER_ONLY


@contextmanager
def private_files(home: Path) -> Iterator[None]:
    """What this process makes meanwhile, in the home and elsewhere, is as private as the home.

    It is for programs, which are their process; a library leaves the umask to its application.
    """
    before = os.umask(OWNER_ONLY)
    os.umask(before | mask_of(home))
    try:
        yield
    finally:
        os.umask(before)


def make_home(home: Path) -> None:
    """Make a home's folder private where it is new or empty; one that is in use stays as it is.

    Raises:
        StoreError: something else is in its place, or it cannot be made.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if home.stat().st_mode & _OTHERS and not any(home.iterdir()):
            home.chmod(0o700)
    except OSError as error:
        raise StoreError(f"The home {home} cannot be made ({error.strerror}). Give another folder.") from None


def make_private(path: Path, home: Path, *, folder: bool = False) -> None:
    """Make an empty file or folder of a home before a library makes it with a mode of its own choice."""
    if path.exists():
        return
    mask = mask_of(home)
    if folder:
        path.mkdir(mode=0o777 & ~mask, parents=True, exist_ok=True)
    else:
        path.touch(mode=0o666 & ~mask, exist_ok=True)


def file_mode(folder: Path) -> int:
    """Mode of a new file in a folder of a home, for libraries that choose one of their own."""
    return 0o666 & ~mask_of(folder)


def is_open(home: Path) -> bool:
    """Whether others than the owner and the group may enter a home."""
    return os.name == "posix" and bool(home.stat().st_mode & _OTHERS)


def close(home: Path) -> int:
    """Take the rights of the group and of others from a home and all in it; how many were changed (count)."""
    changed = 0
    for path in (home, *home.rglob("*")):
        if path.is_symlink():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OWNER_ONLY:
            path.chmod(mode & ~OWNER_ONLY)
            changed += 1
    return changed

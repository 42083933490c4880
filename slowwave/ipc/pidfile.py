"""Where a home says that its memory is running: a small file, and a lock that ends with the process.

The file says where the socket is, as a socket's path may have about a hundred bytes only and a home's may be
longer. The lock says whether that is still true: whoever is killed leaves the file, and no lock.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from slowwave.errors import SlowwaveError

FILE: Final = "up.json"
LOCK: Final = "up.lock"
FOLDER: Final = "slowwave-up-"
"""How the name of a socket's folder begins."""
_TRIES, _WAIT_S = 10, 0.05  # for a lock that somebody holds for a look


class ServerInfo(NamedTuple):
    """A memory that is running.

    Attributes:
        pid: of its process.
        socket: where it listens for commands.
        version: of Slowwave.
        started: when it was ready (ISO 8601, UTC).
    """

    pid: int
    socket: str
    version: str
    started: str


def home_identity(home: Path) -> str:
    """Which folder a home is: device and number, whatever its path; empty where there is none."""
    try:
        status = home.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


def read(home: Path) -> ServerInfo | None:
    """What the home says; None where it says nothing, or what nobody but another user can have written.

    A file that came with a copy of a home is about the home that was copied, and says nothing of this one.
    """
    try:
        with (home / FILE).open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                return None
            said = json.loads(file.read(4096))
        if said["home"] != home_identity(home):
            return None
        return ServerInfo(int(said["pid"]), str(said["socket"]), str(said["version"]), str(said["started"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the last: no geteuid on this system
        return None


def write(home: Path, running: ServerInfo) -> None:
    """Let the home say it, in one step, to its owner alone."""
    partial = home / f"{FILE}.partial"
    partial.unlink(missing_ok=True)
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
        json.dump({**running._asdict(), "home": home_identity(home)}, file)
    partial.replace(home / FILE)


def remove(home: Path, running: ServerInfo) -> None:
    """Let the home say nothing any more, if it says this; its socket goes, too."""
    if read(home) == running:
        (home / FILE).unlink(missing_ok=True)
    there = Path(running.socket)
    if not there.parent.name.startswith(FOLDER):
        return  # not of our making
    with suppress(OSError):
        if stat.S_ISSOCK(there.lstat().st_mode):
            there.unlink()
    with suppress(OSError):
        there.parent.rmdir()


@contextmanager
def acquire(home: Path) -> Iterator[None]:
    """Be the one running memory of a home; what a killed one left behind is removed.

    Raises:
        SlowwaveError: another one is running.
    """
    import fcntl

    try:
        file = os.open(home / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except PermissionError:
        raise SlowwaveError(f"Another user runs the memory of {home} (its {LOCK} is theirs).") from None
    try:
        for attempt in range(_TRIES):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt + 1 == _TRIES:
                    raise SlowwaveError(_parse(home)) from None
            time.sleep(_WAIT_S)
        if (left := read(home)) is not None:
            remove(home, left)
        yield
    finally:
        os.close(file)


def is_acquired(home: Path) -> bool:
    """Whether a memory of this home is running."""
    try:
        import fcntl
    except ImportError:  # where none can
        return False
    try:
        file = os.open(home / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except PermissionError:
        return True  # another user's
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(file)


def _parse(home: Path) -> str:
    known = read(home)
    which = "" if known is None else f" (process {known.pid}, since {known.started})"
    return f"The memory of {home} is running already{which}. Use it, or stop it with Ctrl-C or TERM first."

"""PID file of a home's server, and a lock that ends with its process.

The file has the socket's path: a socket's path is limited to about 100 bytes, and a home's may be longer. The
lock shows whether the file is current: a killed process leaves the file, but no lock.
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
"""Prefix of a socket's folder."""
_TRIES, _WAIT_S = 10, 0.05  # for a lock that a check holds briefly


class ServerInfo(NamedTuple):
    """A running server.

    Attributes:
        pid: of its process.
        socket: path of its socket.
        version: of Slowwave.
        started: when it was ready (ISO 8601, UTC).
    """

    pid: int
    socket: str
    version: str
    started: str


def home_identity(home: Path) -> str:
    """Return device and inode of a home, whatever its path; "" for none."""
    try:
        status = home.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


def read(home: Path) -> ServerInfo | None:
    """Read the PID file; None without a valid one that this user wrote.

    A file in a copied home is ignored: it is about the original.
    """
    try:
        with (home / FILE).open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                return None
            record = json.loads(file.read(4096))
        if record["home"] != home_identity(home):
            return None
        return ServerInfo(
            int(record["pid"]), str(record["socket"]), str(record["version"]), str(record["started"])
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the last: no geteuid on this system
        return None


def write(home: Path, running: ServerInfo) -> None:
    """Write the PID file atomically, readable by its owner alone."""
    partial = home / f"{FILE}.partial"
    partial.unlink(missing_ok=True)
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
        json.dump({**running._asdict(), "home": home_identity(home)}, file)
    partial.replace(home / FILE)


def remove(home: Path, running: ServerInfo) -> None:
    """Remove the PID file, if it is this server's, and the socket."""
    if read(home) == running:
        (home / FILE).unlink(missing_ok=True)
    socket_path = Path(running.socket)
    if not socket_path.parent.name.startswith(FOLDER):
        return  # not created by Slowwave
    with suppress(OSError):
        if stat.S_ISSOCK(socket_path.lstat().st_mode):
            socket_path.unlink()
    with suppress(OSError):
        socket_path.parent.rmdir()


@contextmanager
def acquire(home: Path) -> Iterator[None]:
    """Acquire the lock of a home's server; leftovers of a killed server are removed.

    Raises:
        SlowwaveError: another server is running.
    """
    import fcntl

    try:
        file = os.open(home / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except PermissionError:
        raise SlowwaveError(f"Another user runs the server of {home} (the owner of {LOCK}).") from None
    try:
        for attempt in range(_TRIES):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt + 1 == _TRIES:
                    raise SlowwaveError(_already_running(home)) from None
            time.sleep(_WAIT_S)
        if (stale := read(home)) is not None:
            remove(home, stale)
        yield
    finally:
        os.close(file)


def is_acquired(home: Path) -> bool:
    """Whether a server of this home is running."""
    try:
        import fcntl
    except ImportError:  # not a Unix system
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


def _already_running(home: Path) -> str:
    info = read(home)
    details = "" if info is None else f" (process {info.pid}, since {info.started})"
    return f"A server of {home} is running already{details}. Use it, or stop it with Ctrl-C or TERM first."

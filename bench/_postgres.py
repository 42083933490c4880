"""Temporary PostgreSQL server on a socket, removed afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDERS = "/usr/lib/postgresql/*/bin"
_ACCOUNTS = ("postgres", "nobody")  # PostgreSQL refuses to run as root
_SHUTDOWN = ("-D", "data", "-m", "fast", "-w", "stop")


@contextmanager
def server(folder: Path | None = None) -> Iterator[str]:
    """Run a server; the value is the SQLAlchemy URL of its database, without TCP and without a password.

    Args:
        folder: where its data are (a new folder in it); default: the system's folder for temporary files.

    Raises:
        FileNotFoundError: PostgreSQL is not installed.
        RuntimeError: it does not start; with the end of its log.
    """
    home = Path(tempfile.mkdtemp(prefix="pg", dir=folder))
    account = _account()
    if account is not None:
        os.chown(home, account.pw_uid, account.pw_gid)
    try:
        _run(
            home, account, "initdb", "-D", "data", "-U", "slowwave", "-A", "trust", "-E", "UTF8", "--locale=C"
        )
        _run(home, account, "pg_ctl", "-D", "data", "-w", "-l", "log", "-o", f"-k {home} -h ''", "start")
        try:
            yield f"postgresql+psycopg://slowwave@/postgres?host={home}"
        finally:
            _run(home, account, "pg_ctl", *_SHUTDOWN)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def version() -> str:
    """Its name and number."""
    done = subprocess.run([_program("postgres"), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _account() -> pwd.struct_passwd | None:
    """Whom it runs as: ourselves, unless we are root."""
    if os.geteuid() != 0:
        return None
    known = {account.pw_name: account for account in pwd.getpwall()}
    return next(known[name] for name in _ACCOUNTS if name in known)


def _program(name: str) -> str:
    newest_first = sorted(Path("/").glob(_FOLDERS.lstrip("/")), key=lambda path: -int(path.parent.name))
    path = shutil.which(name, path=os.pathsep.join([*map(str, newest_first), os.environ.get("PATH", "")]))
    if path is None:
        raise FileNotFoundError(f"{name} is not installed; on Debian: apt-get install postgresql")
    return path


def _run(home: Path, account: pwd.struct_passwd | None, name: str, *arguments: str) -> None:
    # Into a file, not a pipe: the server keeps what its starter had open.
    output = home / "output"
    with output.open("wb") as said:
        done = subprocess.run(
            [_program(name), *arguments],
            cwd=home,
            user=None if account is None else account.pw_uid,
            group=None if account is None else account.pw_gid,
            extra_groups=None if account is None else [],
            stdout=said,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        log = home / "log"
        told = output.read_text() + (log.read_text() if log.exists() else "")
        raise RuntimeError(f"{name} failed:\n{told[-2_000:]}")

"""Python processes that begin loaded: children of one process that has imported what nearly all import.

A process of its own begins with one to three seconds of loading, and most tests that need one need it for
what it does, or for how it is killed. ``python(...)`` gives the words of such a process in place of
``[sys.executable, ...]``; what is started by them has the usual streams, exit code, environment and folder,
and is killed as any other. What loads nothing may load (``--help``, a probe of ``sys.modules``) begins cold.

The words start a small process that hands its streams to the loaded one, which forks. The two end together:
a signal that one may catch is passed on, one that kills ends the child by the end of their connection.
Nothing opens a table before the fork: LanceDB makes its threads anew in a child.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path


def python(*words: object) -> list[str]:
    """The command of a process of Python with these words: ``-c CODE ...`` or ``-m MODULE ...``."""
    return [sys.executable, "-I", "-S", __file__, _address(), *map(str, words)]


@cache
def _address() -> str:
    """The socket of the loaded process, started when the first one asks; it ends with this one."""
    folder = tempfile.mkdtemp(prefix="warm-")  # short, as the path of a socket has to be
    address = str(Path(folder) / "socket")
    root = Path(__file__).parents[1]
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "DAGSTER_"))
    }
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", address], cwd=root, start_new_session=True,
        env=clean | {"PYTHONPATH": str(root)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    atexit.register(_end, process, folder)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return address


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    process.communicate()  # which ends its input
    shutil.rmtree(folder, ignore_errors=True)


# -- the small process ------------------------------------------------------------------------------


def _hand_over(address: str, words: list[str]) -> None:
    """Hand streams, words, folder and environment to the loaded process; end as its child does."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        said = json.dumps([words, str(Path.cwd()), dict(os.environ)]).encode()
        socket.send_fds(connection, [len(said).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(said)
        reader = connection.makefile("rb")
        child = int(reader.readline())
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(one, lambda number, _: os.kill(child, number))
        code = int(reader.readline() or 1)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


# -- the loaded one ---------------------------------------------------------------------------------


def _load() -> None:
    """Import what commands import when they run."""
    import warnings
    from importlib import import_module

    warnings.filterwarnings("ignore", "lancedb fork support is experimental", RuntimeWarning)
    warnings.filterwarnings("ignore", "lance is not fork-safe", UserWarning)
    from slowwave.common.slim_imports import load_tables

    load_tables()
    for name in (
        "slowwave.cli", "slowwave.memory", "slowwave.lifecycle.write_path", "slowwave.maintenance.doctor",
        "slowwave.mcp.server", "lance", "sqlalchemy.dialects.sqlite", "wordllama", "pyarrow.dataset",
    ):  # fmt: skip
        import_module(name)
    import gc

    gc.freeze()


def _serve(address: str) -> None:
    """Fork for everyone who asks, until the standard input ends; this process has one thread."""
    import selectors

    _load()
    children: dict[int, tuple[int, socket.socket]] = {}  # of the connection, or of the process that runs
    with socket.socket(socket.AF_UNIX) as door, selectors.DefaultSelector() as waiting:
        door.bind(address)
        door.listen(64)
        for one in (door, sys.stdin.buffer):
            waiting.register(one, selectors.EVENT_READ)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            for key, _ in waiting.select():
                if key.fileobj is sys.stdin.buffer:
                    for child, _ in children.values():
                        os.kill(child, signal.SIGKILL)
                    os._exit(0)
                if key.fileobj is door:
                    connection, child = _begin(door.accept()[0])
                    process = os.pidfd_open(child)
                    children[process] = children[connection.fileno()] = child, connection
                    waiting.register(process, selectors.EVENT_READ)
                    waiting.register(connection, selectors.EVENT_READ)
                elif key.fd in children and key.fileobj is children[key.fd][1]:  # who asked is gone
                    waiting.unregister(key.fileobj)
                    os.kill(children[key.fd][0], signal.SIGKILL)
                elif key.fd in children:
                    child, connection = children.pop(key.fd)
                    waiting.unregister(key.fd)
                    os.close(key.fd)
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                    children.pop(connection.fileno())
                    with contextlib.suppress(KeyError):
                        waiting.unregister(connection)
                    with contextlib.suppress(OSError):
                        connection.sendall(f"{code}\n".encode())
                    connection.close()


def _begin(connection: socket.socket) -> tuple[socket.socket, int]:
    """Fork the child that somebody asks for."""
    first, streams, _, _ = socket.recv_fds(connection, 8, 3)
    size = int.from_bytes(first, "big")
    said = b""
    while len(said) < size:
        said += connection.recv(size - len(said))
    child = os.fork()
    if child == 0:
        words, folder, environment = json.loads(said)
        for number, one in enumerate(streams):
            os.dup2(one, number)
        for one in streams:
            os.close(one)
        _run(words, folder, environment)
    for one in streams:
        os.close(one)
    connection.sendall(f"{child}\n".encode())
    return connection, child


def _run(words: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be a process with these words, in this one."""
    import runpy
    import threading
    import time
    import traceback

    os.setsid()
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, how, -1 if how == "r" else 1, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, how in enumerate("rww")
    )
    if not environment.get("PYTHONUNBUFFERED"):
        sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    sys.path[:0] = ["", *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from slowwave.views import terminal

    terminal.out.__init__()  # of this environment
    terminal.err.__init__(stderr=True)
    code = 0
    try:
        how, what, *rest = words
        sys.argv = [how if how == "-c" else what, *rest]
        if how == "-c":
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        code = 1 if isinstance(end.code, str) else end.code or 0
    except KeyboardInterrupt:
        code = -signal.SIGINT
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        _serve(sys.argv[2])
    else:
        _hand_over(sys.argv[1], sys.argv[2:])

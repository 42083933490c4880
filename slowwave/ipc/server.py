"""The running memory's side of the socket: who may ask, in which order things are said."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from slowwave.ipc import protocol
from slowwave.ipc.pidfile import FOLDER

MOST_AT_ONCE: Final = 16
"""Requests (count); another one's command starts cold."""
GRACE_S: Final = 10.0
"""For what is being done when it is to end."""
_PATIENCE_S: Final = 10.0  # for a client that says nothing
_LONGEST: Final = 100  # bytes of a socket's path, a little less than systems allow

Run = Callable[[], dict[str, Any] | None]
Answer = Callable[[dict[str, Any]], Run | None]


class RequestListener:
    """A socket that answers commands, each in a thread, so that a slow one is in nobody's way.

    Args:
        answer: what to do for a request: a call that does it and gives what to say, or None where the command
            is to start cold. The call, too, may give None, if it did nothing.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._slots = threading.Semaphore(MOST_AT_ONCE)
        self._busy = 0
        self._change = threading.Condition()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.path = _free_path()
        before = os.umask(0o177)
        try:
            self._socket.bind(self.path)
        finally:
            os.umask(before)
        self._socket.listen(64)

    def start(self) -> None:
        """Begin to answer."""
        threading.Thread(target=self._accept, name="slowwave-up", daemon=True).start()

    def close(self) -> None:
        """Take no more requests, and wait for those that are being answered, `GRACE_S` at most."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._change:
            self._change.wait_for(lambda: self._busy == 0, GRACE_S)

    def _accept(self) -> None:
        while True:
            try:
                end, _ = self._socket.accept()
            except OSError:
                return
            if not self._slots.acquire(blocking=False):
                end.close()
                continue
            with self._change:
                self._busy += 1
            threading.Thread(target=self._serve, args=(end,), name="slowwave-asked", daemon=True).start()

    def _serve(self, end: socket.socket) -> None:
        try:
            with end:
                end.settimeout(_PATIENCE_S)
                if protocol.is_own_process(end):
                    self._talk(end)
        except (protocol.ConnectionLostError, OSError):
            pass  # the client is gone; what it asked for was not begun, or is done
        finally:
            self._slots.release()
            with self._change:
                self._busy -= 1
                self._change.notify_all()

    def _talk(self, end: socket.socket) -> None:
        run = self._answer(protocol.receive(end, protocol.MOST_ASKED))
        if run is None:
            protocol.send(end, {"cold": True})
            return
        protocol.send(end, {"ready": True})
        if "go" not in protocol.receive(end, protocol.MOST_ASKED):
            return
        said = run()
        protocol.send(end, {"cold": True} if said is None else said)


def _free_path() -> str:
    """A path for a socket in a new folder that only its owner may enter."""
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - the folder in it is new and private
        if len(os.fsencode(parent)) + len(FOLDER) + 20 <= _LONGEST:
            return str(Path(tempfile.mkdtemp(prefix=FOLDER, dir=parent)) / "ask")
    raise OSError("no folder for temporary files has a path that is short enough for a socket")

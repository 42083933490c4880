"""Server side of the socket: peers, limits and order of messages."""

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

MAX_AT_ONCE: Final = 16
"""Concurrent requests (count); further commands run standalone."""
GRACE_S: Final = 10.0
"""Time (seconds) for running commands at the end."""
_PATIENCE_S: Final = 10.0  # time-out of a silent client
_MAX_PATH: Final = 100  # bytes of a socket's path, slightly less than systems allow

Run = Callable[[], dict[str, Any] | None]
Answer = Callable[[dict[str, Any]], Run | None]


class RequestListener:
    """Socket that runs commands, each in a thread.

    Args:
        answer: returns a call that runs a request, or None for standalone. The call may return None, too, if
            it did nothing.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._slots = threading.Semaphore(MAX_AT_ONCE)
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
        """Start accepting requests."""
        threading.Thread(target=self._accept, name="slowwave-up", daemon=True).start()

    def close(self) -> None:
        """Stop accepting requests, and wait up to `GRACE_S` for running ones."""
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
                if protocol.is_same_user(end):
                    self._talk(end)
        except (protocol.ConnectionLostError, OSError):
            pass  # the client has gone; its command was not begun, or is done
        finally:
            self._slots.release()
            with self._change:
                self._busy -= 1
                self._change.notify_all()

    def _talk(self, end: socket.socket) -> None:
        run = self._answer(protocol.receive(end, protocol.MAX_REQUEST))
        if run is None:
            protocol.send(end, {"cold": True})
            return
        protocol.send(end, {"ready": True})
        if "go" not in protocol.receive(end, protocol.MAX_REQUEST):
            return
        answer = run()
        protocol.send(end, {"cold": True} if answer is None else answer)


def _free_path() -> str:
    """Return a path for a socket in a new private folder."""
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - the folder in it is new and private
        if len(os.fsencode(parent)) + len(FOLDER) + 20 <= _MAX_PATH:
            return str(Path(tempfile.mkdtemp(prefix=FOLDER, dir=parent)) / "ask")
    raise OSError(
        "every temporary folder has a path that is too long for a socket; set TMPDIR to a shorter one"
    )

"""A program that is kept running: started again when it ends, later each time, until it is to end."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

FIRST_S: Final = 1.0
LONGEST_S: Final = 60.0
ENOUGH_S: Final = 60.0
"""After so long a run the next pause is the first one again."""
GRACE_S: Final = 40.0
"""For the program to end after it was asked to (seconds); Dagster's services need up to thirty."""


def next_backoff(before: float, ran: float) -> float:
    """Seconds until the next start: 1, 2, 4, … at most 60; after a long run 1 again.

    Args:
        before: those before the last start; 0: it was the first one.
        ran: how long the last run was (seconds).
    """
    return FIRST_S if not before or ran >= ENOUGH_S else min(2 * before, LONGEST_S)


class SupervisedProcess:
    """A program that is kept running in a session of its own, so that Ctrl-C reaches it through here alone.

    What it prints stands on standard error. Its standard input ends when this process does, however it ends.

    Args:
        command: its words.
        environment: its variables.
        tell: is told its exit code and the seconds until it starts again.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], tell: Callable[[int, float], None]
    ) -> None:
        self._command, self._environment, self._tell = list(command), dict(environment), tell
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep, name="slowwave-child", daemon=True)

    @property
    def lives(self) -> bool:
        """Whether it runs at this moment."""
        process = self._process
        return process is not None and process.poll() is None

    def start(self) -> None:
        """Start it, in a thread that sees to it."""
        self._thread.start()

    def _keep(self) -> None:
        pause = 0.0
        while True:
            with self._lock:
                if self._stopped.is_set():
                    return
                self._process = process = subprocess.Popen(  # noqa: S603 - our own
                    self._command,
                    env=self._environment,
                    stdin=subprocess.PIPE,  # its end tells the program that this process was killed
                    stdout=2,
                    start_new_session=True,
                )
            began = time.monotonic()
            code = process.wait()
            pause = next_backoff(pause, time.monotonic() - began)
            if self._stopped.is_set():
                return
            if process.stdin is not None:
                process.stdin.close()
            self._tell(code, pause)
            if self._stopped.wait(pause):
                return

    def stop(self, hurry: threading.Event | None = None) -> None:
        """Ask it to end and wait for that; kill it when the time is up.

        Args:
            hurry: once it is set the program is asked a second time.
        """
        self._stopped.set()
        with self._lock:
            process = self._process
        if process is None:
            return
        process.terminate()
        limit, asked = time.monotonic() + GRACE_S, False
        while process.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
            if hurry is not None and hurry.is_set() and not asked:
                asked = True
                process.terminate()
        if process.poll() is None:
            process.kill()
        self._thread.join()

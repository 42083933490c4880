"""Supervisor of a child process: restart with exponential backoff."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

FIRST_S: Final = 1.0
LONGEST_S: Final = 60.0
ENOUGH_S: Final = 60.0
"""Run length (seconds) that resets the backoff."""
GRACE_S: Final = 40.0
"""Time (seconds) between the request to end and a kill; Dagster's services need up to 30 s."""


def next_backoff(before: float, ran: float) -> float:
    """Return the seconds until the next start: 1, 2, 4, … 60; after a long run 1 again.

    Args:
        before: pause before the last start (seconds); 0 for the first.
        ran: duration of the last run (seconds).
    """
    return FIRST_S if not before or ran >= ENOUGH_S else min(2 * before, LONGEST_S)


class SupervisedProcess:
    """Process that is restarted when it ends.

    It has a session of its own, so that Ctrl-C does not reach it directly. Its output goes to standard error.
    Its standard input closes when this process ends, even if killed.

    Args:
        command: program and arguments.
        environment: all variables of the process.
        tell: called with the exit code and the seconds until the restart.
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
        """Whether the process is running."""
        process = self._process
        return process is not None and process.poll() is None

    def start(self) -> None:
        """Start the process in a supervising thread."""
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
                    stdin=subprocess.PIPE,  # closed when this process is killed
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
        """Terminate the process and wait; kill it after the grace period.

        Args:
            hurry: when set, the process is asked a second time.
        """
        self._stopped.set()
        with self._lock:
            process = self._process
        if process is None:
            return
        process.terminate()
        limit, asked_again = time.monotonic() + GRACE_S, False
        while process.poll() is None and time.monotonic() < limit:
            time.sleep(0.05)
            if hurry is not None and hurry.is_set() and not asked_again:
                asked_again = True
                process.terminate()
        if process.poll() is None:
            process.kill()
        self._thread.join()

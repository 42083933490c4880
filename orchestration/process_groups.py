"""Process groups: run a program with its children, and leave none of them behind.

Also if this process is killed: a small watchdog process, whose standard input closes with this one, ends the
group then.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from slowwave.telemetry.logs import of_another

GRACE: Final = 20.0
"""Grace period after the stop request (seconds); Dagster's services need up to ten."""
_SHORT: Final = 5.0  # seconds for remaining children
_LOOK: Final = 0.2
_WATCH: Final = """
import os, signal, sys, time

if os.read(0, 1):
    sys.exit()  # the parent has ended the group itself
for ending, seconds in ((signal.SIGINT, float(sys.argv[2])), (signal.SIGTERM, 5), (signal.SIGKILL, 0)):
    limit = time.monotonic() + seconds
    try:
        os.killpg(int(sys.argv[1]), ending)
        while time.monotonic() < limit:
            time.sleep(0.2)
            os.killpg(int(sys.argv[1]), 0)
    except ProcessLookupError:
        break
"""
_COLOURS: Final = re.compile(rb"\x1b\[[\d;]*m")
_OURS: Final = re.compile(rb'[-0-9]{10} [:,0-9]+ [A-Z]+ slowwave\.|\{"at".*"logger": "slowwave\.')
"""Pattern of our own log lines (:mod:`slowwave.telemetry.logs`)."""
_OF_RUN: Final = re.compile(rb"[-0-9]{10} [:0-9]{8} \S+ - dagster - [A-Z]+ - ")
"""Pattern of the first line of a run's event by Dagster's console logger; its page has them all."""
_BEGINS: Final = re.compile(rb"[-0-9]{10} [:0-9]{8}|\{")
"""Pattern of a line that does not continue the previous one."""
_ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_group(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    grace: float = GRACE,
    with_input: bool = False,
    plain: bool = False,
    json: bool = False,
    before_end: Callable[[int], object] = lambda _: None,
) -> int:
    """Run a program and its children as one process group; end the group with the program.

    Ctrl-C, TERM and a closed terminal request a stop. What still runs after the grace period, or at the
    second request, is killed. Call it from the main thread. All output goes to standard error; after the stop
    request only our own lines do, because the rest is noise of the interrupt.

    Args:
        command: Its words.
        environment: Its variables.
        grace: Seconds from the stop request to the kill.
        with_input: The end of standard input is a stop request too: the process at its other end has died.
        plain: Strip colours.
        json: Print each line as an object, without colours.
        before_end: Called with the process group's id before the stop request.

    Returns:
        0 if it ended by a stop request; else the program's exit code, or 1 for its 0, because it was to keep
            running.
    """
    stopping, killing = threading.Event(), threading.Event()

    def note(*_: object) -> None:
        (killing if stopping.is_set() else stopping).set()

    previous = {ending: signal.signal(ending, note) for ending in _ENDINGS}
    if with_input:
        threading.Thread(target=_at_end_of_input, args=[stopping], daemon=True).start()
    try:
        process = subprocess.Popen(  # noqa: S603 - our own
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL if with_input else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        watchdog = _watchdog(process.pid, grace)
        printing = threading.Thread(
            target=_forward, args=[process.stdout or (), stopping, plain, json], daemon=True
        )
        printing.start()
        try:
            while process.poll() is None and not stopping.wait(_LOOK):
                pass
            if process.poll() is None:
                with suppress(Exception):  # the program must end whatever this raises
                    before_end(process.pid)
                process.send_signal(signal.SIGINT)
                limit = time.monotonic() + grace
                while process.poll() is None and time.monotonic() < limit and not killing.wait(_LOOK):
                    pass
        finally:
            _end_group(process)
            watchdog.communicate(b".")
            printing.join(_SHORT)  # its last output says why it ended
    finally:
        for ending, handler in previous.items():
            signal.signal(ending, handler)
    return 0 if stopping.is_set() else process.returncode or 1


def _watchdog(group: int, grace: float) -> subprocess.Popen[bytes]:
    """Start the watchdog of a group, which ends it if this process is killed; a byte dismisses it."""
    return subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-I", "-S", "-c", _WATCH, str(group), str(grace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _forward(printed: Iterable[bytes], stopping: threading.Event, plain: bool, json: bool) -> None:
    """Forward a program's output by line, without Dagster's lines about run events."""
    of_run = False
    for line in printed:
        plain_line = _COLOURS.sub(b"", line)
        of_run = bool(_OF_RUN.match(plain_line)) or (of_run and not _BEGINS.match(plain_line))
        if of_run or (stopping.is_set() and not _OURS.match(line)):
            continue
        output = _COLOURS.sub(b"", line) if plain or json else line
        if json:
            output = of_another(output.decode(errors="replace"), "dagster").encode()
        with suppress(OSError):  # standard error is closed; the program keeps running
            os.write(2, output)


def _at_end_of_input(stopping: threading.Event) -> None:
    while os.read(0, 4_096):
        pass
    stopping.set()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask all remaining processes of a program's group to end, then kill them."""
    limit = time.monotonic() + _SHORT
    ending: int = signal.SIGTERM
    while _signal_group(process.pid, ending):
        process.poll()  # reap it, else a zombie keeps its group alive
        ending = signal.SIGKILL if time.monotonic() > limit else 0
        if time.monotonic() > limit + _SHORT:
            break  # zombies that nobody reaps
        time.sleep(_LOOK)
    process.wait()


def _signal_group(group: int, ending: int) -> bool:
    """Send a signal to a group (0: none). Return whether the group has any process."""
    try:
        os.killpg(group, ending)
    except ProcessLookupError:
        return False
    return True

"""Running a program that starts others: when it ends, or is asked to, nothing of it is left.

Nor if this process is killed: a small one beside it, whose standard input ends with this one, ends them then.
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
"""For the program to end by itself after it was asked to (seconds); Dagster's services need up to ten."""
_SHORT: Final = 5.0  # for what it left behind
_LOOK: Final = 0.2
_WATCH: Final = """
import os, signal, sys, time

if os.read(0, 1):
    sys.exit()  # who was watched has ended its group itself
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
"""Lines of our log, as :mod:`slowwave.telemetry.logs` has them."""
_OF_RUN: Final = re.compile(rb"[-0-9]{10} [:0-9]{8} \S+ - dagster - [A-Z]+ - ")
"""The first line of an event of a run, as Dagster's console logger has it: they are all on its page."""
_BEGINS: Final = re.compile(rb"[-0-9]{10} [:0-9]{8}|\{")
"""Beginning of a line that does not continue the one before."""
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
    """Run a program with all that it starts as one group of processes; end the group when the program ends.

    Ctrl-C, TERM and a closed terminal ask the program to end; what is still there when the time is up, or at
    the second asking, is killed. Call it from the main thread. All that it prints comes on standard error. Of
    what it prints after it was asked only our own lines do: the rest is how it takes a Ctrl-C, no fault.

    Args:
        command: its words.
        environment: its variables.
        grace: seconds that it has for ending.
        with_input: the end of standard input asks, too: whoever holds its other end was killed.
        plain: without colours.
        json: each line as an object, and so without colours.
        before_end: called with the number of its group before the program is asked to end.

    Returns:
        0 where it ended because it was asked to; else the program's exit code, and 1 for its 0: it was to
        run on.
    """
    asked, hurry = threading.Event(), threading.Event()

    def note(*_: object) -> None:
        (hurry if asked.is_set() else asked).set()

    before = {ending: signal.signal(ending, note) for ending in _ENDINGS}
    if with_input:
        threading.Thread(target=_at_end_of_input, args=[asked], daemon=True).start()
    try:
        process = subprocess.Popen(  # noqa: S603 - our own
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL if with_input else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        watching = _watched(process.pid, grace)
        printing = threading.Thread(
            target=_hand_on, args=[process.stdout or (), asked, plain, json], daemon=True
        )
        printing.start()
        try:
            while process.poll() is None and not asked.wait(_LOOK):
                pass
            if process.poll() is None:
                with suppress(Exception):  # whatever it meets, the program is to end
                    before_end(process.pid)
                process.send_signal(signal.SIGINT)
                limit = time.monotonic() + grace
                while process.poll() is None and time.monotonic() < limit and not hurry.wait(_LOOK):
                    pass
        finally:
            _end_group(process)
            watching.communicate(b".")
            printing.join(_SHORT)  # its last words are the reason why it ended
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
    return 0 if asked.is_set() else process.returncode or 1


def _watched(group: int, grace: float) -> subprocess.Popen[bytes]:
    """A process that ends a group if this one is killed; a byte tells it that there is nothing to do."""
    return subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-I", "-S", "-c", _WATCH, str(group), str(grace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _hand_on(printed: Iterable[bytes], asked: threading.Event, plain: bool, json: bool) -> None:
    """Hand on what a program prints, line by line, but for what Dagster prints of each event of a run."""
    of_run = False
    for line in printed:
        plain_line = _COLOURS.sub(b"", line)
        of_run = bool(_OF_RUN.match(plain_line)) or (of_run and not _BEGINS.match(plain_line))
        if of_run or (asked.is_set() and not _OURS.match(line)):
            continue
        told = _COLOURS.sub(b"", line) if plain or json else line
        if json:
            told = of_another(told.decode(errors="replace"), "dagster").encode()
        with suppress(OSError):  # nobody reads it any more; the program goes on
            os.write(2, told)


def _at_end_of_input(asked: threading.Event) -> None:
    while os.read(0, 4_096):
        pass
    asked.set()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask all that is left of a program's group to end, then kill it."""
    limit = time.monotonic() + _SHORT
    ending: int = signal.SIGTERM
    while _told(process.pid, ending):
        process.poll()  # else it stays as a zombie, and its group with it
        ending = signal.SIGKILL if time.monotonic() > limit else 0
        if time.monotonic() > limit + _SHORT:
            break  # zombies that nobody collects
        time.sleep(_LOOK)
    process.wait()


def _told(group: int, ending: int) -> bool:
    """Send a signal to a group (0: none); whether there is anything in it."""
    try:
        os.killpg(group, ending)
    except ProcessLookupError:
        return False
    return True

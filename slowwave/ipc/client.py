"""The command's side: ask the running memory, print its answer, end as it says.

Until the client says *go* nothing is done at the other end, so up to then the command can start cold. After
that a command that reads may; one that writes must not be done twice, and says what is not known.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from typing import Any, Final

from slowwave.ipc import pidfile, protocol
from slowwave.ipc.request import Command, command_of, request_of

PATIENCE_S: Final = 5.0
"""For the running memory to say that it is ready; it says so at once, or something is wrong with it."""
STOPPED: Final = 130
_LOOK: Final = (
    "Look before you run it again: `slowwave search` finds a note, `slowwave stats ID` and `slowwave history "
    "ID` tell what was said of one and done to it."
)


def ask(words: Sequence[str]) -> int | None:
    """Let the running memory do a command.

    Args:
        words: what was typed after the program's name.

    Returns:
        The exit code; None where the command has to start cold: nothing was done or printed.
    """
    command = command_of(words)
    if command is None:
        return None
    running = pidfile.read(command.home)
    if running is None or (request := request_of(words)) is None or running.version != request["version"]:
        return None
    request["home"] = pidfile.home_identity(command.home)
    if len(protocol.encode_message(request)) > protocol.MOST_ASKED:
        return None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            return _asked(end, running.socket, request, command)
    except OSError:  # nobody listens
        return None
    except KeyboardInterrupt:
        _say("Stopped. If the running memory had begun, it goes on to the end.")
        return STOPPED


def _asked(end: socket.socket, path: str, request: dict[str, Any], command: Command) -> int | None:
    end.settimeout(PATIENCE_S)
    end.connect(path)
    if not protocol.is_own_process(end):
        return None
    try:
        protocol.send(end, request)
        if "ready" not in protocol.receive(end, protocol.MOST_ASKED):
            return None
        protocol.send(end, {"go": True})
    except protocol.ConnectionLostError:
        return None
    end.settimeout(None)
    try:
        answer = protocol.receive(end, protocol.MOST_ANSWERED)
    except protocol.ConnectionLostError:
        if not command.writes:
            return None
        _say(
            f"The running memory went away before it answered, so it is not known whether `slowwave "
            f"{command.name}` was done. {_LOOK}"
        )
        return 1
    return _print(answer) if "code" in answer else None


def _print(answer: dict[str, Any]) -> int:
    """Print what came back, in its order; the exit code."""
    ends = {1: sys.stdout, 2: sys.stderr}
    try:
        for number, text in answer["said"]:
            end = ends[number]
            end.buffer.write(text.encode("latin-1"))
            end.flush()
    except BrokenPipeError:  # as the cold command ends when nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return int(answer["code"])


def _say(message: str) -> None:
    sys.stderr.write(f"Error: {message}\n")

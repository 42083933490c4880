"""Client of the server: send a command, print its output, exit with its code.

Until the client sends *go* the server does nothing, so that the command can still run standalone. After that
a read command can. A write command must not run twice, so an error reports that its outcome is unknown.
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
"""Time-out (seconds) of the server's *ready*, which it sends at once."""
STOPPED: Final = 130
_CHECK: Final = (
    "Check before you run it again: `slowwave search` finds a note; `slowwave stats ID` and `slowwave "
    "history ID` show its feedback and events."
)


def ask(words: Sequence[str]) -> int | None:
    """Let the server run a command.

    Args:
        words: arguments of the program.

    Returns:
        The exit code; None if the command has to run standalone: nothing was done or printed.
    """
    command = command_of(words)
    if command is None:
        return None
    running = pidfile.read(command.home)
    if running is None or (request := request_of(words)) is None or running.version != request["version"]:
        return None
    request["home"] = pidfile.home_identity(command.home)
    if len(protocol.encode_message(request)) > protocol.MAX_REQUEST:
        return None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            return _exchange(end, running.socket, request, command)
    except OSError:  # no server listens
        return None
    except KeyboardInterrupt:
        _say("Stopped. If the server has begun the command, it completes it.")
        return STOPPED


def _exchange(end: socket.socket, path: str, request: dict[str, Any], command: Command) -> int | None:
    end.settimeout(PATIENCE_S)
    end.connect(path)
    if not protocol.is_same_user(end):
        return None
    try:
        protocol.send(end, request)
        if "ready" not in protocol.receive(end, protocol.MAX_REQUEST):
            return None
        protocol.send(end, {"go": True})
    except protocol.ConnectionLostError:
        return None
    end.settimeout(None)
    try:
        answer = protocol.receive(end, protocol.MAX_ANSWER)
    except protocol.ConnectionLostError:
        if not command.writes:
            return None
        _say(
            f"The server stopped before it answered, so the outcome is unknown: `slowwave "
            f"{command.name}` may be done. {_CHECK}"
        )
        return 1
    return _print(answer) if "code" in answer else None


def _print(answer: dict[str, Any]) -> int:
    """Print the output in order, and return the exit code."""
    ends = {1: sys.stdout, 2: sys.stderr}
    try:
        for number, text in answer["said"]:
            end = ends[number]
            end.buffer.write(text.encode("latin-1"))
            end.flush()
    except BrokenPipeError:  # as a standalone command does if its reader has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return int(answer["code"])


def _say(message: str) -> None:
    sys.stderr.write(f"Error: {message}\n")

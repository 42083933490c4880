"""Messages on a socket: four bytes that say how long it is, then JSON; and who is at the other end."""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any, Final

MOST_ASKED: Final = 1 << 20
"""Bytes of a request, at most; a longer command starts cold."""
MOST_ANSWERED: Final = 1 << 28
_LENGTH: Final = struct.Struct(">I")
_PEER: Final = struct.Struct("3i")  # pid, uid, gid of SO_PEERCRED


class ConnectionLostError(Exception):
    """The other end is not there any more, or says what is no message."""


def encode_message(message: dict[str, Any]) -> bytes:
    """A message as it is sent."""
    body = json.dumps(message).encode("ascii")
    return _LENGTH.pack(len(body)) + body


def send(end: socket.socket, message: dict[str, Any]) -> None:
    """Send a message.

    Raises:
        GoneError: it cannot be sent, or not in the time that the socket has.
    """
    try:
        end.sendall(encode_message(message))
    except OSError as error:
        raise ConnectionLostError from error


def receive(end: socket.socket, most: int) -> dict[str, Any]:
    """The next message.

    Args:
        end: of the connection.
        most: bytes that it may have.

    Raises:
        GoneError: none comes, or not in the time that the socket has; it is longer, or no message.
    """
    try:
        (length,) = _LENGTH.unpack(_exactly(end, _LENGTH.size))
        if length > most:
            raise ConnectionLostError
        message = json.loads(_exactly(end, length))
    except (OSError, ValueError) as error:
        raise ConnectionLostError from error
    if not isinstance(message, dict):
        raise ConnectionLostError
    return message


def _exactly(end: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = end.recv(min(size, 1 << 16))
        if not part:
            raise ConnectionLostError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def is_own_process(end: socket.socket) -> bool:
    """Whether the process at the other end is of the same user; files decide where no system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    told = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, user, _ = _PEER.unpack(told)
    return bool(user == os.geteuid())

"""Message protocol of the socket: a length of four bytes, then JSON; and the peer's user."""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any, Final

MAX_REQUEST: Final = 1 << 20
"""Maximum bytes of a request; a longer command runs standalone."""
MAX_ANSWER: Final = 1 << 28
_LENGTH: Final = struct.Struct(">I")
_PEER: Final = struct.Struct("3i")  # pid, uid, gid of SO_PEERCRED


class ConnectionLostError(Exception):
    """The peer has gone, or sent no valid message."""


def encode_message(message: dict[str, Any]) -> bytes:
    """Return the bytes of a message."""
    body = json.dumps(message).encode("ascii")
    return _LENGTH.pack(len(body)) + body


def send(end: socket.socket, message: dict[str, Any]) -> None:
    """Send a message.

    Raises:
        ConnectionLostError: it cannot be sent within the socket's time-out.
    """
    try:
        end.sendall(encode_message(message))
    except OSError as error:
        raise ConnectionLostError from error


def receive(end: socket.socket, most: int) -> dict[str, Any]:
    """Receive the next message.

    Args:
        end: of the connection.
        most: maximum size (bytes).

    Raises:
        ConnectionLostError: none within the socket's time-out, or it is too long or invalid.
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


def is_same_user(end: socket.socket) -> bool:
    """Whether the peer has the same user; without system support file permissions decide."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, user, _ = _PEER.unpack(credentials)
    return bool(user == os.geteuid())

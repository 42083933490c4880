"""Session of a client's hook, from the JSON that the client writes to standard input."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from slowwave.ipc.request import split_words

RECALL: Final = "recall"
MAX_BYTES: Final = 65_536  # of a hook's JSON that are read
MAX_CHARACTERS: Final = 200  # of a session's id, as of a search
WAIT_SECONDS: Final = 1.0
"""Time until the JSON has to begin; a client writes it at once, and a script may write nothing."""


def with_session(words: Sequence[str]) -> list[str]:
    """Return the words of a command line; add the hook's session to those of `recall`.

    It is read here, since a running server has no standard input of the client.

    Args:
        words: arguments of the program.
    """
    _, name, rest = split_words(words)
    if name != RECALL or any(word.partition("=")[0] in ("--session", "--help") for word in rest):
        return list(words)
    session = session_id(_standard_input())
    return [*words, f"--session={session}"] if session else list(words)


def session_id(document: bytes) -> str:
    """Return the session that a hook's JSON names; empty without one that a search can have."""
    try:
        payload = json.loads(document)
    except (ValueError, RecursionError):
        return ""
    value = payload.get("session_id") if isinstance(payload, dict) else None
    value = value.strip() if isinstance(value, str) else None
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS or not value.isprintable():
        return ""
    return value


def _standard_input() -> bytes:
    """Return what a client wrote to standard input; empty at a terminal, or if nothing comes."""
    read = b""
    with suppress(OSError, ValueError):  # closed, or no file
        if sys.stdin is None or sys.stdin.isatty():
            return b""
        number = sys.stdin.fileno()
        if sys.platform != "win32" and not select.select([number], [], [], WAIT_SECONDS)[0]:
            return b""
        while len(read) < MAX_BYTES and (part := os.read(number, MAX_BYTES)):
            read += part
            if session_id(read):
                break  # whole; the client may keep it open
    return read

"""Message framing of a byte stream: single lines, several lines, or a Content-Length header."""

from __future__ import annotations

import json
import re
from typing import Final

MAX_ANNOUNCED: Final = 100_000_000
"""Maximum length that a header may announce (bytes)."""
_HEADER: Final = re.compile(rb"(content-[a-z]+):\s*(\S+)[^\n]*", re.IGNORECASE)
_ENDS: Final = (b"}", b"]")


class MessageSplitter:
    """Splitter of a client's bytes into the texts of messages. Pure: it reads nothing.

    Attributes:
        framed: Whether the client sends lengths, and so reads them.
    """

    def __init__(self) -> None:
        self.framed = False
        self._bytes = b""  # not split yet
        self._begun = b""  # a header, or lines of a message that goes on
        self._length = 0  # of the message after a header

    def feed(self, data: bytes) -> list[bytes]:
        """Return the texts that are complete with these bytes; empty ones are none."""
        self._bytes += data
        return list(iter(self._next, None))

    @property
    def waits(self) -> bool:
        """Whether the rest of a message should follow at once."""
        return bool(self._begun or self._length) or _is_whole(self._bytes)

    def rest(self) -> bytes:
        """Return what has no end yet, and forget it."""
        text = self._begun + self._bytes
        self._bytes, self._begun, self._length = b"", b"", 0
        return text

    def _next(self) -> bytes | None:
        """Return the next text; empty between messages, None if there is none yet."""
        if self._length and self._bytes[:1] in (b"{", b"["):
            return self._announced()
        line, end, others = self._bytes.partition(b"\n")
        if not end:
            return None
        self._bytes = others
        header = _HEADER.fullmatch(line.strip())
        if header and not self._begun.strip().startswith((b"{", b"[")):
            if header[2].isdigit() and 0 < int(header[2]) <= MAX_ANNOUNCED:
                self._length, self._begun = int(header[2]), line + end
            return b"" if self._length else line
        if self._length and not line.strip():
            return b""
        text, goes_on = self._begun + line + end, False
        if self._begun:  # an indented line is never the last
            goes_on = line[:1].isspace() or _is_unfinished(text)
        elif not line.rstrip().endswith(_ENDS):
            goes_on = _is_unfinished(text)
        self._begun, self._length = (text, 0) if goes_on else (b"", 0)
        return b"" if goes_on else text

    def _announced(self) -> bytes | None:
        """Return the message after a header, if all of it is here."""
        if len(self._bytes) < self._length:
            return None
        text, self._bytes = self._bytes[: self._length], self._bytes[self._length :]
        self._begun, self._length, self.framed = b"", 0, True
        return text


def _is_unfinished(text: bytes) -> bool:
    """Whether a JSON value begins here that goes on after the text."""
    begun = text.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    if not begun.startswith(("{", "[")):
        return False
    try:
        json.loads(begun, strict=False)
    except json.JSONDecodeError as error:
        return error.pos >= len(begun)
    except (ValueError, RecursionError):
        return False
    return False


def _is_whole(text: bytes) -> bool:
    """Whether a text that has no line end is an object or a list."""
    if not text.rstrip().endswith(_ENDS):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True

"""Closing labels of notes that cannot be read, whatever else is broken in them."""

from __future__ import annotations

import re
from typing import Final

import orjson

from slowwave.notes.sensitivity import may_state, most_closed, words_in_fields, words_in_head, words_in_text

HEAD_BYTES: Final = 65_536
"""Bytes at the beginning of an unreadable file in which a label is looked for."""

_LINE = re.compile(r"(?P<file>.*\.jsonl)#L\d[\d.]*", re.IGNORECASE | re.DOTALL)
_ID = re.compile(r'"(?:id|_id|key)"\s*:\s*(?:"(?P<text>[^"\\]{1,200})"|(?P<number>\d{1,20}))')


def closed_source(data: bytes, source: str) -> str:
    """Return the source of the note that unreadable bytes make secret, else an empty text.

    Args:
        data: Of a file, or of a line of a JSONL file.
        source: Of the failure; a line is named by its number, its note by its id.
    """
    text = _text(data[:HEAD_BYTES])
    if not may_state(text):
        return ""
    line = _LINE.fullmatch(source)
    words = list(words_in_text(text)) if line is None else _words_of_line(text)
    if most_closed([None, *words]) != most_closed([None, "secret"]):
        return ""
    named = _ID.search(text) if line else None
    return f"{line['file']}#{named['text'] or named['number']}" if line and named else source


def _text(head: bytes) -> str:
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return head.decode(encoding, "replace").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def _words_of_line(text: str) -> list[str]:
    """Return the sensitivities that a JSONL line states, also a broken one."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return [*words_in_text(text), *words_in_head(text)]
    return list(words_in_fields(value)) if isinstance(value, dict) else []

"""Bytes that are a text, and bytes that are refused with which reason."""

from __future__ import annotations

import codecs

import pytest
from notes_helpers import LIMIT, markdown, refusal


@pytest.mark.parametrize(
    ("data", "reason", "told"),
    [
        (b"good\xff", "not_utf8", "byte 0xff at offset 4"),
        (codecs.BOM_UTF8 + b"a\xe9b", "not_utf8", "byte 0xe9 at offset 4"),
        ("text".encode("utf-16"), "not_utf8", "UTF-16; re-save"),
        (codecs.BOM_UTF16_BE + "text".encode("utf-16-be"), "not_utf8", "UTF-16; re-save"),
        (b"abc\0def", "nul_bytes", "offset 3"),
        (b"x" * (LIMIT + 1), "too_large", "1,000,001 bytes, the limit is 1,000,000"),
        (b"", "empty", "no text"),
        (codecs.BOM_UTF8, "empty", "no text"),
        (b"---\ntitle: x\n---\n \n\t", "empty", "no text"),
    ],
)
def test_unreadable_notes(data, reason, told):
    found, message = refusal(data, "some/note.md")
    assert found == reason
    assert message.startswith("some/note.md: ")
    assert told in message


def test_byte_order_mark_is_dropped():
    note = markdown(codecs.BOM_UTF8 + b"---\ntitle: x\n---\nbody")
    assert (note.title, note.content) == ("x", "body")

"""Bytes that are a text, and bytes that are refused with which reason."""

from __future__ import annotations

import codecs

import pytest
from notes_helpers import LIMIT, markdown, refusal

from slowwave.notes.decoding import decode


@pytest.mark.parametrize(
    ("data", "reason", "told"),
    [
        (b"good\xff", "not_utf8", "byte 0xff at offset 4"),
        (codecs.BOM_UTF8 + b"a\xe9b", "not_utf8", "byte 0xe9 at offset 4"),
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


@pytest.mark.parametrize(
    "data", ["Tee für Zoë".encode("utf-16"), codecs.BOM_UTF16_BE + "Tee für Zoë".encode("utf-16-be")]
)
def test_utf_16_with_a_byte_order_mark_is_read(data):
    assert decode(data, "a.md", LIMIT) == ("Tee für Zoë", ())


def test_a_few_damaged_bytes_are_replaced_and_named():
    text = b"The pump was repaired in M\xe4rz.\nIts manual is in\0 the drawer, in the yellow folder."
    decoded = decode(text, "a.md", LIMIT)
    assert (
        decoded.text
        == text.replace(b"\xe4", "\N{REPLACEMENT CHARACTER}".encode()).replace(b"\0", b"").decode()
    )
    assert len(decoded.unread) == 2
    assert "line 1: 1 character not in UTF-8" in decoded.unread[1]
    assert "line 2: 1 NUL character, removed" in decoded.unread[0]

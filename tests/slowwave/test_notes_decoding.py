"""Bytes that are a text, and bytes that are refused with which reason."""

from __future__ import annotations

import codecs

import pytest
from notes_helpers import LIMIT, markdown, refusal

from slowwave.notes.decoding import decode


@pytest.mark.parametrize(
    ("data", "reason", "told"),
    [
        (b"good\xff\xff\xff\xff", "not_utf8", "byte 0xff at offset 4"),
        (codecs.BOM_UTF8 + "вёсла и лодка".encode("cp1251"), "not_utf8", "byte 0xe2 at offset 0"),
        ("波止場の船".encode("shift-jis"), "not_utf8", "offset 0"),
        (b"abc\0\0def\0\0\0", "nul_bytes", "offset 3"),
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


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_nul_bytes(codec):
    assert decode("Gate 7 is open: Zoë".encode(codec), "a.md", LIMIT) == ("Gate 7 is open: Zoë", ())


def test_a_few_damaged_bytes_are_replaced_and_named():
    text = b"The pump was repaired\xff in May.\nIts manual is in\0 the drawer, in the yellow folder."
    decoded = decode(text, "a.md", LIMIT)
    sound = text.replace(b"\xff", "\N{REPLACEMENT CHARACTER}".encode()).replace(b"\0", b"")
    assert decoded.text == sound.decode()
    assert decoded.unread == (
        "line 2: 1 NUL character, removed",
        "line 1: 1 character not in UTF-8, replaced by \ufffd",
    )


@pytest.mark.parametrize(
    ("data", "text", "remark"),
    [
        ("Über Öl".encode("latin-1"), "Über Öl", "2 characters not in UTF-8, read as Windows-1252"),
        ("“It’s 5 €” – all in.".encode("cp1252"), "“It’s 5 €” – all in.", "5 characters"),
        ("Kähne ".encode() + "Öl".encode("cp1252"), "Kähne Öl", "1 character not in UTF-8, read as Windows"),
        ("pier €".encode()[:-1], "pier \ufffd", "1 character not in UTF-8, replaced"),
        (b"a pier\xfe", "a pier\ufffd", "1 character not in UTF-8, replaced"),
        (b"a\0b", "ab", "1 NUL character, removed"),
        (codecs.BOM_UTF8 + b"a\xe9b", "a\xe9b", "line 1: 1 character"),
    ],
)
def test_one_bad_character_of_a_short_text_costs_itself(data, text, remark):
    decoded = decode(data, "a.md", LIMIT)
    assert decoded.text == text
    [found] = decoded.unread
    assert remark in found


def test_damaged_characters_are_metadata_of_their_own():
    note = markdown("---\ntitle: {{title}}\n---\nThe quay of Mölln.".encode("latin-1"))
    assert note.metadata["damaged_characters"] == ["line 4: 1 character not in UTF-8, read as Windows-1252"]
    assert note.metadata["labels_left_out"] == ["line 2: title"]
    assert len(note.unread) == 2

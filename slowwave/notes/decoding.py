"""Decoding of notes: Unicode text with LF line breaks, and the content hash."""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from hashlib import blake2b
from typing import NamedTuple

from slowwave.common.json_repair import REPLACEMENT
from slowwave.common.pluralize import counted
from slowwave.notes.model import NoteError, NoteFailure

_UNSEEN = frozenset({"Cc", "Cf"})  # categories of characters that cannot be seen: control and format
EXCERPT_CHARACTERS = 500
MAX_DAMAGED_SHARE = 0.05
"""Maximum share of damaged bytes in a text; a file with more has another encoding, or is no text."""


class Decoded(NamedTuple):
    """Text of a file, with remarks on its damaged characters."""

    text: str
    unread: tuple[str, ...] = ()


def decode(data: bytes, source: str, max_bytes: int) -> Decoded:
    """Decode the text of a file, without byte order mark.

    Bytes that are not UTF-8 are replaced and NUL bytes are removed, each with a remark. UTF-16 is read if it
    has its byte order mark.

    Raises:
        NoteError: If it is too large, or more than a few of its bytes are damaged.
    """
    if len(data) > max_bytes:
        raise NoteError(
            "too_large",
            f"{source}: {len(data):,} bytes, the limit is {max_bytes:,}; split the note or raise the limit",
        )
    data = as_utf8(data)
    unread: list[str] = []
    nuls = data.count(0)
    if nuls:
        first = data.index(0)
        if nuls > MAX_DAMAGED_SHARE * len(data):
            raise NoteError("nul_bytes", f"{source}: NUL byte at offset {first}; this is not a text file")
        unread.append(f"line {_line(data, first)}: {counted(nuls, 'NUL character')}, removed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from after the byte order mark.
        offset = error.start + (len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0)
        text = data.decode("utf-8-sig", "replace")
        replaced = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
        if replaced > MAX_DAMAGED_SHARE * len(data):
            raise NoteError(
                "not_utf8",
                f"{source}: byte 0x{data[offset]:02x} at offset {offset} is not UTF-8; "
                "re-save the file as UTF-8",
            ) from error
        what = counted(replaced, "character")
        unread.append(f"line {_line(data, offset)}: {what} not in UTF-8, replaced by {REPLACEMENT}")
    return Decoded(normal_breaks(text.replace("\0", "")), tuple(unread))


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def as_utf8(data: bytes) -> bytes:
    """Return data in UTF-8, if they begin with a byte order mark of UTF-16; others as they are."""
    if not data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data
    whole = data[: len(data) // 2 * 2]  # half a character at the end is lost
    return whole.decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")


def normal_breaks(text: str) -> str:
    """Normalise line breaks to LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def says_nothing(content: str) -> bool:
    """Whether a text has no visible character."""
    return not content.strip() or all(
        letter.isspace() or unicodedata.category(letter) in _UNSEEN for letter in content
    )


def require_content(content: str, source: str) -> None:
    """Refuse a note without text.

    Raises:
        NoteError: If there is nothing but white space and characters that cannot be seen.
    """
    if says_nothing(content):
        raise NoteError("empty", f"{source}: there is no text in it; write some, or delete the note")


def failure(data: bytes, source: str, error: Exception) -> NoteFailure:
    """Return the failure for a note that raised the error; `data` are its bytes."""
    if not isinstance(error, NoteError):
        error = NoteError("unexpected", f"{source}: {type(error).__name__}: {str(error)[:200]}")
    # A character has at most four bytes: no need to decode a huge file for its first characters.
    excerpt = as_utf8(data[: 4 * EXCERPT_CHARACTERS]).decode("utf-8-sig", "replace")[:EXCERPT_CHARACTERS]
    return NoteFailure(source, error.reason, str(error), excerpt, len(data))


_BLANK_LINES = re.compile(r"\n{3,}")


def content_hash(content: str) -> str:
    """Return the content hash of a text: 128-bit BLAKE2b, hexadecimal.

    Equal for texts that differ only in Unicode composition, line break style, white space at line ends, the
    number of blank lines in a row, and white space around the whole. Case counts.
    """
    lines = normal_breaks(unicodedata.normalize("NFC", content)).split("\n")
    text = _BLANK_LINES.sub("\n\n", "\n".join([line.rstrip() for line in lines])).strip()
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""Decoding of notes: UTF-8 with LF line breaks, and the content hash."""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

from slowwave.notes.model import NoteError, NoteFailure

_UNSEEN = frozenset({"Cc", "Cf"})  # categories of characters that cannot be seen: control and format
EXCERPT_CHARACTERS = 500


def decode(data: bytes, source: str, max_bytes: int) -> str:
    """Decode the text of a file, without byte order mark.

    Raises:
        NoteError: If it is too large, no UTF-8 or has NUL bytes.
    """
    if len(data) > max_bytes:
        raise NoteError(
            "too_large",
            f"{source}: {len(data):,} bytes, the limit is {max_bytes:,}; split the note or raise the limit",
        )
    if looks_like_utf16(data):
        raise utf16_error(source)
    nul = data.find(b"\0")
    if nul >= 0:
        raise NoteError("nul_bytes", f"{source}: NUL byte at offset {nul}; this is not a text file")
    try:
        return normal_breaks(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        # The codec counts from after the byte order mark.
        offset = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        raise NoteError(
            "not_utf8",
            f"{source}: byte 0x{data[offset]:02x} at offset {offset} is not UTF-8; re-save the file as UTF-8",
        ) from error


def looks_like_utf16(data: bytes) -> bool:
    """Whether the data begin with a byte order mark of UTF-16."""
    return data.startswith((b"\xff\xfe", b"\xfe\xff"))


def utf16_error(source: str) -> NoteError:
    """Return the error for data in UTF-16."""
    return NoteError("not_utf8", f"{source}: looks like UTF-16; re-save the file as UTF-8")


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
    encoding = "utf-16" if looks_like_utf16(data) else "utf-8-sig"
    excerpt = data[: 4 * EXCERPT_CHARACTERS].decode(encoding, "replace")[:EXCERPT_CHARACTERS]
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

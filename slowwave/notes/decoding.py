"""Decoding of notes: Unicode text with LF line breaks, and the content hash."""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from hashlib import blake2b
from typing import Any, NamedTuple

from slowwave.common.json_repair import REPLACEMENT
from slowwave.common.pluralize import counted
from slowwave.notes.model import NoteError, NoteFailure

_UNSEEN = frozenset({"Cc", "Cf"})  # categories of characters that cannot be seen: control and format
EXCERPT_CHARACTERS = 500
MAX_DAMAGED_SHARE = 0.05
"""Maximum share of damaged bytes in a text; a file with more has another encoding, or is no text."""
MAX_WINDOWS_SHARE = 0.3
"""Maximum share of bytes read as Windows-1252; Western languages have at most a tenth."""
_FEW_DAMAGED, _FEW_WINDOWS = 1, 3  # characters of a short text that are never too many
_UTF16_NULS = 0.3  # minimum share of NUL bytes in UTF-16 without a mark
_ESCAPED = re.compile(r"[\udcc2-\udcf4][\udc80-\udcbf]+|[\udc80-\udcff]")  # half a character, or a byte
_NO_LETTERS = "\xfe\xff"  # of broken files, and of hardly any text
_WESTERN_MARKS = frozenset("\xa0¡¢£§©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿×÷€‚„…‰‹‘’“”•–—˜™›")


class Decoded(NamedTuple):
    """Text of a file, with remarks on its damaged characters."""

    text: str
    unread: tuple[str, ...] = ()


def decode(data: bytes, source: str, max_bytes: int) -> Decoded:
    """Decode the text of a file, without byte order mark.

    NUL bytes are removed. Bytes that are not UTF-8 are read as Windows-1252 where that gives a letter or a
    punctuation mark, else replaced. Each kind gets a remark.

    Raises:
        NoteError: If it is too large, or more than a few of its bytes are damaged.
    """
    if len(data) > max_bytes:
        raise NoteError(
            "too_large",
            f"{source}: {len(data):,} bytes, the limit is {max_bytes:,}; split the note or raise the limit",
        )
    data = as_utf8(data).removeprefix(BOM_UTF8)
    unread: list[str] = []
    if nuls := data.count(0):
        first = data.index(0)
        few = _FEW_DAMAGED if 2 * nuls < len(data) else 0
        if nuls > max(MAX_DAMAGED_SHARE * len(data), few):
            raise NoteError("nul_bytes", f"{source}: NUL byte at offset {first}; this is not a text file")
        unread.append(f"line {_line(data, first)}: {counted(nuls, 'NUL character')}, removed")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text, windows, replaced = _by_bytes(data)
        few_replaced, few_windows = (
            (0, 0) if windows + replaced == len(data) else (_FEW_DAMAGED, _FEW_WINDOWS)
        )
        if replaced > max(MAX_DAMAGED_SHARE * len(data), few_replaced) or windows > max(
            MAX_WINDOWS_SHARE * len(data), few_windows
        ):
            raise NoteError(
                "not_utf8",
                f"{source}: byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8; "
                "re-save the file as UTF-8",
            ) from error
        what = f"line {_line(data, error.start)}: {{}} not in UTF-8, "
        if windows:
            unread.append(f"{what.format(counted(windows, 'character'))}read as Windows-1252")
        if replaced:
            unread.append(f"{what.format(counted(replaced, 'character'))}replaced by {REPLACEMENT}")
    return Decoded(normal_breaks(text.replace("\0", "")), tuple(unread))


def _by_bytes(data: bytes) -> tuple[str, int, int]:
    """Return the text of bytes that are not all UTF-8, with two counts.

    They are of the characters read as Windows-1252, and of the replaced ones.
    """
    counts = {True: 0, False: 0}

    def read(found: re.Match[str]) -> str:
        byte = found[0].encode("ascii", "surrogateescape")
        letter = REPLACEMENT if len(byte) > 1 else byte.decode("cp1252", "replace")
        is_western = letter in _WESTERN_MARKS or (letter.isalpha() and letter not in _NO_LETTERS)
        counts[is_western] += 1
        return letter if is_western else REPLACEMENT

    text = _ESCAPED.sub(read, data.decode(errors="surrogateescape"))
    return text, counts[True], counts[False]


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def as_utf8(data: bytes) -> bytes:
    """Return UTF-16 data in UTF-8, others as they are.

    UTF-16 begins with its byte order mark, or has the NUL bytes of its ASCII letters on one side only.
    """
    codec = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else _utf16_without_mark(data[:4096])
    if not codec:
        return data
    whole = data[: len(data) // 2 * 2]  # half a character at the end is lost
    return whole.decode(codec, "surrogatepass").encode("utf-8", "surrogatepass")


def _utf16_without_mark(head: bytes) -> str:
    high, low = head[::2].count(0), head[1::2].count(0)
    if max(high, low) < max(2, _UTF16_NULS * len(head)) or min(high, low):
        return ""
    return "utf-16-be" if high else "utf-16-le"


def without_nuls(value: Any) -> tuple[Any, int]:  # noqa: ANN401 - any JSON value
    """Return a JSON value without NUL characters, names included, and the number removed."""
    if isinstance(value, str):
        return value.replace("\0", ""), value.count("\0")
    if isinstance(value, list):
        parts = [without_nuls(part) for part in value]
        return [part for part, _ in parts], sum(count for _, count in parts)
    if isinstance(value, dict):
        pairs = [(without_nuls(name), without_nuls(part)) for name, part in value.items()]
        removed = sum(name[1] + part[1] for name, part in pairs)
        return {name[0]: part[0] for name, part in pairs}, removed
    return value, 0


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
    from slowwave.notes.closing import closed_source  # lazy: it loads YAML, which a search does not need

    closes = closed_source(data, source)
    return NoteFailure(source, error.reason, str(error), excerpt, len(data), closes)


_BLANK_LINES = re.compile(r"\n{3,}")


def content_hash(content: str) -> str:
    """Return the content hash of a text: 128-bit BLAKE2b, hexadecimal.

    Equal for texts that differ only in Unicode composition, line break style, white space at line ends, the
    number of blank lines in a row, and white space around the whole. Case counts.
    """
    lines = normal_breaks(unicodedata.normalize("NFC", content)).split("\n")
    text = "\n".join([line.rstrip() for line in lines])
    text = (_BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text).strip()
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

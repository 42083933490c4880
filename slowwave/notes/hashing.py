"""Fingerprint of a text, the same for texts that read the same."""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

from slowwave.notes.decoding import normal_breaks

_BLANK_LINES = re.compile(r"\n{3,}")


def content_hash(content: str) -> str:
    """Fingerprint of what a text says: 128-bit BLAKE2b, hexadecimal.

    Equal for texts that differ only in Unicode composition, line break style, white space at line
    ends, the number of blank lines in a row, and white space around the whole. Case counts.
    """
    lines = normal_breaks(unicodedata.normalize("NFC", content)).split("\n")
    text = _BLANK_LINES.sub("\n\n", "\n".join([line.rstrip() for line in lines])).strip()
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

"""The sentences and lines of a text, and what it says again (rule 2.3)."""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[。！？])")
_WORD = re.compile(r"\w+")
_SENTENCE_WORDS = 6  # of a sentence that is no step


def statements(text: str) -> list[str]:
    """Lines and sentences of a text, trimmed; empty ones left out."""
    return [part.strip() for part in _STATEMENT.split(text) if part.strip()]


def said_once(text: str) -> str:
    """The text with blanks in the place of whole sentences that it says again, so that offsets stay.

    A merge has lines of both texts, and they may begin alike. Short sentences may be steps, said twice.
    """
    seen: set[str] = set()
    kept, start = list[str](), 0
    for end in (*statement_ends(text), len(text)):
        part = text[start:end]
        bare = part.strip()
        if len(_WORD.findall(bare)) >= _SENTENCE_WORDS:
            part = " " * len(part) if bare in seen else part
            seen.add(bare)
        kept.append(part)
        start = end
    return "".join(kept)


def statement_ends(text: str) -> list[int]:
    """The offsets at which statements end."""
    return [match.end() for match in _STATEMENT.finditer(text)]

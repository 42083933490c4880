"""Sentences and lines of a text, and repetitions (rule 2.3)."""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[。！？])")
_WORD = re.compile(r"\w+")
_SENTENCE_WORDS = 6  # minimum words of a compared sentence


def statements(text: str) -> list[str]:
    """Split a text into trimmed lines and sentences."""
    return [part.strip() for part in _STATEMENT.split(text) if part.strip()]


def said_once(text: str) -> str:
    """Blank a line's first sentence if the previous line begins with it.

    A merge appends such lines: "The gate is red." and then "The gate is red. It squeaks." Offsets do not
    change. An identical line, or one under another heading, is kept: it is a step or a place.
    """
    lines = text.split("\n")
    before, kept = "", list[str]()
    for line in lines:
        first = _first_sentence(line)
        again = first and line.strip() != before.strip() and first == _first_sentence(before)
        at = line.find(first) if again else 0
        kept.append(line[:at] + " " * len(first) + line[at + len(first) :] if again else line)
        before = line if line.strip() else before
    return "\n".join(kept)


def _first_sentence(line: str) -> str:
    """Return the first sentence of a line; empty if it is short."""
    sentence = _STATEMENT.split(line.strip(), maxsplit=1)[0]
    return sentence if len(_WORD.findall(sentence)) >= _SENTENCE_WORDS else ""


def statement_ends(text: str) -> list[int]:
    """Return the offsets at which statements end."""
    return [match.end() for match in _STATEMENT.finditer(text)]

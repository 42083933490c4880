"""The sentences and lines of a text, and what it says again (rule 2.3)."""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[。！？])")
_WORD = re.compile(r"\w+")
_SENTENCE_WORDS = 6  # of a sentence that is worth comparing


def statements(text: str) -> list[str]:
    """Lines and sentences of a text, trimmed; empty ones left out."""
    return [part.strip() for part in _STATEMENT.split(text) if part.strip()]


def said_once(text: str) -> str:
    """The text with blanks where a line begins with the sentence that the line before begins with.

    A merge appends such lines: "The gate is red." and then "The gate is red. It squeaks." Offsets stay. A
    line that stands there twice as it is stays, and so does what stands under different headings: these are
    steps and places.
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
    """The sentence that a line begins with; empty if it is short."""
    found = _STATEMENT.split(line.strip(), maxsplit=1)[0]
    return found if len(_WORD.findall(found)) >= _SENTENCE_WORDS else ""


def statement_ends(text: str) -> list[int]:
    """The offsets at which statements end."""
    return [match.end() for match in _STATEMENT.finditer(text)]

"""Sentences and lines of a text, and repetitions (rule 2.3)."""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.scoring.wordlists import words

MAX_STATEMENTS = 16  # compared statements of each passage (count)
_CONDITIONS = frozenset(words("slowwave.quality", "conditions"))
"""Words of a condition or a doubt: two statements with one may both hold."""
MAX_OTHER_WORDS = 4
"""Words that only one of two nearly equal statements has (count)."""
_STATEMENT = re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[。！？])")
_DAY_POINT = re.compile(
    r"\b(\d{1,2})\.\s+(?=(?:jan|feb|mär|apr|ma[ij]|jun|jul|aug|sep|ok?t|nov|de[zc])[^\W\d]*)", re.IGNORECASE
)
_WORD = re.compile(r"\w+")
_SENTENCE_WORDS = 6  # minimum words of a compared sentence


def statements(text: str) -> list[str]:
    """Split a text into trimmed lines and sentences."""
    return [part.strip() for part in _STATEMENT.split(text) if part.strip()]


def words_of(text: str) -> frozenset[str]:
    """Return the distinct case-folded words of a text."""
    return frozenset(_WORD.findall(text.casefold()))


@lru_cache(maxsize=4_096)
def worded_statements(text: str) -> list[tuple[frozenset[str], str]]:
    """Return the first statements of a passage, each with its words; "3. Mai" ends none."""
    dated = _DAY_POINT.sub(r"\1 ", text)
    return [(words_of(one), one) for one in statements(dated)[:MAX_STATEMENTS]]


def nearly_equal(left: str, right: str) -> bool:
    """Whether a statement of each has nearly the same words, and no condition or doubt."""
    return any(
        len(own_words ^ other_words) <= MAX_OTHER_WORDS
        and one != other
        and _CONDITIONS.isdisjoint(own_words | other_words)
        for own_words, one in worded_statements(left)
        for other_words, other in worded_statements(right)
    )


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

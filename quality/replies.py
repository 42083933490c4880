"""Replies: an answer's leading yes or no, and what it takes back (rule 4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from slowwave.scoring.wordlists import lines, words

_ROOM = "slowwave.quality"
_FIRST = re.compile(r"\W*(\w+)\W*")
# The first of two values: "not X but Y", "from X to Y", "instead of X".
_TAKEN_BACK = re.compile(
    r"\b(?:(?:not|isn't|wasn't|aren't|nicht|pas|no|non|não|не)\s+([^,.;!?]{1,60}?)[,\s]+"
    r"(?:but|sondern|mais|sino|ma|mas|а)\b"
    r"|from\s+([^,.;!?]{1,60}?)\s+(?=to\b)"
    r"|(?:instead of|rather than|anstatt|statt|au lieu de|en lugar de|en vez de|вместо)\s+(\S+(?:\s+\d\S*)?))"
    r"|(?:不是|ではなく)([^，。、；！？]{1,20})[，、]?(?=是|而是)"
    r"|从([^，。；！？]{1,20})(?=[改到])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SplitReply:
    """An answer without the yes or no that it begins with.

    Attributes:
        sign: 1 if it begins with yes, -1 with no, else 0.
        rest: text after that, without what it takes back.
        taken_back: what it takes back.
    """

    sign: int
    rest: str
    taken_back: tuple[str, ...]


def read_reply(response: str) -> SplitReply:
    """Split a leading yes or no from an answer, without what it takes back."""
    text = response.strip()
    first = _FIRST.match(text)
    for sign, (spaced, unspaced) in _signs().items():
        if first and first[1].casefold() in spaced:
            return _reply(sign, text[first.end() :])
        for begin in unspaced:
            if text.startswith(begin):
                return _reply(sign, text[len(begin) :].lstrip("，、。,. "))
    return _reply(0, text)


def _reply(sign: int, text: str) -> SplitReply:
    taken_back = ("".join(filter(None, match.groups())) for match in _TAKEN_BACK.finditer(text))
    return SplitReply(sign, standing(text), tuple(taken_back))


def standing(text: str) -> str:
    """Drop what a text takes back: Tuesday in "moved from Tuesday to Friday"."""
    return _TAKEN_BACK.sub(" ", text)


@cache
def _signs() -> dict[int, tuple[frozenset[str], tuple[str, ...]]]:
    return {
        sign: (frozenset(words(_ROOM, name)), lines(_ROOM, f"{name}_unspaced"))
        for sign, name in ((1, "affirmations"), (-1, "denials"))
    }

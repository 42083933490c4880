"""Words by which a text says that something changed (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon_numbers import MONTHS
from slowwave.quality.outdated.change_words import STATE_WORDS, TABLES

_FROM_MONTH = re.compile(rf" from (?:{'|'.join(sorted(MONTHS))}|next|this|the) ")
_NOT_AFTER_ALL = re.compile(r" (?:not|\S+n't) .*(?:after all|anymore|any more) ")
_AFTER_CHANGE = (" after ", " nach ", " après ", " tras ")
_TRIGGERS: Final = STATE_WORDS.union(word for word in TABLES["verbs"] | TABLES["now"] if " " not in word)
_NOW_PHRASES: Final = tuple(f" {word} " for word in TABLES["now"] if " " in word)
_PHRASES: Final = (*_NOW_PHRASES, *(f" {word} " for word in TABLES["provisional"] if " " in word))
_SAME_AS: Final = {said.partition("=")[0]: said.partition("=")[2] for said in TABLES["saying"]}
_LONGER = (
    "".join(rf"(?<!{verb} )" for verb in ("buy", "order", "get", "need", "want", "take", "have"))
    + r"any (?:longer|more)(?= ?(?:[,.;:!?)]|$|because|since|as ))"
)
_SAID = re.compile(rf"\b(?:{_LONGER}|{'|'.join(map(re.escape, _SAME_AS))})(?!\w)", re.IGNORECASE)
_SEPARABLE = re.compile(
    r"\b(called|gave|put)((?: (?!it )[\w'’-]+){1,4}?) (off|up)\b(?= (?:to|until|till|by)\b| ?[,.;:!?)]|$)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def plainly(text: str) -> str:
    """Return a text with one word in place of several that say the same: "cancelled", not "called off"."""
    together = _SEPARABLE.sub(_together, text)
    return _SAID.sub(lambda said: _SAME_AS.get(said[0].casefold(), "anymore"), together)


def _together(said: re.Match[str]) -> str:
    """Return a verb with its object behind it: *postponed the race*, not *put the race off*."""
    verb = _SAME_AS.get(f"{said[1]} {said[3]}".casefold())
    return f"{verb}{said[2]}" if verb else said[0]


@lru_cache(maxsize=8_192)  # a passage is compared in many searches
def announces(text: str) -> bool:
    """Whether a text has a word of change or state, or expects a change."""
    found = _PLAIN.findall(plainly(text).casefold().replace("’", "'"))
    if not _TRIGGERS.isdisjoint(found):
        return True
    spaced = f" {' '.join(found)} "
    if spaced.startswith(_AFTER_CHANGE) or any(phrase in spaced for phrase in _PHRASES):
        return True
    return bool(_FROM_MONTH.search(spaced))


def cues_of(spaced: str, low: Sequence[str]) -> frozenset[str]:
    """Return the words of change that are no verbs.

    Args:
        spaced: Words of a sentence in lower case, with a space before and behind each.
        low: The same words.
    """
    found = {phrase.strip() for phrase in _NOW_PHRASES if phrase in spaced}
    found.update(TABLES["now"].intersection(low))
    if _FROM_MONTH.search(spaced):
        found.add("from")
    if _NOT_AFTER_ALL.search(spaced):
        found.add("after all")
    if spaced.startswith(_AFTER_CHANGE):
        found.add("after")
    return frozenset(found)

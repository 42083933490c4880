"""Words by which a number is told to name a thing or to be a value."""

from __future__ import annotations

from typing import Final

from slowwave.scoring.wordlists import words

VERBS: Final = frozenset(words("slowwave.quality", "naming_verbs"))
"""Verbs of statements about a thing; with them its name is over."""

BEFORE_A_VALUE: Final = frozenset(words("slowwave.quality", "before_a_value"))
"""Words before a number that make no name of it, beside verbs."""

CUES: Final = (
    "since", "as of", "as from", "from", "starting", "starting on", "starting from", "starting in",
    "starting with", "effective", "effective from", "effective on", "until", "till", "by", "before", "after",
    "updated", "updated on", "seit", "ab", "bis", "dès", "depuis", "jusqu'au", "desde", "hasta",
    "a partir de", "a partir del",
)  # fmt: skip
"""Words before a date that says since when or until when a statement holds."""

THE: Final = (
    "the", "our", "this", "that", "my", "your", "his", "her", "their", "last", "next", "early", "late", "mid",
    "der", "die", "das", "dem", "den", "le", "la", "les", "el",
)  # fmt: skip
GOVERNING: Final = ("of", "for", "von", "für", "de", "du", "para", "pour", "del")
"""Words before a noun and its number that make them a name behind the verb, too: the rent of flat 8."""

MARKS: Final = ("#", "№", "no.", "nr.", "nos.", "n°", "nº")
"""Marks of numbers that are names."""

PRONOUNS: Final = (
    "i", "we", "you", "he", "she", "it", "they", "there", "one", "everybody", "everyone", "somebody",
    "someone", "nobody", "who", "i'm", "we're", "it's", "ich", "wir", "er", "sie", "es", "man", "je", "nous",
    "il", "elle", "yo", "nosotros", "ella",
)  # fmt: skip
"""Words that are what a statement is about, so that no number beside them names it."""

"""Words that show whether a number names a thing or is a value."""

from __future__ import annotations

from typing import Final

from slowwave.scoring.wordlists import words

VERBS: Final = frozenset(words("slowwave.quality", "naming_verbs"))
"""Verbs of statements about a thing; they end its name."""

BEFORE_A_VALUE: Final = frozenset(words("slowwave.quality", "before_a_value"))
"""Words other than verbs after which a number is no name."""

CUES: Final = (
    "since", "as of", "as from", "from", "starting", "starting on", "starting from", "starting in",
    "starting with", "effective", "effective from", "effective on", "until", "till", "by", "before", "after",
    "updated", "updated on", "seit", "ab", "bis", "dès", "depuis", "jusqu'au", "desde", "hasta",
    "a partir de", "a partir del",
)  # fmt: skip
"""Words before a date that limits the validity of a statement."""

THE: Final = (
    "the", "our", "this", "that", "my", "your", "his", "her", "their", "last", "next", "early", "late", "mid",
    "der", "die", "das", "dem", "den", "le", "la", "les", "el",
)  # fmt: skip
GOVERNING: Final = ("of", "for", "von", "für", "de", "du", "para", "pour", "del")
"""Words that make a following noun and number a name even after the verb: the rent of flat 8."""

MARKS: Final = ("#", "№", "no.", "nr.", "nos.", "n°", "nº")
"""Marks of numbers that are names."""

PRONOUNS: Final = (
    "i", "we", "you", "he", "she", "it", "they", "there", "one", "everybody", "everyone", "somebody",
    "someone", "nobody", "who", "i'm", "we're", "it's", "ich", "wir", "er", "sie", "es", "man", "je", "nous",
    "il", "elle", "yo", "nosotros", "ella",
)  # fmt: skip
"""Pronouns that are the subject of a statement, so no number names it."""

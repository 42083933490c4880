"""Word lists for short texts: function words, placeholders, menus, licences.

They decide where a text is too short for statistics.
"""

from __future__ import annotations

from slowwave.scoring.wordlists import lines, words

ROOM = "slowwave.quality"


def folded(name: str) -> frozenset[str]:
    """Return a word list case-folded, as folded texts are (no final sigma, no sharp s)."""
    return frozenset(word.casefold() for word in words(ROOM, name))


FUNCTION_WORDS = folded("function")
LINKING_WORDS = frozenset[str]().union(*map(folded, ("before_a_value", "naming_verbs", "stating_verbs")))
"""Words that link the words of a sentence beside `FUNCTION_WORDS`: common verbs, pronouns, prepositions."""
FUNCTION_CHARACTERS = "的是了在和就都而及与着或一个没有我们你们他们这那因为所以但是如果也不之其把被"

FILLER_WORDS = folded("filler")
SOFT_WORDS = folded("soft")
"""Words that are vague next to others like them or `FILLER_WORDS`, and specific next to another word."""
FILLER_STEMS = folded("filler_stems")
FILLER_PHRASES = lines(ROOM, "filler_phrases")

LOREM_WORDS = folded("lorem")
MENU_WORDS = folded("menu")
MENU_PHRASES = frozenset(line.casefold() for line in lines(ROOM, "menu_phrases"))
LICENCE_PHRASES = lines(ROOM, "licence_phrases")
LICENCE_WORDS = folded("licence")
VOWELS = frozenset("aeiouyæøœıαεηιουωаеёиоуыэюяіїєѣў")
KEY_ROWS = (
    "qwertyuiop", "asdfghjkl", "zxcvbnm",
    "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю",
    "ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ",
    "ضصثقفغعهخحجد", "شسيبلاتنمكط", "ئءؤرلاىةوزظ",
)  # fmt: skip

"""Words that say little: what function words, placeholders, menus and licences are made of.

They help where a text is too short for statistics.
"""

from __future__ import annotations

from slowwave.scoring.lists import lines, words

_ROOM = "slowwave.quality"


def _words(name: str) -> frozenset[str]:
    """A list of words as they are in a folded text, which has neither final sigma nor sharp s."""
    return frozenset(word.casefold() for word in words(_ROOM, name))


FUNCTION_WORDS = _words("function")
FUNCTION_CHARACTERS = "的是了在和就都而及与着或一个没有我们你们他们这那因为所以但是如果也不之其把被"

FILLER_WORDS = _words("filler")
SOFT_WORDS = _words("soft")
"""Words that say little beside others of their kind and `FILLER_WORDS`, and much beside one of their own."""
FILLER_STEMS = _words("filler_stems")
FILLER_PHRASES = lines(_ROOM, "filler_phrases")

LOREM_WORDS = _words("lorem")
MENU_WORDS = _words("menu")
MENU_PHRASES = frozenset(line.casefold() for line in lines(_ROOM, "menu_phrases"))
LICENCE_PHRASES = lines(_ROOM, "licence_phrases")
LICENCE_WORDS = _words("licence")
VOWELS = frozenset("aeiouyæøœıαεηιουωаеёиоуыэюяіїєѣў")
KEY_ROWS = (
    "qwertyuiop", "asdfghjkl", "zxcvbnm",
    "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю",
    "ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ",
    "ضصثقفغعهخحجد", "شسيبلاتنمكط", "ئءؤرلاىةوزظ",
)  # fmt: skip

"""Pieces of words, which the forms of an inflected word share.

A text or a question that is not English has pieces of four letters beside its words: "Häusern" has ``^hau``,
``haus``, ``ause``, ``user`` and ``sern``, so "Haus" finds it. No list of a language's
endings is needed. The beginning of a word is marked; the end is not, because endings are what inflection
changes. McNamee, Mayfield, "Character N-Gram Tokenization for European Language Text Retrieval" (2004).
English has a stemmer and is not cut. Scripts without spaces are cut before (`words`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import filterfalse

import polars as pl

from slowwave.scoring.ranking.words import FUNCTION_ELSEWHERE, FUNCTION_WORDS, as_indexed, is_unspaced, words

SIZE = 4
"""Length of a piece (letters)."""

MARK = "\u01c0"
"""Letter at the end of each piece, and at the beginning of a word's first one.

No stemmer or list of stop words knows a word with it, and no word of a text has it.
"""

_ENGLISH_ALONE = FUNCTION_WORDS - FUNCTION_ELSEWHERE
_SIGNS_OF_ENGLISH = frozenset(word for word in _ENGLISH_ALONE if len(word) > 1 and word.isascii())
_SIGNS_ELSEWHERE = frozenset(filter(str.isascii, FUNCTION_ELSEWHERE - FUNCTION_WORDS))
_DOTLESS = str.maketrans("ı", "i")


def needs_pieces(text: str) -> bool:
    """Whether a text has more signs of another spaced language than of English.

    A sign of English is an English function word. A sign of another language is a function word of it, or a
    word with a letter outside a to z; of a script without spaces, each character is a sign against pieces. A
    word of one letter is no sign, and neither is one on both lists.
    """
    found = words(text)
    elsewhere = sum(map(_SIGNS_ELSEWHERE.__contains__, found))
    if not text.isascii():
        for word in filterfalse(str.isascii, found):
            elsewhere += -len(word) if is_unspaced(word) else len(word) > 1 and word[0].isalpha()
    return elsewhere > 0 and elsewhere > sum(map(_SIGNS_OF_ENGLISH.__contains__, found))


def pieces(text: str) -> Iterator[str]:
    """Yield the pieces of a text's words in order, in whichever language it is."""
    for word in words(text.replace("_", " ")):
        yield from word_pieces(word)


def text_with_pieces(text: str) -> str:
    """Return a text for the full-text index; one that is not English with its pieces."""
    own = as_indexed(text)
    return " ".join([own, *pieces(text)]) if needs_pieces(text) else own


@lru_cache(maxsize=65_536)
def word_pieces(word: str) -> tuple[str, ...]:
    """Return the pieces of a case-folded word.

    A short word has none, and neither has a number or a word in a script without spaces. Accents are removed:
    they move and vanish when a word is inflected.
    """
    if is_unspaced(word):
        return ()
    plain = word
    if not word.isascii():
        decomposed = unicodedata.normalize("NFKD", word).translate(_DOTLESS)
        plain = "".join(letter for letter in decomposed if _is_letter(letter))
    if len(plain) < SIZE or any(letter.isdecimal() for letter in plain):
        return ()
    marked = f"{MARK}{plain}"
    return tuple(f"{marked[at : at + SIZE]}{MARK}" for at in range(len(marked) - SIZE + 1))


@cache
def _is_letter(character: str) -> bool:
    """Whether the full-text index takes a character for a part of a word; accents and viramas are none."""
    return bool(pl.Series([character]).str.contains(r"^[\p{Alphabetic}\p{N}]$")[0])

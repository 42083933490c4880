"""Keywords by which an answer shows that it used a memory (rule 4.1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from slowwave.scoring.ranking.words import HIRAGANA, PAIRED, SPELLED, words

MORE_THAN = 4  # letters or digits

_PIECE = re.compile(f"(?P<paired>[{PAIRED}]+)|(?P<spelled>[{SPELLED}]+)|[^{PAIRED}{SPELLED}]+")
_GRAMMAR = re.compile(f"[{HIRAGANA}]+")  # endings and particles are in every Japanese text
_HANGUL = re.compile("[\uac00-\ud7a3]")


def keywords(text: str) -> frozenset[str]:
    """Return the keywords of a text: whole words with more than 4 letters or digits, case-folded.

    A Korean syllable counts as the two or three letters that it is written with. Scripts without spaces have
    n-grams instead of words:

    - Chinese and Japanese: two characters, but not two Hiragana, which are grammar;
    - Thai, Lao, Burmese and Khmer: five characters, marks included.

    Overlapping n-grams are what search engines use without a dictionary: McNamee and Mayfield, "Character
    N-Gram Tokenization for European Language Text Retrieval" (2004); two characters for Chinese: Kwok,
    "Comparing Representations in Chinese Information Retrieval" (1997).
    """
    collected: set[str] = set()
    for word in set(words(text)):
        if not word.isascii():
            collected.update(_of_pieces(word))
        elif _letters(word) > MORE_THAN:
            collected.add(word)
    return frozenset(collected)


def _of_pieces(word: str) -> Iterator[str]:
    for match in _PIECE.finditer(word):
        piece = match.group()
        if match.lastgroup == "paired":
            yield from (pair for pair in _runs(piece, 2) if not _GRAMMAR.fullmatch(pair))
        elif match.lastgroup == "spelled":
            yield from _runs(piece, MORE_THAN + 1)
        elif _letters(piece) > MORE_THAN:
            yield piece


def _runs(piece: str, length: int) -> Iterator[str]:
    return (piece[at : at + length] for at in range(len(piece) - length + 1))


def _letters(word: str) -> int:
    written = unicodedata.normalize("NFD", word) if _HANGUL.search(word) else word
    return len(written) - written.count("_")

"""The words by which a text is known again in an answer (rule 4.1), in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from scoring.ranking.words import words

MORE_THAN = 4  # letters or digits

_HIRAGANA = "\u3041-\u3096\u3099-\u309f"
_PAIRED = (  # Han, kana, Bopomofo: two characters are about a word
    f"{_HIRAGANA}\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPELLED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"  # Thai, Lao, Burmese, Khmer
_PIECE = re.compile(f"(?P<paired>[{_PAIRED}]+)|(?P<spelled>[{_SPELLED}]+)|[^{_PAIRED}{_SPELLED}]+")
_GRAMMAR = re.compile(f"[{_HIRAGANA}]+")  # endings and particles are in every Japanese text
_HANGUL = re.compile("[\uac00-\ud7a3]")


def keywords(text: str) -> frozenset[str]:
    """The distinct words of a text with more than 4 letters or digits, whole, without case and forms.

    A Korean syllable is the two or three letters that it is written with. Scripts that are written without
    spaces have no such words; there, every piece of a fixed length stands for one, wherever it begins:

    - Chinese and Japanese: two characters, but not two Hiragana, which are grammar;
    - Thai, Lao, Burmese and Khmer: five characters, marks included.

    Overlapping pieces are what search engines use where no dictionary cuts words: McNamee and Mayfield,
    "Character N-Gram Tokenization for European Language Text Retrieval" (2004); two characters for Chinese:
    Kwok, "Comparing Representations in Chinese Information Retrieval" (1997).
    """
    found: set[str] = set()
    for word in set(words(text)):
        if not word.isascii():
            found.update(_of_pieces(word))
        elif _letters(word) > MORE_THAN:
            found.add(word)
    return frozenset(found)


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

"""Tokenisation of queries, titles and texts, with stems.

Scripts without spaces are split into overlapping n-grams: two characters of Han and kana, three of the
scripts that Unicode breaks by dictionary (Thai, Lao, Khmer, Burmese, ...). An indexed text has the shorter
n-grams, too, so a query of one character finds it. Bigrams find Chinese best and trigrams Thai
(docs/benchmarks/retrieval.md). McNamee, Mayfield, "Character N-Gram Tokenization for European Language Text
Retrieval" (2004); Kwok, "Comparing Representations in Chinese Information Retrieval" (1997).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

import numpy as np
import polars as pl
from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

from slowwave.scoring.arrays import Floats
from slowwave.scoring.wordlists import words as listed

HIRAGANA = "\u3041-\u3096\u3099-\u309f"
PAIRED = (  # Han, kana, Bopomofo: two characters are about a word
    f"{HIRAGANA}\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
SPELLED = (  # of Unicode's line breaking class SA: Thai, Lao, Burmese, Khmer, Tai Le, Tai Lue, Tai Viet, Ahom
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
    "\U00011700-\U0001174f"
)
_UNSPACED = re.compile(f"(?P<paired>[{PAIRED}]+)|(?P<spelled>[{SPELLED}]+)")
_UNSPACED_CHARACTER = re.compile(f"[{PAIRED}{SPELLED}]")
"""First character of `_UNSPACED`; a search for a single class takes an eighth of the time."""
_PIECE = {"paired": 2, "spelled": 3}  # characters

_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(128)
) + bytes(128)
"""Lower case, with a space for each character outside words: of bytes, much faster than of characters."""

MAX_STEMS = 65_536
"""Maximum words with a cached stem (count)."""

_WORD = re.compile(r"\w+")
_STEMMER = SnowballStemmer("english")
FUNCTION_WORDS = frozenset(listed("slowwave.scoring", "function"))
_UNASKED = FUNCTION_WORDS - {"i", "me", "my", "myself", "we", "our", "ours", "us", "you", "your", "yours"}
_IN_QUERY = re.compile(r"(?<!\w)[^\W_]+(?:['’][^\W_]+)*(?!\w)")
FUNCTION_ELSEWHERE = frozenset(listed("slowwave.scoring", "function_elsewhere"))
"""Function words of other languages; some are English words, too."""
ALIKE = 5
"""Letters at the beginning of two forms of a word (count)."""


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, case-folded and NFKC-normalised.

    Vowel signs are part of a word.
    """
    # Titles of first words end in the first of these, and the second is between headings.
    if text.isascii() or (text := text.replace("…", " ").replace("›", " ")).isascii():
        return tuple(text.encode().translate(_ASCII_WORDS).decode().split())
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(_WORD.findall(plain) if plain.isascii() else plain.translate(_APART).split())


def asked_words(query: str) -> list[str]:
    """Return the words of a query for the full-text index, in their original case."""
    if query.isascii():
        return _WORD.findall(query)
    return as_asked(query).translate(_APART).split()


class _Separators(dict[int, int]):
    """Translation table in which a character outside words becomes a space."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        in_word = character == "_" or unicodedata.category(character)[0] in "LMN"
        self[code] = code if in_word else ord(" ")
        return self[code]


_APART = _Separators()


def as_asked(text: str) -> str:
    """Return a query for the full-text index, with n-grams for scripts without spaces."""
    return _in_pieces(text, shorter=False)


def as_indexed(text: str) -> str:
    """Return a text for the full-text index, line by line, with the shorter n-grams, too."""
    return _in_pieces(text, shorter=True)


def is_unspaced(word: str) -> bool:
    """Whether a word has a character of a script without spaces."""
    return _UNSPACED_CHARACTER.search(word) is not None


def _in_pieces(text: str, *, shorter: bool) -> str:
    if text.isascii() or not _UNSPACED_CHARACTER.search(text):
        return text
    return _UNSPACED.sub(lambda match: f" {' '.join(_pieces(match, shorter=shorter))} ", text)


def line(text: str) -> str:
    """Return the words of a text between single spaces; a run without spaces is one word."""
    if not text.isascii():
        text = _UNSPACED.sub(r" \g<0> ", text)
    return f" {' '.join(words(text))} "


def within(text: str) -> str:
    """Return a text in the form in which `line` contains it.

    In scripts without spaces it may begin anywhere.
    """
    text_line = line(text)
    return text_line[
        bool(_UNSPACED.match(text_line[1])) : len(text_line) - bool(_UNSPACED.match(text_line[-2]))
    ]


def _pieces(match: re.Match[str], *, shorter: bool) -> Iterator[str]:
    run, size = unicodedata.normalize("NFKC", match.group()), _PIECE[match.lastgroup or "paired"]
    if match.lastgroup == "spelled":
        run = "".join(character for character in run if character in _spelled_letters()) or run
    if len(run) < size:
        yield run
        return
    for length in (size, size - 1) if shorter else (size,):
        yield from (run[at : at + length] for at in range(len(run) - length + 1))


@cache
def _spelled_letters() -> frozenset[str]:
    """Return letters, digits and vowel signs of the scripts without spaces.

    A full-text index would cut a word at other signs, such as tone marks.
    """
    ranges = re.findall("(.)-(.)", SPELLED)
    every = [chr(code) for first, last in ranges for code in range(ord(first), ord(last) + 1)]
    alphabetic = pl.Series(every, dtype=pl.String).str.contains(r"^[\p{Alphabetic}\p{N}]$")
    return frozenset(character for character, is_letter in zip(every, alphabetic, strict=True) if is_letter)


@lru_cache(maxsize=MAX_STEMS)
def stem(word: str) -> str:
    """Return the English Snowball stem of a lower-case word; other scripts do not change."""
    return str(_STEMMER.stem_word(word))


def stems(text: str) -> frozenset[str]:
    """Return the distinct stems of the content words of a query or a title."""
    return _stems(as_asked(text))


def text_stems(text: str) -> frozenset[str]:
    """Return the `stems` of a text, with the shorter n-grams of scripts without spaces."""
    return _stems(as_indexed(text))


def _stems(text: str) -> frozenset[str]:
    own = set(map(_CONTENT_STEMS.__getitem__, words(text)))
    own.discard("")
    return frozenset(own)


@lru_cache(maxsize=MAX_STEMS)
def title_stems(title: str) -> frozenset[str]:
    """Return the `stems` of a title, cached."""
    return stems(title)


class _ContentStems(dict[str, str]):
    """Stems of words, computed once; empty for function words."""

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_STEMS:
            self.clear()
        own = self[word] = "" if word in FUNCTION_WORDS else stem(word)
        return own


_CONTENT_STEMS = _ContentStems()


def without_function_words(query: str) -> str:
    """Return a query for the full-text index without function words, if there are others.

    The index leaves out stop words by their stems, so that "does" and "because" are words there. Those of the
    first and second person stay, as in the index. So do contractions and, behind the beginning, words with a
    capital letter: IT, WHO, Will.
    """
    kept = _IN_QUERY.sub(lambda match: "" if _is_unasked(match) else match[0], query)
    return kept if _IN_QUERY.search(kept) else query


def _is_unasked(word: re.Match[str]) -> bool:
    is_plain = word[0][0].islower() or not (word.start() or word[0].isupper())
    return is_plain and word[0].casefold() in _UNASKED


def is_function_word(word: str) -> bool:
    """Whether a lower-case word is a function word."""
    return word in FUNCTION_WORDS


def coverage(query: frozenset[str], texts: Iterable[str]) -> list[float]:
    """Return the share of the query's stems that each text has; 0 without content words."""
    if not query:
        return [0.0 for _ in texts]
    by_text = (query.intersection(map(_CONTENT_STEMS.__getitem__, words(as_indexed(text)))) for text in texts)
    return [len(common) / len(query) for common in by_text]


def content_words(query: str) -> frozenset[str]:
    """Return the stems of a query's content words; none in Han or kana, whose bigrams overlap."""
    every = {stem for stem in stems(query) if len(stem) > 1}  # "Lena's" leaves an s
    if any(match["paired"] for match in _UNSPACED.finditer(query)):
        return frozenset()
    return frozenset(every.difference(FUNCTION_ELSEWHERE) or every)


def word_share(query: str, texts: Iterable[str]) -> float:
    """Return the share of a query's content words that texts have, in [0, 1].

    Two words that begin with the same `ALIKE` letters are forms of one, so inflection counts less. Queries
    without `content_words` have 1.

    Args:
        query: Text of the query.
        texts: Texts of one memory: title, passages, tags.
    """
    asked = content_words(query)
    if not asked:
        return 1.0
    found = frozenset[str]().union(*map(text_stems, texts))
    beginnings = {word[:ALIKE] for word in found if len(word) >= ALIKE}
    return sum(word in found or word[:ALIKE] in beginnings for word in asked) / len(asked)


def title_share(query: frozenset[str], titles: Sequence[str]) -> Floats:
    """Return the share of each title's stems that the query has, (n,); 0 without content words."""
    shares = [
        len(own & query) / len(own) if own and not own.isdisjoint(query) else 0.0
        for own in map(title_stems, titles)
    ]
    return np.array(shares, dtype=np.float64)

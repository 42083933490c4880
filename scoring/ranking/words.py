"""Words of queries, titles and texts, compared by their stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

Floats = npt.NDArray[np.float64]

_WORD = re.compile(r"\w+")
_STEMMER = SnowballStemmer("english")
_FUNCTION_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can
    could did do does doing done during each else for from further had has have having he her here hers him
    his how i if in into is it its just me mine more most my myself no nor not now of off on once only or
    other our ours out over own same shall she should so some such than that the their theirs them then there
    these they this those through to too under until up us very was we were what when where which while who
    whom whose why will with would you your yours
    """.split()
)


def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order, without case and compatibility forms; vowel signs are part of a word."""
    if text.isascii():
        return tuple(_WORD.findall(text.lower()))
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple("".join(one if _in_word(one) else " " for one in plain).split())


@lru_cache(maxsize=4_096)
def _in_word(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case word (Snowball, English); other scripts stay as they are."""
    return str(_STEMMER.stem_word(word))


def stems(text: str) -> frozenset[str]:
    """The distinct stems of a text's content words."""
    return frozenset(stem(word) for word in set(words(text)) if word not in _FUNCTION_WORDS)


@lru_cache(maxsize=65_536)
def title_stems(title: str) -> frozenset[str]:
    """`stems`, kept for titles, which come again and again."""
    return stems(title)


def is_function_word(word: str) -> bool:
    """Whether a lower-case word only holds a sentence together."""
    return word in _FUNCTION_WORDS


def coverage(query: frozenset[str], texts: Iterable[str]) -> list[float]:
    """Share of the query's stems that each text has; 0 for a query without content words."""
    if not query:
        return [0.0 for _ in texts]
    return [len(query & stems(text)) / len(query) for text in texts]


def title_share(query: frozenset[str], titles: Sequence[str]) -> Floats:
    """Share of each title's stems that the query has, (n,); 0 for a title without content words."""
    shares = np.zeros(len(titles))
    for at, title in enumerate(titles):
        said = title_stems(title)
        if said and not said.isdisjoint(query):
            shares[at] = len(said & query) / len(said)
    return shares

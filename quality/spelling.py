"""Whether letters follow each other as in words: a model of letter pairs, for texts too short for statistics.

The pairs are those of the words in `_lexicons` and `_social`, some thousands from large
languages in the Latin, Cyrillic and Greek alphabets. Letters of other scripts are not judged: there are too
few words of them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from slowwave.quality._lexicons import FILLER_WORDS, FUNCTION_WORDS, LICENCE_WORDS, LOREM_WORDS, MENU_PHRASES
from slowwave.quality._social import SOCIAL_WORDS

LEAST_PAIRS = 20
"""Pairs of letters below which nothing is said (count)."""

# The first and the last letter, and what makes a bit of it comparable: the fewer words were counted, the
# flatter the model.
_ALPHABETS = ((0x61, 0x7A, 1.0), (0x430, 0x45F, 2.0), (0x3AC, 0x3CE, 1.5))
_BEYOND = 0x460
_PRIOR = 0.5


def likeness(words: list[str]) -> float | None:
    """Mean log-odds, in bits, of the letter pairs of folded words against letters by chance.

    -1 and less for random letters, above 0 in a language; none for fewer than `LEAST_PAIRS` pairs.
    """
    places, odds = _model()
    letters = places[np.minimum(_codes(words), _BEYOND)]
    bits = odds[letters[:-1], letters[1:]]
    known = ~np.isnan(bits)
    return float(bits[known].mean()) if int(known.sum()) >= LEAST_PAIRS else None


def _codes(words: list[str]) -> npt.NDArray[np.int64]:
    text = " ".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, np.uint32).astype(np.int64)


@lru_cache(maxsize=1)
def _model() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Where each letter stands in the table (0: none that is judged), and the log-odds of each pair."""
    menu = " ".join(MENU_PHRASES).split()
    words = {*FUNCTION_WORDS, *FILLER_WORDS, *LICENCE_WORDS, *LOREM_WORDS, *SOCIAL_WORDS, *menu}
    places = np.zeros(_BEYOND + 1, np.int64)
    size = 1 + sum(last - first + 1 for first, last, _ in _ALPHABETS)
    tally, odds = np.zeros((size, size)), np.full((size, size), np.nan)
    at = 1
    for first, last, _ in _ALPHABETS:
        places[first : last + 1] = np.arange(at, at := at + last - first + 1)
    letters = places[np.minimum(_codes(sorted(words)), _BEYOND)]
    np.add.at(tally, (letters[:-1], letters[1:]), 1.0)
    for first, last, weight in _ALPHABETS:
        block = slice(places[first], places[last] + 1)
        counted = tally[block, block]
        given = (counted + _PRIOR) / (counted + _PRIOR).sum(axis=1, keepdims=True)
        odds[block, block] = weight * np.log2(given * (counted.sum(axis=0) > 0).sum())
    return places, odds

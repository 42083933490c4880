"""Letter-pair model of plausible words, for texts too short for statistics.

The model is trained on the words of `_lexicons` and `_social`, some thousands from large languages in the
Latin, Cyrillic and Greek alphabets. Other scripts are not judged: there are too few words.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from slowwave.quality._lexicons import FILLER_WORDS, FUNCTION_WORDS, LICENCE_WORDS, LOREM_WORDS, MENU_PHRASES
from slowwave.quality._social import SOCIAL_WORDS
from slowwave.quality.density.statistics import codes_of, is_ascii

MIN_PAIRS = 20
"""Minimum letter pairs for a score (count)."""

# First and last letter, and a weight that makes the alphabets comparable: fewer training words give a
# flatter model.
_ALPHABETS = ((0x61, 0x7A, 1.0), (0x430, 0x45F, 2.0), (0x3AC, 0x3CE, 1.5))
_BEYOND = 0x460
_PRIOR = 0.5


def likeness(words: list[str]) -> float | None:
    """Return the mean log-odds (bits) of letter pairs against chance.

    It is -1 and less for random letters, above 0 in a language; None for fewer than `MIN_PAIRS` pairs.
    """
    places, odds = _model()
    codes = codes_of(" ".join(words))
    letters = places[codes if is_ascii(codes) else np.minimum(codes, _BEYOND)]
    bits = odds.ravel()[letters[:-1] * len(odds) + letters[1:]]
    judged = bits[~np.isnan(bits)]
    return float(judged.mean()) if len(judged) >= MIN_PAIRS else None


@lru_cache(maxsize=1)
def _model() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the place of each letter (0: not judged), and the log-odds of each pair."""
    menu = " ".join(MENU_PHRASES).split()
    words = {*FUNCTION_WORDS, *FILLER_WORDS, *LICENCE_WORDS, *LOREM_WORDS, *SOCIAL_WORDS, *menu}
    places = np.zeros(_BEYOND + 1, np.int64)
    size = 1 + sum(last - first + 1 for first, last, _ in _ALPHABETS)
    tally, odds = np.zeros((size, size)), np.full((size, size), np.nan)
    at = 1
    for first, last, _ in _ALPHABETS:
        places[first : last + 1] = np.arange(at, at := at + last - first + 1)
    letters = places[np.minimum(codes_of(" ".join(sorted(words))), _BEYOND)]
    np.add.at(tally, (letters[:-1], letters[1:]), 1.0)
    for first, last, weight in _ALPHABETS:
        block = slice(places[first], places[last] + 1)
        counted = tally[block, block]
        conditional = (counted + _PRIOR) / (counted + _PRIOR).sum(axis=1, keepdims=True)
        odds[block, block] = weight * np.log2(conditional * (counted.sum(axis=0) > 0).sum())
    return places, odds

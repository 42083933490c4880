"""Word statistics of a text: spelling, syntax, filler."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from slowwave.quality._lexicons import (
    FILLER_STEMS,
    FILLER_WORDS,
    FUNCTION_CHARACTERS,
    FUNCTION_WORDS,
    KEY_ROWS,
    LICENCE_WORDS,
    LOREM_WORDS,
    SOFT_WORDS,
    VOWELS,
)
from slowwave.quality.density.letter_pairs import likeness
from slowwave.quality.density.remembered import RememberedWords
from slowwave.quality.density.statistics import (
    HANGUL,
    IDEOGRAPHS,
    Array,
    Tally,
    falling,
    is_ascii,
    rising,
    share_between,
    sums_between,
    tally_of,
    unevenness_of,
)
from slowwave.quality.density.telegraphic import linked_share
from slowwave.quality.density.text_counts import KeyboardPairs, Kinds, TextCounts

_FUNCTION, _LOREM, _VAGUE, _SOFT, _LEGAL, _SHAPED, _ODD, _CLUSTERED = (1 << bit for bit in range(8))


def kinds_of(words: list[str]) -> Kinds:
    """Count the words of each kind."""
    kinds = bytes(map(_KIND_OF, words))
    return Kinds(len(words), *[kinds.translate(has_bit).count(1) for has_bit in _BITS])


_BITS = [bytes(kinds >> bit & 1 for kinds in range(1 << 8)) for bit in range(8)]
"""For each bit, whether each of all kinds has it."""


def _find_kinds(word: str) -> int:
    """Return the kinds of a word as bits."""
    kinds = _shape(word) if len(word) >= 4 else 0
    if word in FUNCTION_WORDS:
        kinds |= _FUNCTION
    elif word in FILLER_WORDS or word[:5] in FILLER_STEMS:
        kinds |= _VAGUE
    elif word in SOFT_WORDS:
        kinds |= _SOFT
    if word in LOREM_WORDS:
        kinds |= _LOREM
    return kinds | _LEGAL if word in LICENCE_WORDS else kinds


_KIND_OF = RememberedWords(_find_kinds).__getitem__


def _shape(word: str) -> int:
    """Return the shape bits of a longer word: whether it is pronounceable.

    Only in alphabets that write vowels.
    """
    if word.isascii():
        shape = word.encode().translate(_ASCII_SHAPES).decode()
    elif not (shape := word.translate(_SHAPES)).isascii():
        return 0
    odd = "ccccc" in shape or "vvvvv" in shape or "v" not in shape
    return _SHAPED | (_ODD if odd else 0) | (_CLUSTERED if "cccc" in shape else 0)


def breadth_of(shingles: int, words: list[str]) -> float:
    """Score the amount of distinct content in a text: distinct shingles (count) and content words."""
    if shingles <= _FEW_SHINGLES:
        return 0.0
    distinct = set(words)
    content = sum(len(word) > 1 and not _KIND_OF(word) & (_FUNCTION | _VAGUE | _LOREM) for word in distinct)
    if content < _FEW_WORDS:
        return 0.0
    return rising(shingles, _FEW_SHINGLES, 1800) * rising(content, _FEW_WORDS, 45)


_FEW_SHINGLES = 900
_FEW_WORDS = 25


_FEWEST_REPEATED = 8


_STRUCTURED = re.compile(r"[\d:`\[\]{}$<>|=/_#*-]")


REPEATED_SHARE = 0.45
"""Minimum share of distinct words in a short text that does not repeat itself (share)."""


def vocabulary_of(folded: str, words: list[str], letters: Array, unspaced: bool) -> float:
    """Score the vocabulary by Herdan's C and zlib compression.

    Herdan's C is the log of distinct over the log of all words; of letter pairs in unspaced scripts.
    """
    units: list[str] | list[int] = words
    low, high = 0.7, 0.78
    if unspaced:
        units = (letters[:-1] * 0x110000 + letters[1:]).tolist()
        low, high = 0.75, 0.84
    richness = log(len(set(units))) / log(len(units)) if len(units) >= 30 else 1.0
    if _FEWEST_REPEATED <= len(units) < 30 and len(set(units)) < REPEATED_SHARE * len(units):
        richness = 1.0 if unspaced or _STRUCTURED.search(folded) else 0.0
    return rising(richness, low, high) * _packing_of(folded)


def _packing_of(folded: str) -> float:
    """Score the compressed size of a text, in [0, 1]."""
    size = len(folded)
    if size < 400:  # the zlib ratio falls with the length of a text; here it shows little
        return 1.0
    packed = len(zlib.compress(folded[:8000].encode("utf-8", "surrogatepass"), 1)) / min(size, 8000)
    return rising(packed / (0.1 + 1.5 / sqrt(size)), 0.75, 1.25)


def spelling_of(counts: TextCounts) -> float:
    """Score plausible spelling: 1, less for random letters and keyboard runs."""
    letters, solid = counts.letters, counts.solid
    if len(letters) < 0.3 * len(solid):
        # Tables of numbers are content, rows of symbols are not.
        alphanumeric = (len(letters) + share_between(solid, (48, 57)) * len(solid)) / len(solid)
        return rising(alphanumeric, 0.15, 0.4)
    size = len(letters)
    if counts.ascii is None and share_between(letters, IDEOGRAPHS, HANGUL) > 0.75:
        return _characters(letters)
    if counts.unspaced:
        return 1.0
    natural = _frequencies(counts) * _speakable(counts.kinds)
    if size <= _FEW_LETTERS and (alike := likeness(counts.words)) is not None:
        # Pairs tell more of a short text than frequencies and vowels, in the alphabets that have a model.
        natural = max(natural, rising(alike, *_PAIRS_OF_WORDS)) * rising(alike, *_PAIRS_OF_CHANCE)
    return natural * _keyed(counts.keys)


def _characters(letters: Array) -> float:
    """Score plausible ideographs or syllables: they repeat with length, in a real text sooner."""
    size = len(letters)
    return (
        rising(unevenness_of(tally_of(letters)), 0.06 + size / 5000, 0.2 + size / 2500) if size >= 40 else 1.0
    )


def _frequencies(counts: TextCounts) -> float:
    """Score letter frequencies as in a language, of several alphabets each by itself.

    Those of two alphabets together are as even as in random letters.
    """
    if counts.ascii is not None:
        return min(_natural(counts.ascii.letters), _natural(counts.ascii.solid))
    letters = counts.letters
    if letters.max(initial=0) < _BEYOND_LATIN:
        return min(_natural(tally_of(letters)), _natural(tally_of(counts.solid)))
    alphabets = _ALPHABETS[np.minimum(letters >> 8, _SYLLABLES)]
    present = np.flatnonzero(np.bincount(alphabets))
    if len(present) == 1:
        return min(_natural(tally_of(letters)), _natural(tally_of(counts.solid)))
    apart = ((alphabet, letters[alphabets == alphabet]) for alphabet in present)
    return min(
        _characters(own) if alphabet == _SYLLABLES else _natural(tally_of(own)) for alphabet, own in apart
    )


_BEYOND_LATIN = 0x300
_SYLLABLES = 0x30
_ALPHABETS = np.arange(_SYLLABLES + 1)
"""Alphabet of each block of 256 code points; the last is that of all characters beyond."""
_ALPHABETS[[0x01, 0x02, 0x1E]] = 0
_ALPHABETS[0x1F] = 0x03


_FEW_LETTERS = 400
"""Maximum letters of a text that is judged by its letter pairs (count)."""
_PAIRS_OF_CHANCE = (-1.0, -0.7)
"""Log-odds of letter pairs of random letters, and from which they may be words (bits)."""
_PAIRS_OF_WORDS = (-0.45, -0.15)
"""Log-odds of letter pairs between which they come to outweigh the rest (bits)."""


def _natural(tally: Tally) -> float:
    # The bound depends on the length: measured on real texts of 50 to 10,000 characters. A few letters
    # hardly repeat in any language, so they show nothing.
    weight = rising(tally.total, *_LETTERS_THAT_TELL)
    if not weight:
        return 1.0
    high = 1.45 - 38 / max(tally.total, 30)
    return 1.0 - weight * (1.0 - rising(unevenness_of(tally), high - 0.2, high))


_LETTERS_THAT_TELL = (20, 50)
"""Letters and digits up to which their frequencies have no weight, and from which they have full weight."""


def key_steps(codes: Array, ends: Sequence[int]) -> Iterator[KeyboardPairs]:
    """Count the pairs of keyboard keys in each text.

    Args:
        codes: letters of all texts.
        ends: place of each text's first letter, and the end.
    """
    table = _key_table()
    places = table[codes if is_ascii(codes) else np.minimum(codes, len(table) - 1)]
    is_key = places > 0
    pairs = is_key[:-1] & is_key[1:]
    if len(ends) > 2:
        pairs[[end - 1 for end in ends if 0 < end < len(codes)]] = False  # letters of two texts
    steps = np.abs(places[1:] - places[:-1])
    ends = [min(end, len(pairs)) for end in ends]
    chosen = (pairs, pairs & (steps == 1), pairs & (steps < 20))
    return map(KeyboardPairs, *(sums_between(flags, ends) for flags in chosen))


def _keyed(keys: KeyboardPairs) -> float:
    """Score the absence of keyboard runs.

    It is the share of neighbouring letters that are neighbouring keys.
    """
    if keys.pairs < 20:
        return 1.0
    return falling(keys.next / keys.pairs, 0.28, 0.42) * falling(keys.near / keys.pairs, 0.68, 0.85)


@lru_cache(maxsize=1)
def _key_table() -> npt.NDArray[np.int16]:
    table = np.zeros(0x700, np.int16)
    for row, keys in enumerate(KEY_ROWS):
        for column, key in enumerate(keys):
            if not table[ord(key)]:
                table[ord(key)] = 100 * (row + 1) + column
    return table


def _speakable(kinds: Kinds) -> float:
    """Score pronounceable longer words, in alphabets that write vowels."""
    if kinds.shaped < 5:
        return 1.0
    return falling((kinds.odd + kinds.clustered) / 2 / kinds.shaped, 0.14, 0.3)


def _shapes() -> dict[int, str]:
    """Map letters of the Latin, Greek and Cyrillic alphabets to c or v."""
    table = {}
    for code in (*range(0x61, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x2000)):
        letter = chr(code)
        if letter.isalpha():
            table[code] = "v" if unicodedata.normalize("NFD", letter)[0] in VOWELS else "c"
    return table


_SHAPES = _shapes()
_ASCII_SHAPES = bytes(ord(_SHAPES.get(code, chr(code))) for code in range(1 << 7)) + bytes(1 << 7)


def syntax_of(counts: TextCounts) -> float:
    """Score syntax: share of function words and variation of word lengths.

    Function words alone and content words alone score low, unless the text consists of telegraphic facts.
    """
    letters, words, kinds = counts.letters, len(counts.words), counts.kinds
    if len(letters) < 40:
        return 1.0
    if counts.unspaced:
        function = sum(map(counts.folded.count, _FUNCTION_CHARACTERS)) / len(letters)
        grammar = share_between(letters, (0x3041, 0x309F)) + function
        return falling(grammar, 0.78, 0.92)
    if words < 15:
        return 1.0
    # The coefficient of variation, from whole numbers.
    spread = sqrt(words * counts.squares - counts.lengths * counts.lengths) / counts.lengths
    function = kinds.function / kinds.total
    varied = rising(spread, 0.25, 0.36)
    linked = rising(function, 0.04, 0.16)
    if words > 60 or (counts.ascii is None and share_between(letters, *_LISTED_SCRIPTS) < 0.5):
        # In a longer text, or a script without a word list, word lengths decide.
        linked = max(linked, rising(spread, 0.34, 0.46))
    # Lists and code have numbers, marks and links instead of function words.
    size = len(counts.solid)
    sentence_marks = counts.ascii.marks if counts.ascii else sum(map(counts.folded.count, SENTENCE_MARKS))
    marked = rising((size - len(letters) - sentence_marks) / size, 0.05, 0.15)
    alone = falling(function, 0.7, 0.84)
    syntax = min(1.0, 0.9 * max(linked, marked) + 0.25 * varied)
    return alone * (
        syntax if syntax == 1.0 else max(syntax, rising(linked_share(counts.seen), *_TELEGRAPHIC))
    )


_LISTED_SCRIPTS = ((0x21, 0x2AF), (0x370, 0x52F), (0x600, 0x6FF))


_TELEGRAPHIC = (0.2, 0.5)
"""Share of words in linked sentences up to which it has no weight, and from which it is enough."""


SENTENCE_MARKS = ".,!?;:'\"…،؟。、"
"""Marks of sentences, which are no sign of a list or code."""


_FUNCTION_CHARACTERS = frozenset(FUNCTION_CHARACTERS)


ONE_IN_FEW = 1.0


def order_of(kinds: Kinds) -> float:
    """Score a short text of function words without content words.

    It covers texts too short for `syntax_of`. Content words alone are fine: terse notes and lists consist of
    them.
    """
    if not _FEWEST_WORDS <= kinds.total < _MANY_WORDS:
        return 1.0
    return falling(kinds.function / kinds.total, 0.88, 0.95)


_FEWEST_WORDS, _MANY_WORDS = 8, 15

"""Counts of a batch of texts, which the parts of their density are made of.

Numbers of characters and words are counted for the whole batch at once: a call of NumPy for one short text
takes longer than its work.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from operator import mul

import numpy as np
import numpy.typing as npt

from slowwave.quality.density.statistics import (
    Array,
    Tally,
    codes_of,
    count_distinct,
    inspected,
    is_unspaced,
    shingles_of,
    sums_between,
)
from slowwave.quality.density.text_counts import AsciiCounts, TextCounts
from slowwave.quality.density.words import SENTENCE_MARKS, key_steps, kinds_of

BLOCK = 64
"""Texts that are counted at once (count): so many stay in the cache of a CPU."""

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e][^\W\d_]*)*")
_NO_ASCII_WORD = {code: " " for code in range(128) if not (97 <= code <= 122 or code == 39)}
_ASCII_MARKS = [ord(mark) for mark in SENTENCE_MARKS if mark.isascii()]
_ASCII_LETTERS = slice(ord("a"), ord("z") + 1)
_ASCII_DIGITS = slice(ord("0"), ord("9") + 1)
_SHINGLE = 16


def counts_of(texts: Sequence[str]) -> Iterator[TextCounts]:
    """Count in texts, in order; `shingles` is 0 in one of spaces only."""
    for start in range(0, len(texts), BLOCK):
        yield from count_block(texts[start : start + BLOCK])


def count_block(texts: Sequence[str]) -> list[TextCounts]:
    """Count in a few texts at once."""
    seen = [inspected(text) for text in texts]
    folded = [unicodedata.normalize("NFC", text).casefold() for text in seen]
    tokens = [text.split() for text in folded]
    are_ascii = [text.isascii() for text in folded]
    words = [
        _ascii_words(text) if is_ascii else _WORD.findall(text)
        for text, is_ascii in zip(folded, are_ascii, strict=True)
    ]
    letters = _Codes("".join(own) for own in words)
    solid = _Codes("".join(own) for own in tokens)
    sizes = np.fromiter(map(len, chain.from_iterable(words)), np.int64)
    ends = list(accumulate(map(len, words), initial=0))
    columns = zip(
        seen,
        folded,
        tokens,
        words,
        letters.each,
        solid.each,
        _ascii_counts(are_ascii, letters, solid),
        [not plain and is_unspaced(own) for plain, own in zip(are_ascii, letters.each, strict=True)],
        map(kinds_of, words),
        sums_between(sizes, ends),
        sums_between(sizes * sizes, ends),
        *_shingles([" ".join(own) for own in tokens]),
        key_steps(letters.joined, letters.ends),
        strict=True,
    )
    return [TextCounts(*row) for row in columns]


def _ascii_words(folded: str) -> list[str]:
    """Return what `_WORD` finds in a folded ASCII text, in a quarter of the time."""
    letters = folded.translate(_NO_ASCII_WORD)
    words = letters.split()
    quoted = " '" in letters or letters.startswith("'")
    return [word for word in (word.lstrip("'") for word in words) if word] if quoted else words


class _Codes:
    """Code points of several texts.

    Attributes:
        joined: of all.
        ends: place of each text's first one, and the end.
        each: of each text.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        every = list(texts)
        self.joined = codes_of("".join(every))
        self.ends = list(accumulate(map(len, every), initial=0))
        alone = len(every) == 1
        self.each = [self.joined] if alone else [self.joined[a:b] for a, b in pairwise(self.ends)]


def _ascii_counts(are_ascii: Sequence[bool], letters: _Codes, solid: _Codes) -> list[AsciiCounts | None]:
    """Count in the ASCII texts."""
    which = [at for at, is_ascii in enumerate(are_ascii) if is_ascii]
    counts: list[AsciiCounts | None] = [None] * len(are_ascii)
    if not which:
        return counts
    own = [solid.each[at] for at in which]
    codes = solid.joined if len(own) == len(are_ascii) else np.concatenate(own).astype(np.int64)
    if len(own) == 1:
        counts[which[0]] = _ascii_counts_of(len(letters.each[which[0]]), codes)
        return counts
    row = np.repeat(np.arange(len(own), dtype=np.int64) << 7, [len(part) for part in own])
    tallies = np.bincount(row + codes, minlength=len(own) << 7).reshape(len(own), 1 << 7)
    sizes = np.array([len(letters.each[at]) for at in which])
    of_words = tallies[:, _ASCII_LETTERS]
    quotes = sizes - of_words.sum(axis=1)  # what else a word has
    rows = zip(
        map(Tally, sizes.tolist(), *_evenness(np.column_stack([of_words, quotes]))),
        map(Tally, map(len, own), *_evenness(tallies)),
        tallies[:, _ASCII_MARKS].sum(axis=1).tolist(),
        tallies[:, _ASCII_DIGITS].sum(axis=1).tolist(),
        strict=True,
    )
    for at, row_of_text in zip(which, rows, strict=True):
        counts[at] = AsciiCounts(*row_of_text)
    return counts


def _ascii_counts_of(size: int, solid: Array) -> AsciiCounts:
    """Count in one ASCII text.

    Args:
        size: Letters of its words.
        solid: Its code points without spaces.
    """
    tally = np.bincount(solid, minlength=1 << 7).tolist()
    of_words = tally[_ASCII_LETTERS]
    of_words.append(size - sum(of_words))
    return AsciiCounts(
        Tally(size, *_evenness_of(of_words)),
        Tally(len(solid), *_evenness_of(tally)),
        sum([tally[mark] for mark in _ASCII_MARKS]),
        sum(tally[_ASCII_DIGITS]),
    )


def _evenness_of(tally: list[int]) -> tuple[int, int]:
    return sum(map(mul, tally, tally)), len(tally) - tally.count(0)


def _evenness(tallies: npt.NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return the sum of squares of each row, and its count of values above 0."""
    return np.einsum("ij,ij->i", tallies, tallies).tolist(), np.count_nonzero(tallies, axis=1).tolist()


def _shingles(texts: list[str]) -> tuple[list[int], list[int]]:
    """Count the shingles of each text, and the distinct ones."""
    ends = list(accumulate(map(len, texts), initial=0))
    hashes = shingles_of("".join(texts))
    if len(texts) == 1:
        return [len(hashes)], [count_distinct(hashes) if texts[0] else 0]
    counts, distinct = [], []
    for text, (start, end) in zip(texts, pairwise(ends), strict=True):
        long = end - start >= _SHINGLE
        own = hashes[start : end - _SHINGLE + 1] if long else shingles_of(text)
        counts.append(len(own))
        distinct.append(count_distinct(own) if text else 0)
    return counts, distinct

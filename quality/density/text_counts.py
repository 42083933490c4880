"""Records of the counts in one text, for the parts of its density."""

from __future__ import annotations

from typing import NamedTuple

from slowwave.quality.density.statistics import Array, Tally


class Kinds(NamedTuple):
    """Counts of words by kind, and in total."""

    total: int
    function: int
    lorem: int
    vague: int
    soft: int
    legal: int
    shaped: int
    odd: int
    clustered: int


class KeyboardPairs(NamedTuple):
    """Neighbouring letters that are both on a keyboard: all, next and near keys."""

    pairs: int
    next: int
    near: int


class AsciiCounts(NamedTuple):
    """Counts of a text that is ASCII only.

    Attributes:
        letters: of the words.
        solid: of the text without spaces.
        marks: marks of sentences.
        digits: digits.
    """

    letters: Tally
    solid: Tally
    marks: int
    digits: int


class TextCounts(NamedTuple):
    """Counts of a text, and what they are counted in.

    Attributes:
        seen: inspected part of the text.
        folded: the same, normalised and case-folded.
        tokens: its parts between spaces.
        words: its words.
        letters: code points of the words.
        solid: code points of the tokens.
        ascii: further counts of an ASCII text, else None.
        unspaced: whether its script has no spaces between words.
        kinds: words by kind.
        lengths: sum of the lengths of words.
        squares: sum of the squares of the lengths of words.
        shingles: runs of 16 characters.
        distinct: distinct ones among them.
        keys: pairs of neighbouring letters on a keyboard.
    """

    seen: str
    folded: str
    tokens: list[str]
    words: list[str]
    letters: Array
    solid: Array
    ascii: AsciiCounts | None
    unspaced: bool
    kinds: Kinds
    lengths: int
    squares: int
    shingles: int
    distinct: int
    keys: KeyboardPairs

"""Text statistics for every writing system: repetition and vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

INSPECTED = 6_000
"""Characters that are inspected; of a longer text its beginning, middle and end, a third each."""


_STOPS = ".!?\u061f\u06d4\u0964\u3002\uff01\uff1f"


IDEOGRAPHS = (0x3400, 0x9FFF)


HANGUL = (0xAC00, 0xD7A3)


_LAST_ASCII = 127


_KANA = (0x3041, 0x30FF)


_SOUTH_EAST_ASIA = (0x0E00, 0x0EFF)


Array = npt.NDArray[np.int64] | npt.NDArray[np.uint8]
"""Code points of a text; one byte each if it is ASCII."""


def inspected(text: str) -> str:
    """Return the inspected part of a text."""
    if len(text) <= INSPECTED:
        return text
    third = INSPECTED // 3
    middle = (len(text) - third) // 2
    return "\n".join((text[:third], text[middle : middle + third], text[-third:]))


def codes_of(text: str) -> Array:
    """Return the code points of a text; lone surrogates are allowed."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)


def is_ascii(codes: Array) -> bool:
    """Whether code points are of an ASCII text, as `codes_of` returns them."""
    return codes.dtype == np.uint8


def rising(value: float, low: float, high: float) -> float:
    """Interpolate from 0 at `low` to 1 at `high`, clamped."""
    return 0.0 if value <= low else 1.0 if value >= high else (value - low) / (high - low)


def falling(value: float, low: float, high: float) -> float:
    """Interpolate from 1 at `low` to 0 at `high`, clamped."""
    return 1.0 - rising(value, low, high)


def share_between(codes: Array, *ranges: tuple[int, int]) -> float:
    """Return the share of the characters in any of some ranges."""
    if len(codes) == 0:
        return 0.0
    highest = _LAST_ASCII if is_ascii(codes) else int(codes.max())
    between = ((codes >= low) & (codes <= min(high, highest)) for low, high in ranges if low <= highest)
    return sum(int(np.count_nonzero(inside)) for inside in between) / len(codes)


def is_unspaced(letters: Array) -> bool:
    """Whether the text is in a script without spaces between words."""
    return share_between(letters, IDEOGRAPHS, _KANA, _SOUTH_EAST_ASIA) > 0.4


def novelty_of(folded: str, distinct: float) -> float:
    """Score novelty: share of distinct 16-character shingles, and distinct sentences.

    Sentences are weighted by length.
    """
    cut = folded
    for stop in _STOPS:
        cut = cut.replace(stop, "\n")  # of one that is not there, next to nothing
    sentences = [part for sentence in cut.split("\n") if len(part := sentence.strip()) >= 8]
    sentence_length = sum(map(len, sentences))
    new = sum(map(len, set(sentences))) / sentence_length if sentence_length else 1.0
    return rising(distinct, 0.42, 0.62) * rising(new, 0.45, 0.65)


def shingles_of(text: str) -> npt.NDArray[np.uint64]:
    """Return a hash of every run of 16 characters."""
    hashed = codes_of(text).astype(np.uint64)
    for width, factor in _SHINGLES:
        if len(hashed) <= width:
            break
        hashed = hashed[:-width] * factor + hashed[width:]
    return hashed


# A polynomial over 16 characters, doubled in length four times.
_SHINGLES = [(width, np.uint64(pow(0x9E3779B97F4A7C15, width, 1 << 64))) for width in (1, 2, 4, 8)]


def count_distinct(values: npt.NDArray[np.uint64]) -> int:
    """Count the distinct values."""
    ordered = np.sort(values)
    return 1 + int((ordered[1:] != ordered[:-1]).sum())


class Tally(NamedTuple):
    """Counts of the characters of a text: all, their squares by character, and distinct ones."""

    total: int
    squares: int
    distinct: int


def tally_of(codes: Array) -> Tally:
    """Count the characters of a text."""
    tally = np.bincount(codes)
    return Tally(len(codes), int(tally @ tally), int(np.count_nonzero(tally)))


def sums_between(values: npt.NDArray[Any], ends: Sequence[int]) -> list[int]:
    """Sum whole numbers, or count flags, between neighbouring ends; the first end is 0."""
    if len(ends) == 2:
        return [int(np.count_nonzero(values) if values.dtype == np.bool_ else values.sum())]
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    differences: list[int] = np.diff(sums[np.asarray(ends)]).tolist()
    return differences


def unevenness_of(tally: Tally) -> float:
    """Return the index of coincidence times the alphabet size.

    It is 1 for random letters, 1.4 to 2 in a language.
    """
    total = tally.total
    if total < 2:
        return 1.0
    return (tally.squares - total) / (total * (total - 1)) * tally.distinct

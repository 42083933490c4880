"""Detection of moved notes: pairs a place that a text left with the place where it appeared.

Pure and deterministic: the same files give the same pairs in whatever order they are listed. A pair is
one-to-one. Equal texts come first, then texts that were edited on the way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

SAME_NOTE: Final = 0.5
"""Share of common pairs of words from which two texts are versions of one note (Dice coefficient, 0 to 1).

Single words do not tell two notes apart that were written after one template.
"""
MAX_COMPARED: Final = 200_000
"""Pairs of edited texts that are compared (count); of more, only those with the same file name are."""

_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Located:
    """Text at a place.

    Attributes:
        name: Subject of a known note, or the place of a new one.
        place: Path with the vault's name.
        content_hash: Of the normalised text; empty if unknown.
        words: Counts of its pairs of words; needed for edited texts only.
    """

    name: str
    place: str
    content_hash: str = ""
    words: Mapping[tuple[str, str], int] | None = None


def word_pairs(text: str) -> Counter[tuple[str, str]]:
    """Count the pairs of adjacent words and marks of a text, without case; the first has no predecessor."""
    return Counter(pairwise(["", *_WORD.findall(text.casefold())]))


def similarity(first: Mapping[tuple[str, str], int], second: Mapping[tuple[str, str], int]) -> float:
    """Return the Dice coefficient of two bags of pairs: 1 for equal ones, 0 without a common pair."""
    total = sum(first.values()) + sum(second.values())
    if not total:
        return 0.0
    return 2 * sum(min(count, second.get(pair, 0)) for pair, count in first.items()) / total


def pair_equal(left: Iterable[Located], appeared: Iterable[Located]) -> dict[str, str]:
    """Pair places with equal texts; of several, the nearest places.

    Args:
        left: Texts that are no longer at their place.
        appeared: Texts that are new at theirs.

    Returns:
        Name of the known note by the place where its text appeared.
    """
    by_hash = defaultdict(list)
    for new in appeared:
        by_hash[new.content_hash].append(new)
    ranked = [
        (_distance(old.place, new.place), old.name, new.place)
        for old in left
        if old.content_hash
        for new in by_hash.get(old.content_hash, ())
    ]
    return _one_to_one(ranked)


def pair_edited(left: Collection[Located], appeared: Collection[Located]) -> dict[str, str]:
    """Pair places with similar texts, the most similar first; see `pair_equal`.

    A file at its place, or whose name only changed its case, is the same note if no text is nearer.
    """
    few = len(left) * len(appeared) <= MAX_COMPARED
    ranked = []
    for old in left:
        for new in appeared:
            distance = _distance(old.place, new.place)
            if (few or not distance[1]) and old.words is not None and new.words is not None:
                share = similarity(old.words, new.words)
                if share >= SAME_NOTE or not distance[0]:
                    ranked.append(((-share, *distance), old.name, new.place))
    return _one_to_one(ranked)


def _distance(first: str, second: str) -> tuple[int, int, int]:
    """Return how far two places are apart: another path, another file name, then folders that differ."""
    parts = [PurePosixPath(place.casefold()).parts for place in (first, second)]
    ends = zip(reversed(parts[0]), reversed(parts[1]), strict=False)
    common = next((at for at, (one, other) in enumerate(ends) if one != other), min(map(len, parts)))
    return int(parts[0] != parts[1]), int(parts[0][-1:] != parts[1][-1:]), -common


def _one_to_one(ranked: Sequence[tuple[tuple[float, ...], str, str]]) -> dict[str, str]:
    """Take pairs in order; each name and each place is in one pair at most."""
    pairs: dict[str, str] = {}
    taken = set[str]()
    for _, name, place in sorted(ranked):
        if name not in taken and place not in pairs:
            pairs[place] = name
            taken.add(name)
    return pairs

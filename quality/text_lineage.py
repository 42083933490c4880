"""Which versions of a memory's text say the same: what was earned belongs to a text (rule 7.6).

A *tenure* is all versions that say the same as one another, in a row or with others between: an old text that
comes back goes on with the tenure that it had. A later version never changes the tenure of an earlier one, so
a past day can be worked on at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.quality.divergence.difference import Difference
    from slowwave.quality.divergence.guard import DivergenceGuard
    from slowwave.quality.divergence.note import ComparedNote

MAX_REVISIONS_BACK = 8
"""Tenures, the newest, that the guard compares a new text with (count); an older text is only known again
word for word. A note that says something else every day must not cost more each time."""

Similarity = Callable[[str, str], float]
Lexicon = Callable[[str], bool]
_TYPO_FROM = 4  # letters; of shorter words most neighbours are words


def lineages(
    texts: Sequence[ComparedNote], similarity: Similarity, is_word: Lexicon, merge: float
) -> list[int]:
    """The tenure of each version of a memory's text, named by the place of its first version.

    A version says the same as the last one of a tenure if the divergence guard finds no difference but in
    spelling, and the cosine is not below the merge threshold. The tenure of the version before it is asked
    first.

    Args:
        texts: (n,) versions in the order in which they were written.
        similarity: cosine of two contents; asked only where the guard finds nothing.
        is_word: whether a lower-case word is a word; asked only of two that are a slip of the pen apart.
        merge: cosine from which texts are merged (rule 2.1).

    Returns:
        (n,) places, the first of which is 0.
    """
    from slowwave.quality.divergence.guard import DivergenceGuard

    guard, found = DivergenceGuard(), list[int]()
    last: dict[int, ComparedNote] = {}  # of each tenure, the one spoken last at the end
    word_for_word: dict[tuple[str, str], int] = {}
    for place, text in enumerate(texts):
        key = text.title.strip(), " ".join(text.content.split())
        tenure = word_for_word.get(key)
        if tenure is None:
            near = list(reversed(last.items()))[:MAX_REVISIONS_BACK]
            tenure = next(
                (one for one, old in near if _same(guard, text, old, similarity, is_word, merge)), place
            )
        word_for_word.setdefault(key, tenure)
        last.pop(tenure, None)
        last[tenure] = text
        found.append(tenure)
    return found


def _same(
    guard: DivergenceGuard,
    new: ComparedNote,
    old: ComparedNote,
    similarity: Similarity,
    is_word: Lexicon,
    merge: float,
) -> bool:
    differences, _ = guard.compare(new, old)
    if not all(_is_spelling(one, is_word) for one in differences):
        return False
    return similarity(new.content, old.content) >= merge


def _is_spelling(one: Difference, is_word: Lexicon) -> bool:
    """Whether nothing but slips of the pen were corrected, or made.

    Of two words that are one slip apart, exactly one is a word: "ofice" is "office", while "block" is not
    "black". What is written with capitals or digits is a name or a value, and never a slip.
    """
    if one.kind != "word" or len(one.left) != len(one.right):
        return False
    return all(
        _slip(left, right) and is_word(left) != is_word(right)
        for left, right in zip(sorted(one.left), sorted(one.right), strict=True)
    )


def _slip(one: str, other: str) -> bool:
    """One letter too many, too few, another one, or two neighbours exchanged (Damerau, 1964)."""
    both = one + other
    if min(len(one), len(other)) < _TYPO_FROM or not both.isalpha() or both != both.lower():
        return False
    pairs = enumerate(zip(one, other, strict=False))
    at = next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
    first, second = one[at:], other[at:]
    return one != other and (
        first[1:] == second[1:]
        or first[1:] == second
        or first == second[1:]
        or (first[:2] == second[1::-1] and first[2:] == second[2:])
    )

"""Text lineage: which revisions of a memory are equivalent (rule 7.6).

A *tenure* is a set of equivalent versions, consecutive or not: an old text that returns continues its tenure.
A later version never changes the tenure of an earlier one, so past days can be recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.quality.divergence.difference import Difference
    from slowwave.quality.divergence.guard import DivergenceGuard
    from slowwave.quality.divergence.note import ComparedNote

MAX_REVISIONS_BACK = 8
"""Maximum tenures, the newest, that the guard compares a new text with (count). Older ones only match
verbatim. So a note that changes every day does not cost more each time."""

Similarity = Callable[[str, str], float]
Lexicon = Callable[[str], bool]
_TYPO_FROM = 4  # minimum letters; most neighbours of shorter words are words


def lineages(
    texts: Sequence[ComparedNote], similarity: Similarity, is_word: Lexicon, merge: float
) -> list[int]:
    """Return the tenure of each version, named by the place of its first version.

    A version joins a tenure if the divergence guard finds only spelling differences to its last version, and
    the cosine is not below the merge threshold. The tenure of the previous version is checked first.

    Args:
        texts: (n,) versions in order of writing.
        similarity: cosine of two contents; called only if the guard finds no difference.
        is_word: whether a lower-case string is a word; called only for a possible typo.
        merge: minimum cosine (rule 2.1).

    Returns:
        (n,) places, the first of which is 0.
    """
    from slowwave.quality.divergence.guard import DivergenceGuard

    guard, tenures = DivergenceGuard(), list[int]()
    last: dict[int, ComparedNote] = {}  # last version of each tenure, in order of use
    word_for_word: dict[tuple[str, str], int] = {}
    for place, text in enumerate(texts):
        key = text.title.strip(), " ".join(text.content.split())
        tenure = word_for_word.get(key)
        if tenure is None:
            near = list(reversed(last.items()))[:MAX_REVISIONS_BACK]
            tenure = next(
                (candidate for candidate, old in near if _same(guard, text, old, similarity, is_word, merge)),
                place,
            )
        word_for_word.setdefault(key, tenure)
        last.pop(tenure, None)
        last[tenure] = text
        tenures.append(tenure)
    return tenures


def _same(
    guard: DivergenceGuard,
    new: ComparedNote,
    old: ComparedNote,
    similarity: Similarity,
    is_word: Lexicon,
    merge: float,
) -> bool:
    differences, _ = guard.compare(new, old, subjects=False)
    if not all(_is_spelling(difference, is_word) for difference in differences):
        return False
    return similarity(new.content, old.content) >= merge


def _is_spelling(difference: Difference, is_word: Lexicon) -> bool:
    """Whether a difference is only spelling.

    Of two strings one typo apart, exactly one is a word: "ofice" is "office", while "block" is not "black".
    Strings with capitals or digits are names or values, never typos.
    """
    if difference.kind != "word" or len(difference.left) != len(difference.right):
        return False
    return all(
        _is_one_edit_apart(left, right) and is_word(left) != is_word(right)
        for left, right in zip(sorted(difference.left), sorted(difference.right), strict=True)
    )


def _is_one_edit_apart(first_word: str, second_word: str) -> bool:
    """Whether two words differ by one edit or swap of neighbours (Damerau, 1964)."""
    both = first_word + second_word
    if min(len(first_word), len(second_word)) < _TYPO_FROM or not both.isalpha() or both != both.lower():
        return False
    pairs = enumerate(zip(first_word, second_word, strict=False))
    at = next(
        (place for place, (left, right) in pairs if left != right), min(len(first_word), len(second_word))
    )
    first, second = first_word[at:], second_word[at:]
    return first_word != second_word and (
        first[1:] == second[1:]
        or first[1:] == second
        or first == second[1:]
        or (first[:2] == second[1::-1] and first[2:] == second[2:])
    )

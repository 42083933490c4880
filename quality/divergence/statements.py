"""Statements of an old text that a new one repeats or contradicts (rule 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import contradicts
from slowwave.quality.divergence.longer import words_of
from slowwave.quality.divergence.sentences import statements
from slowwave.quality.divergence.tokens import traits

COUNTERPART = 0.5
"""Minimum share of an old statement's words in a new one on the same subject."""


def answers(new: str, old: str) -> bool:
    """Whether the new text repeats or replaces every statement of the old one.

    If so, hiding the old text loses nothing.
    """
    said = [words_of(one) for one in statements(new)]
    same = {one.casefold() for one in statements(new)}
    for one in statements(old):
        words = words_of(one)
        if one.casefold() not in same and not any(_speaks_of(words, other) for other in said):
            return False
    return True


def contradicted(new: str, old: str) -> bool:
    """Whether the new text contradicts a statement of the old one."""
    return any(contradicts(compare(traits(left), traits(right))) for left, right in _pairs(new, old))


def _pairs(new: str, old: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of statements on the same subject."""
    said = [(words_of(one), one) for one in statements(new)]
    for one in statements(old):
        words = words_of(one)
        for other, text in said:
            if _speaks_of(words, other):
                yield text, one


def _speaks_of(old: frozenset[str], new: frozenset[str]) -> bool:
    """Whether at least half of the old statement's words are in the new one."""
    return len(old & new) >= COUNTERPART * max(len(old), 1)

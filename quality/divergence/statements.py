"""Statements of an old text that a new one repeats or contradicts (rule 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import contradicts
from slowwave.quality.divergence.sentences import statements, words_of
from slowwave.quality.divergence.tokens import traits

COUNTERPART = 0.5
"""Minimum share of an old statement's words in a new one on the same subject."""


def answers(new: str, old: str) -> bool:
    """Whether the new text repeats or replaces every statement of the old one.

    If so, hiding the old text loses nothing.
    """
    new_word_sets = [words_of(statement) for statement in statements(new)]
    same = {statement.casefold() for statement in statements(new)}
    for old_statement in statements(old):
        words = words_of(old_statement)
        if old_statement.casefold() not in same and not any(
            _speaks_of(words, other) for other in new_word_sets
        ):
            return False
    return True


def contradicted(new: str, old: str) -> bool:
    """Whether the new text contradicts a statement of the old one."""
    return any(contradicts(compare(traits(left), traits(right))) for left, right in _pairs(new, old))


def _pairs(new: str, old: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of statements on the same subject."""
    new_statements = [(words_of(statement), statement) for statement in statements(new)]
    for old_statement in statements(old):
        words = words_of(old_statement)
        for other, text in new_statements:
            if _speaks_of(words, other):
                yield text, old_statement


def _speaks_of(old: frozenset[str], new: frozenset[str]) -> bool:
    """Whether at least half of the old statement's words are in the new one."""
    return len(old & new) >= COUNTERPART * max(len(old), 1)

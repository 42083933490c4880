"""Passages of two memories compared at a search: do they say the same, or contradict each other (rule 2.3)?

Each pair is compared once per process.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import exchanged_values
from slowwave.quality.divergence.naming import name_different_things
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.divergence.sentences import worded_statements
from slowwave.quality.divergence.statements import contradicted
from slowwave.quality.divergence.subject import VALUES, Subject, different_places, same_subject
from slowwave.quality.divergence.tokens import Traits, traits

MIN_COMMON = 2  # equal words of two statements of equal form (count)
_LASTING = frozenset({"number", "unit", "time", "version"})  # kinds of values that hold until they change
_WEEKDAY, _PAST = "wd:", "tense:past"
_COMMON = 0.6  # minimum share of the words of the shorter statement in the other


@lru_cache(maxsize=4_096)
def says_the_same(left: str, right: str) -> bool:
    """Whether the divergence guard finds no difference that matters between two texts."""
    return not compare(traits(left), traits(right))


@lru_cache(maxsize=4_096)
def denied(left: str, right: str) -> bool:
    """Whether one of two texts contradicts a statement of the other."""
    return contradicted(left, right) or contradicted(right, left)


@lru_cache(maxsize=4_096)
def opposed(left: ComparedNote, right: ComparedNote) -> bool:
    """Whether a statement of each gives the same thing another value, or denies it; symmetric.

    Unlike a note that supersedes another, neither has to repeat all that the other says.
    """
    pairs = list(_pairs(left.content, right.content))
    if not pairs or different_places((left.title, left.source), (right.title, right.source)):
        return False
    return any(_is_opposed(one, other, left, right) for one, other in pairs)


def _is_opposed(one: str, other: str, left: ComparedNote, right: ComparedNote) -> bool:
    sides = traits(one), traits(other)
    differences = compare(*sides)
    changed = exchanged_values(differences)
    if not changed:
        return False
    if len(changed) == len(differences) == 1 and changed[0].kind == "negation":
        return True  # one says what the other denies, word for word
    if any(difference.kind not in VALUES for difference in changed):
        return False
    if _have_equal_form(*sides):
        return True
    title = left.title if left.title.casefold() == right.title.casefold() else ""
    return same_subject(Subject(title, "", sides[0]), Subject(title, "", sides[1]), differences)


def _have_equal_form(one: Traits, other: Traits) -> bool:
    """Whether two statements differ in one value alone: `the ferry leaves at nine`, `… at ten`.

    A value that names something (flat 8) and a calendar date make two statements, and so does what happened
    once. They need no title to be about one thing, as all their other words are equal.
    """
    if len(one.tokens) != len(other.tokens) or len(one.tokens) <= MIN_COMMON:
        return False
    changed = [pair for pair in zip(one.tokens, other.tokens, strict=True) if pair[0].key != pair[1].key]
    if len(changed) != 1 or len({token.kind for token in changed[0]}) > 1:
        return False
    by_weekday = all(token.key.startswith(_WEEKDAY) for token in changed[0])
    lasting = changed[0][0].kind in _LASTING or by_weekday
    return (
        lasting and not any(map(_tells_what_happened, (one, other))) and not name_different_things(one, other)
    )


def _tells_what_happened(side: Traits) -> bool:
    """Whether a statement is in the past tense: such events may both have happened."""
    return any(token.key == _PAST for token in side.light) or any(
        token.kind == "word" and token.form.casefold().endswith("ed") for token in side.tokens
    )


def _pairs(left: str, right: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of statements with most words in common."""
    others = worded_statements(right)
    for words, one in worded_statements(left):
        for other_words, other in others:
            least = min(len(words), len(other_words))
            if least and one != other and len(words & other_words) >= _COMMON * least:
                yield one, other

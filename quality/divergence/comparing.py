"""What two analysed texts say differently (rule 2.3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from slowwave.quality.divergence.difference import Difference, between, contradicts, surplus
from slowwave.quality.divergence.lexicon import mistyped, word_key
from slowwave.quality.divergence.order import reordered
from slowwave.quality.divergence.small import exchanged, inflected, qualified, restricted
from slowwave.quality.divergence.token_collector import Token
from slowwave.quality.divergence.tokens import Traits, traits

_TYPED = 3  # more words than these are not all mistyped
_WORDS = frozenset({"word", "entity", "identifier", "camel"})


def divergence(left: str, right: str) -> tuple[Difference, ...]:
    """What differs between two texts and matters; empty where they say the same."""
    return compare(traits(left), traits(right))


def compare(left: Traits, right: Traits) -> tuple[Difference, ...]:
    """What differs between two analysed texts and matters; empty where they say the same.

    Symmetric: swapped texts give swapped sides. Linear in the number of tokens.
    """
    if left.text == right.text or _alike(left, right):
        return ()
    pairs = _Pair(left, right)
    found = [*_values(pairs), *_lexical(pairs), *_negation(left, right)]
    found += exchanged(left, right, alone=not found)
    if contradicts(found):
        return tuple(found)
    found += [*qualified(left, right, found), *restricted(left, right, found)]
    alone = not found
    found += inflected(left, right, alone=alone)
    if alone and not found:
        found += reordered(left, right)
    return tuple(found)


def _alike(left: Traits, right: Traits) -> bool:
    """Whether two texts state the same things in the same forms and order, as most that are compared do."""
    sides = [(one.tokens, one.light, one.negations, one.labels) for one in (left, right)]
    same = all(
        len(mine) == len(theirs)
        and all(one.key == other.key for one, other in zip(mine, theirs, strict=True))
        for mine, theirs in zip(*sides, strict=True)
    )
    return same and left.forms == right.forms and left.passive == right.passive


class _Pair:
    """The tokens of which each text has more than the other."""

    def __init__(self, left: Traits, right: Traits) -> None:
        self.texts = (left.text, right.text)
        self.left = surplus(left.tokens, left.counts, right.counts)
        self.right = surplus(right.tokens, right.counts, left.counts)
        self._join_compounds(left, right)
        self._forgive_typing()
        exact = _exact(left, right), _exact(right, left)
        keys = {token.key for side in exact for token in side}
        self.left += [token for token in left.tokens if token.key in keys]
        self.right += [token for token in right.tokens if token.key in keys]
        self.left, self.right = (
            _without_lone_one(self.left, self.right),
            _without_lone_one(self.right, self.left),
        )
        self._labels(left, right)

    def _join_compounds(self, left: Traits, right: Traits) -> None:
        """Spacing is no difference: "trash bin" and "trashbin"."""
        if not (self.left and self.right):
            return
        in_left, in_right = _joined(left, self.left), _joined(right, self.right)
        keys = {token.key for token in self.left}, {token.key for token in self.right}
        drop_right = {at for key, ats in in_right.items() if key in keys[0] for at in ats}
        drop_left = {at for key, ats in in_left.items() if key in keys[1] for at in ats}
        self.left = [one for one in self.left if one.key not in in_right and one.start not in drop_left]
        self.right = [one for one in self.right if one.key not in in_left and one.start not in drop_right]

    def _forgive_typing(self) -> None:
        """A long word with two letters turned round, or one doubled, is the same word."""
        if not 0 < len(self.left) == len(self.right) <= _TYPED:
            return
        for one, other in zip(list(self.left), list(self.right), strict=True):
            if one.kind == other.kind == "word" and mistyped(one.form, other.form):
                self.left.remove(one)
                self.right.remove(other)

    def _labels(self, left: Traits, right: Traits) -> None:
        """A function word is a name where only the other text has one: sensor A, sensor B."""
        self.left, self.right = (
            self.left + _label(left, right, self.left, self.right),
            self.right + _label(right, left, self.right, self.left),
        )


def _exact(one: Traits, other: Traits) -> list[Token]:
    """Names in code are compared as written, not by their stems: getItem is not getItems."""
    return [
        token for token in one.names_in_code if token.key in other.counts and token.form not in other.forms
    ]


def _without_lone_one(mine: list[Token], theirs: list[Token]) -> list[Token]:
    """Without "one", which is an article unless the other text counts differently."""
    if any(token.key.startswith("n:") for token in theirs):
        return mine
    return [token for token in mine if token.kind != "one"]


def _joined(text: Traits, exclusive: Sequence[Token]) -> dict[str, list[int]]:
    """Neighbours written as one word, where at least one of them is exclusive; and the exclusive places."""
    places = {token.start for token in exclusive}
    found: dict[str, list[int]] = {}
    for token in exclusive:
        at = bisect_left(text.tokens, token.start, key=attrgetter("start"))
        for first, second in pairwise(text.tokens[max(0, at - 1) : at + 2]):
            if second.start - first.end <= 1:
                held = [one.start for one in (first, second) if one.start in places]
                found["w:" + word_key((first.form + second.form).casefold())] = held
    return found


def _label(one: Traits, other: Traits, mine: Sequence[Token], theirs: Sequence[Token]) -> list[Token]:
    if not one.labels or mine or not theirs:
        return []
    surplus = Counter(token.form for token in one.labels) - Counter(token.form for token in other.labels)
    letter = any(len(token.form) == 1 for token in theirs)
    name = any(token.kind == "entity" for token in theirs)
    return [
        token for token in one.labels if surplus[token.form] and (letter if len(token.form) == 1 else name)
    ]


def _values(pair: _Pair) -> list[Difference]:
    """Numbers, dates, times, versions, addresses: one difference per kind."""
    found = []
    kinds = dict.fromkeys(_kind(token) for token in (*pair.left, *pair.right) if token.kind not in _WORDS)
    for kind in sorted(kinds):
        left = [token for token in pair.left if _kind(token) == kind]
        right = [token for token in pair.right if _kind(token) == kind]
        found.append(between(_unit_or(kind, left, right, pair), *pair.texts, left, right))
    return found


def _kind(token: Token) -> str:
    return "number" if token.kind == "one" else token.kind


def _unit_or(kind: str, left: Sequence[Token], right: Sequence[Token], pair: _Pair) -> str:
    if kind != "number" or not left or not right:
        return kind
    amounts = [
        [re.findall(r"-?\d[\d.,]*", text[token.start : token.end]) for token in side]
        for text, side in zip(pair.texts, (left, right), strict=True)
    ]
    return "unit" if amounts[0] == amounts[1] and any(amounts[0]) else kind


def _lexical(pair: _Pair) -> list[Difference]:
    left = [token for token in pair.left if token.kind in _WORDS]
    right = [token for token in pair.right if token.kind in _WORDS]
    if not left and not right:
        return []
    kinds = {token.kind for token in (*left, *right)}
    if kinds <= {"identifier", "camel"}:
        kind = "identifier"
    elif not left or not right:
        kind = "addition"
    else:
        kind = "word" if "word" in kinds else "entity"
    return [between(kind, *pair.texts, left, right)]


def _negation(left: Traits, right: Traits) -> list[Difference]:
    """One text denies what the other does not, or denies something else."""
    mine, theirs = list(left.negations), list(right.negations)
    scopes = Counter(token.key for token in mine), Counter(token.key for token in theirs)
    if scopes[0] == scopes[1]:
        return []
    only_left = [token for token in mine if token.key not in scopes[1]]
    only_right = [token for token in theirs if token.key not in scopes[0]]
    if len(mine) == len(theirs) and not (_stated(only_left, right) and _stated(only_right, left)):
        return []
    return [between("negation", left.text, right.text, only_left or mine, only_right or theirs)]


def _stated(negations: Sequence[Token], other: Traits) -> bool:
    return any(token.key.removeprefix("not ") in other.counts for token in negations)

"""Comparison of two analysed texts (rule 2.3)."""

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

_TYPED = 3  # maximum words that may all be typos
_WORDS = frozenset({"word", "entity", "identifier", "camel"})


def divergence(left: str, right: str) -> tuple[Difference, ...]:
    """Return the differences that matter between two texts; empty if there are none."""
    return compare(traits(left), traits(right))


def compare(left: Traits, right: Traits) -> tuple[Difference, ...]:
    """Return the differences that matter between two analysed texts; empty if there are none.

    Symmetric: swapped texts give swapped sides. Linear in the number of tokens.
    """
    if left.text == right.text or _alike(left, right):
        return ()
    pairs = _Pair(left, right)
    differences = [*_values(pairs), *_lexical(pairs), *_negation(left, right)]
    differences += exchanged(left, right, alone=not differences)
    if contradicts(differences):
        return tuple(differences)
    differences += [*qualified(left, right, differences), *restricted(left, right, differences)]
    alone = not differences
    differences += inflected(left, right, alone=alone)
    if alone and not differences:
        differences += reordered(left, right)
    return tuple(differences)


def _alike(left: Traits, right: Traits) -> bool:
    """Whether two texts have the same tokens in the same forms and order.

    Most compared texts do.
    """
    sides = [(side.tokens, side.light, side.negations, side.labels) for side in (left, right)]
    same = all(
        len(own) == len(others)
        and all(token.key == counterpart.key for token, counterpart in zip(own, others, strict=True))
        for own, others in zip(*sides, strict=True)
    )
    return same and left.forms == right.forms and left.passive == right.passive


class _Pair:
    """Surplus tokens of two texts: those of which one text has more."""

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
        """Ignore differences in spacing: "trash bin" and "trashbin"."""
        if not (self.left and self.right):
            return
        in_left, in_right = _joined(left, self.left), _joined(right, self.right)
        keys = {token.key for token in self.left}, {token.key for token in self.right}
        drop_right = {at for key, ats in in_right.items() if key in keys[0] for at in ats}
        drop_left = {at for key, ats in in_left.items() if key in keys[1] for at in ats}
        self.left = [item for item in self.left if item.key not in in_right and item.start not in drop_left]
        self.right = [item for item in self.right if item.key not in in_left and item.start not in drop_right]

    def _forgive_typing(self) -> None:
        """Ignore typos in long words: two letters swapped, or one doubled."""
        if not 0 < len(self.left) == len(self.right) <= _TYPED:
            return
        for left_token, right_token in zip(list(self.left), list(self.right), strict=True):
            if left_token.kind == right_token.kind == "word" and mistyped(left_token.form, right_token.form):
                self.left.remove(left_token)
                self.right.remove(right_token)

    def _labels(self, left: Traits, right: Traits) -> None:
        """Add function words that are names, if only one text has one: sensor A, sensor B."""
        self.left, self.right = (
            self.left + _label(left, right, self.left, self.right),
            self.right + _label(right, left, self.right, self.left),
        )


def _exact(text: Traits, other: Traits) -> list[Token]:
    """Return names in code that differ as written although their stems are equal: getItem, getItems."""
    return [
        token for token in text.names_in_code if token.key in other.counts and token.form not in other.forms
    ]


def _without_lone_one(tokens: list[Token], other_tokens: list[Token]) -> list[Token]:
    """Drop the token "one", an article unless the other text has another number."""
    if any(token.key.startswith("n:") for token in other_tokens):
        return tokens
    return [token for token in tokens if token.kind != "one"]


def _joined(text: Traits, exclusive: Sequence[Token]) -> dict[str, list[int]]:
    """Return neighbours joined into one word, with the places of those exclusive to a text."""
    places = {token.start for token in exclusive}
    joined: dict[str, list[int]] = {}
    for token in exclusive:
        at = bisect_left(text.tokens, token.start, key=attrgetter("start"))
        for first, second in pairwise(text.tokens[max(0, at - 1) : at + 2]):
            if second.start - first.end <= 1:
                held = [
                    token_of_pair.start for token_of_pair in (first, second) if token_of_pair.start in places
                ]
                joined["w:" + word_key((first.form + second.form).casefold())] = held
    return joined


def _label(text: Traits, other: Traits, own: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    if not text.labels or own or not others:
        return []
    surplus = Counter(token.form for token in text.labels) - Counter(token.form for token in other.labels)
    letter = any(len(token.form) == 1 for token in others)
    name = any(token.kind == "entity" for token in others)
    return [
        token for token in text.labels if surplus[token.form] and (letter if len(token.form) == 1 else name)
    ]


def _values(pair: _Pair) -> list[Difference]:
    """Compare numbers, dates, times, versions and addresses: one difference per kind."""
    differences = []
    kinds = dict.fromkeys(_kind(token) for token in (*pair.left, *pair.right) if token.kind not in _WORDS)
    for kind in sorted(kinds):
        left = [token for token in pair.left if _kind(token) == kind]
        right = [token for token in pair.right if _kind(token) == kind]
        differences.append(between(_unit_or(kind, left, right, pair), *pair.texts, left, right))
    return differences


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
    """Compare negations and their scopes."""
    left_negations, right_negations = list(left.negations), list(right.negations)
    scopes = Counter(token.key for token in left_negations), Counter(token.key for token in right_negations)
    if scopes[0] == scopes[1]:
        return []
    only_left = [token for token in left_negations if token.key not in scopes[1]]
    only_right = [token for token in right_negations if token.key not in scopes[0]]
    if len(left_negations) == len(right_negations) and not (
        _stated(only_left, right) and _stated(only_right, left)
    ):
        return []
    return [
        between("negation", left.text, right.text, only_left or left_negations, only_right or right_negations)
    ]


def _stated(negations: Sequence[Token], other: Traits) -> bool:
    return any(token.key.removeprefix("not ") in other.counts for token in negations)

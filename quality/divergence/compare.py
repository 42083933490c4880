"""What two analysed texts say differently (rule 2.3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Literal

from quality.divergence.tokens import Token, Traits, traits

_WORDS = frozenset({"word", "entity", "identifier", "camel"})
_SHOWN = 5
# A block swap is looked for in this many words around the change: beyond, paragraphs were reordered.
_WINDOW = 48
_DIRECTED = re.compile(
    r"\b(?:over|than|from|to|into|before|after|above|below|under|against|until|for)\b|->|→", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Values of one kind that only one of two texts holds.

    `kind` is one of number, unit, date, time, version, identifier, url, path, negation, entity, word, order,
    and addition (content words that one text has and the other lacks). `left` and `right` are as written,
    `left_at` and `right_at` their spans in characters.
    """

    kind: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    left_at: tuple[tuple[int, int], ...]
    right_at: tuple[tuple[int, int], ...]


def divergence(left: str, right: str) -> tuple[Difference, ...]:
    """What differs between two texts and matters; empty where they say the same."""
    return compare(traits(left), traits(right))


def compare(left: Traits, right: Traits) -> tuple[Difference, ...]:
    """What differs between two analysed texts and matters; empty where they say the same.

    Symmetric: swapped texts give swapped sides. Linear in the number of tokens.
    """
    if left.text == right.text:
        return ()
    pairs = _Pair(left, right)
    found = [*_values(pairs), *_lexical(pairs), *_exchanged_light(left, right), *_negation(left, right)]
    if not found:
        found += _order(left, right)
    return tuple(found)


def explain(differences: Iterable[Difference]) -> str:
    """One line for a person: ``number: 2.184 m / 2.148 m; word: black / white``."""
    return "; ".join(f"{one.kind}: {_shown(one.left)} / {_shown(one.right)}" for one in differences)


def _shown(values: Sequence[str]) -> str:
    if not values:
        return "–"
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(" ".join(value.split()) for value in values[:_SHOWN]) + more


def contradicts(differences: Iterable[Difference]) -> bool:
    """Whether a value was exchanged or denied, as opposed to one text merely saying more."""
    return any((one.left and one.right) or one.kind == "negation" for one in differences)


def says_more(differences: Sequence[Difference]) -> Literal["left", "right"] | None:
    """The side that alone says more while nothing was exchanged; None where both do, or neither."""
    if not differences or contradicts(differences):
        return None
    sides = {"left" if one.left else "right" for one in differences}
    return None if len(sides) > 1 else "left" if "left" in sides else "right"


class _Pair:
    """The tokens of which each text has more than the other."""

    def __init__(self, left: Traits, right: Traits) -> None:
        self.texts = (left.text, right.text)
        self.left, self.right = _excess(left, right), _excess(right, left)
        self._join_compounds(left, right)
        self.left += _exact(left, right)
        self.right += _exact(right, left)
        self.left, self.right = (
            _without_lone_one(self.left, self.right),
            _without_lone_one(self.right, self.left),
        )
        self._labels(left, right)

    def _join_compounds(self, left: Traits, right: Traits) -> None:
        """Spacing is no difference: "trash bin" and "trashbin"."""
        if not (self.left and self.right):
            return
        in_left = _joined(left, self.left)
        in_right = _joined(right, self.right)
        left_forms = {token.form for token in self.left}
        right_forms = {token.form for token in self.right}
        drop_right = {at for form, ats in in_right.items() if form in left_forms for at in ats}
        drop_left = {at for form, ats in in_left.items() if form in right_forms for at in ats}
        self.left = [one for one in self.left if one.form not in in_right and one.start not in drop_left]
        self.right = [one for one in self.right if one.form not in in_left and one.start not in drop_right]

    def _labels(self, left: Traits, right: Traits) -> None:
        """A function word is a name where only the other text has one: sensor A, sensor B."""
        self.left, self.right = (
            self.left + _label(left, right, self.left, self.right),
            self.right + _label(right, left, self.right, self.left),
        )


def _excess(one: Traits, other: Traits) -> list[Token]:
    """The tokens of which one text has more; of a word that both hold, its last ones."""
    return _surplus(one.tokens, one.counts, other.counts)


def _surplus(tokens: Sequence[Token], mine: Counter[str], theirs: Counter[str]) -> list[Token]:
    more = {key: count - theirs[key] for key, count in mine.items() - theirs.items() if count > theirs[key]}
    left = sum(more.values())
    found = []
    for token in reversed(tokens):
        if not left:
            break
        if more.get(token.key, 0) > 0:
            more[token.key] -= 1
            left -= 1
            found.append(token)
    return found[::-1]


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
                found[first.form + second.form] = held
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
        found.append((kind, left, right))
    return [_difference(_unit_or(kind, left, right, pair), left, right, pair) for kind, left, right in found]


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
    return [_difference(kind, left, right, pair)]


def _difference(kind: str, left: Sequence[Token], right: Sequence[Token], pair: _Pair) -> Difference:
    (left_said, left_at), (right_said, right_at) = (
        _places(text, side) for text, side in zip(pair.texts, (left, right), strict=True)
    )
    return Difference(kind, left_said, right_said, left_at, right_at)


def _places(text: str, tokens: Sequence[Token]) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    spans = tuple(dict.fromkeys((token.start, token.end) for token in tokens))
    return tuple(text[start:end] for start, end in spans), spans


def _between(
    kind: str, left: Traits, right: Traits, mine: Sequence[Token], theirs: Sequence[Token]
) -> Difference:
    left_said, left_at = _places(left.text, mine)
    right_said, right_at = _places(right.text, theirs)
    return Difference(kind, left_said, right_said, left_at, right_at)


def _exchanged_light(left: Traits, right: Traits) -> list[Difference]:
    """Function words with an opposite, if exchanged for it: on/off, before/after, he/she, must/may."""
    mine = _surplus(left.light, left.light_counts, right.light_counts)
    theirs = _surplus(right.light, right.light_counts, left.light_counts)
    groups = {_group(token) for token in mine} & {_group(token) for token in theirs}
    if not groups:
        return []
    return [
        _between(
            "word",
            left,
            right,
            [token for token in mine if _group(token) in groups],
            [token for token in theirs if _group(token) in groups],
        )
    ]


def _group(token: Token) -> str:
    return token.key.partition(":")[0]


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
    return [_between("negation", left, right, only_left or mine, only_right or theirs)]


def _stated(negations: Sequence[Token], other: Traits) -> bool:
    return any(token.key.removeprefix("not ") in other.counts for token in negations)


def _order(left: Traits, right: Traits) -> list[Difference]:
    """The same words with two of them swapped around others: who chases whom, which of two has which value.

    A passive turns the words around and says the same; a passive that leaves them in place says the reverse.
    """
    if left.counts != right.counts:
        return []
    mine, theirs = left.tokens, right.tokens
    start = 0
    while start < len(mine) and mine[start].key == theirs[start].key:
        start += 1
    if start == len(mine):
        if left.passive != right.passive and len(mine) > 2:
            return [_between("order", left, right, (mine[0], mine[-1]), (theirs[0], theirs[-1]))]
        return []
    end = len(mine)
    while mine[end - 1].key == theirs[end - 1].key:
        end -= 1
    if left.passive != right.passive:
        return []
    mine, theirs = mine[start:end], theirs[start:end]
    swapped = _swap([token.key for token in mine], [token.key for token in theirs])
    if swapped or _turned(left.text, mine, right.text, theirs):
        return [_between("order", left, right, mine, theirs)]
    return []


def _turned(one: str, mine: Sequence[Token], other: str, theirs: Sequence[Token]) -> bool:
    """Whether two parts changed places around a word with a direction: tea over coffee, from A to C."""
    size = len(mine)
    for a in range(1, min(size, _WINDOW)):
        if [token.key for token in mine[:a]] == [token.key for token in theirs[size - a :]]:
            turned = [token.key for token in mine[a:]] == [token.key for token in theirs[: size - a]]
            between = (
                one[mine[a - 1].end : mine[a].start],
                other[theirs[size - a - 1].end : theirs[size - a].start],
            )
            if turned and all(_DIRECTED.search(text) for text in between):
                return True
    return False


def _swap(one: list[str], other: list[str]) -> bool:
    """Whether one is A B C and the other C B A, with a B between that stayed."""
    size = len(one)
    if size < 3:
        return False
    longest = min(size - 2, _WINDOW)
    for a in range(1, longest + 1):
        tails = (a,) if size > _WINDOW else range(1, size - a)
        for c in tails:
            if size - a - c < 1:
                continue
            if (
                one[:a] == other[size - a :]
                and one[size - c :] == other[:c]
                and one[a : size - c] == other[c : size - a]
            ):
                return True
    return False

"""The same words in another order: who lent whom, from where to where, which step comes first (rule 2.3).

An order counts unless it is known not to: the items of a list, a clause or an adverbial moved to the front,
sentences among each other, a passive that turns who and whom around.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from slowwave.quality.divergence.difference import Difference, between
from slowwave.quality.divergence.patterns import PASSIVE
from slowwave.quality.divergence.sentences import statement_ends
from slowwave.quality.divergence.token_collector import Token
from slowwave.quality.divergence.tokens import Traits

# A list is looked for in this many words around the change: beyond, it counts as reordered.
_WINDOW = 64
_SEPARATES = re.compile(
    r"[\s\"'()\[\]*_`-]*(?:,|;|&|\n|\b(?:and|or|as well as|plus|und|et|y|e|o|oder|ou)\b|、|，|和|或|และ)",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"\b(?:then|next|first|firstly|second|finally|afterwards?|later|subsequently|respectively|before|after|until|vs|versus)\b"
    r"|^\s*\d+[.)]\s|->|→|/|\d\s*:\s*\d|^\s*#{1,6}\s|:[ \t]*$|^\s*\*\*[^*\n]+\*\*\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_COMPOUND = 6
_BOUND = re.compile(
    r"\s(?:(?:of|for|in|with|made|used|meant|full|covered|by|(?:which|that|who)\s(?:is|are|was|were)|very|from"
    r"|a|an|the)\s){1,5}"
    r"|,\s(?:which|who|that)\s(?:is|are|was|were)\s(?:very\s)?|'s\s",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_THEN = re.compile(r"\b(?:then|next|afterwards?|later)\b", re.IGNORECASE)
_FRONTED = re.compile(
    r"(?:if|when|whenever|while|once|unless|because|since|as|although|though|after|before|until|in|on|at|during|for|by|with|to|from"
    r"|today|tomorrow|yesterday|now|currently|usually|sometimes|often|every|each|last|next|this)\b",
    re.IGNORECASE,
)


def reordered(left: Traits, right: Traits) -> list[Difference]:
    """A difference where the same words stand in an order that may say something else."""
    if left.counts != right.counts:
        return []
    common = left.light_counts & right.light_counts
    mine, theirs = _sequence(left, common), _sequence(right, common)
    if left.passive != right.passive:
        return _voices(left, right)
    if _keys(mine) == _keys(theirs):
        return []
    if not (_STEPS.search(left.text) or _STEPS.search(right.text)):
        mine, theirs = _without_common_statements(left, mine, right, theirs)
    start, end = _changed(mine, theirs)
    if not mine and not theirs:
        return []
    if _listed(left.text, mine, right.text, theirs, start, end):
        return []
    if _compound(left.text, mine, right.text, theirs, start, end):
        return []
    if _fronted(left.text, mine, right.text, theirs) or _fronted(right.text, theirs, left.text, mine):
        return []
    return [
        between(
            "order", left.text, right.text, mine[start : len(mine) - end], theirs[start : len(theirs) - end]
        )
    ]


def _sequence(text: Traits, common: Counter[str]) -> list[Token]:
    """Content and those small words that both texts have, as they follow one another."""
    light = [
        one
        for one in text.light
        if common[one.key] == text.light_counts[one.key] and not one.key.startswith("tense:")
    ]
    return sorted((*text.tokens, *light), key=lambda one: (one.start, one.end))


def _keys(tokens: Sequence[Token]) -> list[str]:
    return [one.key for one in tokens]


def _voices(left: Traits, right: Traits) -> list[Difference]:
    """A passive turns the words around and says the same; one that leaves them in place says the reverse."""
    mine, theirs = left.tokens, right.tokens
    active, passive = (right, left) if left.passive else (left, right)
    if len(mine) < 3 or _turned(active, passive):
        return []
    return [between("order", left.text, right.text, (mine[0], mine[-1]), (theirs[0], theirs[-1]))]


def _turned(active: Traits, passive: Traits) -> bool:
    """Whether who acts, behind "by" in the one, begins the other."""
    agents = {
        token.key
        for match in PASSIVE.finditer(passive.text)
        for token in [one for one in passive.tokens if one.start >= match.end()][:3]
    }
    first, second = active.tokens[0].key, passive.tokens[0].key
    return first in agents and first != second


def _changed(mine: Sequence[Token], theirs: Sequence[Token]) -> tuple[int, int]:
    """How many tokens the two have in common at their beginning and at their end."""
    size = min(len(mine), len(theirs))
    start = 0
    while start < size and mine[start].key == theirs[start].key:
        start += 1
    end = 0
    while end < size - start and mine[-1 - end].key == theirs[-1 - end].key:
        end += 1
    return start, end


def _without_common_statements(
    left: Traits, mine: list[Token], right: Traits, theirs: list[Token]
) -> tuple[list[Token], list[Token]]:
    """Without the statements that both have: these may follow one another in any order."""
    sides = _by_statement(left.text, mine), _by_statement(right.text, theirs)
    if max(map(len, sides)) < 2:
        return mine, theirs
    shared = Counter(tuple(_keys(one)) for one in sides[0]) & Counter(tuple(_keys(one)) for one in sides[1])
    rest: list[list[Token]] = []
    for side in sides:
        held = Counter(shared)
        kept: list[Token] = []
        for one in side:
            name = tuple(_keys(one))
            if held[name] > 0:
                held[name] -= 1
            else:
                kept += one
        rest.append(kept)
    return rest[0], rest[1]


def _by_statement(text: str, tokens: Sequence[Token]) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    ends = statement_ends(text)
    at = 0
    for token in tokens:
        while at < len(ends) and token.start >= ends[at]:
            at += 1
            if found[-1]:
                found.append([])
        found[-1].append(token)
    return [one for one in found if one]


def _listed(
    left: str, mine: Sequence[Token], right: str, theirs: Sequence[Token], start: int, end: int
) -> bool:
    """Whether the two differ in the order of the items of one list, and in nothing else."""
    size = len(mine)
    if size != len(theirs) or size - start - end > _WINDOW:
        return False
    cuts = _cuts(left, mine), _cuts(right, theirs)
    # Items that begin or end alike reach into what both have in common.
    for first in range(start, max(-1, start - 6), -1):
        for last in range(size - end, min(size, size - end + 6) + 1):
            if _items(mine, cuts[0], first, last) == _items(theirs, cuts[1], first, last) != Counter():
                spans = (
                    left[mine[first].start : mine[last - 1].end],
                    right[theirs[first].start : theirs[last - 1].end],
                )
                return not any(_STEPS.search(span) for span in spans) and not _RESPECTIVELY.search(left)
    return False


def _cuts(text: str, tokens: Sequence[Token]) -> set[int]:
    """The places between two tokens where the next item of a list begins."""
    return {
        at
        for at in range(1, len(tokens))
        if _SEPARATES.match(text[tokens[at - 1].end : tokens[at].start])
        or tokens[at - 1].key == "or:or" or tokens[at].key == "or:or"
    }  # fmt: skip


def _items(tokens: Sequence[Token], cuts: set[int], first: int, last: int) -> Counter[tuple[str, ...]]:
    marks = [first, *(at for at in range(first + 1, last) if at in cuts), last]
    if len(marks) < 3:
        return Counter()
    return Counter(tuple(_keys(tokens[a:b])) for a, b in pairwise(marks))


def _fronted(one: str, mine: Sequence[Token], other: str, theirs: Sequence[Token]) -> bool:
    """Whether what ends the one text begins the other, as a clause or an adverbial may."""
    keys, turned = _keys(mine), _keys(theirs)
    if len(keys) != len(turned) or len(keys) > _WINDOW or _THEN.search(one) or _THEN.search(other):
        return False
    for at in range(1, len(keys)):
        if keys[at:] + keys[:at] != turned:
            continue
        begins = other[: theirs[0].start + 12].lstrip(" \t\n\"'(*_>-")
        moved = one[max(0, mine[at].start - 8) : mine[at].end]
        fits = _FRONTED.match(begins) and _FRONTED.search(moved)
        comma = "," in other[theirs[len(keys) - at - 1].end : theirs[len(keys) - at].start]
        if fits and (comma or theirs[0].key.partition(":")[0] in {"place", "time", "condition", "reason"}):
            return True
    return False


def _compound(
    left: str, mine: Sequence[Token], right: str, theirs: Sequence[Token], start: int, end: int
) -> bool:
    """Whether two blocks stand directly side by side in one text, and bound the other way round in the other.

    Camera lens and lens of a camera; a hard hat and a hat which is hard.
    """
    one, other = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    keys, turned = _keys(one), _keys(other)
    if len(keys) != len(turned) or len(keys) > _COMPOUND:
        return False
    for at in range(1, len(keys)):
        if keys[at:] + keys[:at] == turned:
            between_left = left[one[at - 1].end : one[at].start]
            between_right = right[other[len(keys) - at - 1].end : other[len(keys) - at].start]
            apart = between_left.strip(), between_right.strip()
            if apart[0] and not apart[1] and _BOUND.fullmatch(between_left):
                return True
            if apart[1] and not apart[0] and _BOUND.fullmatch(between_right):
                return True
    return False

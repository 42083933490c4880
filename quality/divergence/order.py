"""Word order: the same words in an order with another meaning (rule 2.3).

Another order is a difference unless it is known to be harmless: items of a list, a clause or an adverbial
moved to the front, sentences in another order, a passive that swaps subject and object.
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

# Maximum words of a change that may be a reordered list.
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
    """Return a difference if the same words have an order with another meaning."""
    if left.counts != right.counts:
        return []
    common = left.light_counts & right.light_counts
    left_tokens, right_tokens = _sequence(left, common), _sequence(right, common)
    if left.passive != right.passive:
        return _voices(left, right)
    if _keys(left_tokens) == _keys(right_tokens):
        return []
    if not (_STEPS.search(left.text) or _STEPS.search(right.text)):
        left_tokens, right_tokens = _without_common_statements(left, left_tokens, right, right_tokens)
    start, end = _changed(left_tokens, right_tokens)
    if not left_tokens and not right_tokens:
        return []
    if _listed(left.text, left_tokens, right.text, right_tokens, start, end):
        return []
    if _compound(left.text, left_tokens, right.text, right_tokens, start, end):
        return []
    if _fronted(left.text, left_tokens, right.text, right_tokens) or _fronted(
        right.text, right_tokens, left.text, left_tokens
    ):
        return []
    return [
        between(
            "order",
            left.text,
            right.text,
            left_tokens[start : len(left_tokens) - end],
            right_tokens[start : len(right_tokens) - end],
        )
    ]


def _sequence(text: Traits, common: Counter[str]) -> list[Token]:
    """Return content words, and small words that both texts have, in order."""
    light = [
        token
        for token in text.light
        if common[token.key] == text.light_counts[token.key] and not token.key.startswith("tense:")
    ]
    return sorted((*text.tokens, *light), key=lambda token: (token.start, token.end))


def _keys(tokens: Sequence[Token]) -> list[str]:
    return [token.key for token in tokens]


def _voices(left: Traits, right: Traits) -> list[Difference]:
    """Compare an active with a passive text.

    A passive that swaps the words means the same; one that leaves them in place means the reverse.
    """
    left_tokens, right_tokens = left.tokens, right.tokens
    active, passive = (right, left) if left.passive else (left, right)
    if len(left_tokens) < 3 or _turned(active, passive):
        return []
    return [
        between(
            "order",
            left.text,
            right.text,
            (left_tokens[0], left_tokens[-1]),
            (right_tokens[0], right_tokens[-1]),
        )
    ]


def _turned(active: Traits, passive: Traits) -> bool:
    """Whether the agent after "by" begins the active text."""
    agents = {
        token.key
        for match in PASSIVE.finditer(passive.text)
        for token in [candidate for candidate in passive.tokens if candidate.start >= match.end()][:3]
    }
    first, second = active.tokens[0].key, passive.tokens[0].key
    return first in agents and first != second


def _changed(left_tokens: Sequence[Token], right_tokens: Sequence[Token]) -> tuple[int, int]:
    """Count the common tokens at the beginning and at the end."""
    size = min(len(left_tokens), len(right_tokens))
    start = 0
    while start < size and left_tokens[start].key == right_tokens[start].key:
        start += 1
    end = 0
    while end < size - start and left_tokens[-1 - end].key == right_tokens[-1 - end].key:
        end += 1
    return start, end


def _without_common_statements(
    left: Traits, left_tokens: list[Token], right: Traits, right_tokens: list[Token]
) -> tuple[list[Token], list[Token]]:
    """Drop the statements that both texts have: their order does not matter."""
    sides = _by_statement(left.text, left_tokens), _by_statement(right.text, right_tokens)
    if max(map(len, sides)) < 2:
        return left_tokens, right_tokens
    shared = Counter(tuple(_keys(statement)) for statement in sides[0]) & Counter(
        tuple(_keys(statement)) for statement in sides[1]
    )
    rest: list[list[Token]] = []
    for side in sides:
        remaining = Counter(shared)
        kept: list[Token] = []
        for statement in side:
            name = tuple(_keys(statement))
            if remaining[name] > 0:
                remaining[name] -= 1
            else:
                kept += statement
        rest.append(kept)
    return rest[0], rest[1]


def _by_statement(text: str, tokens: Sequence[Token]) -> list[list[Token]]:
    statement_tokens: list[list[Token]] = [[]]
    ends = statement_ends(text)
    at = 0
    for token in tokens:
        while at < len(ends) and token.start >= ends[at]:
            at += 1
            if statement_tokens[-1]:
                statement_tokens.append([])
        statement_tokens[-1].append(token)
    return [group for group in statement_tokens if group]


def _listed(
    left: str, left_tokens: Sequence[Token], right: str, right_tokens: Sequence[Token], start: int, end: int
) -> bool:
    """Whether the two differ only in the order of the items of one list."""
    size = len(left_tokens)
    if size != len(right_tokens) or size - start - end > _WINDOW:
        return False
    cuts = _cuts(left, left_tokens), _cuts(right, right_tokens)
    # Items with a common beginning or end extend into the common tokens.
    for first in range(start, max(-1, start - 6), -1):
        for last in range(size - end, min(size, size - end + 6) + 1):
            if (
                _items(left_tokens, cuts[0], first, last)
                == _items(right_tokens, cuts[1], first, last)
                != Counter()
            ):
                spans = (
                    left[left_tokens[first].start : left_tokens[last - 1].end],
                    right[right_tokens[first].start : right_tokens[last - 1].end],
                )
                return not any(_STEPS.search(span) for span in spans) and not _RESPECTIVELY.search(left)
    return False


def _cuts(text: str, tokens: Sequence[Token]) -> set[int]:
    """Return the places between two tokens where the next list item begins."""
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


def _fronted(left: str, left_tokens: Sequence[Token], right: str, right_tokens: Sequence[Token]) -> bool:
    """Whether a clause or an adverbial at the end of one text begins the other."""
    keys, turned = _keys(left_tokens), _keys(right_tokens)
    if len(keys) != len(turned) or len(keys) > _WINDOW or _THEN.search(left) or _THEN.search(right):
        return False
    for at in range(1, len(keys)):
        if keys[at:] + keys[:at] != turned:
            continue
        begins = right[: right_tokens[0].start + 12].lstrip(" \t\n\"'(*_>-")
        moved = left[max(0, left_tokens[at].start - 8) : left_tokens[at].end]
        fits = _FRONTED.match(begins) and _FRONTED.search(moved)
        comma = "," in right[right_tokens[len(keys) - at - 1].end : right_tokens[len(keys) - at].start]
        if fits and (
            comma or right_tokens[0].key.partition(":")[0] in {"place", "time", "condition", "reason"}
        ):
            return True
    return False


def _compound(
    left: str, left_tokens: Sequence[Token], right: str, right_tokens: Sequence[Token], start: int, end: int
) -> bool:
    """Whether a compound in one text is written out in the other.

    Camera lens and lens of a camera; a hard hat and a hat which is hard.
    """
    left_block, right_block = (
        left_tokens[start : len(left_tokens) - end],
        right_tokens[start : len(right_tokens) - end],
    )
    keys, turned = _keys(left_block), _keys(right_block)
    if len(keys) != len(turned) or len(keys) > _COMPOUND:
        return False
    for at in range(1, len(keys)):
        if keys[at:] + keys[:at] == turned:
            between_left = left[left_block[at - 1].end : left_block[at].start]
            between_right = right[right_block[len(keys) - at - 1].end : right_block[len(keys) - at].start]
            apart = between_left.strip(), between_right.strip()
            if apart[0] and not apart[1] and _BOUND.fullmatch(between_left):
                return True
            if apart[1] and not apart[0] and _BOUND.fullmatch(between_right):
                return True
    return False

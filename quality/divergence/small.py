"""Effect of small words on texts with the same content: only, if, must (rule 2.3).

An additional small word counts as much as another one: merging "only Ada may" with "Ada may" would lose the
difference. A word counts unless it is known to be harmless.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from slowwave.quality.divergence.difference import Difference, between, places, surplus
from slowwave.quality.divergence.lexicon import (
    DEGREES,
    ENGLISH_WORDS,
    FOREIGN_WORDS,
    IRREGULAR_FORMS,
    NEGATIONS,
    PAST,
    stem_key,
    word_key,
)
from slowwave.quality.divergence.lexicon_numbers import CARDINALS
from slowwave.quality.divergence.lexicon_small import (
    EQUIVALENT,
    LIGHT,
    OPPOSITES,
    TURNING_VERBS,
    TURNING_WORDS,
    TURNS,
)
from slowwave.quality.divergence.sentences import statements
from slowwave.quality.divergence.token_collector import Token
from slowwave.quality.divergence.tokens import Traits

_WORD = re.compile(r"[^\W\d_]+")
# An added word after one of these restricts a statement, as does one joined to the next word.
_RESTRICTS = re.compile(
    r"\b(?:for|per|by|under|against|via|within|during|without)\s+(?:(?:a|an|the|each|our|its)\s+)?$",
    re.IGNORECASE,
)
_WHERE_AND_WHEN = re.compile(
    r"\b(?:in|on|at|to|with|outside|inside|after|before|until|of)\s+(?:(?:a|an|the|each|our|its)\s+)?$",
    re.IGNORECASE,
)
_OF = re.compile(r"\s+of\s")
_COMPOUNDED = re.compile(
    r"-[a-z]|\s+(?:to|for|from|against)\s+(?:the|a|an|my|our|his|her|its|their|[A-Z])", re.ASCII
)
_FRAME = re.compile(r"(?:^|[.!?\n])\s*(?:In|On|At|With|As)\s+(?:\w+\s+)?$")
_NEXT = re.compile(r"\W+(\w+)")
_LAST = re.compile(r"\w+(?=\W*\Z)")
_ONE = frozenset({"a", "an"})
_POOL = frozenset({"place", "time", "reason", "near", "both"})
_VERBS = frozenset(word_key(word) for word in TURNING_VERBS)
_FOREIGN = FOREIGN_WORDS - ENGLISH_WORDS
# After these a form in -ed is no past tense: was opened, a locked door.
_PASSIVE = re.compile(
    r"\b(?:is|are|am|was|were|be|been|being|get|gets|got)\s+(?:\w+ly\s+|not\s+)?$", re.IGNORECASE
)
_NO_TENSE = re.compile(
    r"(?:\b(?:is|are|am|was|were|be|been|being|has|have|had|having|get|gets|got|a|an|the|my|your|his|her|its|our|their|by|not)"
    r"|n't|'s|'re|'ve|'d|ly|-)\W*$",
    re.IGNORECASE,
)


def exchanged(left: Traits, right: Traits, *, alone: bool) -> list[Difference]:
    """Return small words exchanged for others with another meaning.

    With `alone`, all else is equal. Otherwise only an opposite counts, because other small words come with
    added content.
    """
    left_added, right_added = _added(left, right), _added(right, left)
    if not left_added or not right_added:
        return []
    exchanged_tokens: list[list[Token]] = [[], []]
    groups = set(map(_group, left_added)) & set(map(_group, right_added)) - TURNS - _POOL
    for group in sorted(groups):
        for side, tokens in zip(exchanged_tokens, (left_added, right_added), strict=True):
            side += [token for token in tokens if _group(token) == group]
    pool = [[token for token in tokens if _group(token) in _POOL] for tokens in (left_added, right_added)]
    if alone and left.passive == right.passive:
        left_pool, right_pool = _unlike(pool[0], pool[1])
    else:
        left_pool = [
            token for token in pool[0] if any(OPPOSITES.get(token.key) == their.key for their in pool[1])
        ]
        right_pool = [
            token for token in pool[1] if any(OPPOSITES.get(token.key) == their.key for their in pool[0])
        ]
    if left_pool and right_pool:
        exchanged_tokens[0] += left_pool
        exchanged_tokens[1] += right_pool
    return (
        [between("word", left.text, right.text, *exchanged_tokens)]
        if exchanged_tokens[0] and exchanged_tokens[1]
        else []
    )


def _unlike(left_tokens: list[Token], right_tokens: list[Token]) -> tuple[list[Token], list[Token]]:
    """Drop small words that may replace each other."""
    left, right = list(left_tokens), list(right_tokens)
    for token in left_tokens:
        for other in right:
            if frozenset((token.key.partition(":")[2], other.key.partition(":")[2])) in EQUIVALENT:
                left.remove(token)
                right.remove(other)
                break
    return left, right


def qualified(left: Traits, right: Traits, differences: Sequence[Difference]) -> list[Difference]:
    """Return words that change the meaning and that only one text has."""
    left_added = [one for one in _added(left, right) if _group(one) in TURNS]
    right_added = [one for one in _added(right, left) if _group(one) in TURNS]
    added = [one for one in differences if not (one.left and one.right)]
    if not left_added and not right_added and not added:
        return []
    more = _turning(left.text, added, "left", right.text), _turning(right.text, added, "right", left.text)
    if not (left_added or right_added or more[0] or more[1]):
        return []
    if _whole_statements(left.text, right.text):
        return []
    left_said, left_at = places(left.text, left_added)
    right_said, right_at = places(right.text, right_added)
    return [
        Difference(
            "qualifier",
            left_said + tuple(left.text[a:b] for a, b in more[0]),
            right_said + tuple(right.text[a:b] for a, b in more[1]),
            left_at + more[0],
            right_at + more[1],
        )
    ]


def restricted(left: Traits, right: Traits, differences: Sequence[Difference]) -> list[Difference]:
    """Return restrictions (where, when, of whom) that only one text has in a sentence.

    "In winter the road is closed" says less than "the road is closed", so it replaces nothing.
    """
    added = [one for one in differences if not (one.left and one.right)]
    if not added or _whole_statements(left.text, right.text):
        return []
    left_spans, right_spans = _restricting(left.text, added, "left"), _restricting(right.text, added, "right")
    if not left_spans and not right_spans:
        return []
    values = tuple(left.text[a:b] for a, b in left_spans), tuple(right.text[a:b] for a, b in right_spans)
    return [Difference("restriction", *values, left_spans, right_spans)]


def _restricting(text: str, added: Sequence[Difference], side: str) -> tuple[tuple[int, int], ...]:
    return tuple(
        (start, end)
        for difference in added
        for start, end in (difference.left_at if side == "left" else difference.right_at)
        if _WHERE_AND_WHEN.search(text[max(0, start - 40) : start]) or _OF.match(text[end : end + 4])
    )


def _turning(text: str, added: Sequence[Difference], side: str, other: str) -> tuple[tuple[int, int], ...]:
    """Return the added words that change a meaning; all if the language is unknown."""
    own = [
        (difference.kind, difference.left_at if side == "left" else difference.right_at)
        for difference in added
    ]
    spans = [span for _, at in own for span in at]
    if not spans:
        return ()
    if not _read(text):
        return tuple(spans)
    return tuple(
        (start, end)
        for kind, at in own
        for start, end in at
        if kind in {"number", "identifier"}
        or any(_turns(word) for word in _WORD.findall(text[start:end].casefold()))
        or any(letter.isalpha() and not letter.isascii() for letter in text[start:end])
        or _bound_up(text, start, end, other)
    )


def _bound_up(text: str, start: int, end: int, other: str) -> bool:
    """Whether an added word changes its neighbour: for students, co-owner, Ada's mother."""
    before, after = text[max(0, start - 40) : start], text[end : end + 40]
    return bool(
        _RESTRICTS.search(before)
        or _COMPOUNDED.match(after)
        or (text[start] == "-" and text[start + 1 : start + 2].isalpha())
        or (re.search(r"'s\s+$", before) and text.count("'s ") > other.count("'s "))
        or (_FRAME.search(before) and "," in after)
        or _stands_for(text, (start, end), other)
    )


def _stands_for(text: str, span: tuple[int, int], other: str) -> bool:
    """Whether an addition replaces a small word of the other text: two for a, Zelda for this."""
    word = text[span[0] : span[1]]
    if not (word[:1].isupper() or word[:1].isdigit() or word.casefold() in CARDINALS):
        return False
    before, after = _LAST.search(text[: span[0]]), _NEXT.match(text, span[1])
    if after is None:
        return False
    begins = re.escape(before[0]) + r"\W+" if before else r"\A\W*"
    match = re.search(begins + r"(\w+)\W+(\w+)", other, re.IGNORECASE)
    if match is None or word_key(match[2].casefold()) != word_key(after[1].casefold()):
        return False
    small = match[1].casefold()
    return small in _ONE if not word[:1].isupper() else small in ENGLISH_WORDS - _ONE - {"the"}


def _turns(word: str) -> bool:
    return word in TURNING_WORDS or word_key(word) in _VERBS


def _read(text: str) -> bool:
    """Whether a text is English, by its small words."""
    words = _WORD.findall(text.casefold())
    english = sum(word in ENGLISH_WORDS for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    return english > foreign or (not foreign and text.isascii())


def _whole_statements(left: str, right: str) -> bool:
    """Whether one text is the other with additional statements, none of which retracts."""
    sides = [Counter(_bare(one) for one in statements(text)) for text in (left, right)]
    more = sides[0] - sides[1], sides[1] - sides[0]
    if bool(more[0]) is bool(more[1]):
        return False
    return not any(_takes_back(one) for side in more for one in side)


def _bare(statement: str) -> str:
    return " ".join(re.findall(r"\w+|[^\w\s.,;:!*_`\"'-]", statement.casefold()))


def _takes_back(statement: str) -> bool:
    first = statement.split(" ", 1)[0]
    turns = LIGHT.get(first, ("",))[0] in TURNS or first in NEGATIONS or _turns(first)
    return turns or first in {"but", "then", "however"} or not _read(statement)


def inflected(left: Traits, right: Traits, *, alone: bool) -> list[Difference]:
    """Return words in another tense, form or degree: sell and sold, better and best.

    If content was added, only active against passive counts. If "by" swaps subject and object, the order is
    compared instead.
    """
    if left.passive != right.passive:
        return []
    left_forms, right_forms = _inflections(left, right), _inflections(right, left)
    clashes = [
        (one, other)
        for one, left_kind, left_context in left_forms
        for other, right_kind, right_context in right_forms
        if _clash(one, left_kind, left_context, other, right_kind, right_context)
        and (alone or "passive" in {left_kind, right_kind})
    ]
    if not clashes:
        return []
    return [
        between("tense", left.text, right.text, [one for one, _ in clashes], [other for _, other in clashes])
    ]


def _clash(
    one: Token, left_kind: str, left_context: str, other: Token, right_kind: str, right_context: str
) -> bool:
    if one.key != other.key or left_kind == right_kind or stem_key(one.form) != stem_key(other.form):
        return False
    if "passive" in {left_kind, right_kind}:
        return left_context == right_context
    return one.form != other.form and "active" not in {left_kind, right_kind}


def _inflections(one: Traits, other: Traits) -> list[tuple[Token, str, str]]:
    """Return shared verbs and adjectives with their form and the content word before them."""
    inflections = []
    before = ""
    voice = one.light_counts != other.light_counts
    for token in one.tokens:
        alike = token.key in other.counts and token.kind in {"word", "entity"} and one.counts[token.key] == 1
        if alike and (voice or token.form not in other.forms) and (kind := _inflection(token, one.text)):
            inflections.append((token, kind, before))
        before = token.key
    return inflections


def _inflection(token: Token, text: str) -> str:
    if token.form in DEGREES:
        return DEGREES[token.form]
    if token.form.endswith("ing"):
        return "active"
    if (
        token.form in IRREGULAR_FORMS
        or token.form in PAST
        or (token.form.endswith("ed") and len(token.form) > 4)
    ):
        before = text[max(0, token.start - 16) : token.start]
        if _PASSIVE.search(before):
            return "passive"
        return "past" if not _NO_TENSE.search(before) and token.form not in IRREGULAR_FORMS - PAST else ""
    return "base"


def _added(one: Traits, other: Traits) -> list[Token]:
    return surplus(one.light, one.light_counts, other.light_counts)


def _group(token: Token) -> str:
    return token.key.partition(":")[0]

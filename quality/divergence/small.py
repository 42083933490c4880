"""What small words make of two texts with the same content: only, if, or, must, plan to (rule 2.3).

A word more is as much as another word: who merges "only Ada may" with "Ada may" has both, and knows neither.
Whatever is not known to be harmless counts.
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
# An added word behind one of these restricts what is said, as does one joined to the next word.
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
    """Small words that stand for each other and do not say the same; `alone`: all else is equal.

    Where content was added, only an opposite counts: the words around what was added come with it.
    """
    mine, theirs = _added(left, right), _added(right, left)
    if not mine or not theirs:
        return []
    found: list[list[Token]] = [[], []]
    for group in sorted({_group(one) for one in mine} & {_group(one) for one in theirs} - TURNS - _POOL):
        for side, tokens in zip(found, (mine, theirs), strict=True):
            side += [one for one in tokens if _group(one) == group]
    pool = [[one for one in tokens if _group(one) in _POOL] for tokens in (mine, theirs)]
    if alone and left.passive == right.passive:
        one, other = _unlike(pool[0], pool[1])
    else:
        one = [token for token in pool[0] if any(OPPOSITES.get(token.key) == their.key for their in pool[1])]
        other = [
            token for token in pool[1] if any(OPPOSITES.get(token.key) == their.key for their in pool[0])
        ]
    if one and other:
        found[0] += one
        found[1] += other
    return [between("word", left.text, right.text, *found)] if found[0] and found[1] else []


def _unlike(mine: list[Token], theirs: list[Token]) -> tuple[list[Token], list[Token]]:
    """Without those that may stand for one another."""
    left, right = list(mine), list(theirs)
    for one in mine:
        for other in right:
            if frozenset((one.key.partition(":")[2], other.key.partition(":")[2])) in EQUIVALENT:
                left.remove(one)
                right.remove(other)
                break
    return left, right


def qualified(left: Traits, right: Traits, found: Sequence[Difference]) -> list[Difference]:
    """Words that turn the meaning and that one text alone has."""
    mine = [one for one in _added(left, right) if _group(one) in TURNS]
    theirs = [one for one in _added(right, left) if _group(one) in TURNS]
    added = [one for one in found if not (one.left and one.right)]
    if not mine and not theirs and not added:
        return []
    more = _turning(left.text, added, "left", right.text), _turning(right.text, added, "right", left.text)
    if not (mine or theirs or more[0] or more[1]):
        return []
    if _whole_statements(left.text, right.text):
        return []
    left_said, left_at = places(left.text, mine)
    right_said, right_at = places(right.text, theirs)
    return [
        Difference(
            "qualifier",
            left_said + tuple(left.text[a:b] for a, b in more[0]),
            right_said + tuple(right.text[a:b] for a, b in more[1]),
            left_at + more[0],
            right_at + more[1],
        )
    ]


def restricted(left: Traits, right: Traits, found: Sequence[Difference]) -> list[Difference]:
    """Where, when, of whom: what one text alone says of its statement, within the same sentence.

    "In winter the road is closed" says less than "the road is closed", so it takes no other's place.
    """
    added = [one for one in found if not (one.left and one.right)]
    if not added or _whole_statements(left.text, right.text):
        return []
    mine, theirs = _restricting(left.text, added, "left"), _restricting(right.text, added, "right")
    if not mine and not theirs:
        return []
    said = tuple(left.text[a:b] for a, b in mine), tuple(right.text[a:b] for a, b in theirs)
    return [Difference("restriction", *said, mine, theirs)]


def _restricting(text: str, added: Sequence[Difference], side: str) -> tuple[tuple[int, int], ...]:
    return tuple(
        (start, end)
        for one in added
        for start, end in (one.left_at if side == "left" else one.right_at)
        if _WHERE_AND_WHEN.search(text[max(0, start - 40) : start]) or _OF.match(text[end : end + 4])
    )


def _turning(text: str, added: Sequence[Difference], side: str, other: str) -> tuple[tuple[int, int], ...]:
    """Of what was added, the words that turn a meaning; all of them where the language cannot be read."""
    own = [(one.kind, one.left_at if side == "left" else one.right_at) for one in added]
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
    """Whether an added word makes something else of its neighbour: for students, co-owner, Ada's mother."""
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
    """Whether what was added stands where the other text has a small word: two for a, Zelda for this."""
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
    """Whether a text is English, as far as its small words tell."""
    words = _WORD.findall(text.casefold())
    english = sum(word in ENGLISH_WORDS for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    return english > foreign or (not foreign and text.isascii())


def _whole_statements(left: str, right: str) -> bool:
    """Whether one text is the other and whole statements more, none of which takes something back."""
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
    """The same words in another tense, voice or degree: sell and sold, fired and was fired, better and best.

    Where content was added, only the voice counts; where "by" turns who and whom, it is the order that does.
    """
    if left.passive != right.passive:
        return []
    mine, theirs = _inflections(left, right), _inflections(right, left)
    clashes = [
        (one, other)
        for one, kind, who in mine
        for other, others, whom in theirs
        if _clash(one, kind, who, other, others, whom) and (alone or "passive" in {kind, others})
    ]
    if not clashes:
        return []
    return [
        between("tense", left.text, right.text, [one for one, _ in clashes], [other for _, other in clashes])
    ]


def _clash(one: Token, kind: str, who: str, other: Token, others: str, whom: str) -> bool:
    if one.key != other.key or kind == others or stem_key(one.form) != stem_key(other.form):
        return False
    if "passive" in {kind, others}:
        return who == whom
    return one.form != other.form and "active" not in {kind, others}


def _inflections(one: Traits, other: Traits) -> list[tuple[Token, str, str]]:
    """Verbs and adjectives of both texts with what their form says, and the word of content before them."""
    found = []
    before = ""
    voice = one.light_counts != other.light_counts
    for token in one.tokens:
        alike = token.key in other.counts and token.kind in {"word", "entity"} and one.counts[token.key] == 1
        if alike and (voice or token.form not in other.forms) and (kind := _inflection(token, one.text)):
            found.append((token, kind, before))
        before = token.key
    return found


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

"""Telegraphic style: share of short sentences and lines that link their words without grammar.

Jotted facts leave out function words. A number, a name, a label with a colon or a common verb links such a
sentence instead. Random words have none of them, however they are cut into sentences. Random capitals look
like names, so names count only beside the other links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from slowwave.quality._lexicons import FUNCTION_WORDS, LINKING_WORDS
from slowwave.quality.density.remembered import RememberedWords

WORDS_PER_LINK = 8
"""Maximum words of a sentence for each of its links (count)."""
NAMES_SHARE = 0.4
"""Maximum share of capitalised words behind the first: beyond it they are titles or nouns, no names."""
NAMED_SHARE = 0.5
"""Maximum words that names link, for each word that other links do (ratio)."""

_END = re.compile(r"[.!?;\u061f\u0964]\s+")
_TOKEN = re.compile(r"\w+(?:[.'\u2019:/-]\w+)*")
_LABEL = re.compile(r"\w ?: +\S")
_MIXED = re.compile(r"[A-Z]{2}|[a-z][A-Z]")

_LINK, _CAPITAL, _IS_MIXED = 1, 2, 4  # the last two also together


def linked_share(text: str) -> float:
    """Return the share of words in sentences and lines with a link, in [0, 1].

    Names link at most `NAMED_SHARE` as many words as all other links.
    """
    total = linked = named = 0
    for piece in _pieces(text):
        tokens = _tokens(piece)
        total += len(tokens)
        links, is_named = _count_links(piece, tokens)
        needed = max(len(tokens), 2)
        if links * WORDS_PER_LINK >= needed:
            linked += len(tokens)
        elif (links + is_named) * WORDS_PER_LINK >= needed:
            named += len(tokens)
    return (linked + min(named, linked * NAMED_SHARE)) / total if total else 0.0


def _pieces(text: str) -> Iterator[str]:
    """Yield the sentences and lines of a text."""
    for line in text.split("\n"):
        start = 0
        for end in _END.finditer(line):
            yield line[start : end.start() + 1]
            start = end.end()
        yield line[start:]


def _tokens(piece: str) -> list[str]:
    """Return what `_TOKEN` finds; most words have no mark inside and need no pattern."""
    words = piece.split()
    if "".join(words).isalnum():
        return words
    words = piece.translate(_NO_JOINT).split()
    if "".join(words).isalnum():
        return words
    tokens: list[str] = []
    for word in words:
        if word.isalnum():
            tokens.append(word)
        else:
            tokens += _TOKEN.findall(word)
    return tokens


_NO_JOINT = dict.fromkeys(map(ord, ',;!?()[]{}"*#<>|=`~$%&+@^\\\u2013\u2014\u201c\u201d'), " ")
"""Marks that never are inside of a token."""


def _count_links(piece: str, tokens: list[str]) -> tuple[int, bool]:
    """Return the count of links, and whether the piece has one name more."""
    kinds = bytes(map(_KIND_OF, tokens))
    links = kinds.count(_LINK) + (": " in piece and _LABEL.search(piece) is not None)
    # Cheap check first: nearly no piece of random words has a name.
    return links, bool(kinds[1:].strip(_NO_NAMES) or kinds[:1].strip(_NO_MIXED)) and _is_named(kinds)


_NO_NAMES = bytes([0, _LINK, _IS_MIXED])
_NO_MIXED = bytes([0, _LINK, _CAPITAL])


def _is_named(kinds: bytes) -> bool:
    """Whether tokens of these kinds have exactly one name, of any words."""
    names = runs = 0
    in_name = True  # a sentence begins with a capital anyway
    for place, kind in enumerate(kinds):
        is_name = bool(kind & (_CAPITAL if place else _IS_MIXED))
        names += is_name
        runs += is_name and (not in_name or place == 0)
        in_name = is_name or place == 0
    return names <= NAMES_SHARE * len(kinds) and runs == 1


def _find_kind(token: str) -> int:
    """Return whether a token is a link, or else whether it looks like a name."""
    folded = token.casefold()
    if folded in FUNCTION_WORDS or folded in LINKING_WORDS:
        return _LINK
    if token.isalpha():
        if token.islower():
            return 0  # nearly all words
    elif any(map(str.isdecimal, token)):
        return _LINK
    mixed = _IS_MIXED if _MIXED.search(token) is not None else 0
    return mixed | (_CAPITAL if token[0].isupper() else 0)


_KIND_OF = RememberedWords(_find_kind).__getitem__

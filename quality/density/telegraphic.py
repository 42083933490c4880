"""Telegraphic style: share of short sentences and lines that link their words without grammar.

Jotted facts leave out function words. A number, a name, a label with a colon or a common verb links such a
sentence instead. Random words have none of them, however they are cut into sentences. Random capitals look
like names, so names count only beside the other links.
"""

from __future__ import annotations

import re

from slowwave.quality._lexicons import FUNCTION_WORDS, LINKING_WORDS

WORDS_PER_LINK = 8
"""Maximum words of a sentence for each of its links (count)."""
NAMES_SHARE = 0.4
"""Maximum share of capitalised words behind the first: beyond it they are titles or nouns, no names."""
NAMED_SHARE = 0.5
"""Maximum words that names link, for each word that other links do (ratio)."""

_PIECES = re.compile(r"(?<=[.!?;\u061f\u0964])\s+|\s*\n\s*")
_TOKEN = re.compile(r"\w+(?:[.'\u2019:/-]\w+)*")
_LABEL = re.compile(r"\w ?: +\S")
_MIXED = re.compile(r"[A-Z]{2}|[a-z][A-Z]")


def linked_share(text: str) -> float:
    """Return the share of words in sentences and lines with a link, in [0, 1].

    Names link at most `NAMED_SHARE` as many words as all other links.
    """
    total = linked = named = 0
    for piece in _PIECES.split(text):
        tokens = _TOKEN.findall(piece)
        total += len(tokens)
        links, is_named = _count_links(piece, tokens)
        needed = max(len(tokens), 2)
        if links * WORDS_PER_LINK >= needed:
            linked += len(tokens)
        elif (links + is_named) * WORDS_PER_LINK >= needed:
            named += len(tokens)
    return (linked + min(named, linked * NAMED_SHARE)) / total if total else 0.0


def _count_links(piece: str, tokens: list[str]) -> tuple[int, bool]:
    """Return the count of links, and whether the piece has one name more."""
    links = names = runs = 0
    in_name = True  # a sentence begins with a capital anyway
    for place, token in enumerate(tokens):
        folded = token.casefold()
        if folded in FUNCTION_WORDS or folded in LINKING_WORDS or any(map(str.isdecimal, token)):
            links += 1
            in_name = place == 0
            continue
        is_name = token[0].isupper() if place else _MIXED.search(token) is not None
        names += is_name
        runs += is_name and (not in_name or place == 0)
        in_name = is_name or place == 0
    is_named = names <= NAMES_SHARE * len(tokens) and runs == 1
    return links + (_LABEL.search(piece) is not None), is_named

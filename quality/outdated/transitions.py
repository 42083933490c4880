"""Notes that name the old value and the new one: "We switched from E.ON to Naturstrom" (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_VERB: Final = re.compile(
    r"\b(?:switch(?:ed)?|upgrade[ds]?|migrate[ds]?|changed|converted|replaced|gewechselt|wechselten|umgestiegen|umgestellt"
    r"|migriert|cambiado|cambiamos|cambié|pasado|pasamos|migrado|migramos|changé|passés?|migré|mudamos|trocamos)\b",
    re.IGNORECASE,
)
_WORD = r"[^\s,;:.!?()]+(?:\.[^\s,;:.!?()]+)*"
_FROM_TO: Final = re.compile(
    rf"\b(?:from|von|vom|de|du|desde|da|do) (?:the |der |den |dem |el |la |le )?"
    rf"(?P<old>{_WORD}(?: {_WORD}){{0,2}}?) (?:to|zu|zum|zur|auf|nach|a|al|à|au|para) "
    rf"(?:the |der |den |dem |el |la |le )?(?P<new>{_WORD}(?: {_WORD})?)"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def names_old_value(older: str, newer: str) -> bool:
    """Whether a newer text says that an older one's value changed.

    The old value is a name or has a figure, and does not begin the older sentence: what begins it is what
    the sentence is about.

    Args:
        older: Text or sentence.
        newer: Text or sentence.
    """
    plain = older.casefold()
    return any(
        new not in plain and re.search(rf"(?<=[^\s.!?\n] ){re.escape(old)}(?!\w|[.-]\w)", plain) is not None
        for old, new in _transitions(newer)
    )


@lru_cache(maxsize=4_096)
def _transitions(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(_found(text)) if _VERB.search(text) else ()


def _found(text: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new value of each change, in lower case."""
    for sentence in _SENTENCE.split(text):
        for match in _FROM_TO.finditer(sentence) if _VERB.search(sentence) else ():
            if any(letter.isupper() or letter.isdigit() for letter in match["old"]):
                yield match["old"].casefold(), match["new"].casefold()

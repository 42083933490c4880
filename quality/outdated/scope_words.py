"""Words that limit what a sentence speaks of (rule 3.12)."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from slowwave.scoring.wordlists import lines


def _tables() -> tuple[dict[str, frozenset[str]], list[tuple[frozenset[str], frozenset[str]]]]:
    """Return lists of words by name, and both sides of opposite attributes."""
    lists: defaultdict[str, set[str]] = defaultdict(set)
    sides: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for line in lines("slowwave.quality", "scope"):
        name, _, rest = line.partition(":")
        found = {word.replace("+", " ") for word in rest.split()}
        if name in {"opposed", "against"}:
            sides[name].append(frozenset(found))
        lists[name] |= found
    pairs = list(zip(sides["opposed"], sides["against"], strict=True))
    return {name: frozenset(one) for name, one in lists.items()}, pairs


SCOPE, OPPOSED = _tables()
NUMBERS: Final = {name: dict(entry.split("=") for entry in SCOPE[name]) for name in ("cardinal", "scale")}
"""Numbers of words, and of words behind a number that multiply it."""

"""Aliases: other names of a note, matched as its title is (rule 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from slowwave.scoring.ranking.words import line, text_stems, title_stems, within

MAX_PART = 200
"""Maximum memories that share only a part of an alias with a query (count)."""


class AliasMatch(NamedTuple):
    """Best matching alias of a memory.

    Attributes:
        alias: As written.
        share: Share of its stems that the query has, in (0, 1].
        strength: 1 if the query contains it whole, 0.5 if it has all its words elsewhere, else 0.
    """

    alias: str
    share: float
    strength: float


class AliasIndex:
    """Index of aliases by the stems of their content words.

    Args:
        aliases: Aliases of each memory.
    """

    def __init__(self, aliases: Mapping[str, Iterable[str]]) -> None:
        self._by_stem: dict[str, list[tuple[frozenset[str], str, str]]] = {}
        for memory, names in aliases.items():
            for name in names:
                own_stems = title_stems(name)
                for own_stem in own_stems:
                    self._by_stem.setdefault(own_stem, []).append((own_stems, name, memory))

    def __len__(self) -> int:
        """Count the stems."""
        return len(self._by_stem)

    def match(self, query: str) -> dict[str, AliasMatch]:
        """Return the best alias of each memory that shares a content word with a query.

        Of several aliases of a memory, the one with the greatest share counts, then the strongest, then the
        one with the most words.
        """
        query_stems, query_line = text_stems(query), line(query)
        best: dict[str, tuple[float, float, int, str]] = {}
        for query_stem in query_stems:
            for own_stems, name, memory in self._by_stem.get(query_stem, ()):
                share = len(own_stems & query_stems) / len(own_stems)
                strength = 0.0 if share < 1 else 1.0 if within(name) in query_line else 0.5
                match = (share, strength, len(own_stems), name)
                best[memory] = max(best.get(memory, match), match)
        order = sorted(best, key=lambda memory: (-best[memory][0], memory))
        kept = [memory for at, memory in enumerate(order) if at < MAX_PART or best[memory][0] == 1.0]
        return {memory: AliasMatch(best[memory][3], *best[memory][:2]) for memory in kept}


def with_aliases(
    phrases: Mapping[str, tuple[str, float]], matches: Mapping[str, AliasMatch]
) -> dict[str, tuple[str, float]]:
    """Add to triggered phrases the aliases that a query has with all words; the stronger counts.

    Args:
        phrases: Triggered phrase of each memory, and its strength in (0, 1].
        matches: From `AliasIndex.match`.
    """
    united = dict(phrases)
    for memory, match in matches.items():
        if match.strength > united.get(memory, ("", 0.0))[1]:
            united[memory] = (match.alias, match.strength)
    return united

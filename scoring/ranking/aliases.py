"""Aliases: other names of a note, matched as its title is (rule 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from slowwave.scoring.ranking.words import line, text_stems, title_stems, within

COMMON = 200
"""Aliases with one stem, above which that stem alone is no part that counts (count)."""
_Entry = tuple[frozenset[str], str, str]  # stems, alias, memory


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
        self._by_stem: dict[str, list[_Entry]] = {}
        for memory, names in aliases.items():
            for name in names:
                own_stems = title_stems(name)  # kept: every new alias rebuilds the index
                for own_stem in own_stems:
                    self._by_stem.setdefault(own_stem, []).append((own_stems, name, memory))
        self._by_rarest: dict[str, list[_Entry]] = {}
        for stem, entries in self._by_stem.items():
            if len(entries) > COMMON:
                self._by_rarest[stem] = [entry for entry in entries if self._rarest(entry[0]) == stem]

    def _rarest(self, own_stems: frozenset[str]) -> str:
        return min(own_stems, key=lambda stem: (len(self._by_stem[stem]), stem))

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
            for own_stems, name, memory in self._entries(query_stem):
                share = len(own_stems & query_stems) / len(own_stems)
                strength = 0.0 if share < 1 else 1.0 if within(name) in query_line else 0.5
                match = (share, strength, len(own_stems), name)
                best[memory] = max(best.get(memory, match), match)
        return {memory: AliasMatch(match[3], *match[:2]) for memory, match in sorted(best.items())}

    def _entries(self, stem: str) -> list[_Entry]:
        """Return the aliases with a stem; of a common one those that have no rarer stem."""
        return self._by_rarest[stem] if stem in self._by_rarest else self._by_stem.get(stem, [])


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

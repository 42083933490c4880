"""Trigger phrases: words of a query that find a memory (rule 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slowwave.scoring.ranking.words import as_asked, as_indexed, line, within, words


class TriggerIndex:
    """Index of trigger phrases, matched by the words of a query.

    A phrase matches when the query has all its words, in any order. Its strength is 1 if they are adjacent
    and in order, else 0.5. For "night shift", "who has the night shift" gives 1, and "shift it one night"
    gives 0.5.

    Args:
        phrases: trigger phrases of each memory.
    """

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        self._by_word: dict[str, list[tuple[tuple[str, ...], str, str, str]]] = {}
        for memory, texts in phrases.items():
            for text in texts:
                parts = words(as_asked(text))
                if parts:  # indexed by its longest word, which is in the fewest queries
                    rarest = max(parts, key=lambda part: (len(part), part))
                    self._by_word.setdefault(rarest, []).append((parts, within(text), text, memory))

    def __len__(self) -> int:
        """Count the phrases."""
        return sum(len(entries) for entries in self._by_word.values())

    def match(self, query: str) -> dict[str, tuple[str, float]]:
        """Return the memories that a query triggers: the phrase, and its strength in (0, 1].

        Of several phrases of a memory, the strongest counts, then the longest.
        """
        query_words, query_line = set(words(as_indexed(query))), line(query)
        best: dict[str, tuple[float, int, str]] = {}
        for word in query_words:
            for parts, whole, text, memory in self._by_word.get(word, ()):
                if query_words.issuperset(parts):
                    strength = 1.0 if whole in query_line else 0.5
                    best[memory] = max(best.get(memory, (0.0, 0, "")), (strength, len(parts), text))
        return {memory: (text, strength) for memory, (strength, _, text) in best.items()}

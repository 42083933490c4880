"""Trigger phrases: the words that should bring a memory to mind (rule 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slowwave.scoring.ranking.words import as_asked, as_indexed, line, within, words


class TriggerIndex:
    """Trigger phrases of many memories, found by the words of a query.

    A phrase is triggered when the query has all its words, in any order. It counts 1 where they stand
    together and in order, else .5: "night shift" is in "who has the night shift", less in "shift it one
    night".

    Args:
        phrases: the trigger phrases of each memory.
    """

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        self._by_word: dict[str, list[tuple[tuple[str, ...], str, str, str]]] = {}
        for memory, texts in phrases.items():
            for text in texts:
                parts = words(as_asked(text))
                if parts:  # filed under its longest word, which is in the fewest queries
                    rarest = max(parts, key=lambda part: (len(part), part))
                    self._by_word.setdefault(rarest, []).append((parts, within(text), text, memory))

    def __len__(self) -> int:
        """How many phrases there are."""
        return sum(len(filed) for filed in self._by_word.values())

    def match(self, query: str) -> dict[str, tuple[str, float]]:
        """The memories that a query triggers: the phrase, and its strength in (0, 1].

        Of several phrases of a memory the strongest counts, then the longest.
        """
        there, said = set(words(as_indexed(query))), line(query)
        best: dict[str, tuple[float, int, str]] = {}
        for word in there:
            for parts, whole, text, memory in self._by_word.get(word, ()):
                if there.issuperset(parts):
                    strength = 1.0 if whole in said else 0.5
                    best[memory] = max(best.get(memory, (0.0, 0, "")), (strength, len(parts), text))
        return {memory: (text, strength) for memory, (strength, _, text) in best.items()}

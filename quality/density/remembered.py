"""Bounded memory of a property of words: they repeat within and between texts."""

from __future__ import annotations

from collections.abc import Callable

REMEMBERED = 1 << 16
"""Words that are remembered; one more forgets all (count)."""
LONGEST = 32
"""Length of a word from which it is not remembered, because it hardly repeats (characters)."""


class RememberedWords(dict[str, int]):
    """Mapping of every word to a number below 256, found at its first use."""

    def __init__(self, find: Callable[[str], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, word: str) -> int:
        value = self._find(word)
        if len(word) <= LONGEST:
            if len(self) >= REMEMBERED:
                self.clear()
            self[word] = value
        return value

"""Bounded memory of a property of words: they repeat within and between texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

REMEMBERED = 1 << 16
"""Words that are remembered; one more forgets all (count)."""
LONGEST = 32
"""Length of a word from which it is not remembered, because it hardly repeats (characters)."""

Value = TypeVar("Value")


class RememberedWords(dict[str, Value]):
    """Mapping of every word to a small value, found at its first use."""

    def __init__(self, find: Callable[[str], Value]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, word: str) -> Value:
        value = self._find(word)
        if len(word) <= LONGEST:
            if len(self) >= REMEMBERED:
                self.clear()
            self[word] = value
        return value

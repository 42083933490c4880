"""Token collector: tokens of a text with their offsets in the original."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from slowwave.quality.divergence.patterns import normalise


class Token(NamedTuple):
    """Token with its comparison key, kind, and span in the original text."""

    key: str
    kind: str
    start: int
    end: int
    form: str


class TokenCollector:
    """Normalised text with its tokens.

    Args:
        text: as written.

    Attributes:
        text: normalised; offsets of matches are offsets in it.
        content: tokens of content, in the order of the text.
        light: small words.
        negations: negations with the content word that they deny.
        labels: function words that may be names.
    """

    def __init__(self, text: str) -> None:
        self.text, self._here, self._there = normalise(text)
        self.content: list[Token] = []
        self.light: list[Token] = []
        self.negations: list[Token] = []
        self.labels: list[Token] = []
        self._shifted = len(self._here) > 1
        self._open: list[Token] = []  # negations before the content word that is their scope

    def add(self, key: str, kind: str, match: re.Match[str], form: str = "") -> None:
        """Add a content token; its form defaults to its key."""
        start, end = self.span(match)
        self.content.append(Token(key, kind, start, end, form or key))
        if self._open:
            self.close(key)

    def small(self, key: str, match: re.Match[str], form: str = "") -> None:
        """Add a small word; its form defaults to the case-folded match."""
        self.light.append(Token(key, "word", *self.span(match), form or match.group().casefold()))

    def negate(self, match: re.Match[str]) -> None:
        """Add a negation; its scope is the next content word."""
        self._open.append(Token("", "negation", *self.span(match), ""))

    def close(self, key: str) -> None:
        """End the scope of open negations with the key of the denied word."""
        self.negations += (token._replace(key=f"not {key}") for token in self._open)
        self._open = []

    def span(self, match: re.Match[str]) -> tuple[int, int]:
        """Return the span of a match in the original text."""
        start, end = match.span()
        if not self._shifted:
            return start, end
        # The place of the last character plus one: characters after it may have been removed.
        return self._at(start), self._at(end - 1) + 1

    def _at(self, offset: int) -> int:
        step = bisect_right(self._here, offset) - 1
        return self._there[step] + offset - self._here[step]

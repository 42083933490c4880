"""Tokens of one text as they are read, each with its place in the text as written."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from slowwave.quality.divergence.patterns import normalise


class Token(NamedTuple):
    """One stated thing: what it is compared by, its kind, and its place in the text as written."""

    key: str
    kind: str
    start: int
    end: int
    form: str


class TokenCollector:
    """A normalised text with the tokens that were found in it.

    Args:
        text: as written.

    Attributes:
        text: normalised; offsets of matches are offsets in it.
        content: tokens of content, in the order of the text.
        light: small words.
        negations: each with the content word that it denies.
        labels: function words that may be names.
    """

    def __init__(self, text: str) -> None:
        self.text, self._here, self._there = normalise(text)
        self.content: list[Token] = []
        self.light: list[Token] = []
        self.negations: list[Token] = []
        self.labels: list[Token] = []
        self._shifted = len(self._here) > 1
        self._open: list[Token] = []  # negations whose scope, the next content word, has not come yet

    def add(self, key: str, kind: str, match: re.Match[str], form: str = "") -> None:
        """Add a token of content; its form is its key, if no other is given."""
        start, end = self.span(match)
        self.content.append(Token(key, kind, start, end, form or key))
        if self._open:
            self.close(key)

    def small(self, key: str, match: re.Match[str], form: str = "") -> None:
        """Add a small word; its form is what was matched, without case, if no other is given."""
        self.light.append(Token(key, "word", *self.span(match), form or match.group().casefold()))

    def negate(self, match: re.Match[str]) -> None:
        """Add a negation, whose scope is the content word that follows."""
        self._open.append(Token("", "negation", *self.span(match), ""))

    def close(self, key: str) -> None:
        """End the scope of open negations with the key of what they deny."""
        self.negations += (token._replace(key=f"not {key}") for token in self._open)
        self._open = []

    def span(self, match: re.Match[str]) -> tuple[int, int]:
        """Return where a match stands in the text as written."""
        start, end = match.span()
        if not self._shifted:
            return start, end
        # The last character's own place, plus one: what follows it may have vanished.
        return self._at(start), self._at(end - 1) + 1

    def _at(self, offset: int) -> int:
        step = bisect_right(self._here, offset) - 1
        return self._there[step] + offset - self._here[step]

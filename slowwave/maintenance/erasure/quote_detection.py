"""By what a text is known that quotes what was erased: words that only it says, its title, its source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from slowwave.journal.entry_builders import KEYLESS
from slowwave.scoring.ranking.words import as_asked, is_function_word, words

MIN_CHARACTERS = 4
"""Letters that a word has at least to be somebody's own (count)."""
MIN_PHRASE_CHARACTERS = 6
"""Characters that a title or a source has at least to be looked for (count)."""
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Words that are long enough to be somebody's own."""
    found = (word for text in texts for word in words(text))
    return {word for word in found if len(word) >= MIN_CHARACTERS and not is_function_word(word)}


def phrases_of(title: str, source: str) -> Iterable[str]:
    """Title and source as they are looked for; one that says nothing is left out."""
    if len(title) >= MIN_PHRASE_CHARACTERS and len(words(as_asked(title))) > 1:
        yield title.casefold()
    if len(source) >= MIN_PHRASE_CHARACTERS and not source.startswith(KEYLESS):
        yield source.casefold()


def plain(text: str) -> str:
    """A text with the characters that JSON has written as escapes."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


@dataclass(frozen=True, slots=True)
class QuoteFingerprints:
    """What is looked for.

    Attributes:
        words: that only the erased texts say.
        phrases: titles and sources, in any case.
    """

    words: frozenset[str]
    phrases: tuple[str, ...]

    def quoted(self, text: str | None) -> bool:
        """Whether a text says a word that only the erased ones say."""
        return bool(text) and not self.words.isdisjoint(words(text or ""))

    def named(self, texts: Sequence[str]) -> list[bool]:
        """Of each text, whether it says such a word or has a title or a source in it."""
        read = [plain(text).casefold() for text in texts]
        if self.phrases:
            there = pl.Series(read, dtype=pl.String).str.contains_any(list(self.phrases)).to_list()
        else:
            there = [False] * len(read)
        return [one or self.quoted(text) for one, text in zip(there, read, strict=True)]

    def mentioned(self, texts: Sequence[str]) -> list[bool]:
        """Of each text, whether it has a title or a source in it."""
        return QuoteFingerprints(frozenset(), self.phrases).named(texts)

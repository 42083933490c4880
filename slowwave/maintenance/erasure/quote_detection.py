"""Detection of quotes of an erased text by its unique words, title and source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from slowwave.journal.entry_builders import KEYLESS
from slowwave.scoring.ranking.words import as_asked, is_function_word, words

MIN_CHARACTERS = 4
"""Minimum letters of a word that counts as unique (count)."""
MIN_PHRASE_CHARACTERS = 6
"""Minimum characters of a title or a source that is searched for (count)."""
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Return the words of some texts that are long enough to be unique."""
    candidates = (word for text in texts for word in words(text))
    return {word for word in candidates if len(word) >= MIN_CHARACTERS and not is_function_word(word)}


def phrases_of(title: str, source: str) -> Iterable[str]:
    """Yield title and source in search form, unless too short to be evidence."""
    if len(title) >= MIN_PHRASE_CHARACTERS and len(words(as_asked(title))) > 1:
        yield title.casefold()
    if len(source) >= MIN_PHRASE_CHARACTERS and not source.startswith(KEYLESS):
        yield source.casefold()


def plain(text: str) -> str:
    """Decode the escapes that JSON uses for characters of a text."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


@dataclass(frozen=True, slots=True)
class QuoteFingerprints:
    """Fingerprints that detect quotes of an erased text.

    Attributes:
        words: Words that only the erased texts have.
        phrases: Titles and sources, case-insensitive.
    """

    words: frozenset[str]
    phrases: tuple[str, ...]

    def quoted(self, text: str | None) -> bool:
        """Whether a text has a word that only the erased texts have."""
        return bool(text) and not self.words.isdisjoint(words(text or ""))

    def named(self, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether it has such a word, a title or a source."""
        read = [plain(text).casefold() for text in texts]
        if self.phrases:
            has_phrase = pl.Series(read, dtype=pl.String).str.contains_any(list(self.phrases)).to_list()
        else:
            has_phrase = [False] * len(read)
        return [phrase or self.quoted(text) for phrase, text in zip(has_phrase, read, strict=True)]

    def mentioned(self, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether it has a title or a source."""
        return QuoteFingerprints(frozenset(), self.phrases).named(texts)

"""Words of a question for its subject, by which short notes are compared (rule 3.12)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.quality.outdated.change_words import GENERIC, TABLES, covered
from slowwave.quality.outdated.short_sentences import read, sentence_of
from slowwave.quality.outdated.state_questions import OF_STATE

_ASKS: Final = {
    "place": re.compile(r"\b(?:where|wo|wohin|dónde|donde|où|dove|onde)\b", re.IGNORECASE),
    "time": re.compile(
        r"\b(?:when|(?:what|which) (?:time|days?)|wann|uhr|cuándo|hora|quand|heure|quando|horas)\b",
        re.IGNORECASE,
    ),
    "name": re.compile(r"\b(?:who|wer|quién|quien|qui|chi|quem|called|named|heißt)\b", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class AskedWords:
    """Words of a question for its subject.

    Attributes:
        keys: Of its content words, without those that name no subject.
        names: Of them those with a capital letter.
        values: Its numbers, times and days.
        frames: Kinds of attribute of its words.
        is_past: Whether it asks for what held before.
        asks: Kind of answer that is no qualifier: name, place, time; else empty.
        is_of_state: Whether it asks if something is so.
    """

    keys: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    frames: frozenset[int]
    asks: str
    is_past: bool
    is_of_state: bool


@lru_cache(maxsize=1_024)
def asked_words(text: str) -> AskedWords:
    """Return the words of a question for its subject."""
    sentence = sentence_of(text)
    spaced = f" {text.casefold()} "
    past = any(f" {word} " in spaced for word in TABLES["past"])
    return AskedWords(
        sentence.keys - GENERIC,
        sentence.names,
        sentence.values,
        sentence.frames,
        next((name for name, pattern in _ASKS.items() if pattern.search(text)), ""),
        past,
        bool(OF_STATE.match(text)),
    )


@lru_cache(maxsize=4_096)
def says_of(question: AskedWords, text: str) -> bool:
    """Whether a text has a word that a question asks about, if any."""
    return not question.keys or any(covered(question.keys, one.keys) for one in read(text).sentences)

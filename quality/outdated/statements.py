"""Values in the sentences of a text (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon_numbers import CARDINALS
from slowwave.quality.outdated.change_words import TABLES
from slowwave.quality.outdated.tokens import CHANGES, DAY_KEYS, MONTH
from slowwave.quality.outdated.values import DIGITS, Value, values_of

MAX_CHARACTERS = 800  # read of a passage
SHORT = 160  # characters of a sentence that is compared as a whole
_FENCED = 5 * MAX_CHARACTERS  # read of a passage with code
_READ = 1_000  # characters of a passage that are searched for words of change
_LINK = re.compile(r"\S+://\S+")
_ASKED = re.compile(r"[\w°%€$£][\"'”’»]*\?+!?(?=\s|\Z)")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_FORMATTED = re.compile(r"\A\s*[|#]|\A\s{2,}[-*+]|\*\*|\\frac|[{}]")  # tables, headings, details, code
_BOLD = re.compile(
    r"(?<=[^\s*+.:-] )\*\*([^*\n]{1,40})\*\*(?!\s*:)"
)  # words within a sentence, no label of a list
_SENTENCE = re.compile(rf"(?<=[.!?])[ \t]+(?!(?<=\d\. ){MONTH})|\n+", re.IGNORECASE)
_ENDS = ("\n", *(mark + blank for mark in ".!?" for blank in " \t"))  # one of them is at every split
_FIGURE = re.compile(r"[\dA-ZÀ-ÞΑ-ΫА-Я](?:(?<=\d)|(?:(?<=\w .)|(?<=\w, .))[^\W\d_])")
"""A digit, or a capitalised word in a sentence. It begins with one set of characters, which is found fast."""
_IN_WORDS = re.compile(r"\w+")
_ASCII_APART = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
_VALUE_WORDS: Final = frozenset({*DAY_KEYS, *CARDINALS} - {"one", "hundred"})
_SPEAKER = re.compile(
    r"\A\s*(?:\[(?:[^\]\n]{4,40})\]\s*)?"
    r"(?:(?P<who>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}|user|assistant|human):\s)?"
)


@dataclass(frozen=True, slots=True)
class Statements:
    """Values of a text, with its speaker where it is a turn of a chat."""

    values: tuple[Value, ...]
    speaker: str


def statements_of(
    text: str,
    asked: frozenset[str] = frozenset(),
    *,
    changes: bool = False,
    counted: frozenset[str] = frozenset(),
) -> Statements:
    """Return the values of a text.

    Args:
        text: The text; its first characters are read.
        asked: Keys of words, of which a sentence has at least one; empty reads every sentence.
        changes: Whether to read only sentences with a word of change, or with a word that is counted.
        counted: Keys of words that are counted.
    """
    speaker, sentences = _sentences(text)
    begins, counts = _begins(asked), _begins(counted)
    return Statements(
        tuple(
            value
            for sentence, lowered in sentences
            if (not begins or any(map(lowered.__contains__, begins)))
            and (not changes or _has_change(lowered) or any(map(lowered.__contains__, counts)))
            for value in values_of(sentence)
        ),
        speaker,
    )


@lru_cache(maxsize=8_192)  # a text is compared in many searches
def asks(text: str) -> bool:
    """Whether somebody who speaks of themselves asks something; question marks in links are none."""
    if "?" not in text or TABLES["speaker"].isdisjoint(_words(text.casefold())):
        return False
    return _ASKED.search(_LINK.sub(" ", text)) is not None


def may_have_value(sentence: str) -> bool:
    """Whether a sentence has a digit, a later capital, a weekday or a number word."""
    return _FIGURE.search(sentence) is not None or not _VALUE_WORDS.isdisjoint(_words(sentence))


def _words(sentence: str) -> list[str]:
    if sentence.isascii():  # twice as fast
        return sentence.translate(_ASCII_APART).split()
    return _IN_WORDS.findall(sentence)


def may_have_values(text: str) -> bool:
    """Whether a text has sentences that may have values."""
    return bool(_sentences(text)[1])


def sentences_with_values(text: str) -> list[str]:
    """Return the sentences of a text that have a value."""
    return [sentence for sentence, _ in _sentences(text)[1] if values_of(sentence)]


@lru_cache(maxsize=1_024)
def _begins(keys: frozenset[str]) -> tuple[str, ...]:
    return tuple(key[: max(3, len(key) - 1)] for key in keys)


@lru_cache(maxsize=16_384)
def _has_change(lowered: str) -> bool:
    words = lowered.replace(",", " ").replace(".", " ").replace("\n", " ").replace(":", " ").split(" ")
    return not CHANGES.isdisjoint(words)


def may_tell_more(texts: Sequence[str], asked: frozenset[str], *, counts: bool) -> list[bool]:
    """Return of each text whether it may say that what is asked changed.

    Args:
        texts: Their first characters are read.
        asked: Keys of the words of a question, of which a text must have two, or the only one.
        counts: Whether a number is enough, without a word of change.
    """
    begins, wanted = _begins(asked), min(2, len(asked)) or 1
    return [_may_tell(text[:_READ].casefold(), begins, wanted, counts=counts) for text in texts]


def _may_tell(start: str, begins: Sequence[str], wanted: int, *, counts: bool) -> bool:
    # Few texts have the words, and to find these is the cheapest.
    for begin in begins:
        if begin in start:
            wanted -= 1
            if not wanted:
                return _has_change(start) or (counts and DIGITS.search(start) is not None)
    return False


@lru_cache(maxsize=8_192)
def _sentences(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the speaker of a text, and its sentences that may have values.

    Each sentence is also given in lower case.
    """
    head = _SPEAKER.match(text)
    speaker = (head["who"] or "") if head else ""
    body = text[head.end() if head else 0 :]
    if "```" in body:
        body = _CODE.sub("\n", body[:_FENCED])
    body = body[:MAX_CHARACTERS]
    if "**" in body:
        body = _BOLD.sub(r"\1", body)
    several = any(map(body.__contains__, _ENDS))  # finds out faster than the expression
    return speaker.casefold(), tuple(
        (sentence, sentence.casefold())
        for sentence in (_SENTENCE.split(body) if several else (body,))
        if len(sentence) > 8
        and (len(sentence) < SHORT or may_have_value(sentence))
        and not _FORMATTED.search(sentence)
    )

"""Questions that hold only a time and a word of noting: `what did I note last week?` (rule 3.13).

No text fits such a question, so it is answered by the memories of its days. A word beyond those of the lists
``time_*.txt`` is a subject, and the question is searched as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Final

from slowwave.scoring.ranking.time_languages import DAYS_OF_WEEK, WORD, Language, languages_known
from slowwave.scoring.ranking.time_words import TimeWords, time_words

MAX_CHARACTERS: Final = 120  # of a question that can hold only a time
MAX_UNSPACED: Final = 14  # letters of a time in a language without spaces
_LETTER = re.compile(r"\w")


class _Vocabulary:
    """Words of one language that leave a question without a subject."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.noting = frozenset(language.listed("noting"))
        self.since = frozenset(language.listed("noted_since"))
        self.all = self.noting | self.since | frozenset(language.listed("asking"))
        # A word that is neither here nor in an expression of time is a subject.
        of_time = {word for form in language.every_form() for word in WORD.findall(form)}
        self.known = self.all | of_time | {"-"}  # the dashes of 2026-03-05
        self.longest = sorted(self.all, key=len, reverse=True)
        self.today = language.patterns("noted_today")
        self.yesterday = language.patterns("noted_yesterday")
        self.day = language.patterns("noted_day")

    def may_ask(self, text: str, words: frozenset[str]) -> bool:
        """Whether a question has a word of noting, and little else."""
        if not self.language.unspaced:
            return words <= self.known and not words.isdisjoint(self.noting)
        if not any(word in text for word in self.noting):
            return False
        return len(_LETTER.findall(self._unlisted(text)[0])) <= MAX_UNSPACED

    def rest(self, text: str) -> frozenset[str] | None:
        """Return the listed words that a text consists of; None if it has others."""
        if not self.language.unspaced:
            words = frozenset(WORD.findall(text))
            has_digit = any(letter.isdigit() for letter in text)
            return words if words <= self.all and not has_digit else None
        text, found = self._unlisted(text)
        return None if _LETTER.search(text) else found

    def _unlisted(self, text: str) -> tuple[str, frozenset[str]]:
        """Return a text without the listed words, and those that it had."""
        found = [word for word in self.longest if word in text]
        for word in found:
            text = text.replace(word, " ")
        return text, frozenset(found)

    def times(self, text: str, today: date) -> Iterator[TimeWords]:
        """Yield the past days that the language's own words name."""
        for match in _matches(self.today, text):
            yield TimeWords(match[0], today, today)
        for match in _matches(self.yesterday, text):
            yield TimeWords(match[0], *(today - timedelta(days=1),) * 2)
        for match in _matches(self.day, text):
            back = (today.weekday() - self.language.weekdays[match["weekday"]] - 1) % DAYS_OF_WEEK + 1
            yield TimeWords(match[0], *(today - timedelta(days=back),) * 2)


def _matches(patterns: tuple[re.Pattern[str], ...], text: str) -> Iterator[re.Match[str]]:
    return (match for pattern in patterns if (match := pattern.search(text)))


@cache
def _vocabularies() -> tuple[_Vocabulary, ...]:
    return tuple(map(_Vocabulary, languages_known()))


def time_only(question: str, as_of: datetime) -> TimeWords | None:
    """Return the days of a question that holds only a time; else None.

    A weekday is the last one before today. With a word for `since` the days go on until today.

    Args:
        question: Text of the query.
        as_of: Moment of the question.
    """
    return _time_only(question, as_of.date()) if len(question) <= MAX_CHARACTERS else None


@lru_cache(maxsize=256)
def _time_only(question: str, today: date) -> TimeWords | None:
    text = " ".join(question.casefold().replace("’", "'").split())
    words = frozenset(WORD.findall(text))
    for vocabulary in _vocabularies():
        if not vocabulary.may_ask(text, words):
            continue
        general = time_words(text, datetime.combine(today, time.min, UTC))
        times = [*vocabulary.times(text, today), *([general] if general else [])]
        for asked in sorted(times, key=lambda asked: len(asked.words), reverse=True):
            if asked.since is None or asked.until is None or asked.since > today:
                continue
            rest = vocabulary.rest(text.replace(asked.words, " ", 1))
            if rest is not None and rest & vocabulary.noting:
                until = max(asked.until, today) if rest & vocabulary.since else asked.until
                return asked._replace(until=until)
    return None

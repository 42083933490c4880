"""Time expressions of a question (rule 3.13).

Only certain expressions count: `in March` is a month, `march` alone may be a verb. Days are days in UTC, as
everywhere.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import lru_cache

from slowwave.scoring.ranking.time_languages import (
    ASKED_INSIDE,
    FIGURES,
    Language,
    languages_known,
    words_of,
)
from slowwave.scoring.ranking.time_spans import TimeWords, window_words


@lru_cache(maxsize=1)
def _keys() -> dict[str, tuple[Language, ...]]:
    keys: dict[str, tuple[Language, ...]] = {}
    for language in languages_known():
        for word in language.keys:
            keys[word] = (*keys.get(word, ()), language)
    return keys


def time_words(question: str, as_of: datetime) -> TimeWords | None:
    """Return the time that a question asks for, or None; the first expression of a language counts.

    Args:
        question: Text of the query.
        as_of: Moment of the question, from which `yesterday` counts.
    """
    return _time_words(question, as_of.date())


@lru_cache(maxsize=256)
def _time_words(question: str, today: date) -> TimeWords | None:
    text = plain(question)
    words = words_of(text)
    languages = languages_of(text, words)
    for language in languages:
        if asked := window_asked(text, language, today, day_first=languages[0].name != "en"):
            return asked
    for language in languages:
        if asks := language.when.search(text) if language.name in ASKED_INSIDE else language.when.match(text):
            return TimeWords(asks[0].strip(' ¿¡"“('), language=language.name)
    return None


def plain(question: str) -> str:
    """Return a question in lower case, with single spaces and straight apostrophes."""
    return " ".join(question.casefold().replace("’", "'").split())


def without_expression(question: str, words: str) -> str:
    """Return a question without the expression of its time.

    Args:
        question: Text of the query.
        words: Of its time, as of `time_words`.
    """
    expression = r"\s+".join(map(re.escape, words.split()))
    rest = re.sub(expression, " ", question.replace("’", "'"), count=1, flags=re.IGNORECASE)
    return re.sub(r"\s+(?=[?!.,;:]|$)", "", " ".join(rest.split())).lstrip(" ,;:")


def is_dated(asked: TimeWords) -> bool:
    """Whether a time is named by figures, a month or a day.

    So texts name it, too; `last week` is another one in each text. In a script without spaces all count.

    Args:
        asked: As of `time_words`.
    """
    words = words_of(asked.words)
    is_named = any(not words.isdisjoint(language.names) for language in languages_known())
    return is_named or any(letter.isdigit() or "\u3040" <= letter <= "\u9fff" for letter in asked.words)


def languages_of(text: str, words: frozenset[str]) -> list[Language]:
    """Return the languages that may name a time, first that of most words.

    Args:
        text: As of `plain`.
        words: Of the text, as of `words_of`.
    """
    keys, figures = _keys(), FIGURES.search(text) is not None
    spoken = {id(one) for word in words for one in keys.get(word, ())}
    wide = any("\u3040" <= letter <= "\u9fff" for letter in text)
    kana = wide and any("\u3040" <= letter <= "\u30ff" for letter in text)
    some = [
        one for one in languages_known()
        if (wide and kana == (one.name == "ja") if one.unspaced else figures or id(one) in spoken)
    ]  # fmt: skip
    return some if len(some) < 2 else sorted(some, key=lambda one: -len(one.own.intersection(words)))


def window_asked(
    text: str, language: Language, today: date, *, day_first: bool, alone: bool = False, coming: bool = False
) -> TimeWords | None:
    """Return the time that a question names in one language.

    A question is about what is to come if it has a word for that, and none for the past. With a word that
    may be either (*Termine im Dezember*), the nearer of both times counts.

    Args:
        text: As of `plain`.
        language: Language of the words.
        today: Day of the question.
        day_first: As of `window_words`.
        alone: As of `window_words`.
        coming: Whether the question looks ahead unless it has a word for the past.
    """
    if not language.may_name(text, words_of(text)):
        return None
    ahead, past, present = language.tenses
    is_past = past.search(text) is not None
    is_ahead = not is_past and (coming or ahead.search(text) is not None)
    asked = window_words(text, language, today, day_first=day_first, ahead=is_ahead, alone=alone)
    if asked is None or is_ahead or is_past or not present.search(text):
        return asked
    next_one = window_words(text, language, today, day_first=day_first, ahead=True, alone=alone)
    is_nearer = next_one is not None and _days_until(next_one, today) < _days_until(asked, today)
    return next_one if is_nearer else asked


def _days_until(asked: TimeWords, today: date) -> int:
    """Return the days from a window to a day; 0 within it."""
    if asked.since is None or asked.until is None:
        return 0
    return max((asked.since - today).days, (today - asked.until).days, 0)

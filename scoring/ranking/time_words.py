"""Time expressions of a question, and the dates that a text carries.

Only certain expressions count: `in March` is a month, `march` alone may be a verb. Days are days in UTC, as
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import lru_cache

import numpy as np

from slowwave.scoring.arrays import Floats
from slowwave.scoring.ranking.time_languages import (
    ASKED_INSIDE,
    FIGURES,
    LANGUAGES,
    YEAR,
    Language,
    languages_known,
    words_of,
)
from slowwave.scoring.ranking.time_spans import TimeWords, window_words
from slowwave.scoring.ranking.time_windows import named_window

_ISO = re.compile(r"(?<![\w-])((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)")
_IN_FIGURES = re.compile(
    r"(?<![\w./-])(?:(?P<year>(?:19|20)\d\d)/(?P<month>\d\d?)/(?P<day>\d\d?)"
    r"|(?P<first>\d\d?)(?P<sign>[/-]|\. ?)(?P<second>\d\d?)(?P=sign)(?P<last>(?:19|20)\d\d))(?![\w/-]|\.\d)"
)
_FIGURES_AROUND = re.compile(r"\d(?:\D{0,24}\d)*")
_WORDS_BESIDE = 24
"""Characters beside a figure in which the other words of its date stand: `8th day of September`."""
_MONTHS = 12
_LINKS = "at|and|or|to|until|till|for|in|on|we|the|is|was|will|from|with|by|as|i"
_COUNTED = re.compile(rf"[:.]\d| ?(?:[ap]\.?m|uhr|h)\b| (?!(?:{_LINKS})\b)[^\W\d_]")
"""Text behind a number that is no day: `Jan 3 times`, `December 18:00`."""
_NEAR = timedelta(days=120)
"""Days from a text to a date in it that is meant rather than that of another year."""
_VERBS = frozenset({"may", "march", "mar"})
SAYS_WHEN = 1 / 3
"""Share of a text that says a time, for a question that asks when; a text of the window asked for has 1."""


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
    languages = _languages_of(text, words)
    for language in languages:
        if not language.may_name(text, words):
            continue
        if asked := window_asked(text, language, today, day_first=languages[0].name != "en"):
            return asked
    for language in languages:
        if asks := language.when.search(text) if language.name in ASKED_INSIDE else language.when.match(text):
            return TimeWords(asks[0].strip(' ¿¡"“('), language=language.name)
    return None


def plain(question: str) -> str:
    """Return a question in lower case, with single spaces and straight apostrophes."""
    return " ".join(question.casefold().replace("’", "'").split())


def without_expression(question: str, asked: TimeWords) -> str:
    """Return a question without the expression of its time.

    Args:
        question: Text of the query.
        asked: Its time, as of `time_words`.
    """
    expression = r"\s+".join(map(re.escape, asked.words.split()))
    rest = re.sub(expression, " ", question.replace("’", "'"), count=1, flags=re.IGNORECASE)
    return re.sub(r"\s+(?=[?!.,;:]|$)", "", " ".join(rest.split())).lstrip(" ,;:")


def _languages_of(text: str, words: frozenset[str]) -> list[Language]:
    """Return the languages that may name a time, first that of most words."""
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
    text: str, language: Language, today: date, *, day_first: bool, alone: bool = False
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
    """
    ahead, past, present = language.tenses
    is_past = past.search(text) is not None
    is_ahead = not is_past and ahead.search(text) is not None
    asked = window_words(text, language, today, day_first=day_first, ahead=is_ahead, alone=alone)
    if asked is None or is_ahead or is_past or not present.search(text):
        return asked
    coming = window_words(text, language, today, day_first=day_first, ahead=True, alone=alone)
    return coming if coming is not None and _days_until(coming, today) < _days_until(asked, today) else asked


def _days_until(asked: TimeWords, today: date) -> int:
    """Return the days from a window to a day; 0 within it."""
    if asked.since is None or asked.until is None:
        return 0
    return max((asked.since - today).days, (today - asked.until).days, 0)


@lru_cache(maxsize=8_192)
def dates_in(text: str, saved: date | None = None) -> tuple[tuple[date, date], ...]:
    """Return the dates that a text carries, and its months with a year: first and last day.

    A day without a year, such as `1 December`, is the last one before the text's own day or the next one
    after it: the one within four months, else both.

    Args:
        text: The text.
        saved: Its own day; None leaves out dates without a year.
    """
    return tuple(_dates(text, saved))


def _dates(text: str, saved: date | None) -> Iterator[tuple[date, date]]:
    text = _beside_figures(text)
    has_year = YEAR.search(text) is not None
    if not (has_year or (saved and text)):
        return
    folded = text.casefold()
    if has_year:
        yield from _in_figures(folded)
    words = words_of(folded)
    known = [language for language in languages_known() if language.may_date(folded, words)]
    dated = [(match, one) for one in known for form in one.in_text for match in form.finditer(folded)]
    # `May 2023` within `8 May 2023` is no date of its own, in no language.
    for match, language in dated:
        found = named_window(match.groupdict(), language, date.max)
        if found is not None and not any(_is_within(match, other) for other, _ in dated):
            yield found
    if saved is not None:
        taken = [match.span() for match, _ in dated]
        yield from _yearless(text, folded, known, taken, saved)


def _beside_figures(text: str) -> str:
    """Return the parts of a text that have figures, with words beside them: every date has one.

    Most words of long texts are in none, and to look for months in all of them takes longer.
    """
    found = (match.span() for match in _FIGURES_AROUND.finditer(text))
    return "\n\n".join(text[max(0, start - _WORDS_BESIDE) : end + _WORDS_BESIDE] for start, end in found)


def _in_figures(text: str) -> Iterator[tuple[date, date]]:
    """Yield the dates in figures with a year: 2025-12-06, 2025/12/06, 6.12.2025, 25/12/2025."""
    days = [(iso[1], iso[2], iso[3]) for iso in _ISO.finditer(text)]
    for match in _IN_FIGURES.finditer(text):
        if match["year"]:
            days.append((match["year"], match["month"], match["day"]))
            continue
        day, month = match["first"], match["second"]
        if match["sign"] in "/-" and day != month and int(day) <= _MONTHS:
            if int(month) > _MONTHS:
                day, month = month, day
            elif _is_english(text):  # it knows both orders
                continue
        days.append((match["last"], month, day))
    for year, month, day in days:
        with suppress(ValueError):
            only = date(int(year), int(month), int(day))
            yield only, only


def _is_english(text: str) -> bool:
    languages = _languages_of(text, words_of(text))
    return not languages or languages[0].name == "en"


def _yearless(
    text: str, folded: str, known: Sequence[Language], taken: list[tuple[int, int]], saved: date
) -> Iterator[tuple[date, date]]:
    """Yield the days without a year that are beside no other date: `1 December 18:00` is one day."""
    matches = [
        (match, one) for one in known for form in one.in_text_yearless for match in form.finditer(folded)
    ]  # fmt: skip
    for match, language in sorted(matches, key=lambda found: found[0].span()):
        start, end = match.span()
        is_taken = any(start < its_end and its_start < end for its_start, its_end in taken)
        is_number = folded[end - 1].isdigit() and _COUNTED.match(folded, end) is not None
        if is_taken or is_number or not _is_month(match, text, folded):
            continue
        taken.append((start, end))
        named = match.groupdict()
        windows = (named_window(named, language, saved, ahead=ahead) for ahead in (False, True))
        around = [window for window in dict.fromkeys(windows) if window is not None]
        near = [window for window in around if abs(window[0] - saved) <= _NEAR]
        yield from near or around


def _is_month(match: re.Match[str], text: str, folded: str) -> bool:
    """Whether the month of a date is no verb: `March 10`, but not `we march 10 km`."""
    if match.groupdict().get("month") not in _VERBS:
        return True
    return len(text) == len(folded) and text[match.start("month")].isupper()


def _is_within(match: re.Match[str], other: re.Match[str]) -> bool:
    """Whether a match is a part of a longer one."""
    return other.start() <= match.start() and match.end() <= other.end() and other[0] != match[0]


@lru_cache(maxsize=8_192)
def _says_when(text: str, language: str) -> bool:
    return bool(text) and languages_known()[LANGUAGES.index(language)].says_when(text)


def time_shares(asked: TimeWords, texts: Sequence[str], saved: Sequence[date]) -> Floats:
    """Score each text by the time asked for, (n,) in [0, 1].

    A text whose own day or a date in it is in the window has 1; a date without a year counts near the text's
    own day. For a question that asks when, a text that
    says a time has `SAYS_WHEN`. For `newest` and `oldest` the share falls
    evenly from the first distinct day of the candidates to the last.

    Args:
        asked: Time of the question.
        texts: Text of each candidate.
        saved: Day of each candidate.
    """
    if asked.language:
        return np.array([SAYS_WHEN * _says_when(text, asked.language) for text in texts], dtype=np.float64)
    if asked.since is None or asked.until is None:
        days = sorted(set(saved), reverse=asked.order == "oldest")
        place = {day: at / max(len(days) - 1, 1) for at, day in enumerate(days)}
        return np.array([place[day] for day in saved], dtype=np.float64)
    first, last = asked.since, asked.until
    return np.array(
        [
            float(
                first <= day <= last
                or any(since <= last and until >= first for since, until in dates_in(text, day))
            )
            for text, day in zip(texts, saved, strict=True)
        ],
        dtype=np.float64,
    )

"""Time expressions of a question, and the dates that a text carries.

Only certain expressions count: `in March` is a month, `march` alone may be a verb. Days are days in UTC, as
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from slowwave.scoring.arrays import Floats
from slowwave.scoring.ranking.time_languages import (
    ASKED_INSIDE,
    DATED,
    DAYS_OF_WEEK,
    LANGUAGES,
    WORD,
    YEAR,
    Language,
    languages_known,
)

_FIRST, _LAST = date.min, date.max
_ISO = re.compile(r"(?<![\w-])((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)")
SAYS_WHEN = 1 / 3
"""Share of a text that says a time, for a question that asks when; a text of the window asked for has 1."""


class TimeWords(NamedTuple):
    """Time that a question asks for.

    Attributes:
        words: the expression as it was asked.
        since: first day; None with an `order`, or where the question asks when.
        until: last day; as `since`.
        order: newest, oldest, or empty.
        language: of a question that asks when something is; empty where it names a time.
    """

    words: str
    since: date | None = None
    until: date | None = None
    order: str = ""
    language: str = ""


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
    text = " ".join(question.casefold().split())
    if iso := _ISO.search(text):
        day = _day(int(iso[1]), int(iso[2]), int(iso[3]))
        if day is not None:
            words = text[: iso.start()].split()
            bound = words[-1] if words else ""
            return _bounded(iso[0], day, day, bound, languages_known())
    keys, year = _keys(), YEAR.search(text) is not None
    spoken = {id(one) for word in WORD.findall(text) for one in keys.get(word, ())}
    wide = any("\u3040" <= letter <= "\u9fff" for letter in text)
    languages = [one for one in languages_known() if (wide if one.unspaced else year or id(one) in spoken)]
    for language in languages:
        for kind, forms in language.forms:
            matches = [match for form in forms if (match := form.search(text))]
            longest = max(matches, key=lambda match: match.end() - match.start(), default=None)
            if longest:  # an impossible date is none, and no month either
                return _asked(kind, longest, language, today, ahead=_looks_ahead(text, languages))
    for language in languages:
        if asks := language.when.search(text) if language.name in ASKED_INSIDE else language.when.match(text):
            return TimeWords(asks[0].strip(' ¿¡"“('), language=language.name)
    return None


def _looks_ahead(text: str, languages: Sequence[Language]) -> bool:
    """Whether a question is about what is to come: it has a word for that, and none for the past."""
    tenses = [language.tenses for language in languages]
    return any(ahead.search(text) for ahead, _ in tenses) and not any(past.search(text) for _, past in tenses)


def _asked(
    kind: str, match: re.Match[str], language: Language, today: date, *, ahead: bool
) -> TimeWords | None:
    part = match.groupdict()
    words = match[0].strip()
    if kind in {"newest", "oldest"}:
        return TimeWords(words, order=kind)
    if kind in DATED:
        days = _range(part, language, today, ahead=ahead)
        return None if days is None else _bounded(words, *days, part.get("bound") or "", (language,))
    if kind in {"ago", "past", "hence"}:
        if kind == "hence" and not ahead:
            return None
        number = part.get("n") or "1"
        count = int(number) if number.isdecimal() else language.numbers[number]
        if kind == "past":
            return TimeWords(words, _earlier(count, language.units[part["unit"]], today), today)
        return _ago(words, -count if kind == "hence" else count, language.units[part["unit"]], today)
    if kind == "next_day":
        days_off = (language.weekdays[part["weekday"]] - today.weekday() - 1) % DAYS_OF_WEEK + 1
        return TimeWords(words, *(today + timedelta(days=days_off),) * 2)
    monday = today - timedelta(days=today.weekday())
    if kind == "next_week_day":
        return TimeWords(words, *(monday + timedelta(days=7 + language.weekdays[part["weekday"]]),) * 2)
    first, last = _month(today.year, today.month)
    sunday, year_end = monday + timedelta(days=6), date(today.year, 12, 31)
    following = last + timedelta(days=1)
    spans = {
        "yesterday": (today - timedelta(days=1),) * 2,
        "before_yesterday": (today - timedelta(days=2),) * 2,
        "last_week": (monday - timedelta(days=7), monday - timedelta(days=1)),
        "last_month": ((first - timedelta(days=1)).replace(day=1), first - timedelta(days=1)),
        "last_year": (date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
        "this_week": (monday, sunday if ahead else today),
        "this_month": (first, last if ahead else today),
        "this_year": (date(today.year, 1, 1), year_end if ahead else today),
        "tomorrow": (today + timedelta(days=1),) * 2,
        "after_tomorrow": (today + timedelta(days=2),) * 2,
        "next_week": (sunday + timedelta(days=1), sunday + timedelta(days=7)),
        "next_month": _month(following.year, following.month),
        "next_year": (date(today.year + 1, 1, 1), date(today.year + 1, 12, 31)),
    }
    return TimeWords(words, *spans[kind])


def _bounded(words: str, first: date, last: date, bound: str, languages: Sequence[Language]) -> TimeWords:
    """Return the days themselves, or those before or after them."""
    if any(bound in one.before for one in languages):
        return TimeWords(words, _FIRST, first - timedelta(days=1))
    if any(bound in one.after for one in languages):
        return TimeWords(words, last + timedelta(days=1), _LAST)
    return TimeWords(words, first, last)


def _range(
    part: dict[str, str | None], language: Language, today: date, *, ahead: bool = False
) -> tuple[date, date] | None:
    """Return the days of a date, month or year.

    Without a year it is the last one that is not in the future, or the coming one of a question that looks
    ahead; today is either.
    """
    month = language.months[part.get("month") or ""] if part.get("month") else 0
    if part.get("day"):
        number = int(part["day"] or 0)
        if part.get("year"):
            day = _day(int(part["year"] or 0), month, number)
        else:
            step = 1 if ahead else -1
            days = (_day(year, month, number) for year in range(today.year, today.year + 8 * step, step))
            day = next((one for one in days if one and (one >= today if ahead else one <= today)), None)
        return None if day is None else (day, day)
    nearest = today.year + (month < today.month) if ahead else today.year - (month > today.month)
    year = int(part["year"] or 0) if part.get("year") else nearest
    return _month(year, month) if month else (date(year, 1, 1), date(year, 12, 31))


def _ago(words: str, count: int, unit: str, today: date) -> TimeWords | None:
    """Return a window whose width is the unit's: the day, or half a unit before and after it."""
    if unit in {"day", "week"}:
        middle = today - timedelta(days=count * (7 if unit == "week" else 1))
        half = timedelta(days=3 if unit == "week" else 0)
        return TimeWords(words, middle - half, middle + half)
    if unit == "year":
        year = today.year - count
        return TimeWords(words, date(year, 1, 1), date(year, 12, 31)) if 0 < year < _LAST.year else None
    at = today.year * 12 + today.month - 1 - count
    return TimeWords(words, *_month(at // 12, at % 12 + 1)) if at >= 12 else None


def _earlier(count: int, unit: str, today: date) -> date:
    """Return the day that is so many units before today; of a shorter month its last day."""
    if unit in {"day", "week"}:
        return today - timedelta(days=count * (DAYS_OF_WEEK if unit == "week" else 1))
    at = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
    if at < 12:
        return _FIRST
    first, last = _month(at // 12, at % 12 + 1)
    return min(first + timedelta(days=today.day - 1), last)


def _month(year: int, month: int) -> tuple[date, date]:
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(days=1)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


@lru_cache(maxsize=8_192)
def dates_in(text: str) -> tuple[tuple[date, date], ...]:
    """Return the dates that a text carries, and its months with a year: first and last day."""
    return tuple(_dates(text))


def _dates(text: str) -> Iterator[tuple[date, date]]:
    if not YEAR.search(text):
        return
    for iso in _ISO.finditer(text):
        if (day := _day(int(iso[1]), int(iso[2]), int(iso[3]))) is not None:
            yield day, day
    plain = text.casefold()
    for language in languages_known():
        if not any(month in plain for month in language.months):
            continue
        days = [match for form in language.in_text for match in form.finditer(plain)]
        # `May 2023` within `8 May 2023` is no date of its own.
        for match in days:
            inside = any(
                o.start() <= match.start() and match.end() <= o.end() and o[0] != match[0] for o in days
            )
            found = None if inside else _range(match.groupdict(), language, date.max)
            if found is not None:
                yield found


@lru_cache(maxsize=8_192)
def _says_when(text: str, language: str) -> bool:
    return bool(text) and languages_known()[LANGUAGES.index(language)].says_when(text)


def time_shares(asked: TimeWords, texts: Sequence[str], saved: Sequence[date]) -> Floats:
    """Score each text by the time asked for, (n,) in [0, 1].

    A text whose own day or a date in it is in the window has 1. For a question that asks when, a text that
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
                or any(since <= last and until >= first for since, until in dates_in(text))
            )
            for text, day in zip(texts, saved, strict=True)
        ],
        dtype=np.float64,
    )

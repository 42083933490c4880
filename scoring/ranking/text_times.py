"""Dates that a text carries: with a year, without one, and relative to its own day (rule 3.13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from slowwave.scoring.arrays import Floats
from slowwave.scoring.ranking.text_forms import TextForms, text_forms
from slowwave.scoring.ranking.time_languages import DAYS_OF_WEEK, LANGUAGES, YEAR, Language, words_of
from slowwave.scoring.ranking.time_spans import TimeWords
from slowwave.scoring.ranking.time_windows import Window, middle_day, named_window, part_of, window_of
from slowwave.scoring.ranking.time_words import languages_of

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
_DAYS_ASKED = 62  # whose words are asked for (count)
_DATE_BESIDE = 16  # characters beside a weekday in which its date stands
_DAY_AND_MONTH = re.compile(r"\d[./-]\d")
_SEPARATORS = str.maketrans(dict.fromkeys(',.;:!?¿¡()[]"*“”？。、؟،/–—0123456789', " "))
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n|[。！？]")
_THE = "(?:the |den |dem |el |le |o )?(?:[^\\W\\d_]+(?:day|tag|woch|abend),? )?"
# A letter is a word of its own, without a comma: `8 September, a 9 year old` is one day.
_TO = (
    r"(?:,?\s*(?:(?:to|until|till|through|bis(?: zum)?|hasta(?: el)?|até)\b|[-–—])\s*|\s(?:al?|au|à|ao)\s)"
    rf"{_THE}"
)
_LINK = re.compile(_TO)
_AND = re.compile(rf" (?:and|und|y|et|e) {_THE}")
_BETWEEN = re.compile(rf"\b(?:between|zwischen|entre) {_THE}\Z")
_FIRST_DAY = re.compile(rf"(?<![\d.:/-])(\d\d?)(?:st|nd|rd|th|\.)?{_TO}\Z")
_BETWEEN_DAYS = re.compile(
    rf"\b(?:between|zwischen|entre) {_THE}(\d\d?)(?:st|nd|rd|th|\.)? (?:and|und|y|et|e) {_THE}\Z"
)
_LAST_DAY = re.compile(
    rf"{_TO}(\d\d?)(?:st|nd|rd|th|\.)?"
    r"(?![\d.:%/-]|\s?(?:[ap]\.?m|uhr|h|heures?|horas?|years?|people|guests|gäste)\b)"
)
_WEEK_OF = re.compile(
    r"(?:week (?:of|from|beginning|starting)|woche (?:vom|ab|des)|semana del?|semaine du)"
    r" (?:the |monday,? )?\Z"
)
_COUNTED_DAYS = frozenset({"ago", "day_ago", "hence"})
_WEEK = timedelta(days=DAYS_OF_WEEK)
_LONGEST_RANGE = timedelta(days=366)
_VERBS = frozenset({"may", "march", "mar"})
SAYS_WHEN = 1 / 3
"""Share of a text that says a time, for a question that asks when; a text of the window asked for has 1."""


@lru_cache(maxsize=8_192)
def dates_in(text: str, saved: date | None = None) -> tuple[Window, ...]:
    """Return the dates that a text carries, and its months with a year: first and last day.

    A day without a year, such as `1 December`, is the last one before the text's own day or the next one
    after it: the one within four months, else both.

    A day relative to it (`yesterday`, `next Friday`) counts, too; a weekday alone is the one before and the
    one after it, or one of both by the tense of its sentence.

    Args:
        text: The text.
        saved: Its own day; None leaves out dates without a year and relative days.
    """
    relative = () if saved is None else _relative_days(text, saved)
    return (*_dates(_beside_figures(text), saved), *relative)


def depends_on_its_day(text: str, saved: date) -> bool:
    """Whether a text has a date without a year, or one like `last night`.

    A weekday alone does not count: most come back each week.
    """
    plain = _beside_figures(text)
    relative = _relative_days(text, saved, weekdays=False)
    return next(relative, None) is not None or list(_dates(plain, saved)) != list(_dates(plain, None))


def _relative_days(text: str, saved: date, *, weekdays: bool = True) -> Iterator[Window]:
    folded = text.casefold()
    words = frozenset(folded.translate(_SEPARATORS).split())  # faster than `words_of`, for whole texts
    for forms in text_forms():
        for kind, match in forms.relative_days(folded, words):
            if weekdays or kind != "weekday":
                yield from _days_of(kind, match, folded, forms.language, saved)


def _days_of(kind: str, match: re.Match[str], text: str, language: Language, saved: date) -> Iterator[Window]:
    """Yield the days of a relative expression; a weekday beside its date is none of its own."""
    is_weekday = kind == "weekday"
    if is_weekday and (match["weekday"] in language.weekends or _has_date_beside(match, text, language)):
        return
    for ahead in _directions(match, text, language) if is_weekday else (kind == "hence",):
        days = window_of(kind, match.groupdict(), language, saved, ahead=ahead)
        if days is not None and kind in _COUNTED_DAYS:
            days = middle_day(days) if days[1] - days[0] < _WEEK else None  # in a month is no day
        if days is not None:
            yield days


def _has_date_beside(match: re.Match[str], text: str, language: Language) -> bool:
    beside = (
        f"{text[max(0, match.start() - _DATE_BESIDE) : match.start()]} {text[match.end() :][:_DATE_BESIDE]}"
    )
    return _DAY_AND_MONTH.search(beside) is not None or not words_of(beside).isdisjoint(language.months)


def _directions(match: re.Match[str], text: str, language: Language) -> tuple[bool, ...]:
    """Return whether a weekday is one to come, by the words of its sentence; both if they do not say."""
    start = max((end.end() for end in _SENTENCE_END.finditer(text, 0, match.start())), default=0)
    end = _SENTENCE_END.search(text, match.end())
    sentence = text[start : end.start() if end else len(text)]
    ahead, past, _ = language.tenses
    is_ahead, is_past = ahead.search(sentence) is not None, past.search(sentence) is not None
    return (False, True) if is_ahead == is_past else (is_ahead,)


class _Dated(NamedTuple):
    """Date at its place in a text; a day without a year may be one of two."""

    start: int
    end: int
    windows: tuple[Window, ...]


def _dates(text: str, saved: date | None) -> Iterator[Window]:
    has_year = YEAR.search(text) is not None
    if not (has_year or (saved and text)):
        return
    folded = text.casefold()
    found = list(_in_figures(folded)) if has_year else []
    words = words_of(folded)
    known = [forms for forms in text_forms() if forms.may_date(folded, words)]
    dated = [(match, one.language) for one in known for form in one.dates for match in form.finditer(folded)]
    # `May 2023` within `8 May 2023` is no date of its own, in no language.
    for match, language in dated:
        window = named_window(match.groupdict(), language, date.max)
        if window is not None and not any(_is_within(match, other) for other, _ in dated):
            found.append(_Dated(*match.span(), (window,)))
    if saved is not None:
        taken = [match.span() for match, _ in dated]
        found += _yearless(text, folded, known, taken, saved)
    found.sort()
    for earlier, later in zip([None, *found], found, strict=False):
        yield from _range_of(folded, earlier, later) or later.windows


def _range_of(text: str, earlier: _Dated | None, later: _Dated) -> tuple[Window, ...]:
    """Return the days of a range or week that ends or begins with a date; empty if there is none.

    `16 to 22 November`, `November 16 to 22`, `30 November to 6 December` and `week of 9 November` are some.
    """
    before = text[max(0, later.start - _WORDS_BESIDE) : later.start]
    if earlier is not None and _are_linked(text, earlier, later):
        pairs = ((first, last) for (first, _) in earlier.windows for (_, last) in later.windows)
        return tuple(pair for pair in pairs if timedelta() < pair[1] - pair[0] < _LONGEST_RANGE)
    if (day := _FIRST_DAY.search(before) or _BETWEEN_DAYS.search(before)) is not None:
        return _with_day(later, int(day[1]), first=True)
    if (day := _LAST_DAY.match(text, later.end)) is not None:
        return _with_day(later, int(day[1]), first=False)
    if _WEEK_OF.search(before):
        return tuple(part_of(window, "week") for window in later.windows if window[0] == window[1])
    return ()


def _are_linked(text: str, earlier: _Dated, later: _Dated) -> bool:
    if _LINK.fullmatch(text, earlier.end, later.start):
        return True
    before = text[max(0, earlier.start - _WORDS_BESIDE) : earlier.start]
    return _AND.fullmatch(text, earlier.end, later.start) is not None and bool(_BETWEEN.search(before))


def _with_day(dated: _Dated, day: int, *, first: bool) -> tuple[Window, ...]:
    """Return the days between a date and another day of its month."""
    found = []
    for window in dated.windows:
        with suppress(ValueError):
            other = window[0].replace(day=day)
            days = (other, window[1]) if first else (window[0], other)
            found += [days] if window[0] == window[1] and days[0] < days[1] else []
    return tuple(found)


def _beside_figures(text: str) -> str:
    """Return the parts of a text that have figures, with words beside them: every date has one.

    Most words of long texts are in none, and to look for months in all of them takes longer.
    """
    found = (match.span() for match in _FIGURES_AROUND.finditer(text))
    return "\n\n".join(text[max(0, start - _WORDS_BESIDE) : end + _WORDS_BESIDE] for start, end in found)


def _in_figures(text: str) -> Iterator[_Dated]:
    """Yield the dates in figures with a year: 2025-12-06, 2025/12/06, 6.12.2025, 25/12/2025."""
    days = [(iso, (iso[1], iso[2], iso[3])) for iso in _ISO.finditer(text)]
    for match in _IN_FIGURES.finditer(text):
        if match["year"]:
            days.append((match, (match["year"], match["month"], match["day"])))
            continue
        day, month = match["first"], match["second"]
        if match["sign"] in "/-" and day != month and int(day) <= _MONTHS:
            if int(month) > _MONTHS:
                day, month = month, day
            elif _is_english(text):  # it knows both orders
                continue
        days.append((match, (match["last"], month, day)))
    for match, parts in days:
        with suppress(ValueError):
            only = date(*map(int, parts))
            yield _Dated(*match.span(), ((only, only),))


def _is_english(text: str) -> bool:
    languages = languages_of(text, words_of(text))
    return not languages or languages[0].name == "en"


def _yearless(
    text: str, folded: str, known: Sequence[TextForms], taken: list[tuple[int, int]], saved: date
) -> Iterator[_Dated]:
    """Yield the days without a year that are beside no other date: `1 December 18:00` is one day."""
    matches = [
        (match, one.language)
        for one in known
        for form in one.dates_without_year
        for match in form.finditer(folded)
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
        yield _Dated(start, end, tuple(near or around))


def _is_month(match: re.Match[str], text: str, folded: str) -> bool:
    """Whether the month of a date is no verb: `March 10`, but not `we march 10 km`."""
    if match.groupdict().get("month") not in _VERBS:
        return True
    return len(text) == len(folded) and text[match.start("month")].isupper()


def _is_within(match: re.Match[str], other: re.Match[str]) -> bool:
    """Whether a match is a part of a longer one."""
    return other.start() <= match.start() and match.end() <= other.end() and other[0] != match[0]


def words_of_days(first: date, last: date) -> str:
    """Return words for some days, as a query for texts with such a date.

    Args:
        first: Of the days; of many, the words are those of the first `_DAYS_ASKED`.
        last: Of the days.
    """
    days = [first + timedelta(days=at) for at in range(min((last - first).days + 1, _DAYS_ASKED))]
    months, weekdays = ({day.month for day in days}, {day.weekday() for day in days[:DAYS_OF_WEEK]})
    words = dict.fromkeys(
        f"{figure:0{width}}" for day in days for figure in (day.day, day.month) for width in (1, 2)
    )
    for forms in text_forms():
        language = forms.language
        words |= dict.fromkeys(name for name, number in language.months.items() if number in months)
        words |= dict.fromkeys(name for name, number in language.weekdays.items() if number in weekdays)
        words |= dict.fromkeys(sorted(forms.relative_words))
    return " ".join((*map(str, days), *words))


@lru_cache(maxsize=8_192)
def _says_when(text: str, language: str) -> bool:
    return bool(text) and text_forms()[LANGUAGES.index(language)].says_when(text)


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

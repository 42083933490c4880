"""Time expressions of one language at their places in a question.

An expression alone may be no time: `March` is a month after `in` or `since`, and may be a verb elsewhere.
Words beside it change it: a bound (`since`), a part (`early`), or a second time that makes a range.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from slowwave.scoring.ranking.time_languages import (
    OF_NOTES,
    WORD,
    YEAR,
    Between,
    Language,
    Marker,
    counted_words,
)
from slowwave.scoring.ranking.time_windows import (
    Window,
    between,
    bounded,
    day_of,
    middle_day,
    named_window,
    part_of,
    window_of,
)
from slowwave.scoring.ranking.words import FUNCTION_ELSEWHERE, FUNCTION_WORDS

_OWNED = re.compile(r"'s\b")
_ENDS = re.compile(r"\s*(?:$|[?!.,;:。？！，、؟،])")
_IN: Final = frozenset({"month", "year", "quarter", "season", *OF_NOTES})
_ON: Final = frozenset({"date", "weekday", "day"})
_YEARLY: Final = frozenset({"date", "month", "quarter", "season"})
_UNCERTAIN: Final = _IN | _ON
_MONTHS: Final = 12
_FUNCTION: Final = FUNCTION_WORDS | FUNCTION_ELSEWHERE
_MAX_SPANS: Final = 24  # times of a question that are looked at (count)
_NEAR: Final = 40  # characters before a time in which its words stand


class TimeWords(NamedTuple):
    """Time that a question asks for.

    Attributes:
        words: the expression as it was asked.
        since: first day; None with an `order` alone, or where the question asks when.
        until: last day; as `since`.
        order: newest, oldest, or empty.
        language: of a question that asks when something is; empty where it names a time.
        most: memories that an `order` asks for, as in `my last 3 notes`; 0 if it names none.
        labels: tags or types of which one is asked for, as in `tickets from August`: the word, its singulars.
        plural: Whether the word of the label may be a plural.
    """

    words: str
    since: date | None = None
    until: date | None = None
    order: str = ""
    language: str = ""
    most: int = 0
    labels: tuple[str, ...] = ()
    plural: bool = False


class _Span(NamedTuple):
    """Expression of time at its place in a question.

    Attributes:
        certain: Whether it is a time whatever stands beside it.
    """

    start: int
    end: int
    kind: str
    part: Mapping[str, str]
    window: Window
    certain: bool


def window_words(
    text: str, language: Language, today: date, *, day_first: bool, ahead: bool = False, alone: bool = False
) -> TimeWords | None:
    """Return the window or order that a text names in one language.

    Args:
        text: As of `plain`.
        language: Language of the words.
        today: Day of the question.
        day_first: Whether the day is first in 3/5/2024; else such a date is none.
        ahead: Whether the question looks ahead.
        alone: Whether a name alone is a time, as in `notes March`.
    """
    spans: list[_Span] = []
    order = None
    pattern, forms = language.times
    for match in pattern.finditer(text):
        kind, names = forms[int((match.lastgroup or "").removeprefix("f_"))]
        if kind in {"newest", "oldest"}:
            order = order or TimeWords(match[0].strip(), order=kind)
        elif span := _span(match, kind, names, language, today, ahead=ahead, day_first=day_first):
            span = _in_part(text, span, language, today)
            while spans and spans[-1].start >= span.start:  # `last week` in `the last week of May`
                spans.pop()
            spans.append(span)
            if len(spans) == _MAX_SPANS:
                break
    spans = _with_ranges(text, spans, language, today)
    # The time that names its year is the question's; `last week` beside it is of its text.
    for span in sorted(spans, key=_rank_of):
        if asked := _asked(text, span, language, today, ahead=ahead, alone=alone):
            return asked
    return order


def _rank_of(span: _Span) -> int:
    if span.kind == "range" or YEAR.match(span.part.get("year", "")):
        return 0 if span.kind == "range" else 1
    return 2 if span.kind == "date" else 3


def _span(
    match: re.Match[str], kind: str, names: Mapping[str, str], language: Language, today: date,
    *, ahead: bool, day_first: bool,
) -> _Span | None:  # fmt: skip
    part = {name: text for name, group in names.items() if (text := match[group]) is not None}
    if "slashed" in part and not day_first and part["day"] != part["m"] and int(part["day"]) <= _MONTHS:
        return None  # English knows both orders
    window = window_of(kind, part, language, today, ahead=ahead)
    if window is None:  # an impossible date is none, and no month either
        return None
    by_year = "year" in part and (kind != "year" or part["year"] in language.relative_years)
    certain = "maybe" not in part and ("sure" in part or by_year or kind not in _UNCERTAIN)
    return _Span(match.start(), match.end(), kind, part, window, certain)


def _nearby(text: str, span: _Span, markers: Sequence[Marker], kind: str) -> tuple[int, int, Marker] | None:
    """Return the longest words of a kind beside a time: their start and end, with the time between."""
    best: tuple[int, int, Marker] | None = None
    for marker in markers:
        if marker.kind != kind:
            continue
        start, end = span.start, span.end
        if marker.lead is not None:
            lead = marker.lead.search(text, max(0, start - _NEAR), start)
            if lead is None:
                continue
            start = lead.start()
        if marker.tail is not None:
            tail = marker.tail.match(text, end)
            if tail is None:
                continue
            end = tail.end()
        if best is None or end - start > best[1] - best[0]:
            best = start, end, marker
    return best


def _in_part(text: str, span: _Span, language: Language, today: date) -> _Span:
    """Return a span with the part that is asked for, such as `early`; `this month` has parts to come."""
    near = max(0, span.start - _NEAR)
    if not language.unspaced and (day := language.day_of.search(text[near : span.start])):
        number, name = language.ordinals.get(day["ordinal"] or "", 0), day["weekday"]
        only = day_of(span.window, language.weekdays[name], number, is_weekend=name in language.weekends)
        if only is not None:
            return span._replace(start=near + day.start(), window=only, certain=True)
    beside = _nearby(text, span, language.markers, "part")
    if beside is None:
        return span
    start, end, marker = beside
    of_all = window_of(span.kind, span.part, language, today, ahead=True) if "this_" in span.kind else None
    whole = of_all or span.window
    if (whole[0] == whole[1]) != (marker.name == "week"):
        return span
    part, window = {**span.part, "at": marker.name}, part_of(whole, marker.name)
    return span._replace(start=start, end=end, part=part, window=window, certain=True)


def _with_ranges(text: str, spans: list[_Span], language: Language, today: date) -> list[_Span]:
    """Return the spans, with two that make a range as one; ranges come first."""
    ranges = []
    earlier = None
    for later in spans:
        ways = (_range(text, words, earlier, later, language, today) for words in language.between)
        found = next(filter(None, ways), None) or (earlier and _joined(text, earlier, later, language, today))
        if found:
            ranges.append(found)
        earlier = later
    # "From 1 May to 7" is no range if "7 June" follows.
    whole = [one for one in ranges if not any(span.start < one.end < span.end for span in spans)]
    return [*whole, *spans]


def _joined(text: str, earlier: _Span, later: _Span, language: Language, today: date) -> _Span | None:
    """Return two times in a row as one range, such as `November and December`."""
    if not language.joined.fullmatch(text, earlier.end, later.start):
        return None
    first, last = _completed(earlier, later, language, today)
    if (last[0] - first[1]).days != 1:
        return None
    certain = earlier.certain or later.certain
    return _Span(earlier.start, later.end, "range", later.part, (first[0], last[1]), certain)


def _range(
    text: str, words: Between, earlier: _Span | None, later: _Span, language: Language, today: date
) -> _Span | None:
    """Return the range of which a time is the last or the first."""
    tail = words.tail.match(text, later.end) if words.tail else None
    end = tail.end() if tail else later.end
    if earlier and (tail or not words.tail) and words.link.fullmatch(text, earlier.end, later.start):
        near = max(0, earlier.start - _NEAR)
        lead = words.lead.search(text, near, earlier.start) if words.lead else None
        if lead or not words.lead:
            start = lead.start() if lead else earlier.start
            certain = bool(words.lead or words.tail) or earlier.certain or later.certain
            window = between(*_completed(earlier, later, language, today))
            return _Span(start, end, "range", later.part, window, certain)
    if later.kind != "date":
        return None
    day = words.first.search(text, max(0, later.start - _NEAR), later.start)
    if day and (tail or not words.tail):
        first = _with(later, language, today, day=day["day"])
        if first and first[0] <= later.window[1]:
            return _Span(day.start(), end, "range", later.part, (first[0], later.window[1]), certain=True)
    if day := words.last.match(text, later.end):
        in_year = {"year": day["year"]} if day["year"] else {}
        first = _with(later, language, today, **in_year) or later.window
        last = _with(later, language, today, day=day["day"], **in_year)
        if last and last[0] > first[0]:
            lead = words.lead.search(text, max(0, later.start - _NEAR), later.start) if words.lead else None
            start = lead.start() if lead else later.start
            return _Span(start, day.end(), "range", later.part, (first[0], last[1]), certain=True)
    return None


def _with(span: _Span, language: Language, today: date, **part: str) -> Window | None:
    """Return the window of a span's month and year with another part."""
    named = {**span.part, "year": span.part.get("year") or str(span.window[0].year), **part}
    return named_window(named, language, today)


def _completed(earlier: _Span, later: _Span, language: Language, today: date) -> tuple[Window, Window]:
    """Return the windows of a range; a month or year that one side leaves out is that of the other."""
    first, last = earlier.window, later.window
    if earlier.kind == "day" and later.kind == "date":
        return _with(later, language, today, day=earlier.part["day"]) or first, last
    if later.kind == "day" and earlier.kind == "date":
        return first, _with(earlier, language, today, day=later.part["day"]) or last
    if "year" in earlier.part and "year" not in later.part and later.kind in _YEARLY:
        last = _with(later, language, today, year=str(first[0].year)) or last
        if last[1] < first[0]:
            last = _with(later, language, today, year=str(first[0].year + 1)) or last
    elif "year" not in earlier.part and earlier.kind in _YEARLY:
        first = _with(earlier, language, today, year=str(last[0].year)) or first
    return first, last


def _asked(
    text: str, span: _Span, language: Language, today: date, *, ahead: bool, alone: bool
) -> TimeWords | None:
    """Return what a span asks for with the words beside it; None if it is no time."""
    if _is_brief(span, language) and not _ends_phrase(text, span, language):
        return None
    beside = None if span.kind == "range" else _nearby(text, span, language.markers, "bound")
    if beside:
        start, end, marker = beside
        if _is_time(text, span, end, language):
            # `before the end of May` is May, too.
            bound = "until" if marker.name == "before" and span.part.get("at") == "late" else marker.name
            named = middle_day(span.window) if "feast" in span.part else span.window
            window = bounded(named, bound, today, ahead=ahead)
            return TimeWords(text[start:end].strip(), *window)
    kind = "on" if span.kind in _ON else "in"
    beside = _nearby(text, span, language.markers, kind)
    alone_is_none = span.kind in {"day", "season"} or ("maybe" in span.part and not language.unspaced)
    if beside and beside[:2] == (span.start, span.end) and alone_is_none:
        beside = None
    if beside and span.kind in OF_NOTES:
        beside = None
    start, end = beside[:2] if beside else (span.start, span.end)
    alone = alone and (span.kind != "month" or _of_notes(text, span, language))
    alone = alone or ("maybe" in span.part and span.kind == "month" and _of_notes(text, span, language))
    if not (span.certain or beside or alone) or not (span.certain or _is_time(text, span, end, language)):
        return None
    yearly = span.kind == "season" or "feast" in span.part  # what is done in summer, every year
    if yearly and not (span.certain or alone) and not _has_tense(text, language):
        return None
    return TimeWords(text[start:end].strip(), *span.window)


def _is_time(text: str, span: _Span, end: int, language: Language) -> bool:
    """Whether what follows leaves a name or number a time: it is no owner, and counts nothing."""
    if span.certain:
        return True
    if _OWNED.match(text, end):
        return False
    if span.kind not in {"year", "day"}:
        return True
    following = WORD.match(text, end + 1 if text[end : end + 1] == " " else end)
    if span.kind == "day":
        return _ENDS.match(text, end) is not None or (following and following[0] in language.asking) is True
    return following is None or following[0] not in counted_words()


def _is_brief(span: _Span, language: Language) -> bool:
    """Whether a time is a mere `Oct`, `Fri` or `weekend`."""
    if span.kind not in {"month", "weekday"} or "year" in span.part:
        return False
    return not language.brief.isdisjoint((span.part.get("month"), span.part.get("weekday")))


def _ends_phrase(text: str, span: _Span, language: Language) -> bool:
    """Whether no noun follows a time, as in `the weekend house`; other languages have none there."""
    if language.unspaced:
        return _has_tense(text, language)
    if language.name != "en":
        return True
    following = WORD.match(text, span.end + 1 if text[span.end : span.end + 1] == " " else span.end)
    return following is None or following[0] in language.asking or following[0] in _FUNCTION


def _of_notes(text: str, span: _Span, language: Language) -> bool:
    """Whether a month, which may be a name, stands beside a word of noting."""
    before, after = WORD.findall(text[: span.start]), WORD.findall(text[span.end :])
    if before:
        return before[-1] in language.of_words
    return bool(after) and after[0] in language.noting


def _has_tense(text: str, language: Language) -> bool:
    return any(tense.search(text) for tense in language.tenses)

"""Calendar windows of time expressions: first and last day, in UTC.

A time without a year is the last one that has begun, or the coming one of a question that looks ahead.
Seasons are those of the northern hemisphere, and winter begins in its year.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from slowwave.scoring.ranking.time_languages import (
    COUNTED,
    DAYS_OF_WEEK,
    HALVES,
    SATURDAY,
    WEEKS,
    YEAR,
    Language,
)

Window = tuple[date, date]
FIRST, LAST = date.min, date.max
_FEW = (2, 5)  # units of `a few weeks ago`
_SEASON_MONTHS = 3
_QUARTERS = 4
LAST_OF_SEVERAL = 5
"""Number of the last one, as the ordinals of the lists have it."""
_DAY = timedelta(days=1)
_WEEK = timedelta(days=DAYS_OF_WEEK)
_DAYS_AROUND = {"day": (1, 0), "week": (7, 3), "fortnight": (14, 3)}
"""Days of a unit, and days on each side of one that is so long ago."""
_MONTHS_OF = {"half_year": 6, "year": 12}
_DAYS_OFF = {
    "before_yesterday": -2, "yesterday": -1, "noted_yesterday": -1, "this_day": 0, "noted_today": 0,
    "tomorrow": 1, "after_tomorrow": 2,
}  # fmt: skip


def window_of(
    kind: str, part: Mapping[str, str], language: Language, today: date, *, ahead: bool
) -> Window | None:
    """Return the first and last day of an expression; None for an impossible one.

    Args:
        kind: Kind of the expression, as in the lists.
        part: Text of each place, such as month or weekday.
        language: Language of the words.
        today: Day of the question.
        ahead: Whether the question looks ahead.
    """
    if kind in {"date", "month", "year", "quarter", "half", "season"}:
        return named_window(part, language, today, ahead=ahead)
    if kind == "decade":
        return _decade(part.get("decade") or str(language.decades[part["tens"]]), today)
    if kind == "day":
        return _day_of_month(int(part["day"]), today, ahead=ahead)
    if kind == "before_last_day":
        first, last = window_of("last_day", part, language, today, ahead=False) or (today, today)
        return first - _WEEK, last - _WEEK
    if kind in {"weekday", "last_day", "next_day", "last_week_day", "next_week_day"}:
        names = language.short_weekdays | language.weekdays
        if part["weekday"] in language.weekends:
            return _weekend(kind, today, ahead=ahead)
        return _weekday(kind, names[part["weekday"]], today, ahead=ahead)
    if kind in {"last_named_month", "last_season"}:
        window = named_window(part, language, today, ahead=False)
        return window if window is None or window[1] < today else _year_earlier(part, language, window)
    if kind == "this_season":
        return _season(language.seasons[part["season"]], today.year)
    if kind in COUNTED:
        return _counted(kind, part, language, today, ahead=ahead)
    return _relative(kind, today, ahead=ahead)


def named_window(
    part: Mapping[str, str | None], language: Language, today: date, *, ahead: bool = False
) -> Window | None:
    """Return the days of a date, month, quarter, season or year."""
    year = _year(part.get("year"), language, today)
    if part.get("quarter") or part.get("ordinal"):
        quarter = int(part.get("quarter") or 0) or language.ordinals[part.get("ordinal") or ""]
        if quarter > _QUARTERS and year is None:  # the last one
            return _relative("last_quarter", today, ahead=ahead)
        quarter = min(quarter, _QUARTERS)
        return _nearest(lambda at: _months(at, quarter * 3 - 2, 3), year, today, ahead=ahead)
    if half := part.get("half"):
        return _nearest(lambda at: _months(at, int(half) * 6 - 5, 6), year, today, ahead=ahead)
    if feast := part.get("feast"):
        days = language.feasts[feast]
        return _nearest(lambda at: (date(at, *days[0]), date(at, *days[-1])), year, today, ahead=ahead)
    if season := part.get("season"):
        return _nearest(lambda at: _season(language.seasons[season], at), year, today, ahead=ahead)
    month = language.months[part.get("month") or ""] if part.get("month") else int(part.get("m") or 0)
    if part.get("day"):
        number = int(part["day"] or 0)
        return _nearest(lambda at: _single(at, month, number), year, today, ahead=ahead)
    if month:
        return _nearest(lambda at: _months(at, month, 1), year, today, ahead=ahead)
    return None if year is None else (date(year, 1, 1), date(year, 12, 31))


def middle_day(window: Window) -> Window:
    """Return the middle day of a window, such as that of a feast."""
    day = window[0] + (window[1] - window[0]) // 2
    return day, day


def part_of(window: Window, name: str) -> Window:
    """Return a third, half or week of a window; `week` is the one of its first day."""
    first, last = window
    if name == "week":
        monday = first - timedelta(days=first.weekday())
        return monday, monday + timedelta(days=DAYS_OF_WEEK - 1)
    if name in WEEKS:
        start = last - _WEEK + _DAY if name == WEEKS[-1] else first + WEEKS.index(name) * _WEEK
        return min(start, last), min(start + _WEEK - _DAY, last)
    if name in HALVES:
        middle = _middle(first, last)
        return (first, middle - _DAY) if name == HALVES[0] else (middle, last)
    third = timedelta(days=((last - first).days + 1) // 3)
    if name == "early":
        return first, first + third - _DAY
    return (first + third, last - third) if name == "mid" else (last - third + _DAY, last)


def day_of(window: Window, weekday: int, number: int, *, is_weekend: bool) -> Window | None:
    """Return a weekday or weekend of a window; None if there is none.

    Args:
        window: First and last day.
        weekday: Of the day, 0 is Monday.
        number: Of several such days, from 1; `LAST_OF_SEVERAL` is the last, 0 the only one of a week.
        is_weekend: Whether the Sunday after it belongs to it.
    """
    first, last = window
    start = first + timedelta(days=(weekday - first.weekday()) % DAYS_OF_WEEK)
    if number == 0 and last - first >= _WEEK:
        return None
    if number == LAST_OF_SEVERAL:
        start += (last - start) // _WEEK * _WEEK
    elif number:
        start += (number - 1) * _WEEK
    return None if start > last else (start, start + _DAY if is_weekend else start)


def _middle(first: date, last: date) -> date:
    """Return the first day of the second half: of an even number of months the first of a month."""
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    middle = _month_after(first.year, first.month, months // 2)
    if first.day == 1 and months % 2 == 0 and middle is not None:
        return middle
    return first + timedelta(days=((last - first).days + 1) // 2)


def bounded(window: Window, bound: str, today: date, *, ahead: bool) -> Window:
    """Return the days before, after, since or until a window, or the day beside it."""
    first, last = window
    if bound == "day before":
        return first - _DAY, first - _DAY
    if bound == "day after":
        return last + _DAY, last + _DAY
    start = today if ahead and today <= last else FIRST
    if bound == "before":
        return min(start, first - _DAY), first - _DAY
    if bound == "until":
        return start, last
    if bound == "after":
        return last + _DAY, LAST
    return first, LAST if ahead or first > today else today


def between(earlier: Window, later: Window) -> Window:
    """Return the days from the first of one window to the last of the other.

    The earlier one goes back by years or weeks until it is the earlier one.
    """
    first = earlier[0]
    if first <= later[1]:
        return first, later[1]
    if (first - later[1]).days < DAYS_OF_WEEK:
        return first - timedelta(days=DAYS_OF_WEEK), later[1]
    return _years_back(first, later[1]), later[1]


def _years_back(first: date, last: date) -> date:
    moved = _day(last.year, first.month, first.day) or date(last.year, first.month, 28)
    return moved if moved <= last else moved.replace(year=moved.year - 1, day=min(moved.day, 28))


def _year(words: str | None, language: Language, today: date) -> int | None:
    if not words:
        return None
    figures = YEAR.match(words)
    return int(figures[0]) if figures else today.year + language.relative_years[words]


def _nearest(
    of_year: Callable[[int], Window | None], year: int | None, today: date, *, ahead: bool
) -> Window | None:
    """Return the window of a year; without one the last, or the coming one."""
    if year is not None:
        return of_year(year)
    years = range(today.year - 1, today.year + 9) if ahead else range(today.year, today.year - 9, -1)
    windows = (of_year(at) for at in years)
    return next((one for one in windows if one and (one[1] >= today if ahead else one[0] <= today)), None)


def _single(year: int, month: int, day: int) -> Window | None:
    only = _day(year, month, day)
    return None if only is None else (only, only)


def _calendar_week(year: int, number: int) -> Window | None:
    try:
        monday = date.fromisocalendar(year, number, 1)
    except ValueError:
        return None
    return monday, monday + _WEEK - _DAY


def _months(year: int, month: int, count: int) -> Window:
    following = _month_after(year, month, count)
    return date(year, month, 1), LAST if following is None else following - _DAY


def _month_after(year: int, month: int, count: int) -> date | None:
    at = year * 12 + month - 1 + count
    return date(at // 12, at % 12 + 1, 1) if 12 <= at < 12 * (LAST.year + 1) else None


def _season(season: int, year: int) -> Window:
    return _months(year, season * _SEASON_MONTHS, _SEASON_MONTHS)


def _year_earlier(part: Mapping[str, str], language: Language, window: Window) -> Window | None:
    return named_window({**part, "year": str(window[0].year - 1)}, language, window[0])


def _decade(words: str, today: date) -> Window:
    at = int(words)
    if len(words) == len("90"):
        at += today.year // 100 * 100
        at -= 100 if at > today.year else 0
    return date(at, 1, 1), date(at + 9, 12, 31)


def _day_of_month(day: int, today: date, *, ahead: bool) -> Window | None:
    steps = range(13) if ahead else range(0, -13, -1)
    months = (_month_after(today.year, today.month, step) for step in steps)
    days = (one and _day(one.year, one.month, day) for one in months)
    only = next((one for one in days if one and (one >= today if ahead else one <= today)), None)
    return None if only is None else (only, only)


def _weekday(kind: str, weekday: int, today: date, *, ahead: bool) -> Window:
    monday = today - timedelta(days=today.weekday())
    if kind.endswith("week_day"):
        day = monday + timedelta(days=weekday + (DAYS_OF_WEEK if kind == "next_week_day" else -DAYS_OF_WEEK))
    elif kind == "next_day" or (kind == "weekday" and ahead):
        day = today + timedelta(days=(weekday - today.weekday() - 1) % DAYS_OF_WEEK + 1)
    else:
        day = today - timedelta(days=(today.weekday() - weekday - 1) % DAYS_OF_WEEK + 1)
    return day, day


def _weekend(kind: str, today: date, *, ahead: bool) -> Window:
    """Return the last Saturday and Sunday that have begun, or the coming ones."""
    if kind == "weekday" and today.weekday() >= SATURDAY:
        saturday = today - timedelta(days=today.weekday() - SATURDAY)
    else:
        saturday = _weekday(kind, SATURDAY, today, ahead=ahead)[0]
    if kind == "last_day" and saturday + _DAY == today:  # a weekend that goes on is not the last one
        saturday -= _WEEK
    return saturday, saturday + _DAY


def _counted(
    kind: str, part: Mapping[str, str], language: Language, today: date, *, ahead: bool
) -> Window | None:
    number = part.get("n") or "1"
    count = int(number) if number.isdecimal() else language.numbers[number]
    if kind == "calendar_week":
        year = _year(part.get("year"), language, today)
        return _nearest(lambda at: _calendar_week(at, count), year, today, ahead=ahead)
    if kind == "day_ago" and "weekday" in part:
        first, last = window_of("last_day", part, language, today, ahead=False) or (today, today)
        return first - (count - 1) * _WEEK, last - (count - 1) * _WEEK
    unit = language.units[part["unit"]]
    if kind == "day_ago":
        day = _earlier(count, unit, today)
        return day, day
    if kind == "some_past":
        return _earlier(_FEW[1], unit, today), today
    if kind == "some_ago":
        earliest, latest = _ago(_FEW[1], unit, today), _ago(_FEW[0], unit, today)
        return None if earliest is None or latest is None else (earliest[0], latest[1])
    if kind == "past":
        return _earlier(count, unit, today), today
    if kind == "next_some":
        last = _earlier(-count, unit, today)
        return (today, last) if last >= today else None
    if kind == "hence" and not ahead:
        return None
    return _ago(-count if kind == "hence" else count, unit, today)


def _ago(count: int, unit: str, today: date) -> Window | None:
    """Return a window whose width is the unit's: the day, or half a unit before and after it."""
    if unit in _DAYS_AROUND:
        days, around = _DAYS_AROUND[unit]
        middle, half = today - timedelta(days=count * days), timedelta(days=around)
        return middle - half, middle + half
    if unit == "year":
        year = today.year - count
        return (date(year, 1, 1), date(year, 12, 31)) if 0 < year < LAST.year else None
    first = _month_after(today.year, today.month, -count * _MONTHS_OF.get(unit, 1))
    return None if first is None else _months(first.year, first.month, 1)


def _earlier(count: int, unit: str, today: date) -> date:
    """Return the day that is so many units before today; of a shorter month its last day."""
    if unit in _DAYS_AROUND:
        return today - timedelta(days=count * _DAYS_AROUND[unit][0])
    month = _month_after(today.year, today.month, -count * _MONTHS_OF.get(unit, 1))
    if month is None:
        return FIRST
    first, last = _months(month.year, month.month, 1)
    return min(first + timedelta(days=today.day - 1), last)


def _relative(kind: str, today: date, *, ahead: bool) -> Window:
    monday = today - timedelta(days=today.weekday())
    spans = {
        "week": (monday, monday + timedelta(days=DAYS_OF_WEEK - 1)),
        "month": _months(today.year, today.month, 1),
        "quarter": _months(today.year, (today.month - 1) // 3 * 3 + 1, 3),
        "year": _months(today.year, 1, 12),
    }
    name, _, period = kind.rpartition("_")
    if period in spans:
        this = spans[period]
        if name == "this":
            return this[0], this[1] if ahead else today
        beside = name.rpartition("_")[2]
        window = _beside(period, this, beside)
        return window if beside == name else _beside(period, window, beside)  # `the week before last`
    day = today + timedelta(days=_DAYS_OFF[kind])
    return day, day


def _beside(period: str, window: Window, name: str) -> Window:
    """Return the period before or after one."""
    if period == "week":
        step = timedelta(days=DAYS_OF_WEEK if name == "next" else -DAYS_OF_WEEK)
        return window[0] + step, window[1] + step
    months = {"month": 1, "quarter": 3, "year": 12}[period]
    first = _month_after(window[0].year, window[0].month, months if name == "next" else -months)
    return window if first is None else _months(first.year, first.month, months)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None

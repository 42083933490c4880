"""Date parsing of notes: explicit written forms with one meaning, and dates of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import PurePosixPath

from slowwave.common.arguments import moment, unknown_moment

_MONTHS = {
    word: number
    for number, words in enumerate(
        (
            "january jan januar jänner janvier janv enero ene gennaio gen januari janeiro stycznia января",
            "february feb februar février févr fév fevrier febrero febbraio februari fevereiro fev lutego "
            "февраля",
            "march mar märz mär maerz mars marzo maart mrt março marco marts marca марта",
            "april apr avril avr abril abr aprile kwietnia апреля",
            "may mai mayo maggio mag mei maio maj maja мая",
            "june jun juni juin junio giugno giu junho czerwca июня",
            "july jul juli juillet juil julio luglio lug julho lipca июля",
            "august aug août aout agosto ago augustus augusti sierpnia августа",
            "september sep sept septembre septiembre settembre setembro września сентября",
            "october oct oktober okt octobre octubre ottobre ott outubro out października октября",
            "november nov novembre noviembre novembro listopada ноября",
            "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro des desember "
            "grudnia декабря",
        ),
        start=1,
    )
    for word in words.split()
}
_WEEKDAYS = {
    word: number
    for number, words in enumerate(
        (
            "monday mon montag mo lundi lunes lunedì maandag",
            "tuesday tue tues dienstag di mardi martes martedì dinsdag",
            "wednesday wed mittwoch mi mercredi miércoles mercoledì woensdag",
            "thursday thu thur thurs donnerstag do jeudi jueves giovedì donderdag",
            "friday fri freitag fr vendredi viernes venerdì vrijdag",
            "saturday sat samstag sonnabend sa samedi sábado sabato zaterdag",
            "sunday sun sonntag so dimanche domingo domenica zondag",
        )
    )
    for word in words.split()
}

_LINK = re.compile(r"!?\[\[([^\[\]|#]+)[^\[\]]*\]\]|\[([^\[\]]+)\]\([^()]*\)|[<\[]([^<>\[\]]+)[>\]]")
_TIME = re.compile(
    r"(?:[T@,]|\bat\b|\bum\b)?[ ]*(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?![\d:])"
    r"[ ]*(?:uhr\b|([ap])\.?m\b\.?)?"
    r"[ ]*(Z\b|(?:UTC|GMT)?[+-]\d{2}(?::?\d{2})?(?!\d)|UTC\b|GMT\b)?(?:[ ]*(?:\([^()]*\)|\[[\w/+-]+\])$)?",
    re.IGNORECASE,
)
_HOUR = re.compile(r" (\d{1,2})[.h](\d{2})(?= ?(?:uhr|$))", re.IGNORECASE)
_HALF_DAY = re.compile(r" (?:at )?(\d{1,2}) ?([ap])\.?m\.?$", re.IGNORECASE)
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\uff0d", "-"))
_ZONE = re.compile(r"([+-])(\d{2}):?(\d{2})?$")
_WEEKDAY = re.compile(r"^\(?([^\W\d_]+)\)?\.?,?\s+(?:the\s+)?(?=\S)|,?\s+\(?([^\W\d_]+)\)?\.?$")
_NTH = r"(?:st|nd|rd|th|er|º|°|\.)?"
_YEAR_FIRST = re.compile(r"(\d{4})\s*([-/._ 年년])\s*(\d{1,2})\s*([-/._ 月월])\s*(\d{1,2})\s*[日일.]?")
_DOTTED = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})")
_UNORDERED = re.compile(r"(\d{1,2})([-/])(\d{1,2})\2(\d{4})")
_DAY_WORD_YEAR = re.compile(
    rf"(\d{{1,2}}){_NTH}[\s\-/]*(?:(?:of|de|di|d')\s*)?([^\W\d_]+)\.?,?[\s\-/]*(?:(?:of|de|del)\s+)?(\d{{4}})"
)
_WORD_DAY_YEAR = re.compile(rf"([^\W\d_]+)\.?[\s\-]*(?:the\s+)?(\d{{1,2}}){_NTH},?[\s\-]+(\d{{4}})")
_YEAR_WORD_DAY = re.compile(rf"(\d{{4}})[\s,\-]*([^\W\d_]+)\.?[\s\-]*(\d{{1,2}}){_NTH}")
_SECONDS = range(1_000_000_000, 4_102_444_800)
"""Numbers that are seconds since 1970: September 2001 to 2099, ten digits."""
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}

_FIRST_YEAR, _LAST_YEAR = 1900, 2100  # of a date without separators, and of one in a file's name
_FILES_SINCE = datetime(1980, 1, 2, tzinfo=UTC)  # archives without times give 1970 or 1 January 1980
_IN_NAME = re.compile(
    r"(?<![^\W_])(?:(?P<compact>\d{14}|\d{12}|\d{8})"
    r"|(?P<year>\d{4})(?P<sep>[-_. ])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"|(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4}))(?!\d)"
)
_IN_FOLDERS = re.compile(
    r"(?:^|/)(\d{4})/(?:\1[-_.])?(\d{2})(?:[-_. ][^/]*)?[/\-](\d{2})(?:[-_. ]+[^\W\d_]+\.?)?(?:/|$)"
)


def read_date(value: object) -> datetime | None:
    """Return a written date or time in UTC; None if its meaning is not certain.

    Day and month as two numbers are read if only one order is possible, or with dots: day first.
    A time without a zone is UTC.

    Args:
        value: A date, a number (seconds to nanoseconds since 1970, or 20240501), a text, or a list of one of
            these.
    """
    while isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    try:
        moment = _moment(value)
        if moment is None:
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or the zone leads before year 1 or after year 9999
        return None


def parsed_moment(name: str, text: str) -> datetime:
    """Return a written day or time of an argument in UTC, read as by `read_date`; a day begins at midnight.

    Raises:
        ArgumentError: Its meaning is not certain, or its year is before 1000 or after 9998.
    """
    if (value := read_date(text)) is None:
        raise unknown_moment(name, text)
    return moment(name, value)


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    text = _bare(str(value))
    whole, dot, fraction = text.partition(".")
    if whole.isascii() and whole.isdigit() and (fraction.isdigit() or not dot):
        return _of_digits(whole, fraction)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _of_words(text)


def _bare(text: str) -> str:
    """Return the text without quotes, link brackets and unusual spaces."""
    text = " ".join(text.translate(_DASHES).split()).strip("\"'`,; ")
    if link := _LINK.fullmatch(text):
        target = next(part for part in link.groups() if part)
        text = target if link[1] is None else PurePosixPath(target).name.removesuffix(".md")
    return _HOUR.sub(r" \1:\2", text.strip())


def _of_digits(digits: str, fraction: str) -> datetime | None:
    if not fraction and (form := _COMPACT.get(len(digits))):
        moment = datetime.strptime(digits, form)  # noqa: DTZ007 - without a zone it is UTC
        return moment if _FIRST_YEAR <= moment.year <= _LAST_YEAR else None
    unit = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}.get(len(digits))
    if unit is None or int(digits) // unit not in _SECONDS:
        return None
    seconds, rest = divmod(int(digits), unit)
    microseconds = rest * 1_000_000 // unit if unit > 1 else int(f"{fraction[:6]:0<6}")
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)


def _of_words(text: str) -> datetime | None:
    text = _HALF_DAY.sub(r" \1:00 \2m", text)
    clock = _TIME.search(text)
    at = time() if clock is None else _time_of(clock)
    if clock is not None:
        text = f"{text[: clock.start()]} {text[clock.end() :]}"
    text = text.strip(" ,").lower().removeprefix("the ").removeprefix("le ")
    weekday = None
    if (named := _WEEKDAY.search(text)) and (word := named[1] or named[2]) in _WEEKDAYS:
        weekday = _WEEKDAYS[word]
        text = f"{text[: named.start()]} {text[named.end() :]}".strip(" ,")
    day = _day_of(" ".join(text.split()))
    if day is None or (weekday is not None and weekday != day.weekday()):
        return None
    return datetime.combine(day, at)


def _time_of(clock: re.Match[str]) -> time:
    hour, minute, second, fraction, half, zone = clock.groups()
    hours = int(hour)
    if half:
        if not 1 <= hours <= 12:
            raise ValueError(clock[0])
        hours = hours % 12 + (12 if half in "pP" else 0)
    microseconds = int(f"{(fraction or '0')[:6]:0<6}")
    return time(hours, int(minute), int(second or 0), microseconds, _zone_of(zone) if zone else None)


def _zone_of(zone: str) -> timezone:
    offset = _ZONE.search(zone)
    if offset is None:
        return UTC
    ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
    return timezone(-ahead if offset[1] == "-" else ahead)


def _day_of(text: str) -> date | None:
    if (found := _YEAR_FIRST.fullmatch(text)) and (found[2] == found[4] or found[2] in "年년"):
        return date(int(found[1]), int(found[3]), int(found[5]))
    if found := _DOTTED.fullmatch(text):
        return date(int(found[3]), int(found[2]), int(found[1]))
    if found := _UNORDERED.fullmatch(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        if first <= 12 and second <= 12 and first != second:
            return None
        return date(year, first, second) if first <= 12 else date(year, second, first)
    for form, (day, month, year) in (
        (_DAY_WORD_YEAR, (1, 2, 3)), (_WORD_DAY_YEAR, (2, 1, 3)), (_YEAR_WORD_DAY, (3, 2, 1)),
    ):  # fmt: skip
        if (found := form.fullmatch(text)) and (number := _MONTHS.get(found[month])):
            return date(int(found[year]), number, int(found[day]))
    return None


def date_of_file(source: str, mtime_ns: int | None, *, until: datetime) -> datetime | None:
    """Return the date of a note that states none: of its file's name, else of its last modification.

    Args:
        source: POSIX path of the file.
        mtime_ns: Last modification (nanoseconds since 1970); None to use the name alone.
        until: Later dates do not count: a plan for next year was not written then.
    """
    named = _date_in_name(source)
    if named is not None and named <= until:
        return named
    if mtime_ns is None:
        return None
    modified = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=mtime_ns // 1_000)
    return modified if _FILES_SINCE <= modified <= until else None


def _date_in_name(source: str) -> datetime | None:
    """Return the one date in a file's name, or in its folders (`2021/05/03.md`); None otherwise."""
    path = PurePosixPath(source)
    for name in (path.stem, *(folder.name for folder in path.parents)):
        dates = set(_dates_in(name))
        if not dates and (whole := read_date(name.replace("_", " "))) is not None:
            dates = {whole} if _FIRST_YEAR <= whole.year <= _LAST_YEAR else set()
        if dates:
            return dates.pop() if len(dates) == 1 else None
    parts = _IN_FOLDERS.search(str(path.with_suffix("")))
    return read_date("-".join(parts.groups())) if parts else None


def _dates_in(stem: str) -> Iterator[datetime]:
    for found in _IN_NAME.finditer(stem):
        text = found["compact"] or found["dotted"] or "-".join(found.group("year", "month", "day"))
        moment = read_date(text)
        if moment is not None and _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            yield moment

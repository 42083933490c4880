"""UTC days and moments.

A day is [00:00, 24:00) UTC, written YYYY-MM-DD. A moment is an aware `datetime`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DAY_S = 86_400.0
DAY_US = 86_400_000_000
MICROSECOND = timedelta(microseconds=1)
"""The shortest time between two moments."""


@lru_cache(maxsize=4096)
def day_start(day: str | date) -> datetime:
    """Return 00:00 UTC of a day."""
    return datetime.combine(date.fromisoformat(day) if isinstance(day, str) else day, time(), UTC)


def day_end(day: str | date) -> datetime:
    """Return 24:00 UTC of a day, that is 00:00 of the next."""
    return day_start(day) + DAY


def day_of(moment: datetime) -> str:
    """Return the day of a moment."""
    return moment.astimezone(UTC).date().isoformat()


def last_day(moment: datetime) -> str:
    """Return the last day that began before a moment; for the end of a day, that day."""
    return day_of(moment - MICROSECOND)


def days_from(first: str | date, last: str | date) -> list[str]:
    """Return the days of a range, both ends included; none if it is reversed."""
    start = day_start(first)
    return [day_of(start + number * DAY) for number in range((day_start(last) - start).days + 1)]


def to_microseconds(moment: datetime) -> int:
    """Return the microseconds from 1970-01-01T00:00Z to a moment."""
    return (moment - EPOCH) // MICROSECOND


def from_microseconds(count: int) -> datetime:
    """Return the UTC moment `count` microseconds after 1970-01-01T00:00Z."""
    return EPOCH + timedelta(microseconds=count)

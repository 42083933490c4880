"""Days of the calendar, written YYYY-MM-DD; all of them are in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta


def day_start(day: str) -> datetime:
    """00:00 UTC of a day."""
    return datetime.combine(date.fromisoformat(day), time(), UTC)


def day_end(day: str) -> datetime:
    """24:00 UTC of a day, that is 00:00 of the next."""
    return day_start(day) + timedelta(days=1)


def last_day(as_of: datetime) -> str:
    """The last day that has a moment before this one."""
    return (as_of - timedelta(microseconds=1)).date().isoformat()

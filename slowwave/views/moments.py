"""Times as relative text: `1 hour ago`, `yesterday 14:02`, `3 Mar 2026`. JSON has full timestamps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from slowwave.common.pluralize import counted

MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_WEEK: Final = 7  # days after which the date is shown


def since(moment: datetime | None, now: datetime) -> str:
    """Return how long ago a time was, or when it will be; "" for None.

    Args:
        moment: aware.
        now: aware; days are UTC.
    """
    if moment is None:
        return ""
    then, today = moment.astimezone(UTC), now.astimezone(UTC)
    passed, days = today - then, (today.date() - then.date()).days
    if abs(passed) < timedelta(minutes=1):
        return "just now"
    if abs(days) >= _WEEK:
        return day(then)
    if passed < timedelta(0):
        return f"in {_length(-passed)}"
    if days == 0 or passed < timedelta(hours=1):
        return f"{_length(passed)} ago"
    return f"yesterday {then:%H:%M}" if days == 1 else f"{counted(days, 'day')} ago"


def day(moment: datetime) -> str:
    """Return the day (UTC) of a time, with the month as a word."""
    then = moment.astimezone(UTC)
    return f"{then.day} {MONTHS[then.month - 1]} {then.year}"


def _length(passed: timedelta) -> str:
    """Return a duration in its largest unit, rounded down."""
    minutes = int(passed.total_seconds() // 60)
    if minutes < 60:
        return counted(minutes, "minute")
    return counted(minutes // 60, "hour") if minutes < 1_440 else counted(minutes // 1_440, "day")

"""Moments as people say them: `1 hour ago`, `yesterday 14:02`, `3 Mar 2026`. Programs get them whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from slowwave.common.pluralize import counted

MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_WEEK: Final = 7  # days after which a date says more


def since(moment: datetime | None, now: datetime) -> str:
    """How long ago a moment was, or when it will be; empty where there is none.

    Args:
        moment: aware.
        now: aware; days are those of UTC, as everywhere here.
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
    """The day (UTC) of a moment, with a month that no country reads otherwise."""
    then = moment.astimezone(UTC)
    return f"{then.day} {MONTHS[then.month - 1]} {then.year}"


def _length(passed: timedelta) -> str:
    """A length of time in its greatest unit, rounded down."""
    minutes = int(passed.total_seconds() // 60)
    if minutes < 60:
        return counted(minutes, "minute")
    return counted(minutes // 60, "hour") if minutes < 1_440 else counted(minutes // 1_440, "day")

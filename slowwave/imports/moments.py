"""Moments as exports write them: seconds, milliseconds, ISO 8601 with and without a zone, nothing."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from slowwave.common.arguments import FIRST_YEAR, LAST_YEAR

MILLISECONDS_FROM = 1e11
"""A number from here on is no count of seconds: it would be beyond the year 5138."""
AHEAD = timedelta(days=1)
"""How far a clock may be ahead; what is later than that is no date of something said."""


def moment_in(value: object, now: datetime) -> datetime | None:
    """The moment in UTC; None where there is none, or one that cannot be right.

    Args:
        value: a number of seconds (or milliseconds) since 1970, ISO 8601, or anything else.
        now: the present.
    """
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            found = _of_number(float(value))
        elif isinstance(value, datetime):
            found = value
        elif isinstance(value, str) and value.strip():
            found = _of_text(value.strip())
        else:
            return None
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return found if FIRST_YEAR <= found.year <= LAST_YEAR and found <= now + AHEAD else None


def written(moment: datetime | None) -> str:
    """The moment as text that sorts by time; nothing of none."""
    return "" if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")


def _of_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _of_number(float(text))


def _of_number(number: float) -> datetime:
    if not math.isfinite(number) or number <= 0:
        raise ValueError(number)
    return datetime.fromtimestamp(number / 1_000 if number >= MILLISECONDS_FROM else number, UTC)

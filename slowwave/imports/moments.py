"""Parsing of times in exports: seconds to microseconds, ISO 8601 with and without a zone, or nothing."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from slowwave.common.arguments import FIRST_YEAR, LAST_YEAR

MILLISECONDS_FROM = 1e11
"""Minimum number that is read as milliseconds: as seconds it would be beyond the year 5138."""
MICROSECONDS_FROM = 1e14
"""Minimum number that is read as microseconds: as milliseconds it would be beyond the year 5138."""
AHEAD = timedelta(days=1)
"""Maximum clock skew; a later time is invalid."""


def moment_in(value: object, now: datetime) -> datetime | None:
    """Parse a time as UTC; None if there is none or it is out of range.

    Args:
        value: Seconds (or milliseconds, microseconds) since 1970, ISO 8601, or anything else.
        now: Current time.
    """
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            moment = _of_number(float(value))
        elif isinstance(value, datetime):
            moment = value
        elif isinstance(value, str) and value.strip():
            moment = _of_text(value.strip())
        else:
            return None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if FIRST_YEAR <= moment.year <= LAST_YEAR and moment <= now + AHEAD else None


def written(moment: datetime | None) -> str:
    """Format a time so that it sorts as text; empty for None."""
    return "" if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")


def _of_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _of_number(float(text))


def _of_number(number: float) -> datetime:
    if not math.isfinite(number) or number <= 0:
        raise ValueError(number)
    if number >= MICROSECONDS_FROM:
        number /= 1_000_000
    elif number >= MILLISECONDS_FROM:
        number /= 1_000
    return datetime.fromtimestamp(number, UTC)

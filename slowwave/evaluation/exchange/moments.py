"""Days as users write them, and timestamps as files hold them."""

from __future__ import annotations

from datetime import UTC, datetime

from slowwave.common.arguments import parsed_day
from slowwave.errors import ArgumentError
from slowwave.evaluation.exchange.errors import ExchangeError


def parse_day(text: str) -> str:
    """Parse a day (YYYY-MM-DD); empty stays empty.

    Raises:
        ExchangeError: not a day.
    """
    try:
        return parsed_day("", text).isoformat() if text else ""
    except ArgumentError:
        raise ExchangeError(f"{text!r} is not a day. Write it as YYYY-MM-DD.") from None


def written_moment(at: datetime) -> str:
    """Format the moment in UTC, as ISO 8601 with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")

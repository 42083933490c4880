"""Days as people write them."""

from __future__ import annotations

from datetime import date

from slowwave.exchange.errors import ExchangeError


def parse_day(text: str) -> str:
    """The day (YYYY-MM-DD), or nothing of nothing.

    Raises:
        ExchangeError: it is no day.
    """
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise ExchangeError(f"{text!r} is not a day. Write it as YYYY-MM-DD.") from None

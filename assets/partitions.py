"""The calendar: one partition per UTC day, up to and including today."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import dagster as dg

from slowwave.settings import load

DAILY = dg.DailyPartitionsDefinition(start_date=load().night.first_day, end_offset=1)


def day_start(day: str) -> datetime:
    """00:00 UTC of a day."""
    return datetime.combine(date.fromisoformat(day), time(), UTC)


def day_end(day: str) -> datetime:
    """24:00 UTC of a day, that is 00:00 of the next."""
    return day_start(day) + timedelta(days=1)

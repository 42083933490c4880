"""The calendar: one partition per UTC day, up to and including today."""

from __future__ import annotations

from datetime import UTC, datetime

import dagster as dg

from slowwave.home.workspace import Workspace
from slowwave.journal.entry import OF_TENANTS
from slowwave.settings import Settings, load


def daily(first_day: str) -> dg.DailyPartitionsDefinition:
    """The days from one on (YYYY-MM-DD), up to and including today."""
    return dg.DailyPartitionsDefinition(start_date=first_day, end_offset=1)


DAILY = daily(load().night.first_day)


def home_first_day(settings: Settings) -> str:
    """The day on which a home begins: that of its first act which a partition can have; today without any.

    Nothing is made where there is no home.
    """
    today = datetime.now(UTC).date().isoformat()
    if not (settings.journal.url or settings.journal_file.exists()):
        return today
    space = Workspace(settings)
    try:
        days = space.journal.days(OF_TENANTS)["day"].to_list()
    finally:
        space.close()
    return min((day for day in days if settings.night.first_day <= day <= today), default=today)

"""The calendar: one partition per UTC day, up to and including today."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import dagster as dg

from slowwave.home.workspace import Workspace
from slowwave.journal.entry import OF_TENANTS
from slowwave.settings import Settings

PARTITION_TAG = "dagster/partition"
"""Tag of a run of one day, as Dagster documents it; of a range of days it has the two below."""
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"
RUN_KEY_TAG = "dagster/run_key"
SENSOR_TAG = "dagster/sensor_name"
BACKFILL_TAG = "dagster/backfill"
"""Tag of the runs of one backfill: its id."""


def daily(first_day: str) -> dg.DailyPartitionsDefinition:
    """The days from one on (YYYY-MM-DD), up to and including today."""
    return dg.DailyPartitionsDefinition(start_date=first_day, end_offset=1)


DAILY = daily("2024-01-01")
"""Of assets as they are declared; `slowwave.orchestration.definitions` gives them the days of the home."""


def day_before(asset: str) -> dg.AssetDep:
    """The dependency of an asset on itself: each day goes on from what the day before it left."""
    return dg.AssetDep(asset, partition_mapping=dg.TimeWindowPartitionMapping(start_offset=-1, end_offset=-1))


def run_key(context: dg.AssetExecutionContext) -> str:
    """Name of the work that a run is part of, which later runs of it go on from.

    A run of a backfill is part of all that the backfill does with the same days; any other run is alone.
    """
    backfill = context.run.tags.get(BACKFILL_TAG)
    if backfill is None:
        return str(context.run.run_id)
    days = context.partition_keys
    return f"{backfill}:{days[0]}:{days[-1]}"


def range_tags(first: str, last: str) -> dict[str, str]:
    """Tags of a run of some days (YYYY-MM-DD): that of a partition where it is one day."""
    if first == last:
        return {PARTITION_TAG: first}
    return {RANGE_START_TAG: first, RANGE_END_TAG: last}


def home_first_day(settings: Settings) -> str:
    """The day on which a home begins: that of its first act which a partition can have; today without any.

    Nothing is made where there is no home.
    """
    today = datetime.now(UTC).date().isoformat()
    if not (settings.journal.url or settings.journal_file.exists()):
        return today
    with closing(Workspace(settings)) as space:
        days = space.journal.days(OF_TENANTS)["day"].to_list()
    return min((day for day in days if settings.night.first_day <= day <= today), default=today)

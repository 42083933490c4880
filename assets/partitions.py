"""Daily partitions: one per UTC day, up to and including today."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import dagster as dg

from slowwave.home.workspace import Workspace
from slowwave.journal.entry import OF_TENANTS
from slowwave.settings import Settings

PARTITION_TAG = "dagster/partition"
"""Dagster's tag of a run of one day. A run of several days has the two tags below."""
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"
RUN_KEY_TAG = "dagster/run_key"
SENSOR_TAG = "dagster/sensor_name"
BACKFILL_TAG = "dagster/backfill"
"""Tag of the runs of one backfill: its id."""


def daily(first_day: str) -> dg.DailyPartitionsDefinition:
    """Return the partitions from a day on (YYYY-MM-DD), up to and including today."""
    return dg.DailyPartitionsDefinition(start_date=first_day, end_offset=1)


DAILY = daily("2024-01-01")
"""Placeholder at declaration. `slowwave.orchestration.definitions` sets the days of the home."""


def day_before(asset: str) -> dg.AssetDep:
    """Return an asset's dependency on itself: each day continues from the previous one."""
    return dg.AssetDep(asset, partition_mapping=dg.TimeWindowPartitionMapping(start_offset=-1, end_offset=-1))


def run_key(context: dg.AssetExecutionContext) -> str:
    """Return the id of the work that a run belongs to: retries resume it.

    Runs of a backfill with the same days share an id; any other run has its own.
    """
    backfill = context.run.tags.get(BACKFILL_TAG)
    if backfill is None:
        return str(context.run.run_id)
    days = context.partition_keys
    return f"{backfill}:{days[0]}:{days[-1]}"


def range_tags(first: str, last: str) -> dict[str, str]:
    """Return the tags of a run of some days (YYYY-MM-DD); one day is a partition."""
    if first == last:
        return {PARTITION_TAG: first}
    return {RANGE_START_TAG: first, RANGE_END_TAG: last}


def home_first_day(settings: Settings) -> str:
    """Return the first day of a home: of its first event that can have a partition, else today.

    It creates no home.
    """
    today = datetime.now(UTC).date().isoformat()
    if not (settings.journal.url or settings.journal_file.exists()):
        return today
    with closing(Workspace(settings)) as space:
        days = space.journal.days(OF_TENANTS)["day"].to_list()
    return min((day for day in days if settings.night.first_day <= day <= today), default=today)

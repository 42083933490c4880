"""Job and schedule of the backup, defined if the settings name a location."""

from __future__ import annotations

import dagster as dg

from slowwave.assets import backups
from slowwave.settings import Settings


def of(settings: Settings) -> dg.Definitions:
    """Return the asset, its checks, its job and its schedule; nothing if no location is set."""
    if not settings.backup.uri:
        return dg.Definitions()
    job = dg.define_asset_job(
        "backup",
        selection=dg.AssetSelection.assets(*backups.ASSETS),
        description="Back up the current state of the home and verify that the backup can be restored. "
        "Can be launched at any time.",
    )
    daily = dg.ScheduleDefinition(
        name="backed_up",
        job=job,
        cron_schedule=f"15 {settings.backup.hour} * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Every day: back up the home to {settings.backup.uri}.",
    )
    return dg.Definitions(assets=backups.ASSETS, asset_checks=backups.CHECKS, jobs=[job], schedules=[daily])

"""The job that backs a home up and its schedule: only where the settings say where to."""

from __future__ import annotations

import dagster as dg

from slowwave.assets import backups
from slowwave.settings import Settings


def of(settings: Settings) -> dg.Definitions:
    """The asset, its checks, its job and its schedule; nothing where no place is set."""
    if not settings.backup.uri:
        return dg.Definitions()
    job = dg.define_asset_job(
        "backup",
        selection=dg.AssetSelection.assets(*backups.ASSETS),
        description="Back the home up as it is now, and read the backup to see whether it could be restored. "
        "Launch it whenever you like.",
    )
    daily = dg.ScheduleDefinition(
        name="backed_up",
        job=job,
        cron_schedule=f"15 {settings.backup.hour} * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Every day: a backup of the home to {settings.backup.uri}.",
    )
    return dg.Definitions(assets=backups.ASSETS, asset_checks=backups.CHECKS, jobs=[job], schedules=[daily])

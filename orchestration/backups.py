"""The job that backs a home up and its schedule: only where the settings say where to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from slowwave.assets import backups
from slowwave.settings import Settings


@dataclass(frozen=True, slots=True)
class Kept:
    """What Dagster has of backups."""

    assets: Sequence[dg.AssetsDefinition]
    checks: Sequence[dg.AssetChecksDefinition]
    jobs: Sequence[Any]
    schedules: Sequence[dg.ScheduleDefinition]


def of(settings: Settings) -> Kept:
    """The asset, its checks, its job and its schedule; nothing where no place is set."""
    if not settings.backup.uri:
        return Kept((), (), (), ())
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
    return Kept(backups.ASSETS, backups.CHECKS, (job,), (daily,))

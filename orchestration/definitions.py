"""Dagster definitions of Slowwave."""

from __future__ import annotations

import os
from typing import Any

import dagster as dg
from dagster_duckdb import DuckDBResource

from slowwave.assets import evaluation, feedback, ingest, learning, overview, trend, warehouse
from slowwave.assets.partitions import DAILY, daily, home_first_day
from slowwave.assets.resources import OneNight, SlowwaveResource, of_the_home
from slowwave.assets.versions import code_version
from slowwave.orchestration import alerts, backups, learning_jobs, sensors
from slowwave.orchestration.checks import CHECKS
from slowwave.orchestration.jobs import EVALUATION, FEEDBACK, LEARNING, NIGHT, schedules


def definitions(slowwave: SlowwaveResource) -> dg.Definitions:
    """Return the code location of one home.

    Steps run in one process: a step costs milliseconds there, and seconds in a process of its own.

    Args:
        slowwave: Resource of the home. Its settings have the hour, the owner and the backup location.

    Raises:
        SettingsError: A setting is not allowed.
    """
    settings = slowwave.settings()
    first = slowwave.first_day or settings.night.first_day
    backup = backups.of(settings)
    assets: list[Any] = [
        *ingest.ASSETS, *feedback.ASSETS, *evaluation.ASSETS, *learning.ASSETS,
        *trend.ASSETS, *warehouse.ASSETS, *overview.ASSETS, ingest.JOURNAL, *(backup.assets or ()),
    ]  # fmt: skip
    return dg.Definitions(
        assets=dg.map_asset_specs(
            lambda spec: spec.replace_attributes(
                partitions_def=daily(first) if spec.partitions_def == DAILY else spec.partitions_def,
                owners=[settings.night.owner],
                code_version=code_version(spec.key.path[-1]),
            ),
            assets,
        ),
        asset_checks=[*CHECKS, *(backup.asset_checks or ())],
        jobs=[NIGHT, FEEDBACK, EVALUATION, LEARNING, *learning_jobs.JOBS, *(backup.jobs or ())],
        schedules=[*schedules(settings), *(backup.schedules or ())],
        sensors=[*sensors.sensors(settings), *alerts.sensors(settings)],
        resources={
            "slowwave": of_the_home(slowwave, "The memory of this home. Nothing to configure."),
            "one_night": OneNight(slowwave=slowwave),
            "duckdb": of_the_home(
                DuckDBResource(database=""), "warehouse.duckdb in the home. Nothing to configure."
            ),
        },
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the code location of the home in SLOWWAVE_HOME, else of the nearest home.

    Partitions start with the first day of the home.
    """
    home = os.environ.get("SLOWWAVE_HOME", "")
    first = home_first_day(SlowwaveResource(home=home).settings())
    return definitions(SlowwaveResource(home=home, first_day=first))

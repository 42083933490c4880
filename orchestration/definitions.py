"""Everything Dagster knows of Slowwave."""

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
    """The code location for one home.

    Steps run in one process: a step costs milliseconds there, and seconds in a process of its own.

    Args:
        slowwave: the home; its settings say the hour, the owner, and where backups go.

    Raises:
        SettingsError: a setting is not allowed.
    """
    settings = slowwave.settings()
    first = slowwave.first_day or settings.night.first_day
    kept = backups.of(settings)
    assets: list[Any] = [
        *ingest.ASSETS, *feedback.ASSETS, *evaluation.ASSETS, *learning.ASSETS,
        *trend.ASSETS, *warehouse.ASSETS, *overview.ASSETS, ingest.JOURNAL, *(kept.assets or ()),
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
        asset_checks=[*CHECKS, *(kept.asset_checks or ())],
        jobs=[NIGHT, FEEDBACK, EVALUATION, LEARNING, *learning_jobs.JOBS, *(kept.jobs or ())],
        schedules=[*schedules(settings), *(kept.schedules or ())],
        sensors=[*sensors.sensors(settings), *alerts.sensors(settings)],
        resources={
            "slowwave": of_the_home(slowwave, "The memory of this home. There is nothing to set."),
            "one_night": OneNight(slowwave=slowwave),
            "duckdb": of_the_home(
                DuckDBResource(database=""), "warehouse.duckdb in the home. There is nothing to set."
            ),
        },
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Code location of the home of SLOWWAVE_HOME, else the nearest; its days begin with the home's."""
    home = os.environ.get("SLOWWAVE_HOME", "")
    first = home_first_day(SlowwaveResource(home=home).settings())
    return definitions(SlowwaveResource(home=home, first_day=first))

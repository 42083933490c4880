"""Everything Dagster knows of Slowwave."""

from __future__ import annotations

import os

import dagster as dg
from dagster_duckdb import DuckDBResource

from slowwave.assets import at_a_glance, evaluation, feedback, ingest, learning, trend, warehouse
from slowwave.assets.partitions import DAILY, daily, home_first_day
from slowwave.assets.resources import OneNight, SlowwaveResource, of_the_home
from slowwave.orchestration import alerts, backups, learning_jobs, said
from slowwave.orchestration.checks import CHECKS
from slowwave.orchestration.jobs import EVALUATION, FEEDBACK, LEARNING, NIGHT, evaluated, nightly
from slowwave.orchestration.sensors import late_evaluation, late_feedback, learning_gate_opens, watched_vaults
from slowwave.settings import load


def definitions(slowwave: SlowwaveResource) -> dg.Definitions:
    """The code location for one home.

    Steps run in one process: a step costs milliseconds there, and seconds in a process of its own.
    """
    days = daily(slowwave.first_day) if slowwave.first_day else DAILY
    assets = [
        *ingest.ASSETS, *feedback.ASSETS, *evaluation.ASSETS, *learning.ASSETS,
        *trend.ASSETS, *warehouse.ASSETS, *at_a_glance.ASSETS,
    ]  # fmt: skip
    settings = load(slowwave.home or None)
    owners = [settings.night.owner]
    kept = backups.of(settings)
    return dg.Definitions(
        assets=[
            *dg.map_asset_specs(
                lambda spec: spec.replace_attributes(partitions_def=days, owners=owners), assets
            ),
            *dg.map_asset_specs(lambda spec: spec.replace_attributes(owners=owners), kept.assets),
        ],
        asset_checks=[*CHECKS, *kept.checks],
        jobs=[NIGHT, FEEDBACK, EVALUATION, LEARNING, *learning_jobs.JOBS, *kept.jobs],
        schedules=[nightly, evaluated, *kept.schedules],
        sensors=[watched_vaults, late_feedback, late_evaluation, learning_gate_opens, *alerts.SENSORS],
        resources={
            "slowwave": of_the_home(slowwave, "The memory of this home. There is nothing to set."),
            "one_night": OneNight(slowwave=slowwave),
            "duckdb": of_the_home(
                DuckDBResource(database=""), "warehouse.duckdb in the home. There is nothing to set."
            ),
        },
        executor=dg.in_process_executor,
    )


HOME = os.environ.get("SLOWWAVE_HOME", "")

said.use(load(HOME or None).telemetry.logs)
defs = definitions(SlowwaveResource(home=HOME, first_day=home_first_day(load(HOME or None))))
"""What the web page loads: its days begin with the home's. A night by command may run any day."""

"""Everything Dagster knows of Slowwave."""

from __future__ import annotations

import os

import dagster as dg
from dagster_duckdb import DuckDBResource

from slowwave.assets import evaluation, feedback, glance, ingest, learning, trend, warehouse
from slowwave.assets.partitions import DAILY, daily, home_first_day
from slowwave.assets.resources import OneNight, SlowwaveResource
from slowwave.orchestration import alerts, learning_jobs
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
        *trend.ASSETS, *warehouse.ASSETS, *glance.ASSETS,
    ]  # fmt: skip
    owners = [load(slowwave.home or None).night.owner]
    return dg.Definitions(
        assets=dg.map_asset_specs(
            lambda spec: spec.replace_attributes(partitions_def=days, owners=owners), assets
        ),
        asset_checks=CHECKS,
        jobs=[NIGHT, FEEDBACK, EVALUATION, LEARNING, *learning_jobs.JOBS],
        schedules=[nightly, evaluated],
        sensors=[watched_vaults, late_feedback, late_evaluation, learning_gate_opens, *alerts.SENSORS],
        resources={
            "slowwave": slowwave,
            "one_night": OneNight(slowwave=slowwave),
            "duckdb": DuckDBResource(database=""),
        },
        executor=dg.in_process_executor,
    )


HOME = os.environ.get("SLOWWAVE_HOME", "")

defs = definitions(SlowwaveResource(home=HOME, first_day=home_first_day(load(HOME or None))))
"""What the web page loads: its days begin with the home's. A night by command may run any day."""

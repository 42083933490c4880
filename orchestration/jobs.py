"""The nightly job and its schedule."""

from datetime import UTC, timedelta

import dagster as dg

from assets import evaluation, feedback, ingest, warehouse
from slowwave.settings import load

NIGHT = dg.define_asset_job(
    "night",
    selection=dg.AssetSelection.assets(*ingest.ASSETS, *feedback.ASSETS),
    description="Take in what a day brought: stage, gate, embed, apply, index, and learn from feedback.",
)

FEEDBACK = dg.define_asset_job(
    "feedback",
    selection=dg.AssetSelection.assets(*feedback.ASSETS),
    description="Fold the searches and the feedback of some days into what use has taught.",
)

EVALUATION = dg.define_asset_job(
    "evaluation",
    selection=dg.AssetSelection.assets(*evaluation.ASSETS, *warehouse.ASSETS),
    description="Measure how good the searches of some days were, and what other rankings would have been.",
)


@dg.schedule(
    job=NIGHT,
    cron_schedule=f"0 {load().night.hour} * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Every night: the partition of the day that has just ended.",
)
def nightly(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Ask for yesterday's partition, once."""
    day = (context.scheduled_execution_time.astimezone(UTC) - timedelta(days=1)).date().isoformat()
    return dg.RunRequest(run_key=f"night-{day}", partition_key=day)


@dg.schedule(
    job=EVALUATION,
    cron_schedule=f"30 {load().night.hour} * * *",
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Every night, after the night: how good the searches of the day that has just ended were.",
)
def evaluated(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Ask for yesterday's evaluation, once."""
    day = (context.scheduled_execution_time.astimezone(UTC) - timedelta(days=1)).date().isoformat()
    return dg.RunRequest(run_key=f"evaluation-{day}", partition_key=day)

"""The nightly job and its schedule."""

from datetime import UTC, timedelta

import dagster as dg

from assets import feedback, ingest
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

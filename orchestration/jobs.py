"""Dagster jobs and their schedules."""

from datetime import UTC, timedelta
from typing import Any

import dagster as dg

from slowwave.assets import evaluation, feedback, ingest, learning, overview, trend, warehouse
from slowwave.assets.resources import SlowwaveResource
from slowwave.settings import Settings

STAGE_TAG = "slowwave/stage"
"""Tag of jobs and their runs: the stage that they process."""

NIGHT = dg.define_asset_job(
    "night",
    selection=dg.AssetSelection.assets(*ingest.ASSETS, *feedback.ASSETS),
    tags={STAGE_TAG: "night"},
    description="Process a day: stage, gate, embed, apply and index notes, and aggregate feedback. "
    "Idempotent: press Materialize all and choose any day; running it again gives the same tables.",
)

FEEDBACK = dg.define_asset_job(
    "feedback",
    selection=dg.AssetSelection.assets(*feedback.ASSETS),
    tags={STAGE_TAG: "feedback"},
    description="Aggregate searches and feedback of some days into the feedback state. The sensor "
    "late_feedback starts it; by hand run it from the first stale day up to today.",
)

EVALUATION = dg.define_asset_job(
    "evaluation",
    selection=dg.AssetSelection.assets(
        *evaluation.ASSETS,
        *learning.PROPOSED_ASSETS,
        *trend.ASSETS,
        *warehouse.ASSETS,
        *overview.ASSETS,
    ),
    tags={STAGE_TAG: "evaluation"},
    description="Evaluate the searches of some days, the shadow policies and the proposals of learning; the "
    "numbers are then in the asset at_a_glance. Launch it after labelling or importing. It has no effect "
    "on any search.",
)

LEARNING = dg.define_asset_job(
    "learning",
    selection=dg.AssetSelection.assets(*learning.GATED_ASSETS),
    tags={STAGE_TAG: "learning", "dagster/max_retries": "0"},  # a refusal of the gate is not retried
    description="Apply learned terms and search keys of some days. Refused unless the learning gate was open "
    "at the end of each. The sensor learning_gate_opens starts it; no manual run is needed.",
)


def schedules(settings: Settings) -> list[dg.ScheduleDefinition]:
    """Return the schedules of the nightly job and its evaluation, at `night.hour` (UTC)."""
    return [
        _every_night(
            NIGHT, "nightly", f"0 {settings.night.hour} * * *",
            "Every night: process the day that has just ended.",
        ),
        _every_night(
            EVALUATION, "evaluated", f"30 {settings.night.hour} * * *",
            "Every night, after the nightly job: evaluate the searches of the day that has just ended.",
        ),
    ]  # fmt: skip


def _every_night(
    job: Any,  # noqa: ANN401 - Dagster does not name the type of a job by selection
    name: str,
    cron: str,
    description: str,
) -> dg.ScheduleDefinition:
    """Return a schedule that requests yesterday's partition of a job (of `define_asset_job`) once."""

    @dg.schedule(
        name=name,
        job=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=description,
    )
    def schedule(
        context: dg.ScheduleEvaluationContext, slowwave: SlowwaveResource
    ) -> dg.RunRequest | dg.SkipReason:
        day = (context.scheduled_execution_time.astimezone(UTC) - timedelta(days=1)).date().isoformat()
        if skip := slowwave.no_home():
            return skip
        if day < slowwave.first_day:
            return dg.SkipReason(f"The first day of this home is {slowwave.first_day}.")
        return dg.RunRequest(run_key=f"{job.name}-{day}", partition_key=day)

    return schedule

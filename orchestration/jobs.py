"""The jobs and their schedules."""

from datetime import UTC, timedelta
from typing import Any

import dagster as dg

from slowwave.assets import evaluation, feedback, ingest, learning, overview, trend, warehouse
from slowwave.assets.resources import SlowwaveResource
from slowwave.settings import Settings

STAGE_TAG = "slowwave/stage"
"""Tag of jobs and their runs: which part of the work they do."""

NIGHT = dg.define_asset_job(
    "night",
    selection=dg.AssetSelection.assets(*ingest.ASSETS, *feedback.ASSETS),
    tags={STAGE_TAG: "night"},
    description="Take in what a day brought: stage, gate, embed, apply, index, and learn from feedback. "
    "Press Materialize all and choose a day, whenever you like: a day that is run again comes out the same.",
)

FEEDBACK = dg.define_asset_job(
    "feedback",
    selection=dg.AssetSelection.assets(*feedback.ASSETS),
    tags={STAGE_TAG: "feedback"},
    description="Fold the searches and the feedback of some days into what use has taught. The sensor "
    "late_feedback asks for it; by hand run it from the first day that lacks something up to today.",
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
    description="Measure how good the searches of some days were, what other rankings would have been, and "
    "what could be learned; the numbers are then in the asset at_a_glance. Launch it after labelling or "
    "importing; no search changes by it.",
)

LEARNING = dg.define_asset_job(
    "learning",
    selection=dg.AssetSelection.assets(*learning.GATED_ASSETS),
    tags={STAGE_TAG: "learning", "dagster/max_retries": "0"},  # what the gate refuses is not tried again
    description="Apply what the selections of some days teach: refused unless the learning gate was open at "
    "the end of each of them. The sensor learning_gate_opens asks for it; nobody needs to.",
)


def schedules(settings: Settings) -> list[dg.ScheduleDefinition]:
    """The night and its evaluation, at the hour of the settings (UTC)."""
    return [
        _every_night(
            NIGHT, "nightly", f"0 {settings.night.hour} * * *",
            "Every night: the partition of the day that has just ended.",
        ),
        _every_night(
            EVALUATION, "evaluated", f"30 {settings.night.hour} * * *",
            "Every night, after the night: how good the searches of the day that has just ended were.",
        ),
    ]  # fmt: skip


def _every_night(
    job: Any,  # noqa: ANN401 - Dagster does not name the type of a job by selection
    name: str,
    cron: str,
    about: str,
) -> dg.ScheduleDefinition:
    """A schedule that asks for yesterday's partition of a job (of `define_asset_job`), once."""

    @dg.schedule(
        name=name,
        job=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=about,
    )
    def schedule(
        context: dg.ScheduleEvaluationContext, slowwave: SlowwaveResource
    ) -> dg.RunRequest | dg.SkipReason:
        day = (context.scheduled_execution_time.astimezone(UTC) - timedelta(days=1)).date().isoformat()
        if lacking := slowwave.no_home():
            return lacking
        if day < slowwave.first_day:
            return dg.SkipReason(f"This home begins with {slowwave.first_day}.")
        return dg.RunRequest(run_key=f"{job.name}-{day}", partition_key=day)

    return schedule

"""The sensors that tell people: a run that failed, learning that made results worse."""

import json
from typing import Any

import dagster as dg

from slowwave.assets.resources import SlowwaveResource
from slowwave.home.alerts import alert
from slowwave.journal.kinds.learning import REGRESSION
from slowwave.learning.events import learning_events
from slowwave.orchestration.run_logging import cause_of
from slowwave.scoring.feedback.learned import RATINGS
from slowwave.settings import Settings

WILL_RETRY_TAG = "dagster/will_retry"
"""Of a failed run that Dagster runs again by itself."""
_MOST = 1_000  # characters of an error that are sent


@dg.run_failure_sensor(
    name="failed_runs",
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Tells of every run that failed and is not run again by itself: a line in the log, and a "
    "message to the webhook of the settings (alerts.webhook).",
)
def failed_runs(context: dg.RunFailureSensorContext, slowwave: SlowwaveResource) -> dg.SkipReason | None:
    """Alert of a failed run."""
    run = context.dagster_run
    if run.tags.get(WILL_RETRY_TAG) == "true":
        return dg.SkipReason("It is run again.")
    reasons = [_reason(event.step_failure_data) for event in context.get_step_failure_events()]
    why = "; ".join(reasons) or context.failure_event.message or ""
    alert(
        slowwave.space.settings,
        f"The run of {run.job_name} failed",
        why[:_MOST],
        {
            "job": run.job_name,
            "run": run.run_id,
            "partition": run.tags.get("dagster/partition", ""),
            "home": str(slowwave.space.settings.home),
        },
    )
    return None


def _reason(data: Any) -> str:  # noqa: ANN401 - Dagster exports no name of what a failed step leaves
    """What a step said when it failed: its own words, else those of the error at the root."""
    if data.user_failure_data is not None and data.user_failure_data.description:
        return str(data.user_failure_data.description)
    return "" if data.error is None else str(cause_of(data.error).message).strip()


def regressions(
    context: dg.SensorEvaluationContext, slowwave: SlowwaveResource
) -> dg.SensorResult | dg.SkipReason:
    """Alert of each regression in the journal that the cursor has not seen."""
    space = slowwave.space
    seen: list[str] = json.loads(context.cursor) if context.cursor else []
    new = [
        act for act in learning_events(space.journal) if act.action == REGRESSION and act.event_id not in seen
    ]
    if not new:
        return dg.SkipReason("Nothing that was learned has made results worse.")
    for act in new:
        title = f"Learning in {act.namespace} made results worse and was taken back"
        next_step = "Nothing is learned there until a person approves again: slowwave learning status"
        if act.about(RATINGS):
            title = f"Ratings in {act.namespace} made results worse and are switched off"
            next_step = "They count in no search until a person switches them on: slowwave learning ratings"
        alert(
            space.settings,
            title,
            f"{act.why.rstrip('.')}. {next_step} -n {act.namespace}",
            {"namespace": act.namespace, "at": act.at.isoformat(), "home": str(space.settings.home)},
        )
    return dg.SensorResult(cursor=json.dumps([*seen, *(act.event_id for act in new)]))


def sensors(settings: Settings) -> list[dg.SensorDefinition]:
    """Both; that of regressions looks every `night.vault_poll_seconds`."""
    looks = dg.sensor(
        name="regressions",
        minimum_interval_seconds=settings.night.vault_poll_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Tells, once, of everything learned that was taken back because it made results worse, "
        "and of ratings that were switched off.",
    )
    return [failed_runs, looks(regressions)]

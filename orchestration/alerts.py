"""Alert sensors: failed runs, and learning that made results worse."""

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
"""Tag of a failed run that Dagster retries automatically."""
_MAX_CHARACTERS = 1_000  # of an error in an alert


@dg.run_failure_sensor(
    name="failed_runs",
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Reports every failed run that is not retried automatically: a line in the log, and a "
    "message to the webhook (setting alerts.webhook).",
)
def failed_runs(context: dg.RunFailureSensorContext, slowwave: SlowwaveResource) -> dg.SkipReason | None:
    """Send an alert about a failed run."""
    run = context.dagster_run
    if run.tags.get(WILL_RETRY_TAG) == "true":
        return dg.SkipReason("Dagster retries this run.")
    reasons = [_reason(event.step_failure_data) for event in context.get_step_failure_events()]
    why = "; ".join(reasons) or context.failure_event.message or ""
    alert(
        slowwave.space.settings,
        f"The run of {run.job_name} failed",
        why[:_MAX_CHARACTERS],
        {
            "job": run.job_name,
            "run": run.run_id,
            "partition": run.tags.get("dagster/partition", ""),
            "home": str(slowwave.space.settings.home),
        },
    )
    return None


def _reason(data: Any) -> str:  # noqa: ANN401 - Dagster does not export this type
    """Return why a step failed: its own description, else the message of the root error."""
    if data.user_failure_data is not None and data.user_failure_data.description:
        return str(data.user_failure_data.description)
    return "" if data.error is None else str(cause_of(data.error).message).strip()


def regressions(
    context: dg.SensorEvaluationContext, slowwave: SlowwaveResource
) -> dg.SensorResult | dg.SkipReason:
    """Send an alert about each regression in the journal that is not in the cursor."""
    space = slowwave.space
    seen: list[str] = json.loads(context.cursor) if context.cursor else []
    new = [
        event
        for event in learning_events(space.journal)
        if event.action == REGRESSION and event.event_id not in seen
    ]
    if not new:
        return dg.SkipReason("No regression since the last tick.")
    for event in new:
        title = f"Learning in {event.namespace} made results worse and was rolled back"
        next_step = "Nothing is learned there until a person approves again. Run: slowwave learning status"
        if event.about(RATINGS):
            title = f"Ratings in {event.namespace} made results worse and are switched off"
            next_step = (
                "They count in no search until a person switches them on. Run: slowwave learning ratings"
            )
        alert(
            space.settings,
            title,
            f"{event.why.rstrip('.')}. {next_step} -n {event.namespace}",
            {"namespace": event.namespace, "at": event.at.isoformat(), "home": str(space.settings.home)},
        )
    return dg.SensorResult(cursor=json.dumps([*seen, *(event.event_id for event in new)]))


def sensors(settings: Settings) -> list[dg.SensorDefinition]:
    """Return both sensors; that of regressions runs every `night.vault_poll_seconds`."""
    decorate = dg.sensor(
        name="regressions",
        minimum_interval_seconds=settings.night.vault_poll_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Reports each regression once: learning that was rolled back because it made results "
        "worse, and ratings that were switched off.",
    )
    return [failed_runs, decorate(regressions)]

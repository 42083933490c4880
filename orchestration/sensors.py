"""The sensors: a changed vault asks for today's partition, what comes late for the days that it changes."""

import json
from datetime import timedelta
from pathlib import Path

import dagster as dg
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
)

from slowwave.assets.resources import SlowwaveResource
from slowwave.common import ids
from slowwave.evaluation.due import due_days, grounds
from slowwave.feedback.pending import folded_days, last_seqs, stretches, unfolded_days
from slowwave.learning import lessons
from slowwave.learning.evidence import Evidence
from slowwave.learning.gate import gates, gates_now
from slowwave.orchestration.jobs import EVALUATION, FEEDBACK, LEARNING, NIGHT
from slowwave.scoring.feedback.learned import KINDS
from slowwave.settings import load
from slowwave.vaults.vault import fingerprint, is_there

PATIENCE = timedelta(hours=1)
TOLD = 10
"""Namespaces whose gate a tick tells about (count)."""


@dg.sensor(
    job=NIGHT,
    minimum_interval_seconds=load().night.vault_poll_seconds,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Looks at names, sizes and times of the files in every watched vault; runs today's partition "
    "when something changed.",
)
def watched_vaults(
    context: dg.SensorEvaluationContext, slowwave: SlowwaveResource
) -> dg.SensorResult | dg.SkipReason:
    """Ask for a run when a vault differs from what the last tick saw."""
    seen = json.loads(context.cursor) if context.cursor else {}
    sources = slowwave.space.journal.sources()
    if not sources:
        return dg.SkipReason("No vault is watched. `slowwave ingest PATH` adds one.")
    now = {
        f"{source.namespace}/{source.name}": fingerprint(Path(source.uri))
        for source in sources
        if is_there(source.uri)
    }
    changed = sorted(name for name, mark in now.items() if seen.get(name) != mark)
    if not changed:
        return dg.SkipReason(f"Nothing changed in {len(now)} watched vaults.")
    day = slowwave.clock().date().isoformat()
    cursor = json.dumps({**seen, **now}, sort_keys=True)
    request = dg.RunRequest(partition_key=day, tags={"slowwave/changed_vaults": ", ".join(changed)})
    return dg.SensorResult(run_requests=[request], cursor=cursor)


@dg.sensor(
    job=FEEDBACK,
    minimum_interval_seconds=load().night.vault_poll_seconds,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Looks for searches and feedback of past days that no run has taken up (late, imported); "
    "folds those days again, and all days after them, as one run.",
)
def late_feedback(
    context: dg.SensorEvaluationContext, slowwave: SlowwaveResource
) -> dg.SensorResult | dg.SkipReason:
    """Ask for the range of past days that late feedback changes, once for each state of the journal."""
    space = slowwave.space
    unfolded = unfolded_days(space.journal, space.store)
    due = _past(slowwave, unfolded)
    limit = space.settings.night.first_day
    if not due and (wrong := [day for day in unfolded if day < limit]):
        first = min(wrong)
        return dg.SkipReason(f"There is feedback of {first}. Set night.first_day to it or an earlier day.")
    early = min((day for day in unfolded if day >= limit), default=slowwave.first_partition)
    if early < slowwave.first_partition:
        return dg.SkipReason(
            f"There is feedback of {early}, and the days of this page begin with {slowwave.first_partition}: "
            "reload the code location (Deployment, Reload), or run `slowwave night`."
        )
    if not due:
        return dg.SkipReason("All feedback of past days is taken up.")
    first, last = stretches(due)[0]  # a later one is asked for when this one is done
    seen = {day: seq for day, seq in last_seqs(space.journal).items() if first <= day <= last}
    return _range(first, last, "late", str(seen), str(folded_days(space.store).get(first)))


@dg.sensor(
    job=EVALUATION,
    minimum_interval_seconds=load().night.vault_poll_seconds,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Looks for past days that were never evaluated, or rest on something else by now (late "
    "feedback, late labels); evaluates them as one run.",
)
def late_evaluation(
    context: dg.SensorEvaluationContext, slowwave: SlowwaveResource
) -> dg.SensorResult | dg.SkipReason:
    """Ask for the range of past days that are due, once for each state of what they rest on."""
    space = slowwave.space
    if _past(slowwave, unfolded_days(space.journal, space.store)):
        return dg.SkipReason("There is feedback of past days that is not folded; that comes first.")
    ground = grounds(space.journal, space.store)
    due = _past(slowwave, due_days(space.journal, space.store))
    if not due:
        return dg.SkipReason("All past days are evaluated as they are.")
    first, last = stretches(due)[0]
    return _range(first, last, "evaluate", str({day: ground[day] for day in due if day <= last}))


@dg.sensor(
    job=LEARNING,
    minimum_interval_seconds=load().night.vault_poll_seconds,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks for what was learned on days at whose end the learning gate is open; else says what is "
    "missing. The asset asks the gate again.",
)
def learning_gate_opens(
    context: dg.SensorEvaluationContext, slowwave: SlowwaveResource
) -> dg.SensorResult | dg.SkipReason:
    """Ask for each day that has something to learn behind an open gate, once for each state of it."""
    evidence = Evidence(slowwave.space)
    today = slowwave.clock().date().isoformat()
    due = [
        (max(first, slowwave.first_partition), min(last, today)) for first, last in lessons.due_runs(evidence)
    ]
    if due := [(first, last) for first, last in due if first <= last]:
        state = ids.digest(*(act.event_id for act in evidence.acts), str(evidence.evaluated))
        requests = [
            dg.RunRequest(run_key=f"learn-{first}-{state}", partition_key=first)
            if first == last
            else _request(first, last, f"learn-{first}-{last}-{state}")
            for first, last in due
        ]
        return dg.SensorResult(run_requests=requests)
    if not evidence.evaluated:
        return dg.SkipReason("Nothing was evaluated yet, so nothing can be learned.")
    names = evidence.namespaces
    last = max(evidence.evaluated)
    then = {kind: gates(evidence, [last], kind, among=names[:TOLD]) for kind in KINDS}
    says = []
    for now in gates_now(evidence, names[:TOLD]):
        before = then[now.kind][last, now.namespace]
        also = "" if before.open or not now.open else f", but before: {before.describe()}"
        says.append(now.describe() + also)
    if len(names) > TOLD:
        says.append(f"and {len(names) - TOLD} more namespaces, see the asset learning_gate")
    told = " | ".join(says) or "nothing was ever searched"
    return dg.SkipReason(f"{told} (evaluated up to {last})")


def _past(slowwave: SlowwaveResource, days: list[str]) -> list[str]:
    """Those whose night should be over by now (the run of a later one may be going on), of the partitions."""
    hour = slowwave.space.settings.night.hour
    over = (slowwave.clock() - timedelta(hours=hour) - PATIENCE).date().isoformat()
    return [day for day in days if slowwave.first_partition <= day < over]


def _range(first: str, last: str, why: str, *state: str) -> dg.SensorResult:
    """A request for these days as one run, once for each state."""
    return dg.SensorResult(run_requests=[_request(first, last, f"{why}-{ids.digest(first, last, *state)}")])


def _request(first: str, last: str, key: str) -> dg.RunRequest:
    """A request for these days as one run."""
    tags = {ASSET_PARTITION_RANGE_START_TAG: first, ASSET_PARTITION_RANGE_END_TAG: last}
    return dg.RunRequest(run_key=key, tags=tags)

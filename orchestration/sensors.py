"""Sensors: request runs for changed vaults, and for past days that became stale."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Any

import dagster as dg

from slowwave.assets import overview
from slowwave.assets.feedback import FOLDS
from slowwave.assets.ingest import TAKEN_IN
from slowwave.assets.partitions import RUN_KEY_TAG, SENSOR_TAG, range_tags
from slowwave.assets.resources import SlowwaveResource
from slowwave.common import ids
from slowwave.evaluation.stale_days import grounds
from slowwave.feedback.stale_days import last_seqs, processed_days, stretches
from slowwave.home.processing_watermarks import faulty_days
from slowwave.learning import applied_terms
from slowwave.learning.gate import gates, gates_now
from slowwave.learning.gate_evidence import Evidence
from slowwave.maintenance.stale_partitions import ACTS, StalePartitions, over, partitions, stale_partitions
from slowwave.orchestration.jobs import EVALUATION, FEEDBACK, LEARNING, NIGHT
from slowwave.scoring.feedback.learned import KINDS
from slowwave.settings import Settings
from slowwave.vaults.vault import fingerprint, is_there

PATIENCE = timedelta(hours=1)
MAX_NAMESPACES = 10
"""Maximum namespaces whose gate a tick reports (count)."""
Tick = dg.SensorResult | dg.SkipReason


def watched_vaults(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Request a run if a vault differs from the last tick."""
    slowwave.watch_vault()
    seen = json.loads(context.cursor) if context.cursor and not _ended(context) else {}
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


def late_notes(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Request the range of past days with unprocessed notes, once per journal state."""
    space = slowwave.space
    stale = stale_partitions(space.journal, space.store)
    late = _past(slowwave, stale).notes
    if not late:
        return _before_first(slowwave, "notes", stale.notes) or dg.SkipReason(
            "All notes of past days are ingested."
        )
    first, last = stretches(late)[0]
    entries = space.journal.days(ACTS)
    seen = sorted((day, seq) for day, seq in entries.select("day", "last_seq").iter_rows() if day in late)
    return _range(context, first, last, "notes", str(seen))


def late_feedback(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Request the range of past days that late feedback changes, once per journal state."""
    space = slowwave.space
    stale = stale_partitions(space.journal, space.store)
    late = _past(slowwave, stale)
    if not late.feedback or _unloaded(slowwave, stale.feedback):
        return _before_first(slowwave, "feedback", stale.feedback) or dg.SkipReason(
            "All feedback of past days is processed."
        )
    if set(late.notes) - faulty_days(space.store, TAKEN_IN):
        return dg.SkipReason("Past days have unprocessed notes; those come first.")
    first, last = stretches(late.feedback)[0]  # a later one is requested when this one is done
    seen = {day: seq for day, seq in last_seqs(space.journal).items() if first <= day <= last}
    return _range(context, first, last, "late", str(seen), str(processed_days(space.store).get(first)))


def late_evaluation(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Request the range of past days with stale evaluation, once per state of their inputs."""
    space = slowwave.space
    late = _past(slowwave, stale_partitions(space.journal, space.store))
    if set(late.feedback) - faulty_days(space.store, FOLDS):
        return dg.SkipReason("Past days have unprocessed feedback; that comes first.")
    if not late.evaluation:
        return dg.SkipReason("All past days are evaluated.")
    ground = grounds(space.journal, space.store)
    first, last = stretches(late.evaluation)[0]
    rests_on = {day: ground[day] for day in late.evaluation if day <= last}
    return _range(context, first, last, "evaluate", str(rests_on))


def learning_gate_opens(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Request each day with learning behind an open gate, once per state of its evidence."""
    evidence = Evidence(slowwave.space)
    today = slowwave.clock().date().isoformat()
    pending = [
        (max(first, slowwave.first_partition), min(last, today))
        for first, last in applied_terms.due_runs(evidence)
    ]
    if pending := [(first, last) for first, last in pending if first <= last]:
        state = ids.digest(*(event.event_id for event in evidence.acts), str(evidence.evaluated))
        requests = [
            _request(context, first, last, "-".join(["learn", *dict.fromkeys((first, last)), state]))
            for first, last in pending
        ]
        return dg.SensorResult(run_requests=requests)
    if not evidence.evaluated:
        return dg.SkipReason("Nothing is evaluated yet, so nothing can be learned.")
    names = evidence.namespaces
    last = max(evidence.evaluated)
    then = {kind: gates(evidence, [last], kind, among=names[:MAX_NAMESPACES]) for kind in KINDS}
    states = []
    for now in gates_now(evidence, names[:MAX_NAMESPACES]):
        before = then[now.kind][last, now.namespace]
        earlier = "" if before.open or not now.open else f", but before: {before.describe()}"
        states.append(now.describe() + earlier)
    if len(names) > MAX_NAMESPACES:
        states.append(f"and {len(names) - MAX_NAMESPACES} more namespaces, see the asset learning_gate")
    summary = " | ".join(states) or "no search was ever recorded"
    return dg.SkipReason(f"{summary} (evaluated up to {last})")


def standing(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Report the numbers of at_a_glance for today if they changed; it needs no run."""
    now = slowwave.clock()
    day = now.date().isoformat()
    metadata = overview.by_day(slowwave.space, [day], now, context.instance)[day]
    state = ids.digest(*(f"{name} {entry.value}" for name, entry in metadata.items()))
    if state == context.cursor:
        return dg.SkipReason("Nothing has changed.")
    made = dg.AssetMaterialization(overview.at_a_glance.key, partition=day, metadata=metadata)
    return dg.SensorResult(asset_events=[made], cursor=state)


_SENSORS: list[tuple[Callable[..., Tick], Any, str]] = [
    (
        watched_vaults, NIGHT,
        "Checks names, sizes and times of the files in every watched vault; runs today's partition when "
        "something changed.",
    ),
    (
        late_notes, NIGHT,
        "Checks for notes of past days that no nightly job processed (a missed night); runs those days as "
        "one run.",
    ),
    (
        late_feedback, FEEDBACK,
        "Checks for late or imported searches and feedback of past days, and for days whose feedback was "
        "processed before their notes; processes those days and all later ones again, as one run.",
    ),
    (
        late_evaluation, EVALUATION,
        "Checks for past days whose evaluation is missing or stale (late feedback, late labels); evaluates "
        "them as one run.",
    ),
    (
        learning_gate_opens, LEARNING,
        "Starts the learning of days at whose end the learning gate is open; else reports what is missing. "
        "The asset checks the gate again.",
    ),
    (
        standing, None,
        "Reports the numbers of at_a_glance for today whenever they change, so they are as current as the "
        "last tick.",
    ),
]  # fmt: skip


def sensors(settings: Settings) -> list[dg.SensorDefinition]:
    """Return all sensors, with the interval `night.vault_poll_seconds`."""
    return [
        dg.sensor(
            name=check.__name__,
            job=job,
            minimum_interval_seconds=settings.night.vault_poll_seconds,
            default_status=dg.DefaultSensorStatus.RUNNING,
            description=description,
        )(_at_home(check))
        for check, job, description in _SENSORS
    ]


def _at_home(check: Callable[..., Tick]) -> Callable[..., Tick]:
    """Wrap a sensor to skip if there is no home; a declared vault creates one."""

    @wraps(check)
    def tick(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
        return slowwave.no_home() or check(context, slowwave)

    return tick


def _past(slowwave: SlowwaveResource, stale: StalePartitions) -> StalePartitions:
    """Return stale partitions whose nightly job should be over, including grace time."""
    settings, now = slowwave.space.settings, slowwave.clock()

    def past(days: tuple[str, ...]) -> tuple[str, ...]:
        stale_days = partitions(days, settings, now, slowwave.first_partition)
        return tuple(over(stale_days, settings, now, PATIENCE))

    return StalePartitions(past(stale.notes), past(stale.feedback), past(stale.evaluation))


def _unloaded(slowwave: SlowwaveResource, days: Sequence[str]) -> list[str]:
    """Return days whose partition this code location is missing, because it was loaded earlier."""
    limit = slowwave.space.settings.night.first_day
    return [day for day in days if limit <= day < slowwave.first_partition]


def _before_first(slowwave: SlowwaveResource, what: str, days: Sequence[str]) -> dg.SkipReason | None:
    """Return the reason to skip days without a partition in this code location, or None."""
    if unloaded := _unloaded(slowwave, days):
        return dg.SkipReason(
            f"There is {what} of {min(unloaded)}, but the partitions of this page start with "
            f"{slowwave.first_partition}: reload the code location (Deployment, Reload), or run "
            f"`slowwave night`."
        )
    if early := [day for day in days if day < slowwave.space.settings.night.first_day]:
        return dg.SkipReason(f"There is {what} of {min(early)}. Set night.first_day to it or an earlier day.")
    return None


def _range(
    context: dg.SensorEvaluationContext, first: str, last: str, why: str, *state: str
) -> dg.SensorResult:
    """Request these days as one run, once per state."""
    key = f"{why}-{ids.digest(first, last, *state)}"
    return dg.SensorResult(run_requests=[_request(context, first, last, key)])


def _request(context: dg.SensorEvaluationContext, first: str, last: str, key: str) -> dg.RunRequest:
    """Request these days as one run; a canceled run is requested again under another key."""
    tries = 0
    while _canceled(context, f"{key}-{tries}" if tries else key):
        tries += 1
    key = f"{key}-{tries}" if tries else key
    if first == last:
        return dg.RunRequest(run_key=key, partition_key=first)
    return dg.RunRequest(run_key=key, tags=range_tags(first, last))


def _canceled(context: dg.SensorEvaluationContext, key: str) -> bool:
    """Whether the run of a key was canceled: Dagster starts none of the same key again."""
    wanted = dg.RunsFilter(tags={RUN_KEY_TAG: key}, statuses=[dg.DagsterRunStatus.CANCELED])
    return bool(context.instance.get_runs(wanted, limit=1))


def _ended(context: dg.SensorEvaluationContext) -> bool:
    """Whether the last run for changed vaults was canceled, so its changes are not ingested."""
    runs = context.instance.get_runs(dg.RunsFilter(tags={SENSOR_TAG: "watched_vaults"}), limit=1)
    return bool(runs) and runs[0].status == dg.DagsterRunStatus.CANCELED

"""The sensors: a changed vault asks for today's partition, what comes late for the days that it changes."""

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
TOLD = 10
"""Namespaces whose gate a tick tells about (count)."""
Tick = dg.SensorResult | dg.SkipReason


def watched_vaults(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Ask for a run when a vault differs from what the last tick saw."""
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
    """Ask for the range of past days whose notes no night took in, once for each state of the journal."""
    space = slowwave.space
    found = stale_partitions(space.journal, space.store)
    late = _past(slowwave, found).notes
    if not late:
        return _before_first(slowwave, "news of notes", found.notes) or dg.SkipReason(
            "All notes of past days are taken in."
        )
    first, last = stretches(late)[0]
    entries = space.journal.days(ACTS)
    seen = sorted((day, seq) for day, seq in entries.select("day", "last_seq").iter_rows() if day in late)
    return _range(context, first, last, "notes", str(seen))


def late_feedback(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Ask for the range of past days that late feedback changes, once for each state of the journal."""
    space = slowwave.space
    found = stale_partitions(space.journal, space.store)
    late = _past(slowwave, found)
    if not late.feedback or _unloaded(slowwave, found.feedback):
        return _before_first(slowwave, "feedback", found.feedback) or dg.SkipReason(
            "All feedback of past days is taken up."
        )
    if set(late.notes) - faulty_days(space.store, TAKEN_IN):
        return dg.SkipReason("There are notes of past days that no night took in; they come first.")
    first, last = stretches(late.feedback)[0]  # a later one is asked for when this one is done
    seen = {day: seq for day, seq in last_seqs(space.journal).items() if first <= day <= last}
    return _range(context, first, last, "late", str(seen), str(processed_days(space.store).get(first)))


def late_evaluation(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Ask for the range of past days that are due, once for each state of what they rest on."""
    space = slowwave.space
    late = _past(slowwave, stale_partitions(space.journal, space.store))
    if set(late.feedback) - faulty_days(space.store, FOLDS):
        return dg.SkipReason("There is feedback of past days that is not folded; that comes first.")
    if not late.evaluation:
        return dg.SkipReason("All past days are evaluated as they are.")
    ground = grounds(space.journal, space.store)
    first, last = stretches(late.evaluation)[0]
    rests_on = {day: ground[day] for day in late.evaluation if day <= last}
    return _range(context, first, last, "evaluate", str(rests_on))


def learning_gate_opens(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Ask for each day that has something to learn behind an open gate, once for each state of it."""
    evidence = Evidence(slowwave.space)
    today = slowwave.clock().date().isoformat()
    pending = [
        (max(first, slowwave.first_partition), min(last, today))
        for first, last in applied_terms.due_runs(evidence)
    ]
    if pending := [(first, last) for first, last in pending if first <= last]:
        state = ids.digest(*(act.event_id for act in evidence.acts), str(evidence.evaluated))
        requests = [
            _request(context, first, last, "-".join(["learn", *dict.fromkeys((first, last)), state]))
            for first, last in pending
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


def standing(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
    """Report at_a_glance of today anew where its numbers are others by now; no run is needed for it."""
    now = slowwave.clock()
    day = now.date().isoformat()
    metadata = overview.by_day(slowwave.space, [day], now, context.instance)[day]
    state = ids.digest(*(f"{name} {one.value}" for name, one in metadata.items()))
    if state == context.cursor:
        return dg.SkipReason("Nothing has changed.")
    made = dg.AssetMaterialization(overview.at_a_glance.key, partition=day, metadata=metadata)
    return dg.SensorResult(asset_events=[made], cursor=state)


_SENSORS: list[tuple[Callable[..., Tick], Any, str]] = [
    (
        watched_vaults, NIGHT,
        "Looks at names, sizes and times of the files in every watched vault; runs today's partition when "
        "something changed.",
    ),
    (
        late_notes, NIGHT,
        "Looks for notes of past days that no night took in (a night that was missed); runs those days as "
        "one run.",
    ),
    (
        late_feedback, FEEDBACK,
        "Looks for searches and feedback of past days that no run has taken up (late, imported), and for "
        "days that were folded before their notes; folds those days again, and all days after them, as one "
        "run.",
    ),
    (
        late_evaluation, EVALUATION,
        "Looks for past days that were never evaluated, or rest on something else by now (late feedback, "
        "late labels); evaluates them as one run.",
    ),
    (
        learning_gate_opens, LEARNING,
        "Asks for what was learned on days at whose end the learning gate is open; else says what is "
        "missing. The asset asks the gate again.",
    ),
    (
        standing, None,
        "Reports the numbers of at_a_glance for today whenever they change, so that they are as old as its "
        "last tick.",
    ),
]  # fmt: skip


def sensors(settings: Settings) -> list[dg.SensorDefinition]:
    """All of them, each looking every `night.vault_poll_seconds`."""
    return [
        dg.sensor(
            name=look.__name__,
            job=job,
            minimum_interval_seconds=settings.night.vault_poll_seconds,
            default_status=dg.DefaultSensorStatus.RUNNING,
            description=about,
        )(_at_home(look))
        for look, job, about in _SENSORS
    ]


def _at_home(look: Callable[..., Tick]) -> Callable[..., Tick]:
    """A sensor that makes no home where there is none; one whose vault is declared makes its own."""

    @wraps(look)
    def looked(context: dg.SensorEvaluationContext, slowwave: SlowwaveResource) -> Tick:
        return slowwave.no_home() or look(context, slowwave)

    return looked


def _past(slowwave: SlowwaveResource, found: StalePartitions) -> StalePartitions:
    """Those whose night should be over by now (the run of a later one may be going on), of the partitions."""
    settings, now = slowwave.space.settings, slowwave.clock()

    def past(days: tuple[str, ...]) -> tuple[str, ...]:
        mine = partitions(days, settings, now, slowwave.first_partition)
        return tuple(over(mine, settings, now, PATIENCE))

    return StalePartitions(past(found.notes), past(found.feedback), past(found.evaluation))


def _unloaded(slowwave: SlowwaveResource, days: Sequence[str]) -> list[str]:
    """Days that have a partition, and none in this code location, which was loaded before they had."""
    limit = slowwave.space.settings.night.first_day
    return [day for day in days if limit <= day < slowwave.first_partition]


def _before_first(slowwave: SlowwaveResource, what: str, days: Sequence[str]) -> dg.SkipReason | None:
    """Reason to skip for days without a partition in this code location; None: there are none."""
    if unloaded := _unloaded(slowwave, days):
        return dg.SkipReason(
            f"There is {what} of {min(unloaded)}, and the days of this page begin with "
            f"{slowwave.first_partition}: reload the code location (Deployment, Reload), or run "
            f"`slowwave night`."
        )
    if early := [day for day in days if day < slowwave.space.settings.night.first_day]:
        return dg.SkipReason(f"There is {what} of {min(early)}. Set night.first_day to it or an earlier day.")
    return None


def _range(
    context: dg.SensorEvaluationContext, first: str, last: str, why: str, *state: str
) -> dg.SensorResult:
    """A request for these days as one run, once for each state."""
    key = f"{why}-{ids.digest(first, last, *state)}"
    return dg.SensorResult(run_requests=[_request(context, first, last, key)])


def _request(context: dg.SensorEvaluationContext, first: str, last: str, key: str) -> dg.RunRequest:
    """A request for these days as one run; one that was canceled is asked for again, under another key."""
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
    """Whether the last run for changed vaults was canceled: what it was to take in was not."""
    runs = context.instance.get_runs(dg.RunsFilter(tags={SENSOR_TAG: "watched_vaults"}), limit=1)
    return bool(runs) and runs[0].status == dg.DagsterRunStatus.CANCELED

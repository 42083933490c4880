"""Running the night without the web page, on the home's own Dagster instance."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import dagster as dg

from slowwave.assets import overview
from slowwave.assets.daily import ROWS
from slowwave.assets.partitions import range_tags
from slowwave.assets.resources import SlowwaveResource
from slowwave.assets.run_process import PROCESS_TAG, end_dead_runs, process
from slowwave.errors import SlowwaveError
from slowwave.feedback.stale_days import stretches
from slowwave.home.processing_watermarks import faults
from slowwave.home.workspace import Workspace
from slowwave.journal.entry import OF_TENANTS
from slowwave.learning import applied_terms
from slowwave.learning.gate_evidence import Evidence
from slowwave.lifecycle.gate_notice import Notice, notice
from slowwave.maintenance.erasure.running import finish, unfinished
from slowwave.maintenance.stale_partitions import StalePartitions, partitions, stale_partitions
from slowwave.orchestration.definitions import definitions
from slowwave.orchestration.instance import dagster_home
from slowwave.orchestration.run_logging import RunLogHandler, cause_of, is_interruption
from slowwave.settings import Settings

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def choose_days(settings: Settings, *, date: str = "", since: str = "", until: str = "") -> tuple[str, str]:
    """First and last day to run: as asked, else from the oldest day with news up to today.

    Raises:
        SlowwaveError: a day is malformed, before ``night.first_day``, in the future, or the range is empty.
    """
    today = datetime.now(UTC).date().isoformat()
    if date and (since or until):
        raise SlowwaveError("Give --date, or --from and --to, not both.")
    if not (date or since or until):
        waiting = pending_days(settings)
        return min([*waiting, today]), today
    first = _day(date or since or until, settings)
    last = _day(date or until or today, settings)
    if first > last:
        raise SlowwaveError(f"--from {first} is after --to {last}.")
    return first, last


def _day(text: str, settings: Settings) -> str:
    try:
        day = date.fromisoformat(text).isoformat()
    except ValueError:
        raise SlowwaveError(f"{text!r} is not a day. Write it as YYYY-MM-DD.") from None
    if day > datetime.now(UTC).date().isoformat():
        raise SlowwaveError(f"{day} is in the future (days are UTC).")
    if day < settings.night.first_day:
        raise SlowwaveError(
            f"{day} is before the first partition, {settings.night.first_day}. "
            f'Set night.first_day = "{day}" or earlier in slowwave.toml.'
        )
    return day


def pending_days(settings: Settings) -> list[str]:
    """Days with acts in the journal that no finished night has seen, or that rest on such a day."""
    pending = _due(settings)
    return sorted({*pending.notes, *pending.feedback})


def left_out(settings: Settings) -> str:
    """What to do about acts of days before the first partition, which no night takes in; empty: none."""
    with closing(Workspace(settings)) as space:
        days = space.journal.days(OF_TENANTS)["day"]
    first = min(days.to_list(), default=settings.night.first_day)
    if first >= settings.night.first_day:
        return ""
    return (
        f"The journal has acts of {first}, before the first partition {settings.night.first_day}; they are "
        f'left out. Set night.first_day = "{first}" in slowwave.toml, if that is when they were.'
    )


def _due(settings: Settings) -> StalePartitions:
    """The days that are due and have a partition: one act with a wrong date stops no night."""
    with closing(Workspace(settings)) as space:
        found = stale_partitions(space.journal, space.store)
    now = datetime.now(UTC)
    stages = (found.notes, found.feedback, found.evaluation)
    return StalePartitions(*(tuple(partitions(days, settings, now)) for days in stages))


def run_due(settings: Settings) -> list[dict[str, Any]]:
    """Run all that is due up to today, in the order of the days; a report for each run.

    Each stretch of days with news of notes is a night of its own, so a clock that was wrong once costs no
    run over all the days in between. Feedback of other days, such as an imported history, is folded in runs
    of its own.
    """
    _finish_erasures(settings)
    pending = _due(settings)
    today = datetime.now(UTC).date().isoformat()
    nights = stretches(sorted({*pending.notes, today}))
    alone = [day for day in pending.feedback if not any(first <= day <= last for first, last in nights)]
    runs = [(*days, "night") for days in nights] + [(*days, "feedback") for days in _apart(alone, nights)]
    reports = _run_all(settings, sorted(runs))
    if reports[-1]["success"] and len(nights) > 1:  # days that were folded before notes which are in by now
        reports += _run_all(settings, [(*days, "feedback") for days in stretches(_due(settings).feedback)])
    return reports


def _run_all(settings: Settings, runs: Iterable[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Run jobs one after the other until one fails; a report for each that was begun.

    Args:
        settings: of the home.
        runs: first day, last day and job.
    """
    reports: list[dict[str, Any]] = []
    for first, last, job in runs:
        reports.append(run_night(settings, first, last, job=job))
        if not reports[-1]["success"]:
            break
    return reports


def _apart(days: list[str], nights: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Stretches of days that have no night in between."""
    found: list[tuple[str, str]] = []
    for before, after in pairwise(["", *(first for first, _ in nights), "~"]):
        found += stretches([day for day in days if before < day < after])
    return found


def _finish_erasures(settings: Settings) -> None:
    """Go on with erasures that were interrupted, before anything is made of what they have left."""
    with closing(Workspace(settings)) as space:
        if unfinished(space):
            finish(space)


def evaluate_due(settings: Settings) -> list[dict[str, Any]]:
    """Evaluate all days that are due, a run for each stretch of days; a report for each run."""
    reports = _run_all(settings, [(*days, "evaluation") for days in stretches(_due(settings).evaluation)])
    if all(one["success"] for one in reports):
        reports += learn_due(settings)
    return reports


def learn_due(settings: Settings) -> list[dict[str, Any]]:
    """Apply what is to be learned of the days behind an open gate; a report for each run."""
    with closing(Workspace(settings)) as space:
        runs = applied_terms.due_runs(Evidence(space))
    now = datetime.now(UTC)
    with_partition = [days for run in runs if (days := partitions(run, settings, now))]
    return _run_all(settings, [(days[0], days[-1], "learning") for days in with_partition])


def run_night(settings: Settings, first: str, last: str, *, job: str = "night") -> dict[str, Any]:
    """Run a job for a range of days as one run; returns what people want to know of it.

    Args:
        settings: of the home.
        first: first day.
        last: last day.
        job: night, feedback for its assets alone, evaluation or learning.
    """
    os.environ["SLOWWAVE_HOME"] = str(settings.home)
    folder = dagster_home(settings)
    os.environ["DAGSTER_HOME"] = str(folder)
    warnings.filterwarnings("ignore", "Handling yaml-defined logging configuration")
    for noisy in ("dagster", "alembic"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    defs = definitions(SlowwaveResource(home=str(settings.home)))
    RunLogHandler.silent = True  # the report says it
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        end_dead_runs(instance)
        result = defs.resolve_job_def(job).execute_in_process(
            instance=instance,
            run_config=_QUIET,
            raise_on_error=False,
            tags={**range_tags(first, last), PROCESS_TAG: process()},
        )
    return _report(settings, result, first, last)


def _gate(space: Workspace) -> tuple[Notice | None, list[str]]:
    """How the save gate stands, and what of it a person should know."""
    try:
        gate = notice(space, space.now())
    except Exception as error:  # one namespace that cannot be read is no reason to report nothing
        return None, [f"what the gate would refuse was not counted: {type(error).__name__}: {error}"]
    return gate, [gate.words] if gate.near or gate.loud else []


def _report(settings: Settings, result: Any, first: str, last: str) -> dict[str, Any]:  # noqa: ANN401
    errors: list[str] = []
    seconds: dict[str, float] = {}
    for event in result.all_events:
        if event.is_step_success:
            seconds[event.step_key] = event.step_success_data.duration_ms / 1e3
        elif event.is_step_failure or (event.is_run_failure and not errors):
            errors.append(_why(event))
    steps: dict[str, dict[str, Any]] = {
        name: {
            "asset": name, "metadata": told, "seconds": seconds.get(name, 0.0),
            "summary": _summary(name, told),
        }
        for name, told in metadata_of(result.all_events).items()
    }  # fmt: skip
    space = Workspace(settings)
    gate, notices = _gate(space) if result.job_def.name == "night" else (None, [])
    notices += [
        line.removeprefix("- ")
        for line in str(steps.get("staged_notes", {}).get("metadata", {}).get("warnings", "")).splitlines()
        if line.startswith("- ")
    ]
    worse = str(steps.get("learning_gate", {}).get("metadata", {}).get("made worse", "none"))
    if worse != "none":
        notices.append(f"what was learned is taken back, it made results worse: {worse}")
    notices += filter(None, [left_out(settings)])
    for stage, days in faults(space.store).items():
        for day, told in days.items():
            notices += [
                f"{stage} of {day} is not done for {one}, and due again: {why}" for one, why in told.items()
            ]
    return {
        "success": result.success,
        "run_id": result.run_id,
        "job": result.job_def.name,
        "from": first,
        "to": last,
        "live": space.store.count("memories", "status = 'live'"),
        "steps": list(steps.values()),
        "gate": "" if gate is None or gate.mode == "off" else gate.words,
        "warnings": notices,
        "errors": errors,
    }


def metadata_of(events: Iterable[dg.DagsterEvent]) -> dict[str, dict[str, Any]]:
    """Metadata of each asset of a run, by name: of several days that of the last, and of all together.

    Args:
        events: of the run, in order.
    """
    found: dict[str, dict[str, Any]] = {}
    whole: dict[str, dict[str, Any]] = {}
    for event in events:
        made: dg.AssetMaterialization | dg.AssetObservation
        if event.is_step_materialization:
            made = event.step_materialization_data.materialization
        elif event.event_type == dg.DagsterEventType.ASSET_OBSERVATION:
            made = event.asset_observation_data.asset_observation
        else:
            continue
        name = made.asset_key.path[-1]
        told = {key: value.value for key, value in made.metadata.items()}
        if isinstance(made, dg.AssetObservation):
            whole.setdefault(name, {}).update(told)
        else:
            rows = found.setdefault(name, {}).get(ROWS, 0) + told.get(ROWS, 0)
            found[name].update(told | ({ROWS: rows} if ROWS in told else {}))
    return {name: told | whole.get(name, {}) for name, told in found.items()}


def _summary(name: str, metadata: dict[str, Any]) -> str:
    """What an asset came to, in a line: its counts; where it says how all stands, what it says."""
    if name == overview.at_a_glance.key.path[-1]:
        return str(metadata.get(overview.LINE, ""))
    return ", ".join(f"{key} {value:,}" for key, value in metadata.items() if _is_count(key, value))


def _is_count(key: str, value: object) -> bool:
    hidden = key.startswith("dagster/") or key == "lance_version"
    return isinstance(value, int) and not isinstance(value, bool) and value > 0 and not hidden


def _why(event: dg.DagsterEvent) -> str:
    """Why a step failed, or the run outside of its steps, in a line for people."""
    step, error = event.step_key, getattr(event.event_specific_data, "error", None)
    if is_interruption(error):
        at = f" at {step}" if step else ""
        return f"stopped{at}. What was finished is kept; the same command goes on from there."
    said = str(event.message if error is None else cause_of(error).message).strip()
    return f"{step}: {said}" if step else said

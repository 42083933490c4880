"""Nightly runs without the web page, on the home's own Dagster instance."""

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
from slowwave.common.slim_imports import uncollected
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
    """Return the first and last day to run: the given day, or a range that by default ends today.

    Raises:
        SlowwaveError: A day is malformed, before ``night.first_day``, in the future, or the range is empty.
    """
    today = datetime.now(UTC).date().isoformat()
    if date and (since or until):
        raise SlowwaveError("Give --date, or --from and --to, not both.")
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


def left_out(settings: Settings) -> str:
    """Return a warning about journal entries before the first partition; empty if there are none.

    The nightly job never processes them.
    """
    with closing(Workspace(settings)) as space:
        days = space.journal.days(OF_TENANTS)["day"]
    first = min(days.to_list(), default=settings.night.first_day)
    if first >= settings.night.first_day:
        return ""
    return (
        f"The journal has entries of {first}, before the first partition {settings.night.first_day}. They "
        "are "
        f'not processed. If the date is right, set night.first_day = "{first}" in slowwave.toml.'
    )


def _stale(settings: Settings) -> StalePartitions:
    """Return the stale days that have a partition: an entry with a wrong date stops no run."""
    with closing(Workspace(settings)) as space:
        stale = stale_partitions(space.journal, space.store)
    now = datetime.now(UTC)
    stages = (stale.notes, stale.feedback, stale.evaluation)
    return StalePartitions(*(tuple(partitions(days, settings, now)) for days in stages))


def run_due(settings: Settings) -> list[dict[str, Any]]:
    """Process all stale days up to today, in order. Return a report per run.

    Each range of days with new notes is a run of its own. So a clock that was wrong once costs no run over
    all days in between. Feedback of other days, such as an imported history, gets runs of its own.
    """
    _finish_erasures(settings)
    pending = _stale(settings)
    today = datetime.now(UTC).date().isoformat()
    nights = stretches(sorted({*pending.notes, today}))
    alone = [day for day in pending.feedback if not any(first <= day <= last for first, last in nights)]
    runs = [(*days, "night") for days in nights] + [(*days, "feedback") for days in _apart(alone, nights)]
    reports = _run_all(settings, sorted(runs))
    if reports[-1]["success"] and len(nights) > 1:  # days whose feedback was processed before their notes
        reports += _run_all(settings, [(*days, "feedback") for days in stretches(_stale(settings).feedback)])
    return reports


def _run_all(settings: Settings, runs: Iterable[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Run jobs in order until one fails. Return a report per started run.

    Args:
        settings: Of the home.
        runs: First day, last day and job.
    """
    reports: list[dict[str, Any]] = []
    for first, last, job in runs:
        reports.append(run_night(settings, first, last, job=job))
        if not reports[-1]["success"]:
            break
    return reports


def _apart(days: list[str], nights: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return ranges of days that have no nightly run in between."""
    ranges: list[tuple[str, str]] = []
    for previous, following in pairwise(["", *(first for first, _ in nights), "~"]):
        ranges += stretches([day for day in days if previous < day < following])
    return ranges


def _finish_erasures(settings: Settings) -> None:
    """Finish interrupted erasures before any table is computed from their remains."""
    with closing(Workspace(settings)) as space:
        if unfinished(space):
            finish(space)


def evaluate_due(settings: Settings) -> list[dict[str, Any]]:
    """Evaluate all stale days, one run per range of days. Return a report per run."""
    reports = _run_all(settings, [(*days, "evaluation") for days in stretches(_stale(settings).evaluation)])
    if all(report["success"] for report in reports):
        reports += learn_due(settings)
    return reports


def learn_due(settings: Settings) -> list[dict[str, Any]]:
    """Apply learning of the days behind an open gate. Return a report per run."""
    with closing(Workspace(settings)) as space:
        runs = applied_terms.due_runs(Evidence(space))
    now = datetime.now(UTC)
    with_partition = [days for run in runs if (days := partitions(run, settings, now))]
    return _run_all(settings, [(days[0], days[-1], "learning") for days in with_partition])


def run_night(settings: Settings, first: str, last: str, *, job: str = "night") -> dict[str, Any]:
    """Run a job for a range of days as one run. Return its report.

    Args:
        settings: Of the home.
        first: First day.
        last: Last day.
        job: night, feedback, evaluation or learning.
    """
    os.environ["SLOWWAVE_HOME"] = str(settings.home)
    folder = dagster_home(settings)
    os.environ["DAGSTER_HOME"] = str(folder)
    warnings.filterwarnings("ignore", "Handling yaml-defined logging configuration")
    for noisy in ("dagster", "alembic"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    with uncollected():
        defs = definitions(SlowwaveResource(home=str(settings.home)))
    RunLogHandler.silent = True  # the report has it
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
    """Return the state of the save gate, and the warnings about it."""
    try:
        gate = notice(space, space.now())
    except Exception as error:  # one unreadable namespace must not suppress the report
        return None, [f"cannot count what the gate would refuse: {type(error).__name__}: {error}"]
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
            "asset": name, "metadata": metadata, "seconds": seconds.get(name, 0.0),
            "summary": _summary(name, metadata),
        }
        for name, metadata in metadata_of(result.all_events).items()
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
        notices.append(f"learning made results worse and was rolled back: {worse}")
    notices += filter(None, [left_out(settings)])
    for stage, days in faults(space.store).items():
        for day, failures in days.items():
            notices += [
                f"{stage} of {day} failed for {namespace}; the next run retries it: {why}"
                for namespace, why in failures.items()
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
    """Return the metadata of each asset of a run: of the last day, and of all days together.

    Args:
        events: of the run, in order.
    """
    by_asset: dict[str, dict[str, Any]] = {}
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
        values = {key: value.value for key, value in made.metadata.items()}
        if isinstance(made, dg.AssetObservation):
            whole.setdefault(name, {}).update(values)
        else:
            rows = by_asset.setdefault(name, {}).get(ROWS, 0) + values.get(ROWS, 0)
            by_asset[name].update(values | ({ROWS: rows} if ROWS in values else {}))
    return {name: values | whole.get(name, {}) for name, values in by_asset.items()}


def _summary(name: str, metadata: dict[str, Any]) -> str:
    """Summarise an asset in one line: its counts, or its own summary."""
    if name == overview.at_a_glance.key.path[-1]:
        return str(metadata.get(overview.LINE, ""))
    return ", ".join(f"{key} {value:,}" for key, value in metadata.items() if _is_count(key, value))


def _is_count(key: str, value: object) -> bool:
    hidden = key.startswith("dagster/") or key == "lance_version"
    return isinstance(value, int) and not isinstance(value, bool) and value > 0 and not hidden


def _why(event: dg.DagsterEvent) -> str:
    """Return why a step, or the run outside its steps, failed, in one line."""
    step, error = event.step_key, getattr(event.event_specific_data, "error", None)
    if is_interruption(error):
        at = f" at {step}" if step else ""
        return f"stopped{at}. Finished steps are kept; run the same command to continue."
    text = str(event.message if error is None else cause_of(error).message).strip()
    return f"{step}: {text}" if step else text

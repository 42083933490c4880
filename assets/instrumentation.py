"""Telemetry of nightly runs: a span, a measurement and a log line per run and asset."""

import functools
import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import dagster as dg

from slowwave.assets.partitions import PARTITION_TAG, RANGE_END_TAG, RANGE_START_TAG
from slowwave.home.workspace import Workspace
from slowwave.telemetry import note, span
from slowwave.telemetry.nightly_figures import note_night
from slowwave.telemetry.recording import STATE

P = ParamSpec("P")
R = TypeVar("R")
_RUNNING: Final[dict[str, "NightSpan"]] = {}
"""Instrumented runs of this process, by id."""


class NightSpan:
    """Span of a run, from the set-up of its resources to their teardown.

    Args:
        run: Of Dagster.
        home: Home whose `/metrics` gets the result; None: not recorded.
    """

    def __init__(self, run: dg.DagsterRun, home: Path | None) -> None:
        self._run, self._home = run, home
        self.failed = False
        self._start = time.perf_counter()
        self.span = span(
            "slowwave.night", metric="slowwave.night.duration", job=run.job_name, run_id=run.run_id
        )
        self.span.__enter__()

    def end(self) -> None:
        """End the span and record the outcome."""
        _RUNNING.pop(self._run.run_id, None)
        outcome = "failed" if self.failed else "ok"
        seconds = time.perf_counter() - self._start
        self.span.set(outcome=outcome)
        self.span.__exit__(None, None, None)
        note(
            "night", job=self._run.job_name, run_id=self._run.run_id, outcome=outcome,
            seconds=round(seconds, 3),
        )  # fmt: skip
        if self._home is not None:
            ended = datetime.now(UTC).timestamp()
            note_night(self._home, self._run.job_name, seconds, ended, failed=self.failed)


def start_night(space: Workspace, run: dg.DagsterRun) -> NightSpan | None:
    """Start the span of a run; None where telemetry is off."""
    home = space.settings.home if space.settings.telemetry.metrics_port else None
    if run.run_id in _RUNNING or (not STATE.on and home is None):
        return None  # several resources of a run open the home; the first instruments it
    _RUNNING[run.run_id] = night = NightSpan(run, home)
    return night


def instrumented(work: Callable[P, R]) -> Callable[P, R]:
    """Wrap an asset with telemetry; where that is off, call it unchanged."""
    name = work.__name__

    def context_of(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of Dagster
        if arguments or "context" in named:
            return arguments[0] if arguments else named["context"]
        return dg.AssetExecutionContext.get()  # an asset without a context parameter has one all the same

    if inspect.isgeneratorfunction(work):

        @functools.wraps(work)
        def measured_generator(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the asset's
            if not (_RUNNING or STATE.on):
                yield from work(*arguments, **named)
                return
            with _asset_span(name, context_of(arguments, named)):
                yield from work(*arguments, **named)

        return cast("Callable[P, R]", measured_generator)

    @functools.wraps(work)
    def measured(*arguments: P.args, **named: P.kwargs) -> R:
        if not (_RUNNING or STATE.on):
            return work(*arguments, **named)
        with _asset_span(name, context_of(arguments, named)):
            return work(*arguments, **named)

    return measured


def _days_of(tags: Mapping[str, str]) -> dict[str, str]:
    """Return first and last day of a run by its tags; empty for a run without days."""
    first = tags.get(PARTITION_TAG) or tags.get(RANGE_START_TAG)
    last = tags.get(PARTITION_TAG) or tags.get(RANGE_END_TAG)
    return {"first_day": first, "last_day": last} if first and last else {}


@contextmanager
def _asset_span(name: str, context: Any) -> Iterator[None]:  # noqa: ANN401 - of Dagster
    """Measure an asset in a run."""
    night = _RUNNING.get(context.run.run_id)
    about = {"asset": name, "run_id": context.run.run_id, **_days_of(context.run.tags)}
    start, outcome = time.perf_counter(), "failed"
    try:
        parent = None if night is None else night.span
        with span("slowwave.asset", metric="slowwave.asset.duration", parent=parent, **about):
            yield
        outcome = "ok"
    finally:
        if night is not None and outcome == "failed":
            night.failed = True
        note("asset", **about, outcome=outcome, seconds=round(time.perf_counter() - start, 3))

"""What those see who watch the nights: a span, a measurement and a log line of each run and each asset."""

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
"""Runs of this process that are watched, by their ids."""


class NightSpan:
    """A run of a job, from the moment that its resources are there until they are given back.

    Args:
        run: of Dagster.
        home: where what it came to is noted for `/metrics`; None: nowhere.
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
        """The run is over."""
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
    """Watch a run that begins; None where nobody watches."""
    home = space.settings.home if space.settings.telemetry.metrics_port else None
    if run.run_id in _RUNNING or (not STATE.on and home is None):
        return None  # one resource of a run watches it, of those that open the home for it
    _RUNNING[run.run_id] = night = NightSpan(run, home)
    return night


def instrumented(work: Callable[P, R]) -> Callable[P, R]:
    """An asset whose runs are seen by those who watch; where nobody does it is called as it is."""
    name = work.__name__

    def context_of(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of Dagster
        if arguments or "context" in named:
            return arguments[0] if arguments else named["context"]
        return dg.AssetExecutionContext.get()  # an asset that asks for none has one all the same

    if inspect.isgeneratorfunction(work):

        @functools.wraps(work)
        def seen_in_parts(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the asset's
            if not (_RUNNING or STATE.on):
                yield from work(*arguments, **named)
                return
            with _seeing(name, context_of(arguments, named)):
                yield from work(*arguments, **named)

        return cast("Callable[P, R]", seen_in_parts)

    @functools.wraps(work)
    def seen(*arguments: P.args, **named: P.kwargs) -> R:
        if not (_RUNNING or STATE.on):
            return work(*arguments, **named)
        with _seeing(name, context_of(arguments, named)):
            return work(*arguments, **named)

    return seen


def _days_of(tags: Mapping[str, str]) -> dict[str, str]:
    """First and last day of a run by its tags; nothing of a run without days."""
    first = tags.get(PARTITION_TAG) or tags.get(RANGE_START_TAG)
    last = tags.get(PARTITION_TAG) or tags.get(RANGE_END_TAG)
    return {"first_day": first, "last_day": last} if first and last else {}


@contextmanager
def _seeing(name: str, context: Any) -> Iterator[None]:  # noqa: ANN401 - of Dagster
    """The time of an asset in a run."""
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

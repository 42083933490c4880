"""Log lines of runs on standard error: start, end, failures and warnings.

Everything else is on Dagster's page. With `telemetry.logs = "json"` each is a line of JSON, without error
texts.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from slowwave.settings import load
from slowwave.telemetry.logs import JsonLines

if TYPE_CHECKING:
    from dagster import DagsterEvent

INTERRUPTED: Final = "DagsterExecutionInterruptedError"
"""Dagster's error class of a stopped step."""
_ABOUT: Final = "dagster_meta"
"""Attribute of a log record with Dagster's context, as its documentation of loggers says."""
_MAX_CHARACTERS = 500  # of an error
_ID = 8  # of a run's id
_PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LIFE: Final = {
    dg.DagsterEventType.RUN_START: "started",
    dg.DagsterEventType.RUN_SUCCESS: "finished",
    dg.DagsterEventType.RUN_CANCELED: "was stopped",
}
_FAILED: Final = frozenset({dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.STEP_FAILURE})
_DAYS = ("dagster/partition", "dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


def cause_of(error: Any) -> Any:  # noqa: ANN401 - SerializableErrorInfo
    """Return the root cause of an error that Dagster recorded."""
    while error.cause is not None:
        error = error.cause
    return error


def is_interruption(error: Any) -> bool:  # noqa: ANN401 - SerializableErrorInfo
    """Whether an error that Dagster recorded was a stop request."""
    while error is not None:
        if error.cls_name == INTERRUPTED:
            return True
        error = error.cause
    return False


def format_event(record: logging.LogRecord, *, words: bool = True) -> tuple[int, str] | None:
    """Return level and text of a run's event; None if it is not logged.

    Args:
        record: From Dagster's run loggers.
        words: Include error texts.
    """
    context: Any = getattr(record, _ABOUT, {})
    event = context.get("dagster_event")
    where = _where(context)
    if event is None:
        text = str(context.get("orig_message", record.getMessage())).strip().split("\n")[0]
        return (record.levelno, f"{where}: {text}") if words and record.levelno >= logging.WARNING else None
    if event.event_type in _LIFE:
        return logging.INFO, f"{where} {_LIFE[event.event_type]}"
    return _failed(where, event, words) if event.event_type in _FAILED else None


def _failed(where: str, event: DagsterEvent, words: bool) -> tuple[int, str]:
    error = getattr(event.event_specific_data, "error", None)
    at = f" at {event.step_key}" if event.step_key else ""
    if is_interruption(error):
        return logging.WARNING, f"{where} was stopped{at}; the next run repeats it"
    reason = (
        f": {' '.join(str(cause_of(error).message).split())[:_MAX_CHARACTERS]}"
        if error is not None and words
        else ""
    )
    return logging.ERROR, f"{where} failed{at}{reason}"


def _where(context: dict[str, Any]) -> str:
    tags = context.get("job_tags") or {}
    days = " to ".join(dict.fromkeys(tags[name] for name in _DAYS if tags.get(name)))
    run = f"run {str(context.get('run_id'))[:_ID]} of {context.get('job_name')}"
    return f"{run} ({days})" if days else run


class RunLogHandler(logging.StreamHandler[Any]):
    """Handler that writes run events to standard error; a home's ``dagster.yaml`` names it.

    Args:
        json: as JSON, without words of errors; default: as `telemetry.logs` of the home says.
    """

    silent = False
    """True if the command that runs the nightly job prints its own report."""

    def __init__(self, *, json: bool | None = None) -> None:
        super().__init__()
        if json is None:
            json = load(os.environ.get("SLOWWAVE_HOME") or None).telemetry.logs == "json"
        self._json = json
        self.setFormatter(JsonLines() if json else logging.Formatter(_PLAIN))

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, if it is an event to log."""
        event = None if RunLogHandler.silent else format_event(record, words=not self._json)
        if event is not None:
            super().emit(logging.LogRecord("slowwave.runs", event[0], "", 0, event[1], (), None))

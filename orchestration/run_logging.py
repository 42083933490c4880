"""What a run says on standard error: that it began, how it ended, and what people should know. No more.

All else of a run is on Dagster's page. With `telemetry.logs = "json"` each is a line of JSON, without the
words of errors.
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
"""What Dagster calls the error of a step that was asked to stop."""
_ABOUT: Final = "dagster_meta"
"""Attribute of a log record with what it is about, as Dagster's documentation of loggers has it."""
_MOST = 500  # characters of an error
_ID = 8  # of a run's id
_PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LIFE: Final = {
    dg.DagsterEventType.RUN_START: "has begun",
    dg.DagsterEventType.RUN_SUCCESS: "has ended",
    dg.DagsterEventType.RUN_CANCELED: "was stopped",
}
_FAILED: Final = frozenset({dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.STEP_FAILURE})
_DAYS = ("dagster/partition", "dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


def cause_of(error: Any) -> Any:  # noqa: ANN401 - SerializableErrorInfo
    """The error at the root of one that Dagster kept."""
    while error.cause is not None:
        error = error.cause
    return error


def is_interruption(error: Any) -> bool:  # noqa: ANN401 - SerializableErrorInfo
    """Whether an error that Dagster kept came of being asked to stop."""
    while error is not None:
        if error.cls_name == INTERRUPTED:
            return True
        error = error.cause
    return False


def format_event(record: logging.LogRecord, *, words: bool = True) -> tuple[int, str] | None:
    """How grave it is and what to say of something that happened in a run; None: nothing.

    Args:
        record: as Dagster hands it to the loggers of a run.
        words: whether those of errors may be said.
    """
    about: Any = getattr(record, _ABOUT, {})
    event = about.get("dagster_event")
    where = _where(about)
    if event is None:
        said = str(about.get("orig_message", record.getMessage())).strip().split("\n")[0]
        return (record.levelno, f"{where}: {said}") if words and record.levelno >= logging.WARNING else None
    if event.event_type in _LIFE:
        return logging.INFO, f"{where} {_LIFE[event.event_type]}"
    return _failed(where, event, words) if event.event_type in _FAILED else None


def _failed(where: str, event: DagsterEvent, words: bool) -> tuple[int, str]:
    error = getattr(event.event_specific_data, "error", None)
    at = f" at {event.step_key}" if event.step_key else ""
    if is_interruption(error):
        return logging.WARNING, f"{where} was stopped{at}; the next one does it again"
    said = (
        f": {' '.join(str(cause_of(error).message).split())[:_MOST]}" if error is not None and words else ""
    )
    return logging.ERROR, f"{where} failed{at}{said}"


def _where(about: dict[str, Any]) -> str:
    tags = about.get("job_tags") or {}
    days = " to ".join(dict.fromkeys(tags[name] for name in _DAYS if tags.get(name)))
    return f"run {str(about.get('run_id'))[:_ID]} of {about.get('job_name')}{f' ({days})' if days else ''}"


class RunLogHandler(logging.StreamHandler[Any]):
    """Writes `line` of what happens in runs to standard error; dagster.yaml of a home names it.

    Args:
        json: as JSON, without words of errors; default: as `telemetry.logs` of the home says.
    """

    silent = False
    """Set where the command that runs a night reports it by itself."""

    def __init__(self, *, json: bool | None = None) -> None:
        super().__init__()
        if json is None:
            json = load(os.environ.get("SLOWWAVE_HOME") or None).telemetry.logs == "json"
        self._json = json
        self.setFormatter(JsonLines() if json else logging.Formatter(_PLAIN))

    def emit(self, record: logging.LogRecord) -> None:
        """As of `logging`."""
        told = None if RunLogHandler.silent else format_event(record, words=not self._json)
        if told is not None:
            super().emit(logging.LogRecord("slowwave.runs", told[0], "", 0, told[1], (), None))

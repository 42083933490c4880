"""Standard error as JSON lines: the log, warnings, uncaught errors, other programs' output."""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.telemetry.recording import EVENTS, FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

LOG = logging.getLogger("slowwave")
PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class JsonLines(logging.Formatter):
    """Formatter of a record as one line of JSON: time, level, logger, message, and correlation ids.

    Errors have their class and location only. Their messages are left out: they may hold a query, a note's
    text, or an address with a password.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        fields_of_line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        fields = getattr(record, FIELDS, None)
        if fields is None:
            fields_of_line["message"] = _without_words_of_errors(record)
        else:
            fields_of_line |= {"event": record.msg, **fields}
        if record.exc_info and record.exc_info[0] is not None:
            fields_of_line["error"] = record.exc_info[0].__name__
            fields_of_line["where"] = [
                f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}:{line}"
                for frame, line in traceback.walk_tb(record.exc_info[2])
            ]
        fields_of_line |= _trace()
        return json.dumps(fields_of_line, ensure_ascii=False)


def _without_words_of_errors(record: logging.LogRecord) -> str:
    if isinstance(record.msg, BaseException):
        return type(record.msg).__name__
    if not isinstance(record.args, tuple) or not record.args:
        return record.getMessage()
    given = [type(arg).__name__ if isinstance(arg, BaseException) else arg for arg in record.args]
    return str(record.msg) % tuple(given)


def _trace() -> dict[str, str]:
    """Return the current trace and span ids, if tracing is on."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def begin_logs(form: str) -> None:
    """Configure the log of our own program to standard error; events only as JSON.

    As JSON, warnings and uncaught errors are lines of the log too. An application that opens a home keeps its
    own log; see :func:`events_as_json`.

    Args:
        form: plain or json.
    """
    if form == "json":
        _log_as_json()
        warnings.showwarning = _warned
        sys.excepthook = _uncaught
        threading.excepthook = lambda what: _uncaught(what.exc_type, what.exc_value, what.exc_traceback)
        sys.unraisablehook = lambda what: _uncaught(what.exc_type, what.exc_value, what.exc_traceback)
    else:
        logging.basicConfig(level="WARNING", format=PLAIN)


def is_json() -> bool:
    """Whether lines of standard error are JSON."""
    return any(isinstance(handler.formatter, JsonLines) for handler in logging.getLogger().handlers)


def _log_as_json() -> None:
    """Replace the log's stream handler by JSON lines; idempotent."""
    if is_json():
        return
    root = logging.getLogger()
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root.addHandler(handler)
    for other in [
        other for other in root.handlers if type(other) is logging.StreamHandler and other is not handler
    ]:
        root.removeHandler(other)
    LOG.setLevel(logging.INFO)


def events_as_json() -> Callable[[], None]:
    """Write events to standard error as JSON, and leave an application's log alone.

    Returns:
        Function that stops it.
    """
    if is_json():
        return lambda: None
    handler, before = logging.StreamHandler(), (EVENTS.level, EVENTS.propagate)
    handler.setFormatter(JsonLines())
    EVENTS.addHandler(handler)
    EVENTS.setLevel(logging.INFO)
    EVENTS.propagate = False

    def stop() -> None:
        EVENTS.removeHandler(handler)
        EVENTS.setLevel(before[0])
        EVENTS.propagate = before[1]

    return stop


def line(level: str, message: str) -> str:
    """Format a message of a command as a line of JSON, with line break.

    Args:
        level: info, warning or error.
        message: For a person.
    """
    values = {"name": "slowwave.cli", "levelname": level, "msg": message}
    return f"{JsonLines().format(logging.makeLogRecord(values))}\n"


def of_another(printed: str, logger: str) -> str:
    """Format a line that another program printed as a line of JSON; empty for a blank line.

    Args:
        printed: JSON of ours, which stays; JSON of structlog, which Dagster uses; or any text.
        logger: Logger of plain text.
    """
    try:
        values = json.loads(printed)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        text = printed.rstrip()
        values = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": "warning"}
        values |= {"logger": logger, "message": text}
        return f"{json.dumps(values, ensure_ascii=False)}\n" if text else ""
    if "timestamp" in values and "at" not in values:
        values = {"at": values.pop("timestamp"), "message": values.pop("event", ""), **values}
    return f"{json.dumps(values, ensure_ascii=False)}\n"


def _warned(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: object = None,
    line: object = None,
) -> None:  # fmt: skip
    values = (category.__name__, str(message), Path(filename).name, lineno)
    logging.getLogger("py.warnings").warning("%s: %s (%s:%d)", *values)


def _uncaught(kind: type[BaseException], error: BaseException | None, where: TracebackType | None) -> None:
    if error is not None and not issubclass(kind, SystemExit):
        LOG.critical("Uncaught error", exc_info=(kind, error, where))

"""Lines of standard error as JSON, one object each: the log, warnings, last words, other programs' words."""

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
    """A record as one line of JSON: when, how grave, who says it, what, and the ids that join it to others.

    Of an error the kind is told and where it came up. Its words are left out: they may hold a query, the text
    of a note, an address with a password.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        fields = getattr(record, FIELDS, None)
        if fields is None:
            told["message"] = _without_words_of_errors(record)
        else:
            told |= {"event": record.msg, **fields}
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            told["where"] = [
                f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}:{line}"
                for frame, line in traceback.walk_tb(record.exc_info[2])
            ]
        told |= _trace()
        return json.dumps(told, ensure_ascii=False)


def _without_words_of_errors(record: logging.LogRecord) -> str:
    if isinstance(record.msg, BaseException):
        return type(record.msg).__name__
    if not isinstance(record.args, tuple) or not record.args:
        return record.getMessage()
    given = [type(one).__name__ if isinstance(one, BaseException) else one for one in record.args]
    return str(record.msg) % tuple(given)


def _trace() -> dict[str, str]:
    """The current trace, where spans are taken."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def begin_logs(form: str) -> None:
    """Let this program of ours log to standard error; events only as JSON.

    As JSON its warnings and errors that nothing caught are lines of the log, too. An application that opens a
    home keeps all of its own; see :func:`events_as_json`.

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
    return any(isinstance(one.formatter, JsonLines) for one in logging.getLogger().handlers)


def _log_as_json() -> None:
    """Put JSON lines in the place of what the log has been written to; a second call changes nothing."""
    if is_json():
        return
    root = logging.getLogger()
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root.addHandler(handler)
    for one in [one for one in root.handlers if type(one) is logging.StreamHandler and one is not handler]:
        root.removeHandler(one)
    LOG.setLevel(logging.INFO)


def events_as_json() -> Callable[[], None]:
    """Write events to standard error as JSON, and leave the log of an application as it is.

    Returns:
        Ends that.
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
    """What a command says to the person who runs it, as a line of JSON with its end.

    Args:
        level: how grave it is: info, warning, error.
        message: in words.
    """
    said = {"name": "slowwave.cli", "levelname": level, "msg": message}
    return f"{JsonLines().format(logging.makeLogRecord(said))}\n"


def of_another(printed: str, logger: str) -> str:
    """A line that another program printed, as one of JSON with its end; empty for one without words.

    Args:
        printed: JSON of ours, which stays; JSON of structlog's, which Dagster logs in; or any words.
        logger: that words are of.
    """
    try:
        told = json.loads(printed)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        words = printed.rstrip()
        told = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": "warning"}
        told |= {"logger": logger, "message": words}
        return f"{json.dumps(told, ensure_ascii=False)}\n" if words else ""
    if "timestamp" in told and "at" not in told:
        told = {"at": told.pop("timestamp"), "message": told.pop("event", ""), **told}
    return f"{json.dumps(told, ensure_ascii=False)}\n"


def _warned(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: object = None,
    line: object = None,
) -> None:  # fmt: skip
    told = (category.__name__, str(message), Path(filename).name, lineno)
    logging.getLogger("py.warnings").warning("%s: %s (%s:%d)", *told)


def _uncaught(kind: type[BaseException], error: BaseException | None, where: TracebackType | None) -> None:
    if error is not None and not issubclass(kind, SystemExit):
        LOG.critical("An error that nothing caught", exc_info=(kind, error, where))

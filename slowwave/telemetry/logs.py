"""Log lines as JSON, one object a line, on standard error."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from slowwave.telemetry.recording import FIELDS

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
            frames = traceback.extract_tb(record.exc_info[2])
            told["where"] = [f"{one.name}:{one.lineno}" for one in frames]
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
    """Let this program log to standard error; events only as JSON.

    Args:
        form: plain or json.
    """
    if form == "json":
        log_as_json()
    else:
        logging.basicConfig(level="WARNING", format=PLAIN)


def log_as_json() -> None:
    """Put JSON lines in the place of what the log has been written to; a second call changes nothing."""
    root = logging.getLogger()
    if any(isinstance(one.formatter, JsonLines) for one in root.handlers):
        return
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root.addHandler(handler)
    for one in [one for one in root.handlers if type(one) is logging.StreamHandler and one is not handler]:
        root.removeHandler(one)
    logging.getLogger("slowwave").setLevel(logging.INFO)

"""Set-up of telemetry by variables or settings, and the final flush."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Callable
from importlib.util import find_spec
from threading import Lock
from typing import Final

from slowwave.telemetry.recording import STATE, Meter, Tracer

LOG = logging.getLogger("slowwave.telemetry")
INSTALL: Final = "pip install '.[telemetry]' in Slowwave's folder"
_LOCK = Lock()
_ENDINGS: list[Callable[[], None]] = []
_begun = False


def begin(*, logs: str = "plain") -> None:
    """Start the telemetry that variables or settings enable; only the first call of a process does.

    Traces and metrics are enabled by OpenTelemetry's variables. An unreachable collector fails nothing.

    Args:
        logs: json: events are lines of JSON. The rest of the log is that of the application, or of
            `logs.begin_logs` in our own programs.
    """
    global _begun
    if _begun:
        return
    with _LOCK:
        if not _begun:
            _begun = True
            if logs == "json":
                from slowwave.telemetry.logs import events_as_json

                use(ending=events_as_json())
                STATE.logs = True
                STATE.settle()
            if any(name.startswith("OTEL_") for name in os.environ):
                _begin_opentelemetry()


def _begin_opentelemetry() -> None:
    from slowwave.telemetry import otel

    traces, metrics = otel.wanted("TRACES"), otel.wanted("METRICS")
    if not traces and not metrics:
        return
    if find_spec("opentelemetry.sdk") is None if find_spec("opentelemetry") else True:
        LOG.warning(
            "Variables of OpenTelemetry (OTEL_…) enable telemetry, but it is not installed. Run: %s. "
            "To disable it, set OTEL_SDK_DISABLED=true.", INSTALL,
        )  # fmt: skip
        return
    otel.quiet()
    if traces:
        tracer = otel.tracer(traces)
        use(tracer=tracer, ending=tracer.close)
    if metrics:
        meter = otel.meter(metrics)
        use(meter=meter, ending=meter.close)
    atexit.register(end)


def use(
    *, tracer: Tracer | None = None, meter: Meter | None = None, ending: Callable[[], None] | None = None
) -> None:
    """Register a tracer, a meter, and a function to call at the end.

    Args:
        tracer: Replaces the current one.
        meter: Added to the others.
        ending: Called at the end.
    """
    if tracer is not None:
        STATE.tracer = tracer
    if meter is not None:
        STATE.meters = (*STATE.meters, meter)
    if ending is not None:
        _ENDINGS.append(ending)
    STATE.settle()


def leave(meter: Meter) -> None:
    """Remove a meter."""
    STATE.meters = tuple(other for other in STATE.meters if other is not meter)
    STATE.settle()


def end() -> None:
    """Stop everything and flush; a home opened later starts it again."""
    global _begun
    STATE.tracer, STATE.meters, STATE.logs = None, (), False
    STATE.settle()
    while _ENDINGS:
        _ENDINGS.pop()()
    _begun = False

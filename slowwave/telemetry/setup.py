"""Switching telemetry on where variables or settings ask for it, and handing over the rest at the end."""

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
    """Switch on what is asked for; every home that is opened asks, and the first one of a process does it.

    Traces and metrics are asked for by OpenTelemetry's own variables. A collector that cannot be reached is
    no reason for anything to fail.

    Args:
        logs: json: events are lines of JSON. All else of a log is as the application has it that opens a
            home, and in a program of ours as `logs.begin_logs` has it.
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
            "Variables of OpenTelemetry (OTEL_…) ask for telemetry, and it is not installed: %s. "
            "OTEL_SDK_DISABLED=true says that none is wanted.", INSTALL,
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
    """Let spans and measurements go to these, too.

    Args:
        tracer: takes spans, in the place of another one.
        meter: takes measurements, beside others.
        ending: is called at the end.
    """
    if tracer is not None:
        STATE.tracer = tracer
    if meter is not None:
        STATE.meters = (*STATE.meters, meter)
    if ending is not None:
        _ENDINGS.append(ending)
    STATE.settle()


def leave(meter: Meter) -> None:
    """Let measurements go to a meter no longer."""
    STATE.meters = tuple(one for one in STATE.meters if one is not meter)
    STATE.settle()


def end() -> None:
    """Switch everything off, and hand over what is left; a home that is opened later switches on again."""
    global _begun
    STATE.tracer, STATE.meters, STATE.logs = None, (), False
    STATE.settle()
    while _ENDINGS:
        _ENDINGS.pop()()
    _begun = False

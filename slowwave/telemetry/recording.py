"""Recording of spans, measurements and log lines; while off, each costs one check of a variable."""

from __future__ import annotations

import contextvars
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, ParamSpec, Protocol, Self, TypeVar

from slowwave.telemetry.catalogue import ATTRIBUTES, MEASURES, Value, plain

EVENTS: Final = logging.getLogger("slowwave.events")
FIELDS: Final = "slowwave_fields"
"""Attribute of a log record with its fields."""

P = ParamSpec("P")
R = TypeVar("R")


class Opened(Protocol):
    """Interface of a started span."""

    def ids(self) -> tuple[str, str]:
        """Return trace and span ids, in hex."""

    def end(self, attributes: dict[str, Value], error: str) -> None:
        """End the span."""


class Tracer(Protocol):
    """Interface of a tracer."""

    def begin(self, name: str, kind: str, parent: Any, started: int) -> Opened:  # noqa: ANN401 - an `Opened`
        """Begin a span, which is current until it ends."""


class Meter(Protocol):
    """Interface of a meter."""

    def record(self, name: str, value: float, labels: dict[str, Value]) -> None:
        """Record a measurement."""


@dataclass(slots=True)
class State:
    """Telemetry state of this process.

    Attributes:
        tracer: Gets spans, if any.
        meters: Get measurements.
        logs: Whether events are log lines.
        on: Whether anything is on.
    """

    tracer: Tracer | None = None
    meters: tuple[Meter, ...] = ()
    logs: bool = False
    on: bool = False

    def settle(self) -> None:
        """Recompute `on`."""
        self.on = self.tracer is not None or bool(self.meters) or self.logs


STATE: Final = State()


class Off:
    """No-op span, used while telemetry is off."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def set(self, **_: object) -> None:
        """Do nothing."""


OFF: Final = Off()


class Span:
    """Span of a block, with optional duration metric.

    Args:
        name: Of the span.
        kind: internal, client or server, as in OpenTelemetry.
        metric: Gets the duration; empty: none.
        parent: Parent span; None: the current one.
        attributes: By their names in `ATTRIBUTES`.
    """

    def __init__(
        self, name: str, kind: str, metric: str, parent: Span | Off | None, attributes: dict[str, Any]
    ) -> None:
        self.name, self._kind, self._metric = name, kind, metric
        self._parent = parent.opened if isinstance(parent, Span) else None
        self._attributes = _listed(attributes)
        self.opened: Opened | None = None
        self._start = 0.0

    def __enter__(self) -> Self:
        self._start = time.perf_counter()
        if STATE.tracer is not None:
            self.opened = STATE.tracer.begin(self.name, self._kind, self._parent, time.time_ns())
        return self

    def set(self, **attributes: object) -> None:
        """Add attributes, by the names in `ATTRIBUTES`; unlisted ones are dropped."""
        self._attributes |= _listed(attributes)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        failed = "" if kind is None else kind.__name__  # its message may hold anything
        seconds = time.perf_counter() - self._start
        if self._metric:
            outcome = "failed" if failed else self._attributes.get("outcome", "ok")
            _record(self._metric, seconds, {**self._attributes, "outcome": outcome})
        if self.opened is not None:
            exported = {ATTRIBUTES[key]: value for key, value in self._attributes.items()}
            self.opened.end(exported, failed)


def span(
    name: str,
    /,
    *,
    kind: str = "internal",
    metric: str = "",
    parent: Span | Off | None = None,
    **attributes: object,
) -> Span | Off:
    """Return a span for ``with``; a no-op while telemetry is off.

    Args:
        name: Of the span.
        kind: internal, client or server, as in OpenTelemetry.
        metric: Of `MEASURES`, gets the duration.
        parent: Parent span, if not the current one.
        **attributes: By their names in `ATTRIBUTES`; an id, a name, a day or a number each.
    """
    return Span(name, kind, metric, parent, attributes) if STATE.on else OFF


def count(name: str, number: int = 1, **attributes: object) -> None:
    """Add to a counter of `MEASURES`.

    Args:
        name: Of the counter.
        number: Increment (count).
        **attributes: Its labels.
    """
    if STATE.meters:
        _record(name, number, {key: plain(value) for key, value in attributes.items()})


def note(name: str, **fields: object) -> None:
    """Log an event, if events are logged.

    Args:
        name: search, save, feedback, asset or night.
        **fields: By their names in `ATTRIBUTES`; unlisted ones are dropped.
    """
    if STATE.logs:
        EVENTS.info(name, extra={FIELDS: _listed(fields)})


def carried(work: Callable[P, R]) -> Callable[P, R]:
    """Wrap work so that its spans in another thread belong to the current span."""
    if STATE.tracer is None:
        return work
    context = contextvars.copy_context()

    def run(*arguments: P.args, **named: P.kwargs) -> R:
        return context.copy().run(work, *arguments, **named)

    return run


def _record(name: str, value: float, attributes: dict[str, Value]) -> None:
    wanted = {key: attributes.get(key, "") for key in MEASURES[name].labels}
    for meter in STATE.meters:
        meter.record(name, value, wanted)


def _listed(attributes: Mapping[str, object]) -> dict[str, Value]:
    """Return the attributes that `ATTRIBUTES` lists, with permitted values."""
    return {key: plain(value) for key, value in attributes.items() if key in ATTRIBUTES}

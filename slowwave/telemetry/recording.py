"""Spans, measurements and log lines of what happens. Off they cost a look at one variable."""

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
"""Attribute of a log record with what it says beside its name."""

P = ParamSpec("P")
R = TypeVar("R")


class Opened(Protocol):
    """A span that was begun somewhere."""

    def ids(self) -> tuple[str, str]:
        """Trace and span, in hex."""

    def end(self, attributes: dict[str, Value], error: str) -> None:
        """End it."""


class Tracer(Protocol):
    """Begins spans."""

    def begin(self, name: str, kind: str, parent: Any, started: int) -> Opened:  # noqa: ANN401 - an `Opened`
        """Begin one, which is the current one until it ends."""


class Meter(Protocol):
    """Takes measurements."""

    def record(self, name: str, value: float, labels: dict[str, Value]) -> None:
        """Take one."""


@dataclass(slots=True)
class State:
    """What is on in this process.

    Attributes:
        tracer: takes spans, if any does.
        meters: take measurements.
        logs: whether events are lines in the log.
        on: whether anything is.
    """

    tracer: Tracer | None = None
    meters: tuple[Meter, ...] = ()
    logs: bool = False
    on: bool = False

    def settle(self) -> None:
        """See again whether anything is on."""
        self.on = self.tracer is not None or bool(self.meters) or self.logs


STATE: Final = State()


class Off:
    """A span where telemetry is off."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def set(self, **_: object) -> None:
        """Say nothing."""


OFF: Final = Off()


class Span:
    """Something that takes time, from the beginning of a block to its end.

    Args:
        name: what it is called.
        kind: internal, client or server, as OpenTelemetry has it.
        metric: that takes its duration; empty: none does.
        parent: span that it is part of; None: the current one.
        attributes: by their names in `ATTRIBUTES`.
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
        """Say more of it, by the names in `ATTRIBUTES`; what has no name there is left out."""
        self._attributes |= _listed(attributes)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        failed = "" if kind is None else kind.__name__  # its words may hold anything
        seconds = time.perf_counter() - self._start
        if self._metric:
            outcome = "failed" if failed else self._attributes.get("outcome", "ok")
            _record(self._metric, seconds, {**self._attributes, "outcome": outcome})
        if self.opened is not None:
            told = {ATTRIBUTES[key]: value for key, value in self._attributes.items()}
            self.opened.end(told, failed)


def span(
    name: str,
    /,
    *,
    kind: str = "internal",
    metric: str = "",
    parent: Span | Off | None = None,
    **attributes: object,
) -> Span | Off:
    """Begin a span with ``with``; where telemetry is off that is nothing.

    Args:
        name: what it is called.
        kind: internal, client or server, as OpenTelemetry has it.
        metric: of `MEASURES` that takes its duration.
        parent: span that it is part of, where that is not the current one.
        **attributes: by their names in `ATTRIBUTES`; an id, a name, a day or a number each.
    """
    return Span(name, kind, metric, parent, attributes) if STATE.on else OFF


def count(name: str, number: int = 1, **attributes: object) -> None:
    """Add to a counter of `MEASURES`.

    Args:
        name: of it.
        number: that is added (count).
        **attributes: its labels.
    """
    if STATE.meters:
        _record(name, number, {key: plain(value) for key, value in attributes.items()})


def note(name: str, **fields: object) -> None:
    """Write a line of the log about an event, if events are logged.

    Args:
        name: of the event: search, save, feedback, asset, night.
        **fields: by their names in `ATTRIBUTES`; what has none there is left out.
    """
    if STATE.logs:
        EVENTS.info(name, extra={FIELDS: _listed(fields)})


def carried(work: Callable[P, R]) -> Callable[P, R]:
    """The same work, whose spans in another thread are parts of the current one."""
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
    """Return the attributes that `ATTRIBUTES` lists, with values that may be said."""
    return {key: plain(value) for key, value in attributes.items() if key in ATTRIBUTES}

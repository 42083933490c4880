"""OpenTelemetry export of spans and measurements, configured by its standard variables."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from slowwave.common.version import VERSION
from slowwave.telemetry.catalogue import ATTRIBUTES, MEASURES, Value

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.trace.export import SpanExporter

FLUSH_S: Final = 2.0
"""Time-out of the final flush (seconds), so that a collector that is down delays nobody."""
_PREFIX: Final = "OTEL_EXPORTER_OTLP_"


def wanted(signal: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the exporter that the standard variables name: otlp, console, or empty for none.

    Args:
        signal: TRACES or METRICS.
        environment: Variables.
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ""
    exporter = environment.get(f"OTEL_{signal}_EXPORTER", "").strip().lower()
    if exporter:
        return exporter if exporter in ("otlp", "console") else ""
    addressed = any(environment.get(f"{_PREFIX}{name}ENDPOINT") for name in ("", f"{signal}_"))
    return "otlp" if addressed else ""


def resource() -> Any:  # noqa: ANN401 - a Resource of the SDK
    """Return the identity of this program.

    ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES`` override it.
    """
    from opentelemetry.sdk.resources import Resource

    name = os.environ.get("OTEL_SERVICE_NAME") or "slowwave"
    return Resource.create({"service.name": name, "service.version": VERSION})


def quiet() -> None:
    """Silence the SDK's errors about an unreachable collector, which contain its address."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)


class OtelTracer:
    """Tracer of the SDK.

    Args:
        exporter: Gets spans in batches, from a thread of its own.
        at_once: Export each span when it ends, for tests.
    """

    def __init__(self, exporter: SpanExporter, *, at_once: bool = False) -> None:
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

        self._provider = TracerProvider(resource=resource(), shutdown_on_exit=False)
        processor = SimpleSpanProcessor(exporter) if at_once else BatchSpanProcessor(exporter)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("slowwave", VERSION)

    def begin(self, name: str, kind: str, parent: OtelSpan | None, started: int) -> OtelSpan:
        """Begin a span; see `slowwave.telemetry.recording.Tracer`."""
        from opentelemetry import context, trace

        within = None if parent is None else trace.set_span_in_context(parent.span)
        kinds = {"client": trace.SpanKind.CLIENT, "server": trace.SpanKind.SERVER}
        made = self._tracer.start_span(
            name, context=within, kind=kinds.get(kind, trace.SpanKind.INTERNAL), start_time=started,
            record_exception=False, set_status_on_exception=False,
        )  # fmt: skip
        return OtelSpan(made, context.attach(trace.set_span_in_context(made, within)))

    def close(self) -> None:
        """Flush, within `FLUSH_S`."""
        _at_most(self._provider.shutdown)


class OtelSpan:
    """Span of the SDK, current until it ends."""

    def __init__(self, made: Any, token: Any) -> None:  # noqa: ANN401 - of the SDK
        self.span, self._token = made, token

    def ids(self) -> tuple[str, str]:
        """Return trace and span ids, in hex."""
        context = self.span.get_span_context()
        return f"{context.trace_id:032x}", f"{context.span_id:016x}"

    def end(self, attributes: dict[str, Value], error: str) -> None:
        """End the span; an error is recorded by its class, without its message."""
        from opentelemetry import context
        from opentelemetry.trace import Status, StatusCode

        context.detach(self._token)
        self.span.set_attributes(attributes)
        if error:
            self.span.set_attribute("error.type", error)
            self.span.set_status(Status(StatusCode.ERROR))
        self.span.end()


class OtelMeter:
    """Instruments of the SDK.

    Args:
        reader: Exports the measurements.
    """

    def __init__(self, reader: MetricReader) -> None:
        from opentelemetry.sdk.metrics import MeterProvider

        self._provider = MeterProvider([reader], resource=resource(), shutdown_on_exit=False)
        meter = self._provider.get_meter("slowwave", VERSION)
        self._takes: dict[str, Callable[[float, dict[str, Value]], None]] = {}
        for name, instrument in MEASURES.items():
            if instrument.kind == "histogram":
                bounds: Any = {"explicit_bucket_boundaries_advisory": list(instrument.buckets)}
                self._takes[name] = meter.create_histogram(name, "s", instrument.about, **bounds).record
            else:
                self._takes[name] = meter.create_counter(name, "1", instrument.about).add

    def record(self, name: str, value: float, labels: dict[str, Value]) -> None:
        """Record a value; see `slowwave.telemetry.recording.Meter`."""
        self._takes[name](value, {ATTRIBUTES[key]: text for key, text in labels.items() if text != ""})

    def close(self) -> None:
        """Flush, within `FLUSH_S`."""
        _at_most(self._provider.shutdown)


def _at_most(work: Any) -> None:  # noqa: ANN401 - a method of the SDK
    thread = threading.Thread(target=work, name="slowwave-telemetry-end", daemon=True)
    thread.start()
    thread.join(FLUSH_S)


def tracer(exporter: str) -> OtelTracer:
    """Return the tracer that the variables name.

    Args:
        exporter: otlp or console. The console is standard error: standard output is a command's answer, and
            the wire of MCP.
    """
    if exporter == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return OtelTracer(ConsoleSpanExporter(out=sys.stderr))
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OtelTracer(OTLPSpanExporter())


def meter(exporter: str) -> OtelMeter:
    """Return the meter that the variables name.

    Args:
        exporter: otlp or console.
    """
    from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader

    if exporter == "console":
        return OtelMeter(PeriodicExportingMetricReader(ConsoleMetricExporter(out=sys.stderr)))
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    return OtelMeter(PeriodicExportingMetricReader(OTLPMetricExporter()))

"""Prometheus endpoint for the measurements of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from slowwave.common.addresses import host_and_port
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.telemetry.catalogue import GAUGES, MEASURES, Value, label, prometheus_name

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

NIGHTS: Final[Mapping[str, tuple[str, str]]] = {
    "slowwave_night_runs_total": ("runs", "Nightly runs of this home, by job."),
    "slowwave_night_failures_total": ("failures", "Failed nightly runs, by job."),
    "slowwave_night_last_duration_seconds": ("seconds", "Duration of the last nightly run."),
    "slowwave_night_last_end_timestamp_seconds": ("ended", "End of the last nightly run."),
    "slowwave_night_last_success_timestamp_seconds": ("succeeded", "End of the last successful nightly run."),
}
"""Metrics of nightly runs, which have processes of their own: read from the home (`nights`)."""

Gauges = Mapping[str, Callable[[], float]]
Nights = Callable[[], Mapping[str, Mapping[str, float]]]


def names() -> set[str]:
    """Return every name of ours that `/metrics` may have."""
    result = set(NIGHTS) | {prometheus_name(name) for name in GAUGES}
    for name, instrument in MEASURES.items():
        own = prometheus_name(name)
        result |= (
            {f"{own}_{part}" for part in ("bucket", "sum", "count")}
            if instrument.kind == "histogram"
            else {own}
        )
    return result


class PrometheusMeter:
    """Meter with a Prometheus registry.

    Args:
        gauges: Computed on request, by the names of `GAUGES`; a failing one is left out.
        nights: Returns the figures of nightly runs.
    """

    def __init__(self, gauges: Gauges | None = None, nights: Nights | None = None) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram
        from prometheus_client.process_collector import ProcessCollector

        self.registry: CollectorRegistry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._made: dict[str, Any] = {}
        for name, instrument in MEASURES.items():
            kind: Any = (
                partial(Histogram, buckets=instrument.buckets) if instrument.kind == "histogram" else Counter
            )
            labels = [label(key) for key in instrument.labels]
            self._made[name] = kind(prometheus_name(name), instrument.about, labels, registry=self.registry)
        self.registry.register(_OnRequest(gauges or {}, nights or dict))

    def record(self, name: str, value: float, labels: dict[str, Value]) -> None:
        """Record a value; see `slowwave.telemetry.recording.Meter`."""
        series = self._made[name].labels(*(str(labels[key]) for key in MEASURES[name].labels))
        (series.observe if MEASURES[name].kind == "histogram" else series.inc)(value)


class _OnRequest:
    """Collector of values that are computed on request."""

    def __init__(self, gauges: Gauges, nights: Nights) -> None:
        self._gauges, self._nights = gauges, nights

    def describe(self) -> list[Metric]:
        """Return nothing, so that registration computes nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the available gauges and the figures of nightly runs."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        for name, ask in self._gauges.items():
            try:
                value = float(ask())
            except (SlowwaveError, RuntimeError, OSError, ValueError):
                continue  # a home that does not answer has no value; slowwave_ready reports it
            yield GaugeMetricFamily(prometheus_name(name), GAUGES[name], value=value)
        rows_by_job = self._nights()
        for name, (key, about) in NIGHTS.items():
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            family: Any = kind(name.removesuffix("_total"), about, labels=[label("job")])
            for job, row in sorted(rows_by_job.items()):
                family.add_metric([job], float(row.get(key, 0)))
            yield family


def serve(meter: PrometheusMeter, host: str, port: int) -> Callable[[], None]:
    """Serve ``http://HOST:PORT/metrics`` from a thread. Return the function that stops it.

    Args:
        meter: Has the measurements.
        host: Address to listen on.
        port: Port to listen on.

    Raises:
        SlowwaveError: The address cannot be listened on.
    """
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(port, host, registry=meter.registry)
    except OSError as error:
        raise SlowwaveError(
            f"Cannot listen on {host_and_port(host, port)} for metrics ({error.strerror}). "
            f"Set telemetry.metrics_port to another port, or to 0 for none."
        ) from None

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop


def require_client() -> None:
    """Check that the Prometheus client is installed.

    Raises:
        SettingsError: It is not.
    """
    from importlib.util import find_spec

    if find_spec("prometheus_client") is None:
        raise SettingsError(
            "telemetry.metrics_port is set, but prometheus_client is not installed. Run: "
            "pip install '.[telemetry]' in Slowwave's folder"
        )

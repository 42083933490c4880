"""Measurements of this process for Prometheus, at an address of their own."""

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
    "slowwave_night_runs_total": ("runs", "Runs of the night of this home, by job."),
    "slowwave_night_failures_total": ("failures", "Those of them that failed."),
    "slowwave_night_last_duration_seconds": ("seconds", "How long the last one took."),
    "slowwave_night_last_end_timestamp_seconds": ("ended", "When the last one ended."),
    "slowwave_night_last_success_timestamp_seconds": ("succeeded", "When the last one that succeeded ended."),
}
"""What is told of the nights, which run in processes of their own: read from the home (`nights`)."""

Gauges = Mapping[str, Callable[[], float]]
Nights = Callable[[], Mapping[str, Mapping[str, float]]]


def names() -> set[str]:
    """Every name that `/metrics` may have of ours."""
    found = set(NIGHTS) | {prometheus_name(name) for name in GAUGES}
    for name, one in MEASURES.items():
        own = prometheus_name(name)
        found |= (
            {f"{own}_{part}" for part in ("bucket", "sum", "count")} if one.kind == "histogram" else {own}
        )
    return found


class PrometheusMeter:
    """Measurements as Prometheus takes them.

    Args:
        gauges: what is looked up when somebody asks, by the names of `GAUGES`; one that fails is left out.
        nights: gives what the nights came to.
    """

    def __init__(self, gauges: Gauges | None = None, nights: Nights | None = None) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram
        from prometheus_client.process_collector import ProcessCollector

        self.registry: CollectorRegistry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._made: dict[str, Any] = {}
        for name, one in MEASURES.items():
            kind: Any = partial(Histogram, buckets=one.buckets) if one.kind == "histogram" else Counter
            labels = [label(key) for key in one.labels]
            self._made[name] = kind(prometheus_name(name), one.about, labels, registry=self.registry)
        self.registry.register(_LookedUp(gauges or {}, nights or dict))

    def record(self, name: str, value: float, labels: dict[str, Value]) -> None:
        """See `slowwave.telemetry.recording.Meter`."""
        series = self._made[name].labels(*(str(labels[key]) for key in MEASURES[name].labels))
        (series.observe if MEASURES[name].kind == "histogram" else series.inc)(value)


class _LookedUp:
    """What is looked up when somebody asks."""

    def __init__(self, gauges: Gauges, nights: Nights) -> None:
        self._gauges, self._nights = gauges, nights

    def describe(self) -> list[Metric]:
        """Nothing: to register is no reason to look."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The gauges that can be told, and the nights."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        for name, ask in self._gauges.items():
            try:
                value = float(ask())
            except (SlowwaveError, RuntimeError, OSError, ValueError):
                continue  # a home that does not answer has no such number; slowwave_ready says so
            yield GaugeMetricFamily(prometheus_name(name), GAUGES[name], value=value)
        told = self._nights()
        for name, (key, about) in NIGHTS.items():
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            family: Any = kind(name.removesuffix("_total"), about, labels=[label("job")])
            for job, row in sorted(told.items()):
                family.add_metric([job], float(row.get(key, 0)))
            yield family


def serve(meter: PrometheusMeter, host: str, port: int) -> Callable[[], None]:
    """Answer at ``http://HOST:PORT/metrics`` from a thread; to call what it gives ends that.

    Args:
        meter: whose measurements.
        host: address to listen on.
        port: to listen on.

    Raises:
        SlowwaveError: the address cannot be listened on.
    """
    from prometheus_client import start_http_server

    try:
        server, thread = start_http_server(port, host, registry=meter.registry)
    except OSError as error:
        raise SlowwaveError(
            f"{host_and_port(host, port)} cannot be listened on for metrics ({error.strerror}). "
            f"Set telemetry.metrics_port to another port, or to 0 for none."
        ) from None

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop


def require_client() -> None:
    """See that the library is there.

    Raises:
        SettingsError: it is not.
    """
    from importlib.util import find_spec

    if find_spec("prometheus_client") is None:
        raise SettingsError(
            "telemetry.metrics_port is set, and the library for it is not installed: "
            "pip install '.[telemetry]' in Slowwave's folder"
        )

"""Prometheus endpoint of a server, on its own port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from slowwave.common.addresses import host_and_port
from slowwave.serving.health import Health
from slowwave.telemetry.nightly_figures import nights
from slowwave.telemetry.setup import leave, use

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.settings import Settings
    from slowwave.telemetry.prometheus import Gauges


def metrics_served(space: Workspace) -> AbstractContextManager[str]:
    """Serve ``/metrics`` during the block, if `telemetry.metrics_port` is set.

    Args:
        space: the home that the server serves.

    Returns:
        A context with the URL; "" without a port.

    Raises:
        SettingsError: the Prometheus client is not installed.
        SlowwaveError: the address is not available.
    """
    health = Health(space)
    gauges = {
        "slowwave.ready": lambda: float(health.look().ready),
        "slowwave.quarantine.held": lambda: float(_held(space)),
    }
    return _served(space.settings, gauges)


def nights_served(settings: Settings) -> AbstractContextManager[str]:
    """Serve ``/metrics`` of nightly jobs, as `metrics_served`, without opening a home.

    Args:
        settings: of the home.

    Returns:
        A context with the URL; "" without a port.

    Raises:
        SettingsError: the Prometheus client is not installed.
        SlowwaveError: the address is not available.
    """
    return _served(settings, {})


@contextmanager
def _served(settings: Settings, gauges: Gauges) -> Iterator[str]:
    """Serve these gauges and those of nightly jobs, if a port is set."""
    host, port = settings.telemetry.metrics_host, settings.telemetry.metrics_port
    if not port:
        yield ""
        return
    from slowwave.telemetry.prometheus import PrometheusMeter, require_client, serve

    require_client()
    meter = PrometheusMeter(gauges, lambda: nights(settings.home))
    stop = serve(meter, host, port)
    use(meter=meter)
    try:
        yield f"http://{host_and_port(host, port)}/metrics"
    finally:
        leave(meter)
        stop()


def _held(space: Workspace) -> int:
    """Return the number of quarantined notes, if the tables are open."""
    if "store" not in space.__dict__:
        raise RuntimeError("the tables are not open yet")
    return space.store.count("quarantine", "status = 'held'")

"""Prometheus endpoint of a server, on its own port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slowwave.common.addresses import host_and_port
from slowwave.serving.health import Health
from slowwave.telemetry.nightly_figures import nights
from slowwave.telemetry.setup import leave, use

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.settings import Settings
    from slowwave.telemetry.prometheus import Gauges


@contextmanager
def metrics_served(settings: Settings, space: Workspace | None = None) -> Iterator[str]:
    """Serve ``/metrics`` during the block, if `telemetry.metrics_port` is set.

    Args:
        settings: of the home.
        space: the home that the server serves; None for nightly jobs alone.

    Yields:
        The URL; "" without a port.

    Raises:
        SettingsError: the Prometheus client is not installed.
        SlowwaveError: the address is not available.
    """
    host, port = settings.telemetry.metrics_host, settings.telemetry.metrics_port
    if not port:
        yield ""
        return
    from slowwave.telemetry.prometheus import PrometheusMeter, require_client, serve

    require_client()
    meter = PrometheusMeter({} if space is None else _gauges(space), lambda: nights(settings.home))
    stop = serve(meter, host, port)
    use(meter=meter)
    try:
        yield f"http://{host_and_port(host, port)}/metrics"
    finally:
        leave(meter)
        stop()


def _gauges(space: Workspace) -> Gauges:
    health = Health(space)
    return {
        "slowwave.ready": lambda: float(health.look().ready),
        "slowwave.quarantine.held": lambda: float(_held(space)),
    }


def _held(space: Workspace) -> int:
    """Return the number of quarantined notes, if the tables are open."""
    if "store" not in space.__dict__:
        raise RuntimeError("the tables are not open yet")
    return space.store.count("quarantine", "status = 'held'")

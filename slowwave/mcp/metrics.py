"""The metrics of a server that runs, for Prometheus, at an address of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slowwave.mcp.health import Health
from slowwave.telemetry.beginning import leave, use
from slowwave.telemetry.nights import nights

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


@contextmanager
def metrics_served(space: Workspace) -> Iterator[str]:
    """Serve ``/metrics`` as long as the block takes, if `telemetry.metrics_port` is set.

    Args:
        space: the home that the server serves.

    Yields:
        Where they are; empty: nowhere.

    Raises:
        SettingsError: the library for them is not installed.
        SlowwaveError: the address cannot be listened on.
    """
    settings = space.settings.telemetry
    if not settings.metrics_port:
        yield ""
        return
    from slowwave.telemetry.prometheus import PrometheusMeter, require_client, serve

    require_client()
    health = Health(space)
    gauges = {
        "slowwave.ready": lambda: float(health.look().ready),
        "slowwave.quarantine.held": lambda: float(_held(space)),
    }
    meter = PrometheusMeter(gauges, lambda: nights(space.settings.home))
    stop = serve(meter, settings.metrics_host, settings.metrics_port)
    use(meter=meter)
    host = settings.metrics_host
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{settings.metrics_port}/metrics"
    finally:
        leave(meter)
        stop()


def _held(space: Workspace) -> int:
    """Notes that wait in quarantine; asked for only where the tables are open already."""
    if "store" not in space.__dict__:
        raise RuntimeError("the tables are not open yet")
    return space.store.count("quarantine", "status = 'held'")

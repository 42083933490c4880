"""The metrics of a server that runs, for Prometheus, at an address of their own."""

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
    """Serve ``/metrics`` as long as the block takes, if `telemetry.metrics_port` is set.

    Args:
        space: the home that the server serves.

    Returns:
        What says where they are while the block runs; empty: nowhere.

    Raises:
        SettingsError: the library for them is not installed.
        SlowwaveError: the address cannot be listened on.
    """
    health = Health(space)
    gauges = {
        "slowwave.ready": lambda: float(health.look().ready),
        "slowwave.quarantine.held": lambda: float(_held(space)),
    }
    return _served(space.settings, gauges)


def nights_served(settings: Settings) -> AbstractContextManager[str]:
    """Serve ``/metrics`` of what the nights came to, as `metrics_served` does; no home is opened for it.

    Args:
        settings: of the home whose nights they are.

    Returns:
        What says where they are while the block runs; empty: nowhere.

    Raises:
        SettingsError: the library for them is not installed.
        SlowwaveError: the address cannot be listened on.
    """
    return _served(settings, {})


@contextmanager
def _served(settings: Settings, gauges: Gauges) -> Iterator[str]:
    """Serve these numbers and those of the nights, if a port is set for them."""
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
    """Notes that wait in quarantine; asked for only where the tables are open already."""
    if "store" not in space.__dict__:
        raise RuntimeError("the tables are not open yet")
    return space.store.count("quarantine", "status = 'held'")

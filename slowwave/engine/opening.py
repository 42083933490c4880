"""The engine that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.engine.base import LocalEngine

if TYPE_CHECKING:
    from slowwave.engine.base import Engine
    from slowwave.settings.groups import EngineSettings

_LOCAL = LocalEngine()


def open_engine(settings: EngineSettings) -> Engine:
    """The engine of the settings; workers are reached when there is work for them."""
    if settings.kind == "local":
        return _LOCAL
    from slowwave.engine.ray import RayEngine

    return RayEngine(settings)

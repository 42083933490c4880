"""Engines for long work: this process, or workers of a Ray cluster.

Work is a function of plain data. It gets pieces one by one, and its results come back in order. Only the
caller writes: a home has one writer, wherever vectors and scores are computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.engine.base import Engine, LocalEngine
from slowwave.errors import EngineError

if TYPE_CHECKING:
    from slowwave.settings.groups import EngineSettings

__all__ = ["Engine", "EngineError", "LocalEngine", "open_engine"]
_LOCAL = LocalEngine()


def open_engine(settings: EngineSettings) -> Engine:
    """Return the engine of the settings; workers are reached when there is work for them."""
    if settings.kind == "local":
        return _LOCAL
    from slowwave.engine.ray import RayEngine

    return RayEngine(settings)

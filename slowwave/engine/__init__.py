"""Where long work is computed: in this process, or by workers of a Ray cluster.

Work is a function of plain data. It is handed pieces, one after the other, and its results come back in the
order of the pieces. What is written is written by who asked: a home has one writer, wherever its vectors and
scores are computed.
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
    """The engine of the settings; workers are reached when there is work for them."""
    if settings.kind == "local":
        return _LOCAL
    from slowwave.engine.ray import RayEngine

    return RayEngine(settings)

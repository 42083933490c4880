"""Where long work is computed: in this process, or by workers of a Ray cluster.

Work is a function of plain data. It is handed pieces, one after the other, and its results come back in the
order of the pieces. What is written is written by who asked: a home has one writer, wherever its vectors and
scores are computed.
"""

from slowwave.engine.base import Engine, LocalEngine
from slowwave.engine.opening import open_engine
from slowwave.errors import EngineError

__all__ = ["Engine", "EngineError", "LocalEngine", "open_engine"]

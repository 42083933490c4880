"""MCP over standard input and output, for a client that starts the server."""

from __future__ import annotations

import io
import sys

from slowwave.mcp.server import build
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import Settings


def serve(settings: Settings, caller: Caller) -> None:
    """Serve one caller until standard input ends. All other output goes to standard error.

    Raises:
        SlowwaveError: the namespace is invalid.
    """
    Memory(settings, namespace=caller.namespace)  # raises now, not at the first call
    memories = MemoryPool(settings, lambda: caller, namespace=caller.namespace)
    memories.begin([caller.namespace])  # while the client initializes
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Flush every line: standard output is redirected to standard error only while it serves.
        sys.stdout.reconfigure(line_buffering=True)
    build(memories).run("stdio")

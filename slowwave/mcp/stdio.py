"""The server on standard input and output, for a client that starts it."""

from __future__ import annotations

import io
import sys

from slowwave.mcp.server import build
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import Settings


def serve(settings: Settings, caller: Caller) -> None:
    """Serve one caller until standard input ends. What else is printed goes to standard error.

    Raises:
        SlowwaveError: the namespace is not allowed.
    """
    Memory(settings, namespace=caller.namespace)  # raises at once, not at the first call
    memories = MemoryPool(settings, lambda: caller, namespace=caller.namespace)
    memories.begin([caller.namespace])  # while the client says who it is
    if isinstance(sys.stdout, io.TextIOWrapper):
        # While it serves, standard output leads to standard error; a line kept until the end would not.
        sys.stdout.reconfigure(line_buffering=True)
    build(memories).run("stdio")

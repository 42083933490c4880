"""First searches of an assistant over stdio, as `latency.py` starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _report import UnusableError

MAIN = "from slowwave.cli import main; main()"
VERSION = "2025-06-18"


def searches(
    home: Path, namespace: str, model: str, queries: Sequence[str], pause: float
) -> dict[str, float]:
    """Milliseconds from the start to the answer to `initialize`, and those of each search.

    Args:
        home: of the server.
        namespace: that is searched.
        model: of the home.
        queries: asked one after the other.
        pause: between the beginning of the session and the first search (seconds); an assistant reads its
            tools and its user's words meanwhile.

    Returns:
        initialize, and each search by its number, from 1.

    Raises:
        UnusableError: a search failed.
    """
    command = [sys.executable, "-c", MAIN, "mcp", "--namespace", namespace]
    environment = {**os.environ, "SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": model}
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        client = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        _call(server, 0, "initialize", client)
        taken = {"initialize": (time.perf_counter() - start) * 1e3}
        _send(server, {"method": "notifications/initialized"})
        time.sleep(pause)
        for number, query in enumerate(queries, 1):
            start = time.perf_counter()
            answer = _call(
                server, number, "tools/call", {"name": "memory_search", "arguments": {"query": query}}
            )
            taken[str(number)] = (time.perf_counter() - start) * 1e3
            if answer.get("isError"):
                raise UnusableError(f"a search over MCP failed: {answer}")
        server.communicate(timeout=60)
    return taken


def _send(server: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def _call(server: subprocess.Popen[str], number: int, method: str, given: dict[str, Any]) -> dict[str, Any]:
    assert server.stdout is not None
    _send(server, {"id": number, "method": method, "params": given})
    answer = json.loads(server.stdout.readline() or "{}")
    if "result" not in answer:
        raise UnusableError(f"the server did not answer {method}: {answer}")
    return dict(answer["result"])

"""Effect of one tenant's large saves on another one's search, over HTTP.

    python bench/mcp_load.py [--saves 6] [--bytes 900000] [--searches 20]

A server of its own is started on an empty home with two tokens. One client searches alone, then beside
another tenant's saves, which are all sent at once. Given is the ratio of the two: median, and slowest.
"""

from __future__ import annotations

import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _report import UnusableError, bench, options, positive, ratio, report, spread

import slowwave
from slowwave.serving.tokens import add_token

QUERY = "how long does the battery of the northern gauge last in winter?"
NOTE = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
MAIN = "from slowwave.cli import main; main()"
WORDS = "gauge battery harbour winter northern deploy meeting weeks summer repair north south valve".split()
LONGEST_S = 180


def call(url: str, token: str, tool: str, **arguments: object) -> float:
    """Seconds that a tool took."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {token}",
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    start = time.perf_counter()
    with urllib.request.urlopen(request, timeout=LONGEST_S) as answer:
        answer.read()
    return time.perf_counter() - start


def big_note(size: int, seed: int) -> str:
    """A text of so many characters of made-up sentences."""
    drawn = random.Random(seed)
    parts, length = [], 0
    while length < size:
        parts.append(" ".join(drawn.choices(WORDS, k=12)).capitalize() + f" {drawn.randrange(10**6)}.")
        length += len(parts[-1]) + 1
    return " ".join(parts)


def searches(url: str, token: str, count: int, until: threading.Event | None = None) -> list[float]:
    """Seconds of so many searches, and of more until the event is set."""
    taken: list[float] = []
    while len(taken) < count or (until is not None and not until.is_set() and len(taken) < 20 * count):
        taken.append(call(url, token, "memory_search", query=f"{QUERY} {len(taken)}"))
    return taken


def measure(
    url: str, tokens: dict[str, str], saves: int, size: int, count: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Searches of one tenant alone and beside the saves of the other, and what became of these."""
    call(url, tokens["ada"], "memory_save", content=NOTE)
    searches(url, tokens["ada"], 3)
    alone = searches(url, tokens["ada"], count)
    done, refused = threading.Event(), []

    def save(number: int) -> None:
        try:
            call(url, tokens["bob"], "memory_save", content=big_note(size, number))
        except urllib.error.HTTPError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(saves)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    waiting = threading.Thread(target=lambda: ([one.join() for one in threads], done.set()))
    waiting.start()
    beside = searches(url, tokens["ada"], count, done)
    waiting.join()
    rows = [
        {
            "searches": name, "count": len(taken), **spread(taken, 4, "_s"), "max_s": round(max(taken), 4),
            "ratio_p50": ratio(statistics.median(taken), statistics.median(alone), 2),
            "ratio_max": ratio(max(taken), max(alone), 2),
        }
        for name, taken in (("alone", alone), ("beside", beside))
    ]  # fmt: skip
    return rows, {
        "saves": saves, "saves_refused": len(refused), "saves_s": round(time.perf_counter() - start, 3)
    }  # fmt: skip


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--saves", type=positive, default=6, help="big ones, all at once")
    parser.add_argument("--bytes", type=positive, default=900_000, help="of each")
    parser.add_argument("--searches", type=positive, default=20, help="alone, and at least as many beside")
    parser.add_argument("--model", default="wordllama-256", help="embedding model")
    asked = parser.parse_args(argv)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder) / "home", asked.model) as (url, tokens),
    ):
        rows, totals = measure(url, tokens, asked.saves, asked.bytes, asked.searches)
    report("mcp_load", rows, note="seconds; ratio: beside over alone", totals=totals)


@contextmanager
def serving(home: Path, model: str, **variables: str) -> Iterator[tuple[str, dict[str, str]]]:
    """A server on an empty home: its address, and a token for each of two tenants.

    Args:
        home: a folder that does not exist.
        model: of the embedding.
        **variables: of its environment.

    Raises:
        UnusableError: it does not start; its error is above.
    """
    with slowwave.open(home, namespace="ada", embedding={"model": model}) as memory:
        assert memory.store.count("meta") > 0  # makes the home
        tokens = {name: add_token(memory.settings, name, name) for name in ("ada", "bob")}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ, **variables, "SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": model
    }  # fmt: skip
    command = [sys.executable, "-c", MAIN, "mcp", "--http", "--port", str(port)]
    server = subprocess.Popen(command, env=environment)
    try:
        limit = time.monotonic() + LONGEST_S
        while not answers(port):
            if server.poll() is not None or time.monotonic() > limit:
                raise UnusableError("the server did not start")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp", tokens
    finally:
        server.terminate()
        server.wait(30)


def answers(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as probe:
        return not probe.connect_ex(("127.0.0.1", port))


if __name__ == "__main__":
    main()

"""What one tenant's big saves cost another one's search, over HTTP.

    python -m bench.mcp_load [--saves 6] [--bytes 900000] [--searches 20]

A server of its own is started on an empty home with two tokens. One client searches alone, then beside
another tenant's saves, which are all sent at once. Given is the ratio of the two: median, and slowest.
"""

from __future__ import annotations

import argparse
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
from pathlib import Path

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
    drawn = random.Random(seed)
    parts, length = [], 0
    while length < size:
        parts.append(" ".join(drawn.choices(WORDS, k=12)).capitalize() + f" {drawn.randrange(10**6)}.")
        length += len(parts[-1]) + 1
    return " ".join(parts)


def searches(url: str, token: str, count: int, until: threading.Event | None = None) -> list[float]:
    taken: list[float] = []
    while len(taken) < count or (until is not None and not until.is_set() and len(taken) < 20 * count):
        taken.append(call(url, token, "memory_search", query=f"{QUERY} {len(taken)}"))
    return taken


def measure(url: str, tokens: dict[str, str], saves: int, size: int, count: int) -> dict[str, float]:
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
    return {
        "alone_p50_s": statistics.median(alone),
        "alone_max_s": max(alone),
        "beside_p50_s": statistics.median(beside),
        "beside_max_s": max(beside),
        "ratio_p50": statistics.median(beside) / statistics.median(alone),
        "ratio_max": max(beside) / max(alone),
        "searches_beside": len(beside),
        "saves_s": time.perf_counter() - start,
        "saves_refused": len(refused),
    }


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--saves", type=int, default=6)
    given.add_argument("--bytes", type=int, default=900_000)
    given.add_argument("--searches", type=int, default=20)
    given.add_argument("--model", default="wordllama-256")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        environment = {**os.environ, "SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": asked.model}

        def command(*words: str) -> list[str]:
            return [sys.executable, "-c", MAIN, *words]

        subprocess.run(command("init", str(home)), env=environment, check=True, stdout=subprocess.DEVNULL)
        tokens = {}
        for name in ("ada", "bob"):
            words = command("mcp", "token", "--namespace", name, "--principal", name, "--json")
            made = subprocess.run(words, env=environment, check=True, capture_output=True)
            tokens[name] = json.loads(made.stdout)["token"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(command("mcp", "--http", "--port", str(port)), env=environment)
        try:
            limit = time.monotonic() + LONGEST_S
            while socket.socket().connect_ex(("127.0.0.1", port)) and time.monotonic() < limit:
                time.sleep(0.1)
            found = measure(f"http://127.0.0.1:{port}/mcp", tokens, asked.saves, asked.bytes, asked.searches)
        finally:
            server.terminate()
            server.wait(30)
    for name, value in found.items():
        print(f"{name:>16}  {value:,.3f}")


if __name__ == "__main__":
    main()

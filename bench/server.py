"""Cost of a request over HTTP: one process on files, and a team's servers on PostgreSQL and S3.

    python bench/server.py [--notes 500] [--times 30] [--model bge-small-en-v1.5]

Rows are the places of a memory, each served by `slowwave api` and asked by one client, turn about:

- ``files``: one process, tables and journal in its home, as it is by default;
- ``postgresql``: the journal in PostgreSQL, the tables in the home;
- ``team``: the journal in PostgreSQL, the tables behind S3, two servers that a client asks in turn.

PostgreSQL and the process that speaks S3 (moto, which is written in Python) are started here, so no network
is in the figures, and the S3 of a cloud is another one. ``p95`` is over that of ``files``. CPU is of the
servers alone, per act.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from _chunks import asked, vocabulary
from _postgres import server as postgresql
from _report import bench, options, positive, ratio, report, spread
from _s3 import bucket, free_port, until_listens

import slowwave

_WORDS = 40  # of a note
_BATCH = 250
_OURS = ("SLOWWAVE_", "AWS_", "DAGSTER_")
TEAM = "team"


class Place:
    """A memory somewhere, and the servers that answer for it.

    Args:
        name: of the row.
        homes: a folder for each server.
        variables: where tables and journal are.
        model: of the embeddings.
    """

    def __init__(self, name: str, homes: Sequence[Path], variables: Mapping[str, str], model: str) -> None:
        self.name = name
        self._token = f"slowwave_{secrets.token_urlsafe(24)}"
        digest = hashlib.sha256(self._token.encode()).hexdigest()
        clean = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
        tokens = [{"token_sha256": digest, "namespace": TEAM, "principal": "bench"}]
        self.environment = {
            **clean, **variables, "SLOWWAVE_EMBEDDING__MODEL": model, "SLOWWAVE_GATE__MODE": "off",
            "SLOWWAVE_MCP__TOKENS": json.dumps(tokens),
        }  # fmt: skip
        self._homes = homes
        self._servers: list[tuple[subprocess.Popen[bytes], int]] = []

    def fill(self, notes: Sequence[str]) -> None:
        """Save what is there before anything is measured."""
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            with slowwave.open(self._homes[0], namespace=TEAM) as memory:
                for at in range(0, len(notes), _BATCH):
                    memory.save_many([{"content": text} for text in notes[at : at + _BATCH]])
        finally:
            os.environ.clear()
            os.environ.update(before)

    def start(self) -> Callable[[], None]:
        """Start the servers; what ends them."""
        for home in self._homes:
            home.mkdir(parents=True, exist_ok=True)
            port = free_port()
            with (home / "server.log").open("wb") as log:
                words = [sys.executable, "-m", "slowwave", "api", "--port", str(port)]
                mine = {**self.environment, "SLOWWAVE_HOME": str(home)}
                process = subprocess.Popen(words, env=mine, stdout=log, stderr=log)
            self._servers.append((process, port))
            until_listens(port, process, home / "server.log")
        self._turns = cycle(port for _, port in self._servers)
        return self.end

    def end(self) -> None:
        """End the servers."""
        for process, _ in self._servers:
            process.terminate()
        for process, _ in self._servers:
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()

    def ask(self, path: str, body: Mapping[str, Any]) -> float:
        """How long an answer takes (ms)."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{next(self._turns)}/v1/{path}", json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"},
        )  # fmt: skip
        start = time.perf_counter()
        with urllib.request.urlopen(request, timeout=300) as answer:
            answer.read()
        return (time.perf_counter() - start) * 1e3

    def cpu_ms(self) -> float:
        """CPU time of all servers so far."""
        ticks = 0
        for process, _ in self._servers:
            said = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2]
            ticks += sum(map(int, said.split()[11:13]))
        return ticks * 1e3 / os.sysconf("SC_CLK_TCK")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure each place."""
    parser = options(__doc__)
    parser.add_argument("--notes", type=positive, default=500, help="notes of each memory")
    parser.add_argument("--times", type=positive, default=30, help="searches and saves, each")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    arguments = parser.parse_args(argv)
    random = np.random.default_rng(0)
    words, share = vocabulary()
    warm = 4
    count = arguments.notes + arguments.times + warm
    texts = [" ".join(row) for row in random.choice(words, size=(count, _WORDS), p=share)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        journals = [stack.enter_context(postgresql()) for _ in range(2)]
        store = stack.enter_context(bucket())
        one, two = ({"SLOWWAVE_JOURNAL__URL": url} for url in journals)
        team = [folder / "team-1", folder / "team-2"]
        places = [
            Place("files", [folder / "files"], {}, arguments.model),
            Place("postgresql", [folder / "postgresql"], one, arguments.model),
            Place("team", team, {**two, **store.variables("team")}, arguments.model),
        ]
        for place in places:
            place.fill(texts[: arguments.notes])
            stack.callback(place.start())
        rows = _measured(places, texts[arguments.notes :], warm)
    note = f"{arguments.notes} notes, {arguments.times} of each act; p95: over that of files"
    report("server", rows, note=note)


def _measured(places: Sequence[Place], texts: Sequence[str], warm: int) -> list[dict[str, Any]]:
    """Searches, then saves; the places take turns."""
    bodies = {
        "search": [{"query": query} for query in asked(len(texts))],
        "memories": [{"content": text} for text in texts],
    }
    rows = []
    for path, act in (("search", "search"), ("memories", "save")):
        took: dict[str, list[float]] = {place.name: [] for place in places}
        cpu = dict.fromkeys(took, 0.0)
        for number, body in enumerate(bodies[path]):
            for place in places:
                before = place.cpu_ms()
                wall = place.ask(path, body)
                if number >= warm:
                    took[place.name].append(wall)
                    cpu[place.name] += place.cpu_ms() - before
        base = float(np.percentile(took[places[0].name], 95))
        for name, times in took.items():
            rows.append({
                "act": act, "place": name, **spread(times), "cpu_ms": round(cpu[name] / len(times), 1),
                "p95": ratio(float(np.percentile(times, 95)), base, 2),
            })  # fmt: skip
    return rows


if __name__ == "__main__":
    main()

"""Durability: saves lost or doubled when `slowwave up` is killed under load.

    python bench/up_killed.py [--times 50] [--writers 3] [--postgres] [--s3] [--terminate]

Starts `slowwave up`, lets clients save over HTTP as fast as they are served, and kills all its processes
after a random time (SIGKILL), again and again on one home. At the end every text is looked up in the tables.
With ``--postgres`` the journal is a PostgreSQL server's, with ``--s3`` the tables are in an object store
(a server of moto), both started here. With ``--terminate`` it is asked to end instead (SIGTERM).

saved       saves that were answered
unanswered  saves that were on their way when it was killed: there once, or not there
lost        answered, and neither in the tables nor in the journal
in the journal alone  answered, and not in the tables yet: the next night or doctor --repair takes it in
doubled     in the tables more than once
tracebacks  in what the killed processes wrote
not ended   with ``--terminate``: exits with another code than 0
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import _postgres
import httpx
from _report import bench, options, positive, report
from _s3 import bucket, free_port

import slowwave
from slowwave.common.progress import task
from slowwave.lifecycle.recovery import lacking
from slowwave.views.terminal import bars

SHORTEST_S, LONGEST_S = 0.2, 2.0  # of load before it is killed
PATIENCE_S = 120.0
COMMAND = [sys.executable, "-m", "slowwave"]
WORDS = (
    "harbour", "gauge", "battery", "tide", "radar", "ferry", "ledger", "antenna", "relay", "survey", "mast",
    "quay", "winter", "lamp", "rope",
)  # fmt: skip


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--times", type=positive, default=50, help="that it is killed (count)")
    parser.add_argument("--writers", type=positive, default=3, help="clients that save at once (count)")
    parser.add_argument("--postgres", action="store_true", help="the journal in a PostgreSQL server")
    parser.add_argument("--s3", action="store_true", help="the tables in an object store")
    parser.add_argument("--terminate", action="store_true", help="end it by SIGTERM, not SIGKILL")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        home, log = Path(folder, "home"), Path(folder, "log")
        os.environ |= {
            "SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256",
            "SLOWWAVE_GATE__MODE": "off",
        }  # fmt: skip
        if arguments.postgres:
            os.environ["SLOWWAVE_JOURNAL__URL"] = servers.enter_context(_postgres.server())
        if arguments.s3:
            os.environ |= servers.enter_context(bucket()).variables("tables")
        subprocess.run([*COMMAND, "init"], check=True, capture_output=True)
        words = ["mcp", "token", "--namespace", "default", "--principal", "load", "--json"]
        made = subprocess.run([*COMMAND, *words], check=True, capture_output=True, text=True)
        ending = signal.SIGTERM if arguments.terminate else signal.SIGKILL
        load = Load(json.loads(made.stdout)["token"], arguments.writers, ending)
        draw = random.Random(0)
        with bars(), task("kills", arguments.times) as advance:
            for _ in range(arguments.times):
                load.until_killed(log, draw.uniform(SHORTEST_S, LONGEST_S))
                advance(1)
        counts = {**load.counts(), "tracebacks": _tracebacks(log), "not ended": load.not_ended}
        report("up_killed", [{"kills": arguments.times, **counts}])


def _tracebacks(log: Path) -> int:
    return log.read_text(errors="replace").count("Traceback")


class Load:
    """Clients that save, and what became of it.

    Args:
        token: of their namespace.
        writers: at once (count).
        ending: signal by which it ends.
    """

    def __init__(self, token: str, writers: int, ending: signal.Signals = signal.SIGKILL) -> None:
        self._headers, self._writers = {"Authorization": f"Bearer {token}"}, writers
        self._ending = ending
        self._answered = threading.Event()
        self.not_ended = 0
        self._saved: set[str] = set()
        self._sent: set[str] = set()

    def until_killed(self, log: Path, seconds: float) -> None:
        """Start it, save for some time, kill it."""
        ports = [free_port() for _ in range(3)]
        named = zip(("--port", "--page-port", "--api-port"), map(str, ports), strict=True)
        command = [*COMMAND, "up", "--no-night", *(word for pair in named for word in pair)]
        with log.open("a") as said:
            up = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
        url = f"http://127.0.0.1:{ports[2]}"
        try:
            _wait(url, up)
            ended, self._answered = threading.Event(), threading.Event()
            clients = [threading.Thread(target=self._save, args=(url, ended)) for _ in range(self._writers)]
            for one in clients:
                one.start()
            self._answered.wait(PATIENCE_S)  # the first save over an object store takes seconds
            time.sleep(seconds)
        finally:
            self._end(up)
        ended.set()
        for one in clients:
            one.join()

    def _end(self, up: subprocess.Popen[bytes]) -> None:
        if self._ending is signal.SIGKILL:
            os.killpg(up.pid, signal.SIGKILL)
            up.wait()
            return
        up.send_signal(self._ending)
        try:
            self.not_ended += up.wait(PATIENCE_S) != 0
        finally:
            if up.poll() is None:
                os.killpg(up.pid, signal.SIGKILL)

    def _save(self, url: str, ended: threading.Event) -> None:
        draw = random.Random()
        with httpx.Client(base_url=url, headers=self._headers, timeout=PATIENCE_S) as client:
            while not ended.is_set():
                words = " ".join(draw.choices(WORDS, k=12))
                text = f"{words}, as was noted under number {draw.randrange(10**12)}."
                self._sent.add(text)
                try:
                    if client.post("/v1/memories", json={"content": text}).is_success:
                        self._saved.add(text)
                        self._answered.set()
                except httpx.HTTPError:
                    return

    def counts(self) -> dict[str, int]:
        """What became of it all, in a home that nobody has mended."""
        with slowwave.open(namespace="default") as memory:
            waiting = {str(one.payload["content"]) for one in lacking(memory.home)}
            rows = memory.store.read("memories", columns=["content"])["content"].to_list()
        times = Counter(rows)
        there = waiting | times.keys()
        return {
            "saved": len(self._saved),
            "unanswered": len(self._sent - self._saved),
            "lost": len(self._saved - there),
            "in the journal alone": len(self._saved & waiting),
            "doubled": sum(count > 1 for count in times.values()),
            "not sent": len(times.keys() - self._sent),
        }


def _wait(url: str, up: subprocess.Popen[bytes]) -> None:
    """Until it answers."""
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit and up.poll() is None:
        try:
            if httpx.get(f"{url}/readyz", timeout=5).status_code == httpx.codes.OK:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise SystemExit("slowwave up does not answer")


if __name__ == "__main__":
    main()

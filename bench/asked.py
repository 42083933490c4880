"""Cost of a standalone command, and of one that a server answers (`slowwave up`).

    python bench/asked.py [--notes 3000] [--times 9] [--model bge-small-en-v1.5]

`cold` is `slowwave search` as it is without a running memory, `asked` the same command beside one. They run
turn about, each in a process of its own, after one of each that is not counted. CPU is user and system time
of the command's process alone; what the running memory spends on an answer is the row `answer`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from _chunks import NAMESPACE, asked, vocabulary
from _report import bench, options, positive, ratio, report

import slowwave

_WORDS = 40  # of a note
_BATCH = 500


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure in one home."""
    parser = options(__doc__)
    parser.add_argument("--notes", type=positive, default=3000, help="notes in the home")
    parser.add_argument("--times", type=positive, default=9, help="commands of each sort")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        _fill(home, arguments.notes, arguments.model)
        rows = _measure(home, arguments.times)
    report("asked", rows, note="medians, in ms; ratio: over cold")


def _fill(home: Path, notes: int, model: str) -> None:
    """Notes of made-up words."""
    random = np.random.default_rng(0)
    words, share = vocabulary()
    settings = {"embedding": {"model": model}, "gate": {"mode": "off"}}
    with slowwave.open(home, namespace=NAMESPACE, **settings) as memory:
        for at in range(0, notes, _BATCH):
            picked = random.choice(words, size=(min(_BATCH, notes - at), _WORDS), p=share)
            memory.save_many([{"content": " ".join(row)} for row in picked])


def _measure(home: Path, times: int) -> list[dict[str, object]]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    environment = {**plain, "SLOWWAVE_HOME": str(home)}
    cold: list[tuple[float, float]] = []
    warm: list[tuple[float, float, float]] = []
    with _running(environment) as server:
        for number, query in enumerate(asked(times + 1)):
            before = _cpu_ms(server)
            pair = [_command(query, {**environment, "SLOWWAVE_ASK": ask}) for ask in ("0", "1")]
            if number:
                cold.append(pair[0])
                warm.append((*pair[1], _cpu_ms(server) - before))
    base = [statistics.median(column) for column in zip(*cold, strict=True)]
    rows: list[dict[str, object]] = []
    for name, values in (("cold", cold), ("asked", warm)):
        wall, cpu = (statistics.median(column) for column in list(zip(*values, strict=True))[:2])
        told = {"wall_ms": round(wall), "cpu_ms": round(cpu)}
        rows.append({"run": name, **told, "wall": ratio(wall, base[0], 3), "cpu": ratio(cpu, base[1], 3)})
    answers = statistics.median(one[2] for one in warm)
    return [*rows, {"run": "answer", "cpu_ms": round(answers)}]


@contextmanager
def _running(environment: Mapping[str, str]) -> Iterator[int]:
    """The process of a running memory."""
    words = [sys.executable, "-m", "slowwave", "up", "--no-night", "--json"]
    with subprocess.Popen(words, env=dict(environment), stdout=subprocess.PIPE, text=True) as process:
        said = ""
        for line in process.stdout or ():
            said += line
            if line == "}\n":
                break
        assert json.loads(said)["pid"] == process.pid
        try:
            yield process.pid
        finally:
            process.terminate()


def _command(query: str, environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall time and CPU time of a search (ms)."""
    words = [sys.executable, "-m", "slowwave", "search", query, "-n", NAMESPACE]
    began = time.perf_counter()
    process = subprocess.Popen(words, env=dict(environment), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return took * 1e3, (used.ru_utime + used.ru_stime) * 1e3


def _cpu_ms(pid: int) -> float:
    """CPU time that a process has taken (ms)."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) * 1e3 / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()

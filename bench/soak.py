"""Effects of hours of use on a home: latency, open files, memory, disk, lost or doubled events.

    python bench/soak.py [--minutes 10] [--processes 8] [--no-nights]
    python bench/soak.py --minutes 60                          # the long one
    python bench/soak.py --one-by-one 20000                    # one process that only saves

The mixed load: processes that save notes, save keys again, search, rate what they found and forget, all on
one home, as fast as they are served, while nights run one after the other. Times are given over the first and
the last quarter of it. At its end every act of the journal is looked up in the tables. `ratio` is the bytes
of tables over those of the journal; `rss_ratio` is the memory of the process that saved over that of one that
has just opened the same home, searched and saved.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import _soak_user as user
from _report import bench, existing_folder, options, positive, ratio, report, spread

from slowwave.common.progress import listening, task
from slowwave.views.terminal import bars

MODEL = "wordllama-256"
QUARTERS = {"first": 0, "last": 3}


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the load that was asked for and print its figures."""
    parser = options(__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="of the mixed load")
    parser.add_argument("--processes", type=positive, default=8, help="of the mixed load")
    parser.add_argument("--no-nights", action="store_true", help="a mixed load without nights")
    parser.add_argument("--one-by-one", type=positive, metavar="N", help="instead: N saves of one process")
    parser.add_argument("--model", default=MODEL, help="embedding model")
    parser.add_argument(
        "--folder",
        type=existing_folder,
        help="where the home is made, and removed; else where the system has it",
    )
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder, bars():
        home = Path(folder) / "home"
        os.environ |= {"SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": arguments.model}
        if arguments.one_by_one:
            rows, totals = one_by_one(home, arguments.one_by_one)
        else:
            rows, totals = mixed(home, arguments.minutes, arguments.processes, nights=not arguments.no_nights)
    report("soak", rows, note="times in s, memory and sizes in MB", totals=totals)


def one_by_one(home: Path, count: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Save notes one after the other in this process; a row for every tenth of them, and what came of it."""
    rows, times = [], []
    step = max(1, count // 10)
    with user.opened() as memory, task("saving", count) as advance, listening(None):
        for number in range(count):
            start = time.perf_counter()
            memory.save(user.note(0, number))
            times.append(time.perf_counter() - start)
            advance(1)
            if number % step == step - 1:
                rows.append(
                    {"saves": number + 1, **_spread(times), **user.resources(os.getpid()), **sizes(home)}
                )
                times = []
        checked = user.check(memory)
    return rows, {**checked, **_against_fresh(rows[-1]["rss"])}


def _against_fresh(rss: float) -> dict[str, float]:
    fresh = json.loads(_user("fresh", stdout=subprocess.PIPE).communicate()[0])["rss"]
    return {"rss": rss, "rss_fresh": fresh, "rss_ratio": ratio(rss, fresh, 2)}


def mixed(
    home: Path, minutes: float, processes: int, *, nights: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Several users at once, and nights; a row per act, and what became of the home."""
    with user.opened() as memory, listening(None):
        memory.save(user.note(processes, 0))
    users = [
        _user("use", number, minutes * 60, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for number in range(processes)
    ]
    for one in users:
        if one.stdout.readline() != "ready\n":  # type: ignore[union-attr]
            raise SystemExit("A user of the load could not begin; its error is above.")
    for one in users:
        one.stdin.write("go\n")  # type: ignore[union-attr]
        one.stdin.flush()  # type: ignore[union-attr]
    with ThreadPoolExecutor(len(users)) as readers:  # or a pipe is full after some thousand acts
        reports = [readers.submit(one.stdout.read) for one in users]  # type: ignore[union-attr]
        seen, done = _watch(home, users, minutes * 60, nights=nights)
        told = [json.loads(line) for one in reports for line in one.result().splitlines()]
    if failed := [one.returncode for one in users if one.returncode]:
        raise SystemExit(f"{len(failed)} users of the load failed; their errors are above.")
    rows = [_row(act, told, minutes * 60) for act in user.ACTS]
    with user.opened() as memory:
        checked = user.check(memory)
    return rows, {**checked, "nights": done, **seen, **sizes(home)}


def _watch(
    home: Path, users: list[subprocess.Popen[str]], seconds: float, *, nights: bool
) -> tuple[dict[str, Any], int]:
    """Wait for the end of the load and run nights; the most of what was seen, and how many nights ended."""
    most: dict[str, Any] = {}
    start, done, night = time.monotonic(), 0, None
    with task("load", round(seconds)) as advance:
        while any(one.poll() is None for one in users):
            time.sleep(1)
            advance(1)
            now = [user.resources(one.pid) for one in users if one.poll() is None]
            for name in ("handles", "rss"):
                most[f"{name}_most"] = max([most.get(f"{name}_most", 0), *(one[name] for one in now)])
            if night is not None and night.poll() is not None:
                if night.returncode:
                    raise SystemExit("A night failed; its error is above.")
                night, done = None, done + 1
            if nights and night is None and time.monotonic() - start < seconds:
                night = subprocess.Popen(
                    [sys.executable, "-c", "from slowwave.cli import main; main()", "night", "--json"],
                    stdout=subprocess.DEVNULL, cwd=home,
                )  # fmt: skip
    if night is not None:
        done += night.wait() == 0
    return most, done


def _user(*arguments: object, **streams: Any) -> subprocess.Popen[str]:  # noqa: ANN401
    script = Path(__file__).with_name("_soak_user.py")
    return subprocess.Popen([sys.executable, str(script), *map(str, arguments)], text=True, **streams)


def _row(act: str, told: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    mine = [one for one in told if one["act"] == act]
    row = {"act": act, "count": len(mine), **_spread([one["took"] for one in mine])}
    for name, quarter in QUARTERS.items():
        part = [one["took"] for one in mine if min(3, int(4 * one["at"] / seconds)) == quarter]
        row |= {f"{key} {name}": value for key, value in _spread(part).items()}
    return row


def _spread(times: list[float]) -> dict[str, float]:
    return {**spread(times, 3, ""), "max": round(max(times), 3)} if times else {}


def sizes(home: Path) -> dict[str, Any]:
    """Files and bytes of the tables, bytes of the journal, and how many times more the tables have."""
    tables = _bytes_of((home / "lance").rglob("*"))
    journal = _bytes_of(home.glob("journal.db*"))
    return {
        "files": len(tables), "tables": round(sum(tables) / 1e6, 1), "journal": round(sum(journal) / 1e6, 1),
        "ratio": ratio(sum(tables), sum(journal), 1),
    }  # fmt: skip


def _bytes_of(paths: Any) -> list[int]:  # noqa: ANN401
    found = []
    for path in paths:
        try:
            if path.is_file():
                found.append(path.stat().st_size)
        except FileNotFoundError:  # removed since it was listed
            continue
    return found


if __name__ == "__main__":
    main()

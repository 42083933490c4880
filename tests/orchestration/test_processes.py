"""A program that starts others: TERM, Ctrl-C and its own end leave nothing of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
STUBBORN += "signal.signal(signal.SIGINT, signal.SIG_IGN); "
# A program with a child that has a child, all of which write their id to a file.
FAMILY = """
import os, subprocess, sys, time
depth, stubborn = int(sys.argv[1]), {stubborn!r}
exec(stubborn)
if depth:
    subprocess.Popen([sys.executable, "-c", open(sys.argv[2]).read(), str(depth - 1), *sys.argv[2:]])
with open(sys.argv[3], "a") as file:
    file.write(str(os.getpid()) + "\\n")
time.sleep({seconds} if depth == 2 else 120)  # the children would go on
sys.exit(7)
"""
STARTS = """
import os, sys
from slowwave.orchestration.process_groups import run_group
sys.exit(run_group([sys.executable, *sys.argv[1:]], dict(os.environ), grace=2.0))
"""


def start(folder: Path, *, stubborn: bool = False, seconds: float = 120) -> subprocess.Popen[bytes]:
    code = folder / "family.py"
    code.write_text(FAMILY.format(stubborn=STUBBORN if stubborn else "", seconds=seconds))
    return subprocess.Popen(
        [sys.executable, "-c", STARTS, str(code), "2", str(code), str(folder / "ids")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def family(folder: Path) -> list[int]:
    """Ids of the three, once all are there."""
    file = folder / "ids"
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if file.exists() and len(found := file.read_text().split()) == 3:
            return [int(one) for one in found]
        time.sleep(0.05)
    raise AssertionError("the programs did not start")


def running(pid: int) -> bool:
    """Whether a process does anything: a zombie has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int]) -> bool:
    limit = time.monotonic() + 5
    while any(map(running, pids)) and time.monotonic() < limit:
        time.sleep(0.05)
    return not any(map(running, pids))


ENDS = """
import os, sys
from slowwave.orchestration.process_groups import run_group
program = "import os; os.write(1, b'\\\\33[32mgreen\\\\33[0m [32m]\\\\n'); "
program += "os.write(2, b'\\\\33[1;31mred\\\\33[0m\\\\n')"
sys.exit(run_group([sys.executable, "-c", program], dict(os.environ), plain=sys.argv[1] == "1"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("plain", [True, False])
def test_a_program_that_ends_by_itself_has_failed_and_its_colours_are_taken_out(plain: bool) -> None:
    """It was to run on, whatever it says of itself."""
    done = subprocess.run(
        [sys.executable, "-c", ENDS, str(int(plain))], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    coloured = "\x1b[32mgreen\x1b[0m [32m]\n\x1b[1;31mred\x1b[0m\n"
    assert (done.stdout, done.stderr) == ("", "green [32m]\nred\n" if plain else coloured)


DAGSTERLIKE = """
import json, sys, time
print("No cursor.", file=sys.stderr)
print(json.dumps({"event": "old", "logger": "dagster.daemon", "level": "warning", "timestamp": "then"}))
try:
    print("ready", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    ours = {"at": "now", "level": "warning", "logger": "slowwave.runs", "message": "run 1 was stopped"}
    print(json.dumps(ours))
    print("2026-11-26 03:04:05,678 WARNING slowwave.runs: run 1 was stopped")
    print("Aborted!", file=sys.stderr)
    raise
"""
STOPS = """
import os, sys
from slowwave.orchestration.process_groups import run_group
sys.exit(run_group([sys.executable, "-u", "-c", sys.argv[1]], dict(os.environ), json=sys.argv[2] == "1"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [True, False])
def test_once_asked_to_end_it_says_nothing_but_our_own_lines(as_json: bool) -> None:
    """Dagster takes a Ctrl-C with a traceback or `Aborted!`: no words for whoever pressed it."""
    process = subprocess.Popen(
        [sys.executable, "-c", STOPS, DAGSTERLIKE, str(int(as_json))],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    before: list[str] = []
    while not before or "ready" not in before[-1]:
        before.append(process.stderr.readline())
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    said = err.splitlines()
    assert ["run 1 was stopped" in line for line in said] == [True, True]
    if as_json:
        lines = [json.loads(line) for line in (*before, *said)]
        assert all({"at", "level", "logger", "message"} <= line.keys() for line in lines)
        assert [line["message"] for line in lines[:3]] == ["No cursor.", "old", "ready"]
        assert (lines[1]["at"], lines[1]["logger"]) == ("then", "dagster.daemon")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_asked_to_end_nothing_is_left(tmp_path: Path, ending: signal.Signals) -> None:
    process = start(tmp_path)
    pids = family(tmp_path)
    process.send_signal(ending)
    assert process.wait(30) == 0
    assert gone(pids)


@pytest.mark.slow
def test_what_does_not_want_to_end_is_killed(tmp_path: Path) -> None:
    process = start(tmp_path, stubborn=True)
    pids = family(tmp_path)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert gone(pids)


@pytest.mark.slow
def test_when_the_program_ends_by_itself_its_children_do_too_and_its_code_is_told(tmp_path: Path) -> None:
    process = start(tmp_path, seconds=2)
    pids = family(tmp_path)
    assert process.wait(30) == 7
    assert gone(pids)


@pytest.mark.slow
@pytest.mark.parametrize("stubborn", [False, True])
def test_a_kill_of_who_started_it_leaves_nothing_of_it_either(tmp_path: Path, stubborn: bool) -> None:
    """As where memory ran out: nobody is left to ask the program to end."""
    process = start(tmp_path, stubborn=stubborn)
    pids = family(tmp_path)
    process.kill()
    process.wait()
    limit = time.monotonic() + 60  # two seconds of grace and five more until the stubborn are killed
    while any(map(running, pids)) and time.monotonic() < limit:
        time.sleep(0.1)
    assert not any(map(running, pids))

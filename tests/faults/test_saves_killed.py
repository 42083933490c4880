"""What a save said was saved is there for every other process, whenever who saved it is killed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults_helpers import MODEL, ROOT, chunk_faults, end_group, environment

import slowwave as package
from slowwave.lifecycle.write_path import MAX_LOGGED

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SAVER = """
import sys
import slowwave
from faults_helpers import text
from slowwave.lifecycle import write_path

name, write_path.MAX_LOGGED = sys.argv[1], int(sys.argv[2])
with slowwave.open(namespace="default") as memory:
    for number in range(10_000):
        saved = memory.save(f"{text(name + str(number), 2 + number % 17)} {name} says {number}.")
        print(saved.memory_id, saved.status, flush=True)
"""
LOGGED = 24
"""Saves that may wait for a commit in a process that is killed: fewer than usual, which costs seconds."""
ANSWERS = (2, LOGGED - 1, LOGGED + 6)
"""Answers of a process before it is killed: before, about and after the first commit of many."""


def killed_after(home: Path, name: str, answers: int) -> list[str]:
    """Ids of what a process said it had saved until it was killed."""
    more = environment(SLOWWAVE_HOME=str(home), SLOWWAVE_EMBEDDING__MODEL=MODEL)
    more["PYTHONPATH"] += f":{Path(__file__).parent}:{Path(__file__).parents[1]}"
    told = home.with_name(name)
    with told.open("w") as out:
        words = [sys.executable, "-c", SAVER, name, str(LOGGED)]
        running = subprocess.Popen(words, env=more, cwd=ROOT, start_new_session=True, stdout=out)
    try:
        while told.read_text().count("\n") < answers:
            assert running.poll() is None
            time.sleep(0.01)
    finally:
        end_group(running)
    said = [line.split() for line in told.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert {status for _, status in said} == {"live"}
    return [memory for memory, _ in said]


@pytest.mark.parametrize("answers", ANSWERS)
def test_saves_of_a_killed_process_are_there(tmp_path: Path, answers: int) -> None:
    home = tmp_path / "home"
    with package.open(home, namespace="default", embedding={"model": MODEL}) as memory:
        memory.save("The boat lies at the pier in winter, and Ruaridh looks after it.", key="boat")
        memory.search("boat")
        names = killed_after(home, "ada", answers)
        assert {row.memory_id for row in memory.search("ada says 0").results} & set(names)
        for name in names:
            assert memory.get(name).status == "live"
        more = [*names, *killed_after(home, "bob", 1)]
        memory.save("The crane lies at the pier in summer, and Ishbel looks after it.", key="crane")
        assert len(more) + 2 <= memory.count() <= len(more) + 4  # the act of whoever was killed, perhaps
    assert chunk_faults(home) == []


def test_a_long_run_of_saves_is_committed_as_it_goes(tmp_path: Path) -> None:
    with package.open(tmp_path / "home", namespace="default", embedding={"model": MODEL}) as memory:
        for number in range(MAX_LOGGED + 10):
            memory.save(f"Gauge {number} at pier {number % 7} was read at {number % 24} o'clock by Ishbel.")
            assert len(memory.store.logged()) <= MAX_LOGGED
        assert memory.store.committed("memories").count_rows() >= MAX_LOGGED
    assert chunk_faults(tmp_path / "home") == []

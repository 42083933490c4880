"""Processes that save, forget and run a night on one home at the same time lose and double nothing."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import warm
from faults_helpers import (
    MODEL,
    ROOT,
    Driver,
    all_at_once,
    assert_same_tables,
    chunk_faults,
    command,
    end_group,
    environment,
    first_vault,
    scan,
    tables,
    text,
    write_vault,
)

import slowwave as package

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

NOTES = 40
WRITER = """
import sys
import slowwave
from faults_helpers import text

name, first, last, fresh = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "fresh"
with slowwave.open(namespace="default") as memory:
    if not fresh:
        memory.search("anything")  # everything is open before the start
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(first, last):
        said = text(f"{name} writes {number}", 3 + (number * 7 + len(name)) % 30)
        saved = memory.save(f"{said} {name} {number}.", key=f"note {number}")
        assert saved.status == "live", saved
print("done", flush=True)
"""

HOLDER = """
import sys, time
import slowwave
from slowwave.lifecycle import write_path
from faults_helpers import text

def settle(*arguments, **named):
    print("in turn", flush=True)
    time.sleep(600)

with slowwave.open(namespace="default") as memory:
    memory.search("anything")
    write_path.admit_new_note = settle
    memory.save(text("who was killed writes", 12), key="of the killed")
"""


def writer(home: Path, name: str, first: int, last: int, fresh: str = "") -> subprocess.Popen[str]:
    """A process that saves the notes first to last-1 under shared keys, with content of its own."""
    return process(home, WRITER, name, str(first), str(last), fresh)


def process(home: Path, script: str, *arguments: str) -> subprocess.Popen[str]:
    """A process that runs a script on a home."""
    more = environment(SLOWWAVE_HOME=str(home))
    more["PYTHONPATH"] += f":{Path(__file__).parent}:{Path(__file__).parents[1]}"
    return subprocess.Popen(
        warm.python("-c", script, *arguments), env=more, cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def acts(home: Path) -> list[tuple[str, str, str]]:
    """Key, revision and content of every save in the journal."""
    from slowwave.journal import Journal
    from slowwave.store import staging

    with Journal.open_path(home / "journal.db") as journal:
        entries = journal.read(kinds=["save"])
    staged = [staging.stage(one) for one in entries.iter_slices(1)]
    return [one.select("source", "revision", "content").row(0) for one in staged]


@pytest.mark.soak
def test_three_writers_and_nights_on_one_home(driver: Driver, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "vault"
    package.open(home, namespace="default", embedding={"model": MODEL}).count()
    write_vault(folder, first_vault())
    scan(home, folder, days_ago=1)
    # 40 notes each: 20 keys are written by the first two, 20 by the second and the third.
    writers = [writer(home, name, at, at + NOTES) for name, at in (("ada", 0), ("bob", 20), ("cyd", 40))]
    night = subprocess.Popen(
        ["sh", "-c", 'for n in 1 2; do "$@" || exit 1; done', "nights", *command("night", "--json")],
        env=environment(SLOWWAVE_HOME=str(home)), cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        all_at_once(writers)
        reports, errors = night.communicate(timeout=300)
        assert night.returncode == 0, reports[-1_000:] + errors
    finally:
        end_group(night)

    saves = [act for act in acts(home) if act[0].startswith("note ")]
    assert len(saves) == 3 * NOTES
    last = {
        source: (revision, content) for source, revision, content in sorted(saves, key=lambda act: act[1])
    }
    assert len(last) == 2 * NOTES
    assert chunk_faults(home) == []
    memories = tables(home)["memories"]
    mine = {row["source"]: (row["revision"], row["content"]) for row in memories.rows(named=True)}
    assert {source: mine[source] for source in last} == last
    assert memories.height == len(last) + 48 + 8

    assert driver.run("night", home)["code"] == 0  # whatever the writers brought after the last night
    before = tables(home)
    again = driver.run("night", home)
    assert again["code"] == 0, again["errors"]
    assert_same_tables(tables(home), before, "a night more")
    assert {row["source"]: row["revision"] for row in before["memories"].rows(named=True)} == {
        source: revision for source, (revision, _) in mine.items()
    }


def waiting(home: Path) -> int:
    """Acts that stand in the queue."""
    with sqlite3.connect(home / "journal.db") as journal:
        return int(journal.execute("SELECT count(*) FROM journal_queue WHERE answer IS NULL").fetchone()[0])


def test_who_is_killed_in_its_turn_takes_nothing_with_it(driver: Driver, tmp_path: Path) -> None:
    home = tmp_path / "home"
    package.open(home, namespace="default", embedding={"model": MODEL}).save(text("the first", 12))
    holder = process(home, HOLDER)
    writers = [writer(home, name, at, at + 2) for name, at in (("ada", 0), ("bob", 2), ("cyd", 4))]
    try:
        assert holder.stdout.readline() == "in turn\n", holder.stderr.read()
        for one in writers:
            assert one.stdout.readline() == "ready\n", one.stderr.read()
            one.stdin.write("go\n")
            one.stdin.flush()
        while waiting(home) < len(writers):
            assert all(one.poll() is None for one in writers)
            time.sleep(0.02)
        end_group(holder)
        for one in writers:
            _, errors = one.communicate(timeout=120)
            assert one.returncode == 0, errors
    finally:
        for one in (holder, *writers):
            end_group(one)
    saved = {f"note {number}" for number in range(6)}
    assert saved <= set(tables(home)["memories"]["source"])
    assert waiting(home) == 0
    assert chunk_faults(home) == []

    assert driver.run("night", home, first=datetime.now(UTC).date().isoformat())["code"] == 0
    memories = tables(home)["memories"]
    assert {*saved, "of the killed"} <= set(memories["source"])
    assert memories.height == 1 + len(saved) + 1
    assert chunk_faults(home) == []


@pytest.mark.parametrize("shared", [False, True], ids=["own keys", "one key"])
def test_four_processes_open_a_new_home_at_the_same_moment(tmp_path: Path, shared: bool) -> None:
    home = tmp_path / "home"
    numbers = [0] * 4 if shared else range(4)
    all_at_once([writer(home, f"w{n}", key, key + 1, "fresh") for n, key in enumerate(numbers)])
    assert tables(home)["memories"].height == len(set(numbers))
    assert chunk_faults(home) == []
    assert len(acts(home)) == 4

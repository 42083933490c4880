"""Processes that save the same facts, or newer ones, at the same moment decide as one process would."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
import warm
from faults_helpers import (
    ROOT,
    Driver,
    all_at_once,
    assert_same_tables,
    chunk_faults,
    end_group,
    environment,
    make_home,
    tables,
)

import slowwave as package
from slowwave.common import ids
from slowwave.lifecycle.reconcile import differences

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.soak]

FACTS = {
    "Gauge battery": "The battery of the harbour gauge lasts nine weeks before it has to be charged again.",
    "Ferry money": "The ferry company pays 2,000 euros a month for the departure boards at the pier.",
    "Phone rota": "Ishbel answers the night phone in odd weeks and Ruaridh takes it in even weeks.",
    "Radar mast": "The radar on the northern mast turns once in 3 seconds and sees ships up to 40 km.",
    "Backup copy": "Every night a copy of the ledger goes to the second machine in the library cellar.",
    "Tide books": "Printed tide books are kept in the blue cupboard beside the door of the pilots' kitchen.",
}
# What each process says of a fact: the same, as good as the same, or more.
WORDINGS = {
    "same": ["{}", "{}", "{}"],
    "spaced": ["{}", " {}\n", "{}  "],
    "near": ["{}", "{} Yes.", "{} So."],
    "more": ["{}", "{}\nRuaridh wrote it.", "{}\nRuaridh wrote it.\nIshbel signed it."],
}
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")

WRITER = """
import json
import sys
from itertools import pairwise
import slowwave

notes = json.loads(sys.argv[1])
with slowwave.open(namespace="default") as memory:
    memory.search("anything")  # everything is open before the start
    print("ready", flush=True)
    sys.stdin.readline()
    for note in notes:
        saved = memory.save(**note)
        told = [saved.memory_id, saved.status, saved.outcome, saved.other, saved.decision_id, saved.reasons]
        print(json.dumps(told), flush=True)
"""
COLUMNS = ("memory_id", "status", "outcome", "other", "decision_id", "reasons")


@pytest.fixture
def guarded(tmp_path: Path) -> Path:
    """A home that reconsolidates with the guard; nothing is in it."""
    home = make_home(tmp_path / "home", reconsolidation={"policy": "guarded"})
    with package.open(home, namespace="default") as memory:
        memory.count()
    return home


def save_at_once(home: Path, *notes: list[dict[str, str]]) -> list[dict]:
    """Save these notes, a process for each list; what became of each."""
    more = environment(SLOWWAVE_HOME=str(home))
    processes = [
        subprocess.Popen(
            warm.python("-c", WRITER, json.dumps(mine)), env=more, cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )
        for mine in notes
    ]  # fmt: skip
    try:
        said = all_at_once(processes)
    finally:
        for process in processes:
            end_group(process)
    saved = [dict(zip(COLUMNS, json.loads(line), strict=True)) for one in said for line in one.splitlines()]
    assert len(saved) == sum(len(mine) for mine in notes)
    return saved


def assert_whole(home: Path, saved: list[dict]) -> dict[str, pl.DataFrame]:
    """Every save has its decision, entered or is held, is there once, and has its chunks.

    Who saves late puts newer memories in their place, which may be decided about anew: that is told beside
    the decisions of their saves.
    """
    assert chunk_faults(home) == []
    with package.open(home, namespace="default") as memory:
        found = differences(memory.store)
    assert (found.stale.height, found.lacking) == (0, [])
    now = tables(home)
    for name in ("decisions", "quarantine", "edges"):
        assert not now[name][now[name].columns[0]].is_duplicated().any(), name
    decisions = {row["decision_id"]: row for row in now["decisions"].rows(named=True)}
    about = {row["memory_id"]: row for name, row in decisions.items() if name == own_decision(row)}
    assert about.keys() == {one["memory_id"] for one in saved}
    assert len(about) == len(saved)
    assert not any(row["refused"] for name, row in decisions.items() if name != own_decision(row))
    memories = {row["memory_id"]: row for row in now["memories"].rows(named=True)}
    held = set(now["quarantine"]["memory_id"])
    for one in saved:
        name, told = one["memory_id"], decisions[one["decision_id"]]
        if one["status"] == "superseded":  # it came late, and the newer one says so
            assert (told["memory_id"], told["other_memory"]) == (one["other"], name)
            assert told["outcome"] == "supersede"
        else:
            assert told == about[name]
            assert told["refused"] == (one["status"] == "quarantined")
            assert told["outcome"] == (one["outcome"] or "complement")
            assert told["other_memory"] == one["other"]
        assert (name in held, name in memories) == (about[name]["refused"], not about[name]["refused"])
    return now


def own_decision(row: dict) -> str:
    """The id of the decision that a save itself led to, and no later look."""
    return ids.decision_id(row["memory_id"], row["revision"])


def assert_a_night_changes_nothing(driver: Driver, home: Path) -> None:
    """The night decides nothing anew, whatever the order in which the processes came."""
    before = tables(home)
    done = driver.run("night", home)
    assert done["code"] == 0, done["errors"]
    after = tables(home)
    settled = ("memories", "chunks", "decisions", "edges", "quarantine")
    assert_same_tables({n: after[n] for n in settled}, {n: before[n] for n in settled}, "a night")


@pytest.mark.parametrize("processes", [2, 3])
def test_processes_that_save_the_same_facts_at_once_end_with_one_of_each(
    driver: Driver, guarded: Path, processes: int
) -> None:
    kinds = list(WORDINGS)
    notes = [
        [
            {"title": title, "content": WORDINGS[kinds[place % len(kinds)]][number].format(fact)}
            for place, (title, fact) in enumerate(FACTS.items())
        ]
        for number in range(processes)
    ]
    saved = save_at_once(guarded, *notes)
    now = assert_whole(guarded, saved)
    live = now["memories"].filter(pl.col("status") == "live")
    assert sorted(live["title"]) == sorted(FACTS)
    assert {one["outcome"] for one in saved} <= {"", "duplicate", "merge"}
    assert sum(one["outcome"] == "" for one in saved) == len(FACTS)
    lines = {line.strip() for content in live["content"] for line in content.splitlines()}
    assert all(fact in "\n".join(lines) for fact in FACTS.values())
    more = (note["content"] for mine in notes for note in mine if "Ruaridh wrote it" in note["content"])
    assert {line for content in more for line in content.splitlines()} <= lines, "a line was lost"
    assert_a_night_changes_nothing(driver, guarded)


def test_processes_that_contradict_each_other_at_once_end_with_one_chain(
    driver: Driver, guarded: Path
) -> None:
    text = "We deploy the tide service on {} after the morning tide has turned."
    notes = [
        [{"title": "Deploy day", "content": text.format(day)} for day in DAYS[number::2]]
        for number in range(2)
    ]
    saved = save_at_once(guarded, *notes)
    now = assert_whole(guarded, saved)
    rows = {row["memory_id"]: row for row in now["memories"].rows(named=True)}
    assert len(rows) == len(DAYS)
    chain = sorted(rows, key=lambda name: rows[name]["revision"], reverse=True)  # by moments of the journal
    live = chain[0]
    assert (rows[live]["status"], rows[live]["replaced_by"]) == ("live", None)
    for newer, older in pairwise(chain):
        assert (rows[older]["status"], rows[older]["replaced_by"]) == ("superseded", newer)
    standing = now["decisions"].filter(pl.col("undone_at").is_null() & (pl.col("outcome") == "supersede"))
    assert sorted(standing.select("memory_id", "other_memory").iter_rows()) == sorted(pairwise(chain))
    edges = {(row["from_memory"], row["to_memory"]) for row in now["edges"].rows(named=True)}
    assert edges == set(pairwise(chain))
    assert now["edges"]["kind"].unique().to_list() == ["supersedes"]
    lapsed = now["decisions"].filter(pl.col("undone_at").is_not_null())
    assert set(lapsed["undone_by"]) <= {"reordered"}
    with package.open(guarded, namespace="default") as memory:
        assert [result.memory_id for result in memory.search("on which day do we deploy?")] == [live]
    assert_a_night_changes_nothing(driver, guarded)

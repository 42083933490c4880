"""What the write-ahead log lost or has damaged comes in again from the journal, and doctor says so."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow as pa
import pytest
from backup_helpers import FAST_MODEL

from slowwave.index.incremental_snapshot import leave_files
from slowwave.index.mmap_snapshot import path_of
from slowwave.lifecycle.recovery import lacking
from slowwave.lifecycle.write_path import apply_lost_entries
from slowwave.maintenance.doctor import examine
from slowwave.memory import Memory
from slowwave.settings import load
from slowwave.store import wal
from slowwave.store.wal import SET_ASIDE, SUFFIX, _parsed

PUMP = "The pump in cellar 4 is switched off on Sundays, and Ishbel keeps the key."
BOAT = "The boat lies at the pier in winter, and Ruaridh looks after it every week."
GAUGE = "The battery of the gauge lasts eleven weeks, and Morag changes it on Fridays."


def files(memory: Memory) -> list[Path]:
    assert memory.store.wal is not None
    return sorted(memory.store.wal._folder.glob(f"[0-9]*{SUFFIX}"))


def spoil(file: Path, at: int, *, bit: int = 0) -> None:
    content = bytearray(file.read_bytes())
    content[at % len(content)] ^= 1 << bit
    file.write_bytes(content)


def log_finding(memory: Memory, *, repair: bool = False) -> tuple[bool, str] | None:
    found = {one.subject: one for one in examine(memory.settings, repair=repair)}
    one = found.get("write-ahead log")
    return None if one is None else (one.ok, one.message)


def titles(memory: Memory, query: str) -> list[str]:
    return [one.text for one in memory.search(query, limit=3)]


def test_any_bit_that_is_not_as_it_was_written_is_seen(open_memory):
    memory = open_memory()
    memory.save(PUMP)
    content = files(memory)[0].read_bytes()
    assert _parsed(content)
    for at in range(0, len(content), 7):
        wrong = bytearray(content)
        wrong[at] ^= 1 << (at % 8)
        assert _parsed(bytes(wrong)) is None, at
    for size in (0, 7, 8, 24, len(content) - 1):
        assert _parsed(content[:size]) is None
    assert _parsed(content + b"\0") is None


def test_nothing_is_lacking_whatever_became_of_what_was_said(open_memory):
    memory = open_memory(gate={"mode": "enforce"})
    memory.save(PUMP, key="pump")
    memory.save(PUMP, key="pump")
    memory.save(PUMP)
    memory.save(PUMP.replace("Sundays", "Mondays since March"), key="pump")
    memory.save("ok")
    gone = memory.save(BOAT)
    memory.forget(gone.memory_id)
    memory.save(GAUGE, key="gauge")
    memory.forget(memory.save(GAUGE + " It is made by Aqua.", key="gauge").memory_id)
    assert lacking(memory.home) == []
    memory.store.settle()
    assert lacking(memory.home) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 10))]
)
def test_a_damaged_file_is_set_aside_and_the_next_save_takes_its_acts_in(open_memory, home, seed):
    memory = open_memory()
    for text in (PUMP, BOAT):
        memory.save(text)
    memory.close()
    again = open_memory()  # closing commits: what follows waits in the log
    saved = again.save(GAUGE)
    draw = random.Random(seed)
    spoil(files(again)[-1], draw.randrange(10**6), bit=draw.randrange(8))
    other = open_memory()
    assert GAUGE not in titles(other, "How long does the battery of the gauge last?")
    ok, told = log_finding(other) or (True, "")
    assert not ok
    assert told.startswith("1 damaged file of saves set aside; 1 journal entry not in the tables yet")
    other.save("The harbour master is called Una, and she is there on Tuesdays.")
    assert GAUGE in titles(other, "How long does the battery of the gauge last?")
    assert not list(other.store.wal._folder.glob(f"*{SET_ASIDE}"))
    rows = other.store.read("memories", columns=["memory_id", "status"])
    assert rows.height == rows["memory_id"].n_unique() == 4
    assert saved.memory_id in rows["memory_id"].to_list()
    assert log_finding(other) is None


def test_what_the_log_lost_is_told_and_mended(open_memory):
    memory = open_memory()
    memory.save(PUMP)
    memory.store.settle()
    memory.save(GAUGE)
    for file in files(memory):
        file.unlink()
    other = open_memory()
    assert log_finding(other) == (False, "1 journal entry not in the tables yet, so not searchable")
    assert log_finding(other, repair=True) == (
        True, "1 journal entry not in the tables yet, so not searchable (fixed: 1 entry applied)"
    )  # fmt: skip
    assert GAUGE in titles(open_memory(), "How long does the battery of the gauge last?")


def test_a_commit_keeps_what_it_could_not_read(open_memory):
    memory = open_memory()
    memory.save(PUMP)
    memory.save(GAUGE)
    spoil(files(memory)[0], 500)
    other = open_memory()
    other.store.settle()
    assert len(other.store.wal.set_aside()) == 1
    assert apply_lost_entries(other.home) == 1
    assert (other.store.count("memories"), other.store.wal.set_aside()) == (2, ())


def test_a_file_of_other_columns_is_set_aside(open_memory):
    memory = open_memory()
    memory.save(PUMP)
    wal = memory.store.wal
    wal.append({"memories": pa.table({"memory_id": ["m"], "colour": ["blue"]})})
    other = open_memory()
    assert other.store.count("memories") == 1
    assert len(other.store.wal.set_aside()) == 1
    other.save(GAUGE)
    assert (other.store.count("memories"), other.store.wal.set_aside()) == (2, ())


def test_erasing_leaves_nothing_in_a_file_that_was_set_aside(open_memory):
    memory = open_memory()
    saved = memory.save(PUMP)
    memory.save(GAUGE)
    for file in files(memory):
        spoil(file, len(file.read_bytes()) - 1)
    other = open_memory()
    other.erase(saved.memory_id, why="asked for")
    folder = other.store.wal._folder
    assert not [one for one in folder.iterdir() if b"Ishbel" in one.read_bytes()]
    assert GAUGE in titles(other, "How long does the battery of the gauge last?")


def test_files_are_as_private_as_the_home_wherever_they_are(tmp_path):
    elsewhere = tmp_path / "shared"
    elsewhere.mkdir(mode=0o755)
    settings = load(
        tmp_path / "closed", embedding={"model": FAST_MODEL}, store={"uri": str(elsewhere / "lance")}
    )
    memory = Memory(settings, namespace="ada")
    memory.save(PUMP)
    memory.store.settle()
    memory.save(GAUGE)
    folder = memory.store.wal._folder
    assert folder.parent == elsewhere
    for one in (folder, *folder.iterdir(), *memory.settings.home.glob("*.lock")):
        assert one.stat().st_mode & 0o077 == 0, one
    memory.close()
    folder.chmod(0o755)  # as versions before left it
    told = {one.message for one in examine(settings) if one.subject == "permissions" and not one.ok}
    assert told == {f"other users of this machine may read {folder}"}
    assert all(one.ok for one in examine(settings, repair=True) if one.subject == "permissions")
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file_that_searches_map_is_not_read_and_doctor_tells(open_memory, seed):
    memory = open_memory()
    for text in (PUMP, BOAT, GAUGE):
        memory.save(text)
    leave_files(memory.store, 2**30, fewest=1)
    path = path_of(memory.store, memory.namespace)
    wanted = [one.text for one in memory.search("Who keeps the key?")]
    spoil(path, random.Random(seed).randrange(path.stat().st_size))
    other = open_memory()
    assert [one.text for one in other.search("Who keeps the key?")] == wanted
    found = {one.subject: one for one in examine(other.settings)}["search files"]
    assert (found.ok, found.message) == (False, "1 damaged snapshot file")
    assert {one.subject: one.ok for one in examine(other.settings, repair=True)}["search files"]
    assert not path.exists()


def test_after_a_start_of_the_machine_the_next_save_takes_in_what_was_lost(
    open_memory, monkeypatch, tmp_path
):
    memory = open_memory()
    memory.save(PUMP)
    memory.save(GAUGE)
    files(memory)[-1].unlink()  # the disk never had it
    monkeypatch.setattr(wal, "STARTED", tmp_path / "boot_id")
    (tmp_path / "boot_id").write_text("the next start")
    other = open_memory()
    other.save(BOAT)
    assert other.store.count("memories") == 3
    looked = []
    monkeypatch.setattr("slowwave.lifecycle.write_path.lacking", lambda _: looked.append(1) or [])
    other.save("The harbour master is called Una, and she is there on Tuesdays.")
    open_memory().save("The crane of the yard lifts eleven tons, and Morag drives it on weekdays.")
    assert not looked  # once in a start of the machine


def test_what_was_lost_is_found_behind_any_number_of_searches(open_memory, monkeypatch):
    memory = open_memory()
    memory.save(PUMP)
    memory.store.settle()
    memory.save(GAUGE)
    for _ in range(9):
        memory.search("How long does the battery of the gauge last?")
    files(memory)[-1].unlink()
    monkeypatch.setattr("slowwave.lifecycle.recovery.MIN_CHECKED", 2)
    assert [one.payload["content"] for one in lacking(open_memory().home)] == [GAUGE]


ODD = ("pipe", "folder", "link")


def put_odd(kind: str, path: Path) -> None:
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
        (path / "inside").write_text("x")
    else:
        path.symlink_to(path.parent / "nowhere")


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize(
    "name", ["00001234567890123456-aaaaaaaa.memories.arrows", "started", "0-a.memories.arrows.damaged"]
)
def test_what_is_no_file_is_in_nobodys_way(open_memory, kind, name):
    memory = open_memory()
    memory.save(PUMP)
    put_odd(kind, memory.store.wal._folder / name)
    other = open_memory()
    assert PUMP in titles(other, "Who keeps the key?")
    other.save(GAUGE)
    assert other.store.count("memories") == 2
    examine(other.settings, repair=True)
    assert open_memory().save(BOAT).status == "live"
    assert log_finding(other) is None


def test_copies_of_files_of_the_log_go_with_an_erasure(open_memory):
    memory = open_memory()
    saved = memory.save(PUMP)
    folder = memory.store.wal._folder
    (folder / "sub").mkdir()
    for name in ("a.arrows.bak", ".x.tmp", "sub/00.a.arrows.damaged"):
        (folder / name).write_bytes(files(memory)[0].read_bytes())
    memory.erase(saved.memory_id, why="asked for")
    assert {one.name for one in folder.iterdir()} <= {"lock", "started"}


def test_a_failure_to_look_for_what_was_lost_is_no_failure_of_a_save(open_memory, monkeypatch):
    memory = open_memory()

    def fails(_: object) -> None:
        raise OSError("the disk")

    monkeypatch.setattr("slowwave.lifecycle.write_path.lacking", fails)
    assert memory.save(PUMP).status == "live"

"""Backups of homes that real processes write to, and backups and restores that are killed (SIGKILL)."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import warm
from faults_helpers import (
    assert_same_tables,
    chunk_faults,
    command,
    copy_home,
    end_group,
    environment,
    make_home,
    tables,
    text,
)

from slowwave.backup.archive import Archive
from slowwave.backup.making import make
from slowwave.backup.restoring import restore
from slowwave.backup.storage import FileStorage
from slowwave.backup.verifying import verify
from slowwave.home.workspace import Workspace
from slowwave.maintenance.doctor import examine
from slowwave.memory import Memory
from slowwave.settings import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KILLED = """
import os, signal, sys
from slowwave.backup.storage import FileStorage

method, after = sys.argv[1], int(sys.argv[2])
real, done = getattr(FileStorage, method), []


def killed(self, *arguments):
    done.append(1)
    if len(done) > after:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, *arguments)


setattr(FileStorage, method, killed)
del sys.argv[1:3]
from slowwave.cli import main
main()
"""
WRITER = """
import itertools, sys
import slowwave

with slowwave.open(sys.argv[1], namespace="ada") as memory:
    for number in itertools.count():
        told = f"Rule {number} of the harbour says that boat {number * 7} has berth {number * 3}."
        saved = memory.save(told, key=f"rule {number}")
        found = memory.search(f"berth of boat {number * 7}")
        if found.results:
            memory.feedback(found.search_id, 1, "helpful")
        print(saved.memory_id, flush=True)
"""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = make_home(tmp_path_factory.mktemp("lived") / "home")
    with Memory(load(home), namespace="ada") as memory:
        for name in ("piers", "radar", "ferry"):
            memory.save(text(name), key=name)
    return home


def backed_up(home: Path, place: Path) -> None:
    space = Workspace(load(home))
    make(space, FileStorage(str(place), make=True), None)
    space.close()


def kill(home: Path, method: str, after: int, *arguments: object) -> None:
    """A command that is killed at its next call of a method of the place of backups, after some."""
    done = subprocess.run(
        warm.python("-c", KILLED, method, after, "--home", home, *arguments),
        env=environment(), cwd=home.parent, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_backup_that_is_killed_leaves_the_others_whole_and_goes_on(lived: Path, tmp_path: Path) -> None:
    home, place = copy_home(lived, tmp_path / "home"), tmp_path / "backups"
    kill(home, "put", 20, "backup", place)
    assert Archive(FileStorage(str(place)), None).names() == []
    backed_up(home, place)  # what was sent is not sent again, and nothing is left over
    assert verify(Archive(FileStorage(str(place)), None)).unused == {}
    with Memory(load(home), namespace="ada") as memory:
        memory.save(text("lighthouse"), key="lighthouse")
        memory.store.settle()
    for method, after, left in (("put", 2, 1), ("delete", 0, 2), ("delete", 1, 1)):
        kill(home, method, after, "backup", place, "--keep", 1)
        found = verify(Archive(FileStorage(str(place)), None))
        assert found.sound, found.faults
        assert len(found.backups) == left, (method, after)
    backed_up(home, place)
    assert tags(home) == 0
    found = verify(Archive(FileStorage(str(place)), None))
    assert found.sound
    assert found.unused == {}
    restore(load(tmp_path / "new"), Archive(FileStorage(str(place)), None))
    assert_same_tables(tables(home), tables(tmp_path / "new"), "restored")


def tags(home: Path) -> int:
    """Versions that a backup holds, and the folders made for that."""
    return sum("backup-" in path.name for path in (home / "lance").rglob("*"))


@pytest.mark.parametrize("after", [0, 40])
def test_a_restore_that_is_killed_goes_on(lived: Path, tmp_path: Path, after: int) -> None:
    home, place, new = copy_home(lived, tmp_path / "home"), tmp_path / "backups", tmp_path / "new"
    backed_up(home, place)
    kill(new, "put", after, "restore", place)
    refused = subprocess.run(
        command("--home", new, "search", "radar"), env=environment(), cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert refused.returncode == 1
    assert "is being restored" in refused.stderr
    done = restore(load(new), Archive(FileStorage(str(place)), None))
    assert_same_tables(tables(home), tables(new), "restored")
    with Workspace(load(home)).journal as journal:
        assert journal.rows.digest() == done.digest


def test_backups_of_a_home_in_use(lived: Path, tmp_path: Path) -> None:
    """One process saves, searches and rates, another one runs the night; each backup is one state."""
    home, place = copy_home(lived, tmp_path / "home"), tmp_path / "backups"
    common = {"env": environment(), "cwd": tmp_path, "text": True, "start_new_session": True}
    writer = subprocess.Popen(
        warm.python("-c", WRITER, home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **common
    )
    night = subprocess.Popen(
        command("--home", home, "night"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **common
    )
    said: list[str] = []
    acknowledged: list[list[str]] = []
    try:
        backups = 0
        while backups < 4 or night.poll() is None:
            for _ in range(3):
                said.append(writer.stdout.readline().strip())
            assert all(said), writer.stderr.read()
            acknowledged.append(list(said))
            backed_up(home, place)
            backups += 1
            time.sleep(0.2)
        assert night.returncode == 0, night.stderr.read()
    finally:
        end_group(writer)
        end_group(night)
    archive = Archive(FileStorage(str(place)), None)
    assert verify(archive).sound
    names = archive.names()
    assert len(names) == backups
    for at in {0, len(names) // 2, len(names) - 1}:
        new = tmp_path / f"new {at}"
        done = restore(load(new), archive, at=names[at])
        with Workspace(
            load(home)
        ).journal as journal:  # nothing was erased: it is the beginning of the journal
            assert journal.rows.digest(until=done.backup.journal.until) == done.digest
        assert chunk_faults(new) == []
        live = set(tables(new)["memories"]["memory_id"])
        assert live >= set(acknowledged[at]), at
        # An act that was on its way is in the journal, and comes in with the next night.
        wrong = [one for one in examine(load(new)) if not one.ok and one.subject != "write-ahead log"]
        assert not wrong
        shutil.rmtree(new)

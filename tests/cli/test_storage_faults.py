"""A full disk, too few handles, files where folders should be: each command says so in a line.

The limits are those of the system (RLIMIT_FSIZE, RLIMIT_NOFILE), set for this process while the command runs.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_lines import DEPLOY, OWN, fault, sensible
from stale_days import pending_days

from slowwave.cli import app
from slowwave.errors import SlowwaveError, StoreError, TakenInLaterError
from slowwave.settings import load

BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."


@contextmanager
def limited(which: int, most: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(which)
    resource.setrlimit(which, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(which, (soft, hard))


def full_disk():
    return limited(resource.RLIMIT_FSIZE, 0)


def no_handles(free: int = 1):
    return limited(resource.RLIMIT_NOFILE, len(list(Path("/proc/self/fd").iterdir())) + free)


@pytest.fixture
def disk_full_after_the_journal(monkeypatch) -> Callable[..., None]:
    """Makes the disk full when the next act is in the journal; called again, frees it."""
    state = SimpleNamespace(limit=None)

    def fill(journal, *, on: bool) -> None:
        if not on:
            state.limit.__exit__(None, None, None)
            monkeypatch.undo()
            return

        def then_full(write):
            def written(*arguments):
                done = write(*arguments)
                state.limit = full_disk()
                state.limit.__enter__()
                return done

            return written

        for name in ("append", "append_next"):
            monkeypatch.setattr(journal, name, then_full(getattr(journal, name)))

    return fill


def test_a_save_that_reached_the_journal_says_so(memory, home, disk_full_after_the_journal):
    disk_full_after_the_journal(memory.journal, on=True)
    try:
        with pytest.raises(TakenInLaterError) as told:
            memory.save(DEPLOY, key="deploy")
    finally:
        disk_full_after_the_journal(memory.journal, on=False)
    assert "The event is in the journal: `slowwave night` applies it." in str(told.value)
    assert "disk is full" in str(told.value)
    assert told.value.exit_code == 4
    assert memory.journal.read(kinds=["save"]).height == 1
    assert pending_days(load(home, embedding={"model": "wordllama-256"}))
    assert memory.save(BATTERY).status == "live"


@pytest.mark.slow
def test_a_forget_that_reached_the_journal_says_so(memory, disk_full_after_the_journal):
    saved = memory.save(DEPLOY)
    disk_full_after_the_journal(memory.journal, on=True)
    try:
        with pytest.raises(TakenInLaterError, match="in the journal"):
            memory.forget(saved.memory_id)
    finally:
        disk_full_after_the_journal(memory.journal, on=False)


def test_what_did_not_reach_the_journal_says_so(memory):
    with full_disk(), pytest.raises(SlowwaveError, match=r"disk.*(nothing|Nothing)"):
        memory.save(DEPLOY)
    assert memory.journal.read(kinds=["save"]).height == 0
    assert memory.save(DEPLOY).status == "live"


@pytest.mark.slow
@pytest.mark.soak
def test_no_command_ends_with_a_traceback(run, known, nothing_is_served, monkeypatch, tmp_path):
    monkeypatch.setenv("SLOWWAVE_DEBUG", "1")
    monkeypatch.chdir(tmp_path)
    for path, command in OWN.items():  # everything that is imported late is imported now
        fault(app, sensible(path, command, known))
    faults = []
    for trouble, (path, command) in product((full_disk, no_handles), OWN.items()):
        with trouble():
            found = fault(app, sensible(path, command, known))
        faults += [found] * bool(found)
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:4])
    assert run("doctor").exit_code in (0, 1)


CONNECT = """
import errno, resource, sys
from pathlib import Path
from slowwave.warehouse.building import _connected
folder = Path(sys.argv[1])
with _connected(folder / "there") as connection:
    connection.execute("CREATE TABLE found AS SELECT 1 AS n")
ended = []
for most in range(3, 24):  # 0, 1 and 2 are open
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, 64))
    try:
        with _connected(folder / f"{most}"):
            ended.append("connected")
    except OSError as error:
        ended.append(errno.errorcode[error.errno])
assert ended == sorted(ended) and len(set(ended)) == 2, ended
"""


def test_without_handles_a_connection_to_the_warehouse_fails_and_ends_no_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CONNECT, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_file_where_the_tables_should_be(run, memory, home):
    memory.close()
    (home / "lance").rename(home / "was")
    (home / "lance").write_text("not a folder")
    for words in (["search", "deploy"], ["save", DEPLOY], ["doctor"], ["checkpoint", "list"]):
        done = run(*words)
        assert done.exit_code == (4 if words[0] == "save" else 1), words
        assert "Traceback" not in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)


def test_a_foreign_error_is_told_with_what_to_do(memory, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("lance error: LanceError(IO): Read-only file system (os error 30), /root/x.rs:1:2")

    monkeypatch.setattr(memory.store, "read", broken)
    with pytest.raises(StoreError, match="check the owner of the home") as told:
        memory.get("m")
    assert ".rs" not in str(told.value)
    assert "Nothing was written to the journal." in str(told.value)

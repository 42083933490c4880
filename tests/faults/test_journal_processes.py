"""The journal under processes that compete, fork, are killed, or run out of room."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave.journal import KINDS, Entry, Journal, JournalError

ROOT = Path(__file__).parents[2]
PROLOGUE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from slowwave.journal import Entry, Journal

def entry(event_id):
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    payload = {"id": event_id, "text": "word " * 800}
    return Entry(event_id, "search", "default", "s1", moment, "ann", payload=payload)
"""
APPEND = """
path, name, first, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
appended = already = 0
with Journal.open_path(path) as journal:
    for number in range(first, last):
        result = journal.append([entry(f"e{number}")])
        appended += result.appended
        already += result.already
print(appended, already, flush=True)
"""
APPEND_FOREVER = """
path, name = Path(sys.argv[1]), sys.argv[2]
journal = Journal.open_path(path)
number = 0
while True:
    # A single entry, then a batch that is either all there or not at all.
    batch = [entry(f"{name}.{number}.{part}") for part in range(1 + 9 * (number % 2))]
    journal.append(batch)
    print(number, flush=True)
    number += 1
"""


def entry(event_id: str, size: int = 100) -> Entry:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    return Entry(event_id, "search", "default", "s1", moment, "ann", payload={"text": os.urandom(size).hex()})


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROLOGUE + script, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_four_processes_that_open_a_new_file_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    # 250 each; neighbours share 100: 4 * 250 - 3 * 100 = 700 different ids.
    processes = [start(APPEND, path, name, name * 150, name * 150 + 250) for name in range(4)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    counts = [tuple(map(int, answer.split())) for answer in answers]
    assert [sum(count) for count in counts] == [250] * 4
    assert sum(appended for appended, _ in counts) == 700
    assert sum(already for _, already in counts) == 300
    with Journal.open_path(path) as journal:
        frame = journal.read(kinds=KINDS)
        assert sorted(frame["event_id"]) == sorted(f"e{number}" for number in range(700))
        assert frame["seq"].to_list() == list(range(1, 701))
        assert journal.check() == []


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    acknowledged: dict[str, int] = {}
    for round_, wanted in enumerate((1, 40, 117)):
        process = start(APPEND_FOREVER, path, f"r{round_}")
        for _ in range(wanted):
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()  # not communicate(): it would miss what readline() has buffered
        assert process.wait(timeout=60) == -signal.SIGKILL
        acknowledged[f"r{round_}"] = wanted + rest.count("\n")

        with Journal.open_path(path) as journal:
            assert journal.check() == []
            present = set(journal.read(kinds=KINDS)["event_id"])
        for name, count in acknowledged.items():
            expected = {
                f"{name}.{number}.{part}" for number in range(count) for part in range(1 + 9 * (number % 2))
            }
            assert expected <= present
            unacknowledged = {one for one in present if one.startswith(f"{name}.")} - expected
            # At most the one call that was under way, and all of it.
            assert len(unacknowledged) in (0, 1 + 9 * (count % 2))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_goes_on_with_the_journal_that_its_parent_closes(tmp_path: Path) -> None:
    journal = Journal.open_path(tmp_path / "journal.db")
    journal.append([entry("before")])
    to_child, to_parent = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            journal.append([entry(f"first{number}") for number in range(50)])
            os.write(to_parent[1], b"x")
            os.read(to_child[0], 1)
            journal.append([entry(f"second{number}") for number in range(50)])
            os._exit(0)
        except BaseException:
            os._exit(1)
    os.read(to_parent[0], 1)
    # With a lock shared with the child, this would look like the last connection and delete the child's WAL.
    journal.append([entry("parent")])
    journal.close()
    os.write(to_child[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    for end in (*to_child, *to_parent):
        os.close(end)
    with Journal.open_path(tmp_path / "journal.db") as again:
        present = set(again.read(kinds=KINDS)["event_id"])
        expected = {f"{part}{number}" for part in ("first", "second") for number in range(50)}
        assert present == expected | {"before", "parent"}
        assert again.check() == []


def test_opening_waits_for_a_process_that_writes_before_the_file_is_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE elsewhere (x)")
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    release.start()
    with Journal.open_path(path) as journal:
        assert journal.append([entry("e1")]) == (1, 0)
        assert journal.check() == []
    release.join()
    other.close()


def test_a_full_disk_loses_nothing_and_the_journal_goes_on_afterwards(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal.open_path(tmp_path / "journal.db") as journal:
        journal.append([entry("before")])
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
        try:
            with pytest.raises(
                JournalError, match=r"journal\.db: (disk I/O error|database or disk is full); .*disk"
            ):
                journal.append([entry(f"big{number}", 20_000) for number in range(100)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert journal.read(kinds=KINDS)["event_id"].to_list() == ["before"]
        assert journal.append([entry("after")]) == (1, 0)
        assert journal.check() == []


def test_opening_one_new_file_from_many_threads_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal.db"
    barrier = threading.Barrier(8)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            barrier.wait()
            with Journal.open_path(path, durability="normal") as journal:
                journal.append([entry(f"e{number}")])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Journal.open_path(path) as journal:
        assert set(journal.read(kinds=KINDS)["event_id"]) == {f"e{number}" for number in range(8)}


def test_importing_the_journal_loads_no_database_library() -> None:
    probe = "import sys, slowwave.journal; print([m for m in ('sqlalchemy', 'polars') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"

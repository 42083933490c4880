"""A save that is killed between any two of its writes is whole after the next night, and not doubled."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from faults_helpers import (
    MODEL,
    Driver,
    assert_same_tables,
    chunk_faults,
    copy_home,
    spread,
    tables,
    text,
    with_dagster,
)

import slowwave as package
from slowwave.lifecycle.reconcile import reconcile

EVERY_POINT = bool(os.environ.get("SLOWWAVE_TEST_EVERY_FAULT"))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

WORD = "zirconium"  # in the saved notes only
OLD = {"content": text("the long old text", 40), "key": "kept", "title": "Kept"}
SAVED: list[dict[str, Any]] = [
    {"content": text("new", 20) + f" The new one is about {WORD}.", "key": "new", "title": "New"},
    {"content": text("the short new text", 5) + f" Now it is about {WORD}.", "key": "kept", "title": "Kept"},
    {"content": "ok", "key": "refused", "title": "Refused"},
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a note of several chunks, one of which will be replaced by a shorter text."""
    path = tmp_path_factory.mktemp("saves") / "home"
    with package.open(path, namespace="default", embedding={"model": MODEL}) as memory:
        memory.save_many([OLD, {"content": text("other", 12), "key": "other"}])
    return with_dagster(path)


@pytest.mark.soak
def test_save_killed_at_a_write_and_healed_by_the_night(driver: Driver, home: Path) -> None:
    control = driver.run("save", copy_home(home, home.with_name("control")), notes=SAVED)
    assert control["code"] == 0, control["errors"]
    writes = control["writes"]
    assert [table for _, table, _ in writes][:4] == ["journal", "quarantine", "memories", "chunks"]
    assert writes[-1][1:] == ["chunks", "delete"]  # what the shorter text no longer has

    def kill_and_heal(point: tuple[int, str]) -> None:
        number, when = point
        what = f"killed {when} write {number} ({writes[number]})"
        torn = copy_home(home, home.with_name(f"home {number} {when}"))
        killed = driver.run("save", torn, kill=point, notes=SAVED)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        night = driver.run("night", torn)
        assert night["code"] == 0, f"{what}: {night['errors']}"
        durable = (number, when) != (0, "before")  # before the journal has it, nothing was promised
        assert_saved(torn, durable, what)
        before = tables(torn)
        assert driver.run("night", torn)["code"] == 0
        assert_same_tables(tables(torn), before, f"{what}: a night more")

    every = [(number, when) for number in range(len(writes)) for when in ("before", "after")]
    driver.each(kill_and_heal, every if EVERY_POINT else [every[0], *spread(every[1:], 6)])


def assert_saved(home: Path, durable: bool, what: str) -> None:
    found = tables(home)
    contents = dict(found["memories"].select("source", "content").rows())
    assert len(contents) == found["memories"].height == (3 if durable else 2), what
    assert contents["kept"] == (SAVED[1] if durable else OLD)["content"], what
    assert chunk_faults(home) == [], what
    assert found["quarantine"]["source"].to_list() == (["refused"] if durable else []), what
    quiet = {"log_searches": False}  # or the next night has something new
    with package.open(home, namespace="default", embedding={"model": MODEL}, journal=quiet) as memory:
        hits = [
            result.source
            for result in memory.search(WORD, explain=True)
            if "bm25" in result.explanation.channels or WORD in result.text
        ]
    assert sorted(set(hits)) == (["kept", "new"] if durable else []), what


def test_save_between_the_two_reads_of_a_reconciliation_keeps_its_chunks(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lance reads are per table: another process may save after one of them and before the other."""
    path = copy_home(home, tmp_path / "home")
    with (
        package.open(path, namespace="default", embedding={"model": MODEL}) as memory,
        package.open(path, namespace="default", embedding={"model": MODEL}) as other,
    ):
        space = memory._space
        original, saved = memory.store.read, []

        def read(name: str, *arguments: Any, **more: Any) -> Any:
            rows = original(name, *arguments, **more)
            if not saved:
                saved.append(other.save_many(SAVED[:2]))
            return rows

        monkeypatch.setattr(memory.store, "read", read)
        reconcile(memory.store, space.chunker, space.embedder)
    assert saved
    assert chunk_faults(path) == []

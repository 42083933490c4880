"""Tables that are lost or damaged are found by every command, and rebuilt from the journal row by row."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import feedback_days as march
import pytest
from filelock import FileLock
from quick_dagster import quick_nights
from rebuild_life import NAMESPACE, QUERIES, assert_same, found, lived, opened, tables

from slowwave.errors import SlowwaveError
from slowwave.home.workspace import Workspace
from slowwave.journal.maintenance_ops import PendingOpError
from slowwave.maintenance.doctor import examine
from slowwave.maintenance.rebuild import mend_journal, rebuild, running
from slowwave.memory import Memory
from slowwave.orchestration.run_nightly import run_night
from slowwave.settings import Settings, load
from slowwave.store.checkpoints import create_checkpoint, list_checkpoints

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Settings:
    """The home that is going to be lost; one worker makes it for all."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = tmp_path_factory.getbasetemp().parent / "life"  # of this run, not of this worker
    else:
        folder = tmp_path_factory.mktemp("life")
    with FileLock(f"{folder}.lock"):
        if not (folder / "whole").exists():
            with quick_nights(tmp_path_factory), pytest.MonkeyPatch.context() as as_shipped:
                for name in [name for name in os.environ if name.startswith("SLOWWAVE_GATE__")]:
                    as_shipped.delenv(name)
                space = opened(lived(folder / "home", folder / "beside", fast_embedder), fast_embedder)
            found(space)  # leaves the text index as a rebuilding does
            space.close()
            (folder / "whole").touch()
    return load(folder / "home")


@pytest.fixture
def copied(original: Settings, tmp_path: Path, fast_embedder: Any) -> Iterator[Callable[[], Workspace]]:
    """Opens a copy of that home, the same one each time."""
    shutil.copytree(original.home, tmp_path / "home")
    (tmp_path / "home").chmod(0o700)
    spaces: list[Workspace] = []

    def open_() -> Workspace:
        spaces.append(opened(load(tmp_path / "home"), fast_embedder))
        return spaces[-1]

    yield open_
    for one in spaces:
        one.close()


class Killed(BaseException):
    """What ends a process in the middle."""


def said_by(space: Workspace, *, night: bool = True) -> list[str]:
    """What search, save and night say of a home that is not in order."""
    said = []
    memory = Memory(space.settings, namespace=NAMESPACE, space=space)
    acts = {
        "search": lambda: memory.search(QUERIES[0]),
        "save": lambda: memory.save(
            "The buoy at the mouth of the river was painted green in April.", key="buoy"
        ),
    }
    if night:
        acts["night"] = lambda: _night(space.settings)
    for name, act in acts.items():
        space.reopen()
        try:
            act()
        except SlowwaveError as error:
            said.append(str(error))
        else:
            said.append(f"{name} said nothing")
    return said


def _night(settings: Settings) -> None:
    """A night that may not even begin, or fails on the way."""
    report = run_night(settings, march.name(4), march.name(4))
    if report["errors"]:
        raise SlowwaveError(report["errors"][0])


def advised(space: Workspace) -> set[str]:
    """The commands that the doctor names for what is not in order."""
    return {one.advice for one in examine(space.settings) if not one.ok}


def test_a_home_whose_tables_are_gone_is_rebuilt_as_it_was(copied: Callable[[], Workspace]) -> None:
    before = copied()
    lost, shown = tables(before), found(before)
    assert not [name for name, rows in lost.items() if rows.is_empty()]
    shutil.rmtree(before.settings.store_uri)
    space = copied()
    assert "slowwave rebuild" in advised(space)
    assert all("slowwave rebuild" in line for line in said_by(space))
    done = rebuild(space)
    assert done.tables == {name: rows.height for name, rows in lost.items()} | {"meta": done.tables["meta"]}
    assert_same(lost, tables(space))
    assert found(space) == shown
    (waits,) = [one for one in examine(space.settings) if not one.ok and one.subject not in ("vault", "home")]
    assert waits.message.startswith("1 journal entry not in the tables yet")  # what `save` wrote above


@pytest.mark.parametrize("moment", [0, 7, 21, "made"])
def test_a_rebuilding_that_is_killed_is_known_and_comes_to_the_same(
    copied: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch, moment: int | str
) -> None:
    space = copied()
    lost = tables(space)
    count = 0
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        nonlocal count
        count += 1
        if moment == "made" or count > moment:
            raise Killed
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        with pytest.raises(Killed):
            rebuild(space)
    again = copied()
    with pytest.raises(PendingOpError, match=r"finish it: slowwave rebuild$"):
        assert again.store
    assert all("slowwave rebuild" in line for line in said_by(again, night=moment == 0))
    assert "slowwave rebuild" in advised(again)
    rebuild(again)
    assert_same(lost, tables(again))


def _gone(folder: Path) -> None:
    shutil.rmtree(folder)


def _truncated(folder: Path) -> None:
    for file in (folder / "data").glob("*.lance"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _without_data(folder: Path) -> None:
    shutil.rmtree(folder / "data")


def _without_newest_manifest(folder: Path) -> None:
    min((folder / "_versions").glob("*.manifest"), key=lambda one: int(one.stem)).unlink()


def _without_manifests(folder: Path) -> None:
    for file in (folder / "_versions").glob("*.manifest"):
        file.unlink()


def _empty_manifest(folder: Path) -> None:
    min((folder / "_versions").glob("*.manifest"), key=lambda one: int(one.stem)).write_bytes(b"")


def _without_index_part(folder: Path) -> None:
    for file in (folder / "_indices").glob("*/part_*_invert.lance"):
        file.unlink()


DAMAGES = (
    ("memories", _gone), ("decisions", _gone), ("meta", _gone), ("chunks", _truncated),
    ("searches", _truncated), ("chunks", _without_data), ("memories", _without_newest_manifest),
    ("meta", _without_manifests), ("memories", _empty_manifest), ("chunks", _without_index_part),
)  # fmt: skip


@pytest.mark.parametrize(("table", "damage"), DAMAGES, ids=lambda one: getattr(one, "__name__", one))
def test_a_damaged_table_is_found_and_named_and_rebuilt(
    copied: Callable[[], Workspace], table: str, damage: Callable[[Path], None]
) -> None:
    space = copied()
    create_checkpoint(space.store, "before", space.now())
    lost = tables(space)
    space.close()
    damage(Path(space.settings.store_uri) / f"{table}.lance")
    space = copied()
    assert f"slowwave rebuild {table}" in advised(space)
    done = rebuild(space, [table])
    assert list(done.tables) == [table]
    assert ("before" in done.checkpoints) == (table != "meta")  # which had the list
    assert not list_checkpoints(space.store)
    assert_same(lost, tables(space))
    if table == "searches":
        return  # only the folding of feedback reads it
    space.close()
    damage(Path(space.settings.store_uri) / f"{table}.lance")
    space = copied()
    said = said_by(space, night=(table, damage) == ("chunks", _truncated))
    needless = ("search", "save") if damage is _without_index_part else ()  # neither needs an index
    silent = [f"{act} said nothing" for act in needless]
    assert [line for line in said if f"slowwave rebuild {table}" not in line] == silent


def test_an_old_home_is_adopted_with_its_first_change(copied: Callable[[], Workspace]) -> None:
    space = copied()
    with sqlite3.connect(space.settings.journal_file) as journal:
        journal.execute("DELETE FROM journal_entries WHERE kind = 'record'")
    with pytest.raises(SlowwaveError, match="older than journal records"):
        rebuild(space, ["decisions"])
    Memory(space.settings, namespace=NAMESPACE, space=space).save(
        "The tide table hangs in the hall.", key="new"
    )
    lost = tables(space)
    shutil.rmtree(space.settings.store_uri)
    again = copied()
    rebuild(again)
    assert_same(lost, tables(again))


def _lose_tail(journal: Path) -> None:
    with sqlite3.connect(journal) as database:
        last = database.execute("SELECT max(seq) FROM journal_entries WHERE kind = 'save'").fetchone()[0]
        database.execute("DELETE FROM journal_entries WHERE seq >= ?", [last])


def _missing(journal: Path) -> None:
    for file in journal.parent.glob("journal.db*"):
        file.unlink()


def _zeroed(journal: Path) -> None:
    _missing(journal)
    journal.write_bytes(b"\0" * 8192)


def _cut(journal: Path) -> None:
    with sqlite3.connect(journal) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = journal.read_bytes()
    _missing(journal)
    journal.write_bytes(whole[: len(whole) // 3])


def _emptied(journal: Path) -> None:
    _missing(journal)
    journal.write_bytes(b"")


@pytest.mark.parametrize("damage", [_lose_tail, _missing, _zeroed, _cut, _emptied])
def test_a_damaged_journal_is_found_and_learns_what_the_tables_know(
    copied: Callable[[], Workspace], damage: Callable[[Path], None]
) -> None:
    space = copied()
    lost, shown = tables(space), found(space)
    space.close()
    damage(space.settings.journal_file)
    space = copied()
    assert "slowwave rebuild --journal" in advised(space)
    assert all("slowwave rebuild --journal" in line for line in said_by(copied(), night=damage is _missing))
    space = copied()
    mended = mend_journal(space)
    assert mended.lost > 0
    assert bool(mended.aside) == (damage in (_zeroed, _cut))
    assert any("slowwave ingest FOLDER" in sentence for sentence in mended.gone)
    assert_same(lost, tables(space))
    assert "slowwave rebuild --journal" not in advised(space)
    shutil.rmtree(space.settings.store_uri)
    again = copied()
    rebuild(again)
    assert_same(lost, tables(again))
    assert found(again) == shown


def test_nothing_is_touched_where_the_journal_cannot_tell(
    copied: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    space = copied()
    lost = tables(space)
    monkeypatch.setattr(running, "replayed", lambda *_: (_ for _ in ()).throw(SlowwaveError("no")))
    with pytest.raises(SlowwaveError):
        rebuild(space)
    assert_same(lost, tables(copied()))

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from slowwave.store.checkpoints import create_checkpoint, delete_checkpoint, restore_checkpoint
from slowwave.store.maintenance import maintain, remove_replaced

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = timedelta(0)
VECTOR = [1.0] * 8


def save(store, number: int) -> None:
    name = f"{number % 40:03}"
    store.upsert(
        "memories", pl.DataFrame({"memory_id": [name], "namespace": ["ada"], "title": [f"title {number}"]})
    )
    vector = pl.Series([[float(number)] + [1.0] * 7], dtype=pl.Array(pl.Float32, 8))
    store.upsert(
        "chunks", pl.DataFrame({"chunk_id": [name], "search_text": [f"words {number}"], "vector": vector})
    )


def files(store) -> int:
    return sum(path.is_file() for path in Path(store.uri).rglob("*"))


def titles(store) -> list[tuple[str, str]]:
    return sorted(store.read("memories", columns=["memory_id", "title"]).rows())


@pytest.mark.slow
@pytest.mark.soak
def test_the_number_of_files_stays_bounded_with_a_checkpoint_held(store):
    for number in range(10):
        save(store, number)
    create_checkpoint(store, "held", NOON)
    before = titles(store)
    sizes = []
    for turn in range(5):
        for number in range(30):
            save(store, 10 + 30 * turn + number)
        maintain(store, keep_versions=NOW)
        sizes.append(files(store))
    assert max(sizes[1:]) <= sizes[0] * 1.2 + 10
    assert store.count("memories") == 40
    restore_checkpoint(store, "held")
    assert titles(store) == before


@pytest.mark.slow
def test_maintenance_changes_no_row_and_says_what_it_removed(store):
    for number in range(12):
        save(store, number)
    before, count = titles(store), files(store)
    done = {one.table: one for one in maintain(store, keep_versions=NOW)}
    assert set(done) == set(store.db.list_tables().tables)
    assert (done["memories"].rows, done["chunks"].rows) == (12, 12)
    assert done["memories"].versions_removed >= 12
    assert done["memories"].bytes_removed > 0
    assert files(store) < count
    assert titles(store) == before
    found = store.table("chunks").search("words", query_type="fts").limit(50).to_list()
    assert len(found) == 12


def test_versions_younger_than_the_limit_stay(store, monkeypatch):
    day = timedelta(days=1)
    monkeypatch.setattr("slowwave.store.maintenance.KEPT", day)  # or a slow machine makes some that are older
    for number in range(5):
        save(store, number)
    done = maintain(store, keep_versions=day)
    assert {one.versions_removed for one in done} == {0}


def test_versions_of_tables_that_are_saved_to_all_day_go_as_soon_as_by_day(store, monkeypatch):
    monkeypatch.setattr("slowwave.store.maintenance.KEPT", NOW)
    row = pl.DataFrame({"staged_id": ["a"], "day": ["2026-03-01"]})
    for number in range(3):
        save(store, number)
        store.upsert("staged_notes", row)
        store.upsert("embedded_chunks", pl.DataFrame({"embedded_id": [f"{number}"], "vector": [VECTOR]}))
    done = {one.table: one.versions_removed for one in maintain(store, keep_versions=timedelta(days=1))}
    assert done["memories"] > 0
    assert done["embedded_chunks"] > 0  # it follows from other tables
    assert done["staged_notes"] == 0


@pytest.mark.slow
def test_what_only_a_deleted_checkpoint_held_is_freed(store):
    save(store, 0)
    create_checkpoint(store, "held", NOON)
    for number in range(1, 6):
        save(store, number)
    maintain(store, keep_versions=NOW)
    delete_checkpoint(store, "held")
    done = {one.table: one for one in maintain(store, keep_versions=NOW)}
    assert done["memories"].versions_removed >= 1
    assert store.count("memories") == 6


def test_replaced_files_go_once_readers_have_finished(store, monkeypatch):
    for number in range(12):
        save(store, number)
    store.table("chunks").optimize()
    before, size = titles(store), files(store)
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        monkeypatch.setattr("slowwave.store.maintenance.KEPT", NOW)  # as if it had passed

    removed = remove_replaced(store, time.monotonic() - 10, worth=1, pause=pause)
    assert 0 < pauses[0] <= 20  # of the 30 s
    assert removed > 0
    assert files(store) < size
    assert titles(store) == before
    assert remove_replaced(store, time.monotonic(), worth=1, pause=pause) == 0
    assert len(pauses) == 1  # nothing is left to wait for


def test_few_replaced_files_are_not_waited_for(store):
    for number in range(3):
        save(store, number)
    count = files(store)
    assert remove_replaced(store, time.monotonic(), pause=pytest.fail) == 0
    assert files(store) == count


def test_a_checkpoint_is_not_waited_for(store, monkeypatch):
    monkeypatch.setattr("slowwave.store.maintenance.KEPT", NOW)
    save(store, 0)
    create_checkpoint(store, "held", NOON)
    before = titles(store)
    for number in range(1, 6):
        save(store, number)
    assert remove_replaced(store, time.monotonic(), worth=1, pause=lambda _: None) > 0
    assert remove_replaced(store, time.monotonic(), worth=1, pause=pytest.fail) == 0
    restore_checkpoint(store, "held")
    assert titles(store) == before

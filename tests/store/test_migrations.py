from __future__ import annotations

import threading
from datetime import UTC, datetime

import polars as pl
import pytest

from slowwave.errors import StoreError
from slowwave.store import Store
from slowwave.store.checkpoints import interrupted_restore, list_checkpoints, restore_checkpoint
from slowwave.store.migrations import MIGRATIONS, Migration, migrate, pending

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def filled(store: Store) -> Store:
    names = [f"{number:03}" for number in range(50)]
    store.upsert("memories", pl.DataFrame({"memory_id": names, "namespace": ["ada"] * 50, "title": names}))
    vectors = pl.Series(
        [[1.0, number / 50, *[0.0] * 6] for number in range(50)], dtype=pl.Array(pl.Float32, 8)
    )
    store.upsert("chunks", pl.DataFrame({"chunk_id": names, "search_text": names, "vector": vectors}))
    return store


def add_mood(store: Store) -> None:
    table = store.db.open_table("memories")
    if "mood" not in table.schema.names:
        table.add_columns({"mood": "concat('calm ', title)"})


MOOD = Migration(2, "moods", ("memories",), add_mood)


def failing(store: Store) -> None:
    add_mood(store)
    store.db.open_table("memories").delete("memory_id < '025'")
    raise RuntimeError("the disk is full")


def columns(store: Store) -> list[str]:
    return list(store.db.open_table("memories").schema.names)


def test_this_version_has_nothing_pending_on_a_new_store(store):
    assert pending(store) == []
    assert migrate(store, NOON) == []
    assert list_checkpoints(store) == []
    assert all(step.version > 1 for step in MIGRATIONS)


def test_a_migration_is_applied_once_with_a_checkpoint_before_it(filled):
    assert pending(filled, [MOOD]) == [MOOD]
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    rows = filled.db.open_table("memories").search().select(["memory_id", "mood"]).limit(None).to_list()
    assert sorted((row["memory_id"], row["mood"]) for row in rows)[0] == ("000", "calm 000")
    assert len(rows) == 50
    assert filled.get_meta("schema") == {"version": 2}
    assert [(one.name, one.created_at) for one in list_checkpoints(filled)] == [("before-migration-2", NOON)]
    version = filled.db.open_table("memories").version
    assert migrate(filled, NOON, [MOOD]) == []
    assert filled.db.open_table("memories").version == version


def test_migrations_are_applied_in_the_order_of_their_versions(filled):
    seen = []
    steps = [
        Migration(number, str(number), ("memories",), lambda _, n=number: seen.append(n))
        for number in (4, 2, 3)
    ]
    assert [step.version for step in migrate(filled, NOON, steps)] == [2, 3, 4]
    assert seen == [2, 3, 4]
    assert filled.get_meta("schema") == {"version": 4}


def test_a_migration_that_fails_is_undone_and_the_version_stays(filled):
    before, names = filled.read("memories").sort("memory_id"), columns(filled)
    with pytest.raises(RuntimeError, match="the disk is full"):
        migrate(filled, NOON, [Migration(2, "moods", ("memories",), failing)])
    assert columns(filled) == names
    assert filled.read("memories").sort("memory_id").equals(before)
    assert filled.get_meta("schema") == {"version": 1}
    assert interrupted_restore(filled) is None


def test_a_failed_migration_may_be_run_again(filled):
    with pytest.raises(RuntimeError):
        migrate(filled, NOON, [Migration(2, "moods", ("memories",), failing)])
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    assert "mood" in columns(filled)
    assert filled.count("memories") == 50
    restore_checkpoint(filled, "before-migration-2", only=["memories"])
    assert "mood" not in columns(filled)
    assert filled.count("memories") == 50


def test_steps_before_a_failing_one_are_kept(filled):
    with pytest.raises(RuntimeError):
        migrate(filled, NOON, [MOOD, Migration(3, "fails", ("memories",), failing)])
    assert filled.get_meta("schema") == {"version": 2}
    assert "mood" in columns(filled)
    assert filled.count("memories") == 50


def test_a_migration_killed_before_its_version_was_recorded_is_run_again(filled, monkeypatch):
    put_meta = filled.put_meta

    def dies(name, value, **options):
        if name == "schema":
            raise KeyboardInterrupt
        put_meta(name, value, **options)

    monkeypatch.setattr(filled, "put_meta", dies)
    with pytest.raises(KeyboardInterrupt):
        migrate(filled, NOON, [MOOD])
    monkeypatch.undo()
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    assert filled.get_meta("schema") == {"version": 2}


def test_searches_go_on_while_a_migration_runs(filled):
    reader = Store(filled.uri, model="hash-8", dimension=8)
    begun, stop, errors, sizes = threading.Event(), threading.Event(), [], []

    def search() -> None:
        while not stop.is_set():
            try:
                rows = (
                    reader.table("chunks")
                    .search([1.0] + [0.0] * 7)
                    .distance_type("cosine")
                    .limit(5)
                    .to_list()
                )
                sizes.append((len(rows), reader.count("memories")))
            except Exception as error:
                errors.append(error)
            begun.set()

    def slow(store: Store) -> None:
        assert begun.wait(30)
        for number in range(5):
            store.db.open_table("memories").add_columns({f"column_{number}": "'x'"})
            store.db.open_table("chunks").add_columns({f"column_{number}": "'x'"})

    thread = threading.Thread(target=search)
    thread.start()
    try:
        migrate(filled, NOON, [Migration(2, "slow", ("memories", "chunks"), slow)])
    finally:
        stop.set()
        thread.join()
    assert errors == []
    assert set(sizes) == {(5, 50)}


def test_a_store_of_a_newer_slowwave_is_refused(store):
    store.put_meta("schema", {"version": 99})
    with pytest.raises(StoreError) as caught:
        Store(store.uri, model="hash-8", dimension=8)
    assert "schema version 99" in str(caught.value)
    assert "Install a newer Slowwave" in str(caught.value)

from __future__ import annotations

import threading
from datetime import UTC, datetime

import polars as pl
import pytest

from slowwave.errors import StoreError
from slowwave.store import Store
from slowwave.store.checkpoints import interrupted_restore, list_checkpoints, restore_checkpoint
from slowwave.store.migrations import BEFORE, MIGRATIONS, MIN_VERSION, Migration, migrate, pending
from slowwave.store.tables import SCHEMA_VERSION

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEXT = SCHEMA_VERSION + 1  # of the steps that these tests make up


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


MOOD = Migration(NEXT, "moods", ("memories",), add_mood)


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
    assert store.get_meta("schema") == {"version": SCHEMA_VERSION}
    assert all(MIN_VERSION < step.version <= SCHEMA_VERSION for step in MIGRATIONS)


def test_a_migration_is_applied_once_with_a_checkpoint_before_it(filled):
    assert pending(filled, [MOOD]) == [MOOD]
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    rows = filled.db.open_table("memories").search().select(["memory_id", "mood"]).limit(None).to_list()
    assert sorted((row["memory_id"], row["mood"]) for row in rows)[0] == ("000", "calm 000")
    assert len(rows) == 50
    assert filled.get_meta("schema") == {"version": NEXT}
    assert [(one.name, one.created_at) for one in list_checkpoints(filled)] == [
        (f"before-migration-{NEXT}", NOON),
        (BEFORE, NOON),
    ]
    version = filled.db.open_table("memories").version
    assert migrate(filled, NOON, [MOOD]) == []
    assert filled.db.open_table("memories").version == version


def test_migrations_are_applied_in_the_order_of_their_versions(filled):
    seen = []
    steps = [
        Migration(number, str(number), ("memories",), lambda _, n=number: seen.append(n))
        for number in (NEXT + 2, NEXT, NEXT + 1)
    ]
    assert [step.version for step in migrate(filled, NOON, steps)] == [NEXT, NEXT + 1, NEXT + 2]
    assert seen == [NEXT, NEXT + 1, NEXT + 2]
    assert filled.get_meta("schema") == {"version": NEXT + 2}


def test_a_migration_that_fails_is_undone_and_the_version_stays(filled):
    before, names = filled.read("memories").sort("memory_id"), columns(filled)
    with pytest.raises(RuntimeError, match="the disk is full"):
        migrate(filled, NOON, [Migration(NEXT, "moods", ("memories",), failing)])
    assert columns(filled) == names
    assert filled.read("memories").sort("memory_id").equals(before)
    assert filled.get_meta("schema") == {"version": SCHEMA_VERSION}
    assert interrupted_restore(filled) is None


def test_a_failed_migration_may_be_run_again(filled):
    with pytest.raises(RuntimeError):
        migrate(filled, NOON, [Migration(NEXT, "moods", ("memories",), failing)])
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    assert "mood" in columns(filled)
    assert filled.count("memories") == 50
    restore_checkpoint(filled, f"before-migration-{NEXT}", only=["memories"])
    assert "mood" not in columns(filled)
    assert filled.count("memories") == 50


def test_steps_before_a_failing_one_are_kept(filled):
    with pytest.raises(RuntimeError):
        migrate(filled, NOON, [MOOD, Migration(NEXT + 1, "fails", ("memories",), failing)])
    assert filled.get_meta("schema") == {"version": NEXT}
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
    assert filled.get_meta("schema") == {"version": NEXT}


def test_a_step_that_fails_is_undone_in_the_table_that_a_new_model_has(filled):
    known = filled.get_meta("embedding")
    filled.create_table(filled.specs["memories"], "memories_new")
    filled.put_meta("embedding", known | {"tables": {"memories": "memories_new"}})
    filled.refresh()
    filled.upsert("memories", pl.DataFrame({"memory_id": ["one"], "title": ["one"]}))

    def fails(store: Store) -> None:
        store.table("memories").delete("true")
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="the disk is full"):
        migrate(filled, NOON, [Migration(NEXT, "empties", ("memories",), fails)])
    assert filled.read("memories", columns=["memory_id"])["memory_id"].to_list() == ["one"]


def test_what_is_declared_comes_without_a_step_of_its_own(store):
    row = {"promotion_id": "p", "day": "2026-03-01", "namespace": "ada", "memory_id": "m"}
    store.upsert("promotions", pl.DataFrame([row]))
    store.table("promotions").drop_columns(["detail"])
    store.db.drop_table("search_keys")
    for name in ("search_keys, promotions.detail", ""):  # then as if killed before its version was recorded
        store.put_meta("schema", {"version": SCHEMA_VERSION - 1})
        store.refresh()
        (step,) = pending(store, [])
        assert (step.version, step.name) == (SCHEMA_VERSION, name)
        migrate(store, NOON, [])
        assert store.get_meta("schema") == {"version": SCHEMA_VERSION}
        (kept,) = store.read("promotions").to_dicts()
        assert (kept["memory_id"], kept["detail"]) == ("m", None)
        for table in ("promotions", "search_keys"):
            spec, schema = store.specs[table], store.db.open_table(table).schema
            assert {field.name: field.type for field in schema} == {
                field.name: field.type for field in spec.schema
            }
            assert schema.field(spec.key).metadata[b"lance-schema:unenforced-primary-key"] == b"true"


def test_tables_of_a_version_that_nobody_has_are_refused(store):
    store.put_meta("schema", {"version": MIN_VERSION - 1})
    with pytest.raises(
        StoreError, match=f"schema version {MIN_VERSION - 1}; this Slowwave upgrades those from"
    ):
        migrate(store, NOON)
    assert store.get_meta("schema") == {"version": MIN_VERSION - 1}


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
        migrate(filled, NOON, [Migration(NEXT, "slow", ("memories", "chunks"), slow)])
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


def test_a_store_of_version_13_learns_the_questions_of_its_feedback_and_folds_every_day_anew(store):
    lacking = {"usage_signals": "query_id", "learned_effect": "rated"}
    keys = {name: store.specs[name].key for name in lacking}
    for name, key in keys.items():
        row = {key: "one", "day": "2026-03-01", "namespace": "ada", "search_id": "s"}
        store.upsert(name, pl.DataFrame([row]))
        store.table(name).drop_columns([lacking[name]])
    store.put_metas({"fold-2026-03-01": {"seqs": [1, 1]}, "evaluated-2026-03-01": {}, "night-2026-03-01": {}})
    store.put_meta("schema", {"version": 13})
    store.refresh()
    for _ in range(2):  # the second time as if it had been killed before its version was recorded
        assert [step.version for step in migrate(store, NOON)] == [14, 18, SCHEMA_VERSION]
        assert store.get_meta("schema") == {"version": SCHEMA_VERSION}
        for name, column in lacking.items():
            (row,) = store.read(name).to_dicts()
            assert (row[keys[name]], row["search_id"], row[column]) == ("one", "s", None)
            schema = store.db.open_table(name).schema
            assert {field.name: field.type for field in schema} == {
                field.name: field.type for field in store.specs[name].schema
            }
        assert not store.list_meta("fold-")
        assert store.list_meta("evaluated-")
        assert store.list_meta("night-")
        store.put_meta("schema", {"version": 13})
        store.refresh()

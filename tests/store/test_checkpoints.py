from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from slowwave.errors import NotFoundError, StoreError
from slowwave.store.checkpoints import (
    checkpointed,
    create_checkpoint,
    delete_checkpoint,
    interrupted_restore,
    list_checkpoints,
    restore_checkpoint,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def put(store, *names: str, word: str = "harbour") -> None:
    store.upsert("memories", pl.DataFrame({"memory_id": list(names), "namespace": ["ada"] * len(names)}))
    vector = pl.Series([[1.0] + [0.0] * 7] * len(names), dtype=pl.Array(pl.Float32, 8))
    store.upsert(
        "chunks",
        pl.DataFrame(
            {
                "chunk_id": [f"{name}:00000" for name in names],
                "search_text": [f"{word} {name}" for name in names],
                "vector": vector,
            }
        ),
    )


def held(store) -> list[str]:
    memories = sorted(store.read("memories", columns=["memory_id"])["memory_id"])
    assert (
        sorted(name.partition(":")[0] for name in store.read("chunks", columns=["chunk_id"])["chunk_id"])
        == memories
    )
    return memories


def text_hits(store, word: str) -> list[str]:
    from lancedb.query import MatchQuery

    rows = (
        store.table("chunks").search(MatchQuery(word, "search_text"), query_type="fts").limit(100).to_list()
    )
    return sorted(row["chunk_id"].partition(":")[0] for row in rows)


def names(store) -> list[str]:
    return [one.name for one in list_checkpoints(store)]


def test_a_checkpoint_names_the_present_version_of_every_table(store):
    put(store, "a")
    made = create_checkpoint(store, "first", NOON)
    assert (made.name, made.created_at) == ("first", NOON)
    assert set(made.tables) == set(store.db.list_tables().tables)
    assert made.tables["memories"] == store.table("memories").version
    assert list_checkpoints(store) == [made]


def test_checkpoints_are_listed_oldest_first(store):
    for name, at in (("b", NOON + HOUR), ("c", NOON), ("a", NOON + HOUR)):
        create_checkpoint(store, name, at)
    assert names(store) == ["c", "a", "b"]


def test_restoring_brings_every_table_back(store):
    put(store, "a", "b")
    create_checkpoint(store, "before", NOON)
    put(store, "c", word="lighthouse")
    store.delete("memories", "memory_id = 'a'")
    store.delete("chunks", "chunk_id = 'a:00000'")
    assert held(store) == ["b", "c"]
    assert restore_checkpoint(store, "before").name == "before"
    assert held(store) == ["a", "b"]
    assert interrupted_restore(store) is None


def test_the_full_text_index_agrees_with_the_restored_table(store):
    put(store, "a", "b")
    store.table("chunks").optimize()
    create_checkpoint(store, "before", NOON)
    put(store, "a", word="lighthouse")
    put(store, "c", word="lighthouse")
    store.table("chunks").optimize()
    assert (text_hits(store, "lighthouse"), text_hits(store, "harbour")) == (["a", "c"], ["b"])
    restore_checkpoint(store, "before")
    assert (text_hits(store, "lighthouse"), text_hits(store, "harbour")) == ([], ["a", "b"])
    put(store, "d")
    assert text_hits(store, "harbour") == ["a", "b", "d"]


def test_later_checkpoints_stay_and_can_be_restored(store):
    put(store, "a")
    create_checkpoint(store, "one", NOON)
    put(store, "b")
    create_checkpoint(store, "two", NOON + HOUR)
    put(store, "c")
    restore_checkpoint(store, "one")
    assert names(store) == ["one", "two"]
    assert held(store) == ["a"]
    restore_checkpoint(store, "two")
    assert names(store) == ["one", "two"]
    assert held(store) == ["a", "b"]
    restore_checkpoint(store, "one")
    assert held(store) == ["a"]


def test_only_some_tables_may_be_restored(store):
    put(store, "a")
    create_checkpoint(store, "before", NOON)
    put(store, "b")
    restore_checkpoint(store, "before", only=["memories"])
    assert store.count("memories") == 1
    assert store.count("chunks") == 2


def test_a_deleted_checkpoint_is_gone(store):
    create_checkpoint(store, "one", NOON)
    create_checkpoint(store, "two", NOON)
    delete_checkpoint(store, "one")
    assert names(store) == ["two"]
    for table in store.db.list_tables().tables:
        assert set(store.db.open_table(table).tags.list()) == {"checkpoint-two"}
    create_checkpoint(store, "one", NOON + HOUR)
    assert names(store) == ["two", "one"]


def test_deleting_a_checkpoint_that_is_not_there_is_an_error(store):
    with pytest.raises(NotFoundError, match="nowhere"):
        delete_checkpoint(store, "nowhere")


def test_restoring_a_checkpoint_that_is_not_there_names_those_that_are(store):
    with pytest.raises(NotFoundError, match=r"No checkpoint 'x'\. Checkpoints: none"):
        restore_checkpoint(store, "x")
    create_checkpoint(store, "one", NOON)
    with pytest.raises(NotFoundError, match="Checkpoints: one"):
        restore_checkpoint(store, "x")
    assert interrupted_restore(store) is None


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", ".a", "a/b", "é", "a" * 65, "a\nb", "../x"])
def test_a_name_that_a_tag_cannot_have_is_refused(store, name):
    with pytest.raises(StoreError, match="Checkpoint name"):
        create_checkpoint(store, name, NOON)
    assert names(store) == []


def test_a_name_with_a_line_break_at_its_end_is_refused_before_anything_is_tagged(store):
    with pytest.raises(StoreError, match="Checkpoint name"):
        create_checkpoint(store, "a\n", NOON)


@pytest.mark.parametrize("name", ["a", "a" * 64, "2026-03-01", "before.migration_1-x"])
def test_a_name_may_have_letters_digits_and_marks(store, name):
    create_checkpoint(store, name, NOON)
    assert names(store) == [name]


def test_a_name_is_used_once(store):
    put(store, "a")
    create_checkpoint(store, "one", NOON)
    put(store, "b")
    with pytest.raises(StoreError, match="Checkpoint 'one' exists already"):
        create_checkpoint(store, "one", NOON + HOUR)
    restore_checkpoint(store, "one")
    assert held(store) == ["a"]


def test_a_checkpoint_that_was_killed_half_way_is_made_again_of_the_present(store):
    put(store, "a")
    table = store.db.open_table("chunks")
    table.tags.create("checkpoint-one", table.version)
    put(store, "b")
    assert names(store) == []
    create_checkpoint(store, "one", NOON)
    put(store, "c")
    restore_checkpoint(store, "one")
    assert held(store) == ["a", "b"]


def test_a_restore_that_was_killed_is_seen_and_finished_by_running_it_again(store, monkeypatch):
    put(store, "a")
    create_checkpoint(store, "before", NOON)
    put(store, "b")
    create_checkpoint(store, "after", NOON + HOUR)
    open_table, restored = type(store.db).open_table, []

    def dies_at_the_second_table(self, name, *args, **options):
        table = open_table(self, name, *args, **options)
        if name in ("decisions", "memories", "staged_notes"):
            restored.append(name)
            if len(restored) == 2:
                raise KeyboardInterrupt
        return table

    monkeypatch.setattr(type(store.db), "open_table", dies_at_the_second_table)
    with pytest.raises(KeyboardInterrupt):
        restore_checkpoint(store, "before")
    monkeypatch.undo()
    assert interrupted_restore(store) == "before"
    restore_checkpoint(store, "before")
    assert interrupted_restore(store) is None
    assert held(store) == ["a"]
    assert names(store) == ["before", "after"]


def test_a_change_that_fails_is_undone_and_its_error_goes_on(store):
    put(store, "a")

    def change() -> None:
        with checkpointed(store, "safety", NOON, ["memories", "chunks"]) as made:
            assert made.name == "safety"
            put(store, "b")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change()
    assert held(store) == ["a"]
    assert interrupted_restore(store) is None
    with checkpointed(store, "kept", NOON, ["memories", "chunks"]):
        put(store, "c")
    assert held(store) == ["a", "c"]
    assert names(store) == ["kept", "safety"]

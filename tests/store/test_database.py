from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pyarrow as pa
import pytest

from slowwave.errors import ModelError, StoreError
from slowwave.store import NOTE_FIELDS, Store, one_of, quote, table_specs
from slowwave.store.frames import batches
from slowwave.store.tables import SCHEMA_VERSION

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STRANGE = [
    "plain", "", " ", "o'clock", "''", "'; DROP TABLE memories; --", 'say "hi"', "a\\b", "%", "_",
    "line\nbreak",     "tab\t", "naïve 🌊", "x' OR '1'='1", "`", "\u200b", "NULL", "null", "{}", "$1", "?",
]  # fmt: skip


def memories(ids: list[str], **columns) -> pl.DataFrame:
    rows = pl.DataFrame(
        {"memory_id": ids, "namespace": ["ada"] * len(ids)}, schema_overrides={"memory_id": pl.String}
    )
    return rows.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


def staged(rows: dict[str, str], **columns) -> pl.DataFrame:
    return pl.DataFrame({"staged_id": list(rows), "day": list(rows.values()), **columns})


def held(store: Store, name: str, *columns: str) -> list[tuple]:
    key = store.specs[name].key
    return sorted(store.read(name, columns=[key, *columns]).rows())


# -- opening ---------------------------------------------------------------------------------------


def test_a_new_store_has_every_table_with_its_schema_and_declared_key(tmp_path):
    store = Store(str(tmp_path / "lance"), model="hash-8", dimension=8)
    specs = table_specs(8)
    assert set(store.db.list_tables().tables) == set(specs)
    for name, spec in specs.items():
        table = store.table(name)
        assert table.schema.names == spec.schema.names
        assert [field.type for field in table.schema] == [field.type for field in spec.schema], name
        key = table.schema.field(spec.key)
        assert not key.nullable, name
        assert key.metadata[b"lance-schema:unenforced-primary-key"] == b"true", name
    for name in ("memories", "chunks", "embedded_chunks"):
        assert store.specs[name].schema.field("vector").type == pa.list_(pa.float32(), 8)
    assert (store.identity.model, store.identity.dimension, dict(store.identity.tables)) == ("hash-8", 8, {})
    assert store.get_meta("schema") == {"version": SCHEMA_VERSION}


def test_partitioned_tables_have_a_day_and_notes_share_their_fields():
    specs = table_specs(8)
    for name, spec in specs.items():
        assert spec.partition in (None, "day"), name
        assert spec.partition is None or "day" in spec.schema.names, name
    for name in ("memories", "staged_notes"):
        assert set(NOTE_FIELDS) <= set(specs[name].schema.names)
    assert {name: spec.full_text for name, spec in specs.items() if spec.full_text} == {
        "chunks": ("search_text",)
    }


def test_opening_again_changes_nothing(store):
    store.upsert("memories", memories(["a"]))
    versions = {name: store.table(name).version for name in store.specs}
    again = Store(store.uri, model="hash-8", dimension=8)
    assert {name: again.table(name).version for name in again.specs} == versions
    assert again.count("memories") == 1


def test_a_store_that_is_not_there_is_not_made_unless_asked(tmp_path):
    with pytest.raises(StoreError, match="No Slowwave store at"):
        Store(str(tmp_path / "lance"), model="m", dimension=8, create=False)


def test_a_store_of_another_model_is_refused_with_what_to_do(store):
    with pytest.raises(ModelError) as caught:
        Store(store.uri, model="other", dimension=8)
    assert "'hash-8'" in str(caught.value)
    assert 'embedding.model = "hash-8"' in str(caught.value)
    assert "slowwave reembed --model other" in str(caught.value)


def test_a_first_opening_that_was_killed_is_finished_by_the_next(store):
    store.delete("meta", "name = 'schema'")
    store.db.drop_table("edges")
    again = Store(store.uri, model="hash-8", dimension=8)
    assert again.get_meta("schema") == {"version": SCHEMA_VERSION}
    assert again.count("edges") == 0


# -- upsert ----------------------------------------------------------------------------------------


def test_an_upsert_inserts_and_replaces_whole_rows_in_one_commit(store):
    first = store.upsert("memories", memories(["a", "b"], title=["A", "B"], frequency=[1, 2]))
    assert (first.inserted, first.updated, first.deleted) == (2, 0, 0)
    second = store.upsert("memories", memories(["b", "c"], title=["B2", "C"]))
    assert (second.inserted, second.updated, second.deleted) == (1, 1, 0)
    assert second.version == first.version + 1
    assert held(store, "memories", "title", "frequency") == [
        ("a", "A", 1),
        ("b", "B2", None),
        ("c", "C", None),
    ]


def test_a_memory_may_lack_a_vector_beside_others_that_have_one(store):
    kind = pl.Array(pl.Float32, 8)
    vectors = pl.Series([[1.0] * 8, None], dtype=kind)
    store.upsert("memories", memories(["a", "b"]).with_columns(vector=vectors))
    store.upsert("memories", memories(["c"]))
    assert held(store, "memories", "vector") == [("a", [1.0] * 8), ("b", None), ("c", None)]


def test_a_chunk_without_a_vector_is_refused(store):
    with pytest.raises(RuntimeError, match="Vector column"):
        store.upsert("chunks", pl.DataFrame({"chunk_id": ["a:00000"], "namespace": ["ada"]}))
    assert store.count("chunks") == 0


def test_the_last_of_equal_keys_counts(store):
    store.upsert("memories", memories(["a", "b", "a", "a"], title=["1", "2", "3", "4"]))
    assert held(store, "memories", "title") == [("a", "4"), ("b", "2")]


def test_a_lower_revision_does_not_replace_a_higher_one(store):
    store.upsert("memories", memories(["a", "b"], revision=["5", "5"], title=["old", "old"]))
    rows = memories(["a", "b", "c"], revision=["4", "5", "1"], title=["lower", "equal", "new"])
    done = store.upsert("memories", rows, newer=True)
    assert (done.inserted, done.updated) == (1, 1)
    assert held(store, "memories", "title") == [("a", "old"), ("b", "equal"), ("c", "new")]
    store.upsert("memories", rows)
    assert dict(held(store, "memories", "title"))["a"] == "lower"


def test_insert_only_leaves_rows_that_are_there_alone(store):
    store.upsert("memories", memories(["a"], title=["old"]))
    done = store.upsert("memories", memories(["a", "b"], title=["new", "new"]), insert_only=True)
    assert (done.inserted, done.updated) == (1, 0)
    assert held(store, "memories", "title") == [("a", "old"), ("b", "new")]


def test_nothing_to_write_makes_no_version(store):
    version = store.table("memories").version
    done = store.upsert("memories", memories([]))
    assert (done.version, done.inserted, done.updated, done.deleted) == (version, 0, 0, 0)
    assert store.table("memories").version == version


def test_missing_columns_become_null_and_unknown_ones_are_refused(store):
    store.upsert("memories", memories(["a"]))
    row = store.read("memories").row(0, named=True)
    assert {name for name, value in row.items() if value is not None} == {"memory_id", "namespace"}
    with pytest.raises(ValueError, match=r"columns \['colour'\] are not in the table"):
        store.upsert("memories", memories(["b"], colour=["red"]))
    assert store.count("memories") == 1


def test_a_row_without_a_key_is_refused(store):
    with pytest.raises(Exception, match=r"(?i)null"):
        store.upsert(
            "memories",
            pl.DataFrame(
                {"memory_id": [None], "namespace": ["ada"]}, schema_overrides={"memory_id": pl.String}
            ),
        )
    assert store.count("memories") == 0


def test_values_of_every_type_come_back_as_they_were(store):
    vector = [float(number) / 3 for number in range(8)]
    row = pl.DataFrame(
        {
            "chunk_id": ["c"], "headings": [["a", "", "ü"]], "ordinal": [7], "source_of_truth": [False],
            "created_at": [NOON], "vector": pl.Series([vector], dtype=pl.Array(pl.Float32, 8)), "tags": [[]],
        },
        schema_overrides={"tags": pl.List(pl.String)},
    )  # fmt: skip
    store.upsert("chunks", row)
    back = store.read("chunks").row(0, named=True)
    assert (back["headings"], back["ordinal"], back["source_of_truth"]) == (["a", "", "ü"], 7, False)
    assert (back["created_at"], back["tags"], back["text"]) == (NOON, [], None)
    assert back["vector"] == pytest.approx(vector, abs=1e-7)


# -- replacing partitions --------------------------------------------------------------------------


def test_replacing_a_partition_leaves_exactly_the_given_rows(store):
    store.replace_partition("staged_notes", staged({"1:a": "1", "1:b": "1"}, title=["A", "B"]), ["1"])
    store.replace_partition("staged_notes", staged({"2:a": "2"}, title=["Z"]), ["2"])
    before = store.table("staged_notes").version
    done = store.replace_partition("staged_notes", staged({"1:b": "1", "1:c": "1"}, title=["B2", "C"]), ["1"])
    assert (done.inserted, done.updated, done.deleted, done.version) == (1, 1, 1, before + 1)
    assert held(store, "staged_notes", "day", "title") == [
        ("1:b", "1", "B2"),
        ("1:c", "1", "C"),
        ("2:a", "2", "Z"),
    ]


def test_a_range_of_partitions_is_replaced_in_one_commit(store):
    rows = staged({f"{day}:{name}": day for day in "123" for name in "ab"})
    store.replace_partition("staged_notes", rows, list("123"))
    before = store.table("staged_notes").version
    done = store.replace_partition("staged_notes", staged({"1:a": "1", "3:c": "3"}), ["1", "2", "3"])
    assert done.version == before + 1
    assert (done.inserted, done.updated, done.deleted) == (1, 1, 5)
    assert held(store, "staged_notes") == [("1:a",), ("3:c",)]


def test_no_rows_empty_a_partition(store):
    store.replace_partition("staged_notes", staged({"1:a": "1"}), ["1"])
    store.replace_partition("staged_notes", staged({"2:a": "2"}), ["2"])
    done = store.replace_partition("staged_notes", staged({}).cast(pl.String), ["1"])
    assert done.deleted == 1
    assert held(store, "staged_notes") == [("2:a",)]


def test_replacing_a_partition_with_the_same_rows_leaves_the_same_table(store):
    rows = staged({"1:a": "1", "1:b": "1"}, title=["A", None])
    store.replace_partition("staged_notes", rows, ["1"])
    before = store.read("staged_notes").sort("staged_id")
    version = store.table("staged_notes").version
    done = store.replace_partition("staged_notes", rows, ["1"])
    assert (done.inserted, done.updated, done.deleted) == (0, 0, 0)
    assert store.table("staged_notes").version == version  # nothing was written
    assert store.read("staged_notes").sort("staged_id").equals(before)


def test_rows_of_another_partition_are_refused_and_nothing_is_written(store):
    store.replace_partition("staged_notes", staged({"1:a": "1"}), ["1"])
    with pytest.raises(ValueError, match=r"1 rows of staged_notes belong to \['2'\]"):
        store.replace_partition("staged_notes", staged({"1:b": "1", "2:a": "2"}), ["1"])
    assert held(store, "staged_notes") == [("1:a",)]


def test_rows_of_no_partition_at_all_are_refused(store):
    rows = pl.DataFrame({"staged_id": ["x", "1:a"], "day": [None, "1"]})
    with pytest.raises(ValueError, match="staged_notes belong to"):
        store.replace_partition("staged_notes", rows, ["1"])
    assert store.count("staged_notes") == 0


def test_a_shared_table_has_no_partitions_to_replace(store):
    with pytest.raises(ValueError, match=r"memories is not a partitioned table; write it with upsert\(\)"):
        store.replace_partition("memories", memories(["a"]), ["1"])


# -- reading ---------------------------------------------------------------------------------------


def test_strange_text_survives_keys_and_filters(store):
    store.upsert("memories", memories([f"id{text}" for text in STRANGE], title=STRANGE))
    for text in STRANGE:
        assert store.read("memories", f"title = {quote(text)}", columns=["memory_id"]).rows() == [
            (f"id{text}",)
        ]
        assert store.read_by("memories", "memory_id", [f"id{text}"], columns=["title"]).rows() == [(text,)]
        assert store.count("memories", one_of("title", [text])) == 1
    assert sorted(store.read_by("memories", "title", STRANGE)["title"]) == sorted(STRANGE)
    for text in STRANGE:
        store.delete("memories", f"memory_id = {quote('id' + text)}")
    assert store.count("memories") == 0


def test_a_filter_on_no_values_matches_nothing(store):
    store.upsert("memories", memories(["a"]))
    assert store.read("memories", one_of("memory_id", [])).height == 0
    empty = store.read_by("memories", "memory_id", [], columns=["title", "memory_id"])
    assert (empty.height, empty.columns) == (0, ["title", "memory_id"])
    assert store.read_by("memories", "memory_id", []).columns == store.specs["memories"].schema.names


def test_thirty_thousand_values_may_be_asked_for_at_once(store):
    wanted = [f"{number:06}" for number in range(30_000)]
    store.upsert("memories", memories([*wanted, "other"], title=[*wanted, "other"], status=["live"] * 30_001))
    rows = store.read_by("memories", "memory_id", wanted, columns=["title"])
    assert rows.columns == ["title"]
    assert sorted(rows["title"]) == wanted
    some = store.read_by("memories", "memory_id", [*wanted[::7], *wanted[::7], "nobody"])
    assert sorted(some["memory_id"]) == wanted[::7]
    assert some.columns == store.specs["memories"].schema.names
    also = store.read_by(
        "memories", "memory_id", wanted, columns=["memory_id"], also="title < '000005' OR false"
    )
    assert sorted(also["memory_id"]) == wanted[:5]


def test_a_further_condition_holds_for_every_value(store):
    store.upsert(
        "memories", memories(["a", "b", "c"], status=["live", "retired", "live"], title=["x", "x", "y"])
    )
    found = store.read_by("memories", "memory_id", ["a", "b"], also="status = 'live' OR title = 'y'")
    assert found["memory_id"].to_list() == ["a"]


def test_reading_gives_all_rows_and_the_columns_asked_for(store):
    names = [f"{number:04}" for number in range(2_500)]
    store.upsert("memories", memories(names))
    assert sorted(store.read("memories", columns=["memory_id"])["memory_id"]) == names
    assert store.read("memories").columns == store.specs["memories"].schema.names
    assert store.count("memories") == 2_500
    assert store.count("memories", "memory_id < '0010'") == 10


def test_slices_hold_everything_once():
    assert [list(part) for part in batches(list(range(7)), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(batches([], 3)) == []


def test_another_handle_sees_a_finished_write_at_once(store):
    other = Store(store.uri, model="hash-8", dimension=8)
    assert other.count("memories") == 0
    store.upsert("memories", memories(["a"]))
    assert other.count("memories") == 1
    assert other.read("memories", columns=["memory_id"]).rows() == [("a",)]


# -- what the store knows of itself ----------------------------------------------------------------


def test_facts_are_kept_by_name(store):
    assert store.get_meta("night-1") is None
    store.put_meta("night-1", {"seq": 1, "who": "o'neil 🌊"})
    store.put_meta("night-2", {"seq": 2})
    store.put_meta("nightly", {})
    store.put_meta("night-1", {"seq": 9}, keep=True)
    assert store.get_meta("night-1") == {"seq": 1, "who": "o'neil 🌊"}
    store.put_meta("night-1", {"seq": 3})
    assert store.list_meta("night-") == {"1": {"seq": 3}, "2": {"seq": 2}}
    assert store.list_meta("it's") == {}


def test_a_scan_gives_what_a_read_gives_and_sees_what_others_wrote(store):
    names = [f"fold-{number}" for number in range(5)]
    store.put_metas({name: {"seq": 1} for name in names})
    where, columns = "name > 'fold-2' AND starts_with(name, 'fold-')", ["name", "value"]
    both = [
        store.scan("meta", where, columns=columns).sort("name"),
        store.read("meta", where, columns=columns).sort("name"),
    ]
    assert both[0].equals(both[1])
    assert both[0]["name"].to_list() == names[3:]
    other = Store(store.uri, model="hash-8", dimension=8)
    other.put_meta("fold-9", {"seq": 2})
    other.delete("meta", "name = 'fold-3'")
    assert store.scan("meta", where)["name"].sort().to_list() == ["fold-4", "fold-9"]
    assert store.scan("meta", "name = 'nothing'").is_empty()

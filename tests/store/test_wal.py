"""Rows that wait for a commit are in the table for whoever reads it, whatever happens meanwhile, and once."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.index.neighbour_cache import NeighbourCache
from slowwave.store import Store
from slowwave.store.frames import to_schema
from slowwave.store.wal import SUFFIX, WriteAheadLog, beside

CONDITIONS = (
    "true",
    "false",
    "status = 'live'",
    "status IS NULL OR status IN ('', 'old')",
    "status IS NOT NULL AND NOT (status IN ('old'))",
    "title = 'it''s' OR memory_id IN ('m1', 'm2')",
    "array_length(trigger_phrases) > 0",
    "starts_with(memory_id, 'm1')",
    "created_at >= CAST('2026-03-01T00:00:00+00:00' AS TIMESTAMP)",
    "chunk_count > 2 AND (status != 'live' OR frequency = 1)",
)


def store_at(folder: Path) -> Store:
    store = Store(str(folder), model="m", dimension=4)
    store.wal = WriteAheadLog(beside(str(folder)), lambda: store.specs)
    return store


def memories(*names: str, **columns: object) -> pl.DataFrame:
    rows = pl.DataFrame({"memory_id": list(names)})
    vectors = np.ones((len(names), 4), dtype=np.float32)
    return rows.with_columns(
        namespace=pl.lit("ada"), title=pl.col("memory_id") + " says",
        vector=pl.Series(vectors, dtype=pl.Array(pl.Float32, 4)),
        **{name: pl.lit(value) for name, value in columns.items()},
    )  # fmt: skip


def later(store: Store, *names: str) -> None:
    with store.later():
        store.upsert("memories", memories(*names))


def logged_table(store: Store, *names: str) -> pa.Table:
    return to_schema(memories(*names), store.specs["memories"].schema)


def names_in(store: Store, where: str | None = None) -> list[str]:
    return sorted(store.read("memories", where, columns=["memory_id"])["memory_id"])


def committed(store: Store) -> int:
    return int(store.committed("memories").count_rows())


def test_rows_that_wait_are_read_by_everybody_and_committed_by_whoever_needs_the_table(tmp_path):
    writer, reader = store_at(tmp_path), store_at(tmp_path)
    writer.upsert("memories", memories("m1"))
    version = reader.version("memories")
    later(writer, "m2", "m3")
    later(writer, "m4")
    for store in (writer, reader):
        assert names_in(store) == ["m1", "m2", "m3", "m4"]
        assert names_in(store, "memory_id IN ('m3', 'm9')") == ["m3"]
        assert store.count("memories") == 4
        assert store.count("memories", "memory_id = 'm4' OR memory_id = 'm1'") == 2
        assert store.read("memories", "memory_id = 'm2'", columns=["title"])["title"].to_list() == ["m2 says"]
    assert committed(reader) == 1
    assert reader.table("memories").count_rows() == 4
    assert (committed(writer), writer.logged(), reader.logged()) == (4, (), ())
    assert reader.version("memories") == version + 1  # all of them in one commit
    assert names_in(writer) == ["m1", "m2", "m3", "m4"]


def test_one_look_asks_for_the_version_of_a_table_once(tmp_path):
    writer, reader = store_at(tmp_path), store_at(tmp_path)
    with reader.one_look():
        version, mark = reader.version("memories"), reader.mark("memories")
        writer.upsert("memories", memories("m1"))
        later(writer, "m2")
        assert (reader.version("memories"), reader.mark("memories")) == (version, mark)
    assert reader.mark("memories") == (version + 1, writer.logged("memories"))
    assert reader.version("memories") == version + 2  # which commits what waits


@pytest.mark.parametrize("reached", ["table", "dataset", "scan", "version", "delete", "upsert", "db"])
def test_what_else_is_done_to_a_table_finds_them_committed(tmp_path, reached):
    writer, store = store_at(tmp_path), store_at(tmp_path)
    later(writer, "m1")
    {
        "table": lambda: store.table("memories"),
        "dataset": lambda: store.dataset("memories"),
        "scan": lambda: store.scan("memories"),
        "version": lambda: store.version("memories"),
        "delete": lambda: store.delete("memories", "memory_id = 'm2'"),
        "upsert": lambda: store.upsert("memories", memories("m2")),
        "db": lambda: store.db.list_tables(),
    }[reached]()
    assert committed(store) == (2 if reached == "upsert" else 1)
    assert writer.logged() == ()


class Told:
    """What is recorded, in its order."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def adopt(self, store: Store) -> None:
        pass

    def upsert(self, store: Store, name: str, rows: pa.Table, **_: object) -> None:
        self.told.append(rows.column(0).to_pylist())

    def delete(self, store: Store, name: str, where: str) -> None:
        self.told.append(where)


def test_what_waits_is_recorded_before_what_comes_after_it(tmp_path):
    store = store_at(tmp_path)
    store.recorder = recorder = Told()
    later(store, "m1")
    store.upsert("memories", memories("m1", status="old"))
    later(store, "m2")
    store.delete("memories", "memory_id = 'm2'")
    assert recorder.told == [["m1"], ["m1"], ["m2"], "memory_id = 'm2'"]
    assert names_in(store) == ["m1"]


def test_another_table_leaves_them_where_they_are(tmp_path):
    store = store_at(tmp_path)
    later(store, "m1")
    store.table("meta"), store.dataset("chunks"), store.put_meta("a", {})
    assert len(store.logged("memories")) == 1
    assert store.logged("chunks") == ()


def test_a_block_that_fails_writes_nothing(tmp_path):
    store = store_at(tmp_path)
    with suppress(ZeroDivisionError), store.later():
        store.upsert("memories", memories("m1"))
        _ = 1 / 0
    assert names_in(store) == []
    store.upsert("memories", memories("m2"))  # and the next write is at once
    assert committed(store) == 1


def test_without_a_log_rows_are_written_at_once(tmp_path):
    store = Store(str(tmp_path), model="m", dimension=4)
    later(store, "m1")
    assert committed(store) == 1


def test_who_is_killed_after_the_commit_doubles_nothing(tmp_path, monkeypatch):
    store, other = store_at(tmp_path), store_at(tmp_path)
    later(store, "m1", "m2")

    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", dies)
        with pytest.raises(KeyboardInterrupt):
            store.settle()
    for one in (other, store):  # they are in both places now
        assert len(one.logged()) == 1
        assert names_in(one) == ["m1", "m2"]
        assert one.count("memories") == 2
    other.upsert("memories", memories("m1", status="old"))
    assert names_in(store, "status = 'old'") == ["m1"]  # nor was what came later undone
    assert names_in(store) == ["m1", "m2"]
    assert committed(store) == 2


def test_who_follows_has_a_row_once_that_is_committed_and_in_the_log(tmp_path, monkeypatch):
    store = store_at(tmp_path)
    with store.later():
        store.upsert("memories", memories("m1", "m2", revision="0000000000000001-x"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # as if it were killed before
        store.settle()
    assert len(store.logged()) == 1
    fresh = store_at(tmp_path)
    followed = NeighbourCache(fresh, "ada", 2**30)
    followed.follow()
    assert (len(followed), np.count_nonzero(followed.alive)) == (2, 2)
    fresh.settle()
    followed.follow()
    assert (len(followed), np.count_nonzero(followed.alive)) == (2, 2)


def test_a_file_that_lost_its_end_is_no_hindrance(tmp_path):
    store = store_at(tmp_path)
    later(store, "m1")
    (first,) = beside(str(tmp_path)).glob(f"*{SUFFIX}")
    later(store, "m2")
    os.truncate(first, first.stat().st_size // 2)
    fresh = store_at(tmp_path)
    assert names_in(fresh) == ["m2"]
    fresh.settle()
    assert (committed(fresh), fresh.logged()) == (1, ())


def test_a_half_written_file_is_none(tmp_path):
    store = store_at(tmp_path)
    later(store, "m1")
    (first,) = beside(str(tmp_path)).glob(f"*{SUFFIX}")
    first.rename(first.with_name(f".{first.name}"))
    assert names_in(store_at(tmp_path)) == []


def test_what_is_being_written_is_not_there_and_leaves_nothing_when_it_fails(tmp_path, monkeypatch):
    """A disk that is full in the middle of the second table: the first one is not there either."""
    store, seen = store_at(tmp_path), []
    write = pa.ipc.RecordBatchStreamWriter.write_table

    def full(stream, table):
        seen.append(names_in(store_at(tmp_path)))
        write(stream, table)
        if len(seen) == 2:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pa.ipc.RecordBatchStreamWriter, "write_table", full)
        with pytest.raises(OSError, match="No space left"):
            store.wal.append({"memories": logged_table(store, "m1"), "more": logged_table(store, "m2")})
    assert seen == [[], []]
    assert [*beside(str(tmp_path)).iterdir()] == []


def test_what_a_killed_writer_began_is_taken_away_and_nothing_else(tmp_path):
    store = store_at(tmp_path)
    later(store, "m1")
    (first,) = beside(str(tmp_path)).glob(f"*{SUFFIX}")
    begun = first.with_name(f".{first.name}")
    begun.write_bytes(first.read_bytes())
    store.remove_partial_files()
    assert not begun.exists()
    assert names_in(store_at(tmp_path)) == ["m1"]


def test_a_reader_keeps_nothing_of_what_others_have_committed(tmp_path):
    writer, reader = store_at(tmp_path), store_at(tmp_path)
    for number in range(3):
        later(writer, f"m{number}")
        assert len(names_in(reader)) == number + 1
    writer.settle()
    assert len(names_in(reader)) == 3
    assert (reader.wal._read, reader.wal._frames) == ({}, {})


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "status": st.sampled_from([None, "", "live", "old"]),
            "title": st.sampled_from([None, "it's", "plain"]),
            "chunk_count": st.sampled_from([None, 1, 3]),
            "frequency": st.sampled_from([None, 1, 2]),
            "trigger_phrases": st.sampled_from([None, [], ["a boat"]]),
            "created_at": st.sampled_from([None, "2026-02-01", "2026-04-01"]),
        }
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=15)
@given(ROWS, st.integers(0, 8))
def test_a_condition_lets_through_what_it_lets_through_when_they_are_committed(tmp_path_factory, rows, at):
    store = store_at(tmp_path_factory.mktemp("store"))
    frame = pl.DataFrame(
        [{"memory_id": f"m{number}", **row} for number, row in enumerate(rows)],
        schema_overrides={
            "chunk_count": pl.Int32, "frequency": pl.Int32, "trigger_phrases": pl.List(pl.String),
            "created_at": pl.String, "status": pl.String, "title": pl.String,
        },
    )  # fmt: skip
    dated = pl.col("created_at").str.to_datetime("%Y-%m-%d", time_unit="us", time_zone="UTC")
    frame = frame.with_columns(dated)
    store.upsert("memories", frame[:at])
    with store.later():
        store.upsert("memories", frame[at:])
    before = {where: names_in(store, where) for where in CONDITIONS}
    counts = {where: store.count("memories", where) for where in CONDITIONS}
    store.settle()
    assert before == {where: names_in(store, where) for where in CONDITIONS}
    assert counts == {where: len(names) for where, names in before.items()}


def _writes(folder: str, name: str, count: int) -> None:
    store = store_at(Path(folder))
    for number in range(count):
        later(store, f"{name}{number}")
        assert f"{name}{number}" in names_in(store)
        if number % 7 == ord(name) % 7:
            store.settle()


@pytest.mark.slow
def test_processes_that_write_and_commit_at_once_lose_and_double_nothing(tmp_path):
    store_at(tmp_path)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_writes, args=(str(tmp_path), name, 25)) for name in "abc"]
    for one in writers:
        one.start()
    store = store_at(tmp_path)
    seen: set[str] = set()
    while any(one.is_alive() for one in writers):
        names = names_in(store)
        assert len(names) == len(set(names))
        assert seen <= set(names)
        seen = set(names)
    for one in writers:
        one.join()
        assert one.exitcode == 0
    wanted = sorted(f"{name}{number}" for name in "abc" for number in range(25))
    assert names_in(store) == wanted
    store.settle()
    assert (names_in(store), committed(store)) == (wanted, 75)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_vector_that_is_none_is_refused_at_once_and_stands_in_nobodys_way(tmp_path, number):
    store = store_at(tmp_path)
    rows = pl.DataFrame(
        {"chunk_id": ["c1"], "vector": pl.Series([[1.0, number, 0.0, 0.0]], dtype=pl.Array(pl.Float32, 4))}
    )
    with pytest.raises(ValueError, match="chunks: a vector"), store.later():
        store.upsert("chunks", rows)
    assert store.logged() == ()

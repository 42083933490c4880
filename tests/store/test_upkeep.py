"""Tables stay small while they are written a row at a time, and connections do not collect files."""

from __future__ import annotations

import resource
import subprocess
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import lance
import numpy as np
import polars as pl
import pytest
import warm
from lancedb.query import MatchQuery

from slowwave.store import connection, database, maintenance
from slowwave.store.checkpoints import create_checkpoint, restore_checkpoint
from slowwave.store.maintenance import (
    COMMITS,
    FRAGMENT_ROWS,
    UNINDEXED_ROWS,
    keep_fresh,
    maintain,
    parts_to_merge,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = timedelta(0)


def chunks(count: int, *, first: int = 0) -> pl.DataFrame:
    vectors = np.random.default_rng(first).normal(size=(count, 8)).astype(np.float32)
    return pl.DataFrame(
        {
            "chunk_id": [f"{number:06}" for number in range(first, first + count)],
            "search_text": [f"word{number} common" for number in range(first, first + count)],
            "vector": pl.Series(vectors, dtype=pl.Array(pl.Float32, 8)),
        }
    )


def found(store, word: str, limit: int = 1_000) -> list[str]:
    search = store.table("chunks").search(MatchQuery(word, "search_text"), query_type="fts")
    return sorted(row["chunk_id"] for row in search.limit(limit).to_list())


def unindexed(store) -> int:
    table = store.table("chunks")
    (name,) = [index.name for index in table.list_indices() if index.index_type.upper() == "FTS"]
    return int(table.index_stats(name).num_unindexed_rows)


def fragments(store, name: str) -> int:
    return int(store.table(name).stats()["fragment_stats"]["num_fragments"])


def one_by_one(store, count: int, *, first: int = 0) -> None:
    """Save `count` memories of a chunk each as turns of the day do."""
    for number in range(first, first + count):
        store.upsert("memories", pl.DataFrame({"memory_id": [f"{number:06}"], "title": [f"title {number}"]}))
        store.upsert("chunks", chunks(1, first=number))
        keep_fresh(store)


def folder(store, name: str) -> tuple[int, int]:
    """Files and bytes of a table."""
    files = [path for path in (Path(store.uri) / f"{name}.lance").rglob("*") if path.is_file()]
    return len(files), sum(path.stat().st_size for path in files)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def index_files() -> int:
    """Open files of indexes."""
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return sum("_indices" in str(link.readlink()) for link in links)


def test_saved_rows_are_taken_into_the_index_when_they_have_become_many(store):
    store.upsert("chunks", chunks(UNINDEXED_ROWS - 1))
    assert keep_fresh(store) == ()
    assert unindexed(store) == UNINDEXED_ROWS - 1
    store.upsert("chunks", chunks(1, first=UNINDEXED_ROWS))
    assert keep_fresh(store) == ("chunks",)
    assert unindexed(store) == 0
    for number in (0, UNINDEXED_ROWS):
        assert found(store, f"word{number}") == [f"{number:06}"]


def test_a_table_that_is_searched_in_snapshots_alone_keeps_its_new_rows_outside_the_index(store):
    store.upsert("chunks", chunks(UNINDEXED_ROWS))
    assert keep_fresh(store, indexed_from=UNINDEXED_ROWS + 1) == ()
    assert unindexed(store) == UNINDEXED_ROWS
    store.upsert("chunks", chunks(1, first=UNINDEXED_ROWS))
    assert keep_fresh(store, indexed_from=UNINDEXED_ROWS + 1) == ("chunks",)
    assert unindexed(store) == 0


@pytest.mark.slow
def test_tables_written_a_row_at_a_time_stay_small(store, monkeypatch):
    monkeypatch.setattr(maintenance, "KEPT", NOW)
    sizes, pieces = [], []
    for turn in range(3):
        one_by_one(store, COMMITS, first=turn * COMMITS)
        sizes.append([folder(store, name) for name in ("memories", "chunks")])
        pieces.append([fragments(store, name) for name in ("memories", "chunks")])
    rows = 3 * COMMITS
    assert max(max(piece) for piece in pieces) <= 1 + COMMITS
    for name, (files, size) in zip(("memories", "chunks"), sizes[-1], strict=True):
        # A file or three of each commit since, and what the table is: no fragment or version of each row.
        assert files <= 4 * COMMITS, name
        assert size <= COMMITS * 100_000, name
    assert store.count("memories") == store.count("chunks") == rows
    assert len(found(store, "common")) == rows


def test_rows_that_are_many_already_are_not_written_again(store):
    store.upsert("chunks", chunks(FRAGMENT_ROWS))
    maintain(store, keep_versions=timedelta(days=1))
    (old,) = (Path(store.uri) / "chunks.lance" / "data").iterdir()
    for number in range(COMMITS):
        store.upsert("chunks", chunks(1, first=FRAGMENT_ROWS + number))
    assert keep_fresh(store) == ("chunks",)
    assert fragments(store, "chunks") == 2
    kept = store.table("chunks").to_lance().get_fragments()
    assert [old.name in str(one.data_files()) for one in kept] == [True, False]


def test_a_table_is_put_in_order_whichever_process_writes_the_commit_that_makes_it_due(store):
    """Two stores take turns: neither has made as many commits itself as make a table due."""
    other = database.Store(store.uri, model="hash-8", dimension=8)
    tidied = []
    for number in range(COMMITS + 2):
        turn = (store, other)[number % 2]
        turn.upsert("memories", pl.DataFrame({"memory_id": [f"{number:03}"]}))
        tidied += keep_fresh(turn)
    assert tidied == ["memories"]


@pytest.mark.slow
def test_versions_that_somebody_may_be_reading_stay_and_the_others_go(store, monkeypatch):
    reading = store.db.open_table("memories")
    for number in range(COMMITS):
        store.upsert("memories", pl.DataFrame({"memory_id": [f"{number:03}"]}))
    reading.checkout(COMMITS // 2)
    keep_fresh(store)
    assert reading.search().limit(None).to_arrow().num_rows == COMMITS // 2 - 1  # the first version is empty
    monkeypatch.setattr(maintenance, "KEPT", NOW)
    for number in range(COMMITS):
        store.upsert("memories", pl.DataFrame({"memory_id": [f"more {number:03}"]}))
    assert keep_fresh(store) == ("memories",)
    assert len(store.table("memories").list_versions()) <= 2


@pytest.mark.slow
def test_a_checkpoint_outlives_the_upkeep(store, monkeypatch):
    monkeypatch.setattr(maintenance, "KEPT", NOW)
    one_by_one(store, 3)
    create_checkpoint(store, "held", NOON)
    one_by_one(store, 2 * COMMITS, first=3)
    restore_checkpoint(store, "held")
    assert store.count("memories") == store.count("chunks") == 3
    assert found(store, "common") == ["000000", "000001", "000002"]


READER = """
import sys
from slowwave.store import Store

store = Store(sys.argv[1], model="hash-8", dimension=8)
print("ready", flush=True)
reads = 0
while True:
    rows = store.read("memories").height
    assert rows >= reads, (rows, reads)
    assert store.table("chunks").search("common", query_type="fts").limit(5).to_arrow().num_rows == 5
    if rows >= int(sys.argv[2]):
        break
    reads = rows
"""


@pytest.mark.slow
def test_a_reader_in_another_process_is_not_disturbed(store):
    one_by_one(store, 5)
    wanted = 5 + COMMITS + 5
    with subprocess.Popen(
        warm.python("-c", READER, store.uri, wanted), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as reader:  # fmt: skip
        assert reader.stdout.readline() == "ready\n"
        one_by_one(store, wanted - 5, first=5)
        _, errors = reader.communicate(timeout=60)
    assert reader.returncode == 0, errors


@pytest.fixture
def short_sessions(monkeypatch) -> None:
    """Connections that see few versions, and are asked each time."""
    monkeypatch.setattr(connection, "VERSIONS_PER_SESSION", 8)
    monkeypatch.setattr(connection, "CHECK_EVERY_SECONDS", 0)


def search_and_index(store, turns: int, *, first: int) -> None:
    """Give the full-text index a new version each turn, and search it."""
    for turn in range(first, first + turns):
        store.upsert("chunks", chunks(UNINDEXED_ROWS, first=turn * UNINDEXED_ROWS))
        keep_fresh(store)
        assert found(store, f"word{turn * UNINDEXED_ROWS}")


@pytest.mark.slow
@pytest.mark.usefixtures("short_sessions")
def test_open_files_do_not_grow_with_versions_of_the_index(store):
    search_and_index(store, 5, first=0)
    before = open_files()
    search_and_index(store, 10, first=5)
    assert open_files() <= before + 8
    assert index_files() <= 8


@pytest.mark.slow
@pytest.mark.usefixtures("short_sessions")
def test_a_process_that_only_searches_lets_go_of_what_others_replaced(store):
    reader = database.Store(store.uri, model="hash-8", dimension=8)
    for turn in range(12):
        store.upsert("chunks", chunks(UNINDEXED_ROWS, first=turn * UNINDEXED_ROWS))
        keep_fresh(store)
        assert found(reader, f"word{turn * UNINDEXED_ROWS}")
    assert index_files() <= 12


@pytest.mark.slow
def test_a_process_that_may_open_few_files_goes_on(store, monkeypatch):
    """And one that ran out of them once is not broken for good."""
    monkeypatch.setattr(connection, "CHECK_EVERY_SECONDS", 0)
    search_and_index(store, 6, first=0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files() + 1, hard))
    try:
        with suppress(RuntimeError, OSError):  # too many open files, wherever that is met
            search_and_index(store, 2, first=6)
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files() + 24, hard))
        search_and_index(store, 6, first=6)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found(store, "common", limit=10_000) == [f"{at:06}" for at in range(12 * UNINDEXED_ROWS)]


def test_a_search_that_runs_while_the_connection_ends_goes_on(store):
    store.upsert("chunks", chunks(UNINDEXED_ROWS))
    query = store.table("chunks").search(MatchQuery("common", "search_text"), query_type="fts").limit(5)
    store.connect()
    assert len(query.to_list()) == 5


def test_caches_are_bounded(store, monkeypatch):
    given = {}
    import lancedb

    monkeypatch.setattr(lancedb, "Session", lambda **sizes: given.update(sizes))
    store.connect()
    assert given == {
        "index_cache_size_bytes": connection.INDEX_CACHE_BYTES,
        "metadata_cache_size_bytes": connection.METADATA_CACHE_BYTES,
    }


def test_the_night_also_removes_what_the_day_left_of_tables_that_are_saved_to(store, monkeypatch):
    one_by_one(store, 5)
    monkeypatch.setattr("slowwave.store.maintenance.KEPT", NOW)
    done = {one.table: one.versions_removed for one in maintain(store, keep_versions=timedelta(days=7))}
    assert done["memories"] >= 5
    assert done["chunks"] >= 5
    assert done["searches"] == 0


@pytest.mark.parametrize(
    ("parts", "new", "merged"),
    [([], 5, 0), ([20], 5, 1), ([21], 5, 0), ([1_000, 25, 20, 5], 5, 3), ([5, 1_000], 5, 0)],
)
def test_parts_of_an_index_are_merged_that_are_not_much_larger(parts, new, merged):
    assert parts_to_merge(parts, new) == merged


def test_a_row_is_written_into_an_index_a_few_times_however_many_saves_there_are():
    parts: list[int] = []
    written = 0
    for _ in range(2_000):
        merged = parts_to_merge(parts, 500)
        rest = len(parts) - merged
        parts = [*parts[:rest], sum(parts[rest:]) + 500]
        written += parts[-1]
        assert len(parts) <= 6
    assert sum(parts) == 1_000_000
    assert written / 1_000_000 < 20  # each time all of it would be 1,000


def test_words_are_found_in_every_part_of_the_index(store):
    for turn in range(11):
        store.upsert("chunks", chunks(UNINDEXED_ROWS, first=turn * UNINDEXED_ROWS))
        keep_fresh(store)
        assert unindexed(store) == 0
    parts = lance.dataset(f"{store.uri}/chunks.lance").stats.index_stats("search_text_idx")[
        "num_indexed_rows_per_delta"
    ]
    assert sum(parts) == 11 * UNINDEXED_ROWS
    assert 1 < len(parts) < 6
    for turn in range(11):
        assert found(store, f"word{turn * UNINDEXED_ROWS}")

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from lancedb.query import MatchQuery

from slowwave.errors import StoreError
from slowwave.store.indexes import (
    MIN_PROBES,
    refresh_vector_index,
)
from slowwave.store.text import create_full_text_indexes, full_text_columns

COUNT = 1_500


def random_chunks(count: int, *, first: int = 0) -> pl.DataFrame:
    vectors = np.random.default_rng(first).normal(size=(count, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return pl.DataFrame(
        {
            "chunk_id": [f"{number:06}" for number in range(first, first + count)],
            "search_text": [f"word{number}" for number in range(first, first + count)],
            "vector": pl.Series(vectors, dtype=pl.Array(pl.Float32, 8)),
        }
    )


def vector_indexes(store) -> list[str]:
    return [index.index_type for index in store.table("chunks").list_indices() if "vector" in index.columns]


def exact(store, query: np.ndarray, count: int) -> list[str]:
    rows = store.read("chunks", columns=["chunk_id", "vector"]).sort("chunk_id")
    cosine = rows["vector"].to_numpy() @ query
    return [rows["chunk_id"][int(at)] for at in np.argsort(-cosine, kind="stable")[:count]]


# -- full text -------------------------------------------------------------------------------------


def test_a_new_store_has_full_text_indexes_on_the_allow_listed_columns_only(store):
    for name, spec in store.specs.items():
        assert full_text_columns(store.table(name)) == set(spec.full_text), name


def test_making_the_indexes_again_changes_nothing(store):
    version = store.table("chunks").version
    create_full_text_indexes(store.table("chunks"), store.specs["chunks"])
    assert store.table("chunks").version == version


def test_an_index_that_was_dropped_is_made_again(store):
    store.upsert("chunks", random_chunks(20))
    (name,) = [
        index.name for index in store.table("chunks").list_indices() if index.index_type.upper() == "FTS"
    ]
    store.table("chunks").drop_index(name)
    assert full_text_columns(store.table("chunks")) == set()
    create_full_text_indexes(store.table("chunks"), store.specs["chunks"])
    assert full_text_columns(store.table("chunks")) == {"search_text"}
    found = store.table("chunks").search(MatchQuery("word7", "search_text"), query_type="fts").to_list()
    assert [row["chunk_id"] for row in found] == ["000007"]


def test_a_word_that_is_only_in_another_column_is_not_found(store):
    columns = ("text", "title", "source", "namespace", "memory_id", "embedding_hash", "state")
    row = random_chunks(1).with_columns(
        **{name: pl.lit(f"canary{name.replace('_', '')}") for name in columns}
    )
    store.upsert("chunks", row.with_columns(tags=pl.lit(["canarytags"]), headings=pl.lit(["canaryheadings"])))
    for name in (*columns, "tags", "headings"):
        word = f"canary{name.replace('_', '')}"
        for query in (MatchQuery(word, "search_text"), word):
            assert store.table("chunks").search(query, query_type="fts").to_list() == []
    assert (
        len(store.table("chunks").search(MatchQuery("word0", "search_text"), query_type="fts").to_list()) == 1
    )


def test_words_are_found_by_their_stem_and_without_accents(store):
    rows = random_chunks(3).with_columns(
        search_text=pl.Series(["the cafés deployed", "a lighthouse", "running"])
    )
    store.upsert("chunks", rows)

    def hits(word: str) -> list[str]:
        found = store.table("chunks").search(MatchQuery(word, "search_text"), query_type="fts").to_list()
        return [row["chunk_id"] for row in found]

    assert hits("deploying CAFE") == hits("deploy") == ["000000"]
    assert hits("lighthouses") == ["000001"]
    assert hits("the") == []


# -- vectors ---------------------------------------------------------------------------------------


def test_below_the_limit_there_is_no_vector_index(store):
    store.upsert("chunks", random_chunks(999))
    index = refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.99)
    assert (index.rows, index.indexed, index.probes, index.recall) == (999, False, None, None)
    assert vector_indexes(store) == []
    assert store.get_meta("vector_index") is None


def test_from_the_limit_on_an_index_is_built_and_its_recall_is_measured(store):
    store.upsert("chunks", random_chunks(COUNT))
    index = refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.99)
    assert (index.rows, index.indexed) == (COUNT, True)
    assert len(vector_indexes(store)) == 1
    assert index.recall >= 0.99
    assert store.get_meta("vector_index") == {"rows": COUNT, "probes": index.probes, "recall": index.recall}

    shares = []
    for seed in range(20):
        query = np.random.default_rng(900 + seed).normal(size=8).astype(np.float32)
        search = store.table("chunks").search(query).distance_type("cosine").nprobes(index.probes).limit(10)
        hits = {row["chunk_id"] for row in search.to_list()}
        shares.append(len(hits & set(exact(store, query / np.linalg.norm(query), 10))) / 10)
    assert np.mean(shares) >= 0.95


def test_an_index_is_kept_until_the_table_has_doubled(store):
    store.upsert("chunks", random_chunks(COUNT))
    first = refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.9)
    version = store.table("chunks").version
    assert refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.9) == first
    assert store.table("chunks").version == version
    store.upsert("chunks", random_chunks(COUNT, first=COUNT))
    second = refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.9)
    assert second.rows == 2 * COUNT == store.get_meta("vector_index")["rows"]
    assert len(vector_indexes(store)) == 1


def test_an_index_that_nothing_is_searched_by_goes_and_is_made_again_when_it_is_needed(store):
    store.upsert("chunks", random_chunks(COUNT))
    refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.9)
    index = refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.9, needed=False)
    assert (index.rows, index.indexed, index.probes) == (COUNT, False, None)
    assert vector_indexes(store) == []
    assert store.get_meta("vector_index") is None
    versions = [store.table(name).version for name in ("chunks", "meta")]
    refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.9, needed=False)
    assert [store.table(name).version for name in ("chunks", "meta")] == versions
    assert refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.9).indexed


@pytest.mark.parametrize("wanted", [0.5, 0.99])
def test_more_partitions_are_visited_when_more_recall_is_wanted(store, wanted):
    store.upsert("chunks", random_chunks(COUNT))
    index = refresh_vector_index(store, minimum_rows=1_000, wanted_recall=wanted)
    assert index.recall >= wanted
    if wanted == 0.5:
        assert index.probes == MIN_PROBES


def test_rows_added_after_the_index_was_built_are_found(store):
    store.upsert("chunks", random_chunks(COUNT))
    index = refresh_vector_index(store, minimum_rows=1_000, wanted_recall=0.99)
    query = np.array([1, 2, 3, 4, 5, 6, 7, 8], dtype=np.float32)
    new = random_chunks(1, first=COUNT).with_columns(
        vector=pl.Series([query / np.linalg.norm(query)], dtype=pl.Array(pl.Float32, 8))
    )
    store.upsert("chunks", new)
    search = store.table("chunks").search(query).distance_type("cosine").nprobes(index.probes).limit(1)
    assert [row["chunk_id"] for row in search.to_list()] == [f"{COUNT:06}"]


class Contested:
    """A table whose next attempts at an index are preempted; another process may have made it."""

    def __init__(self, table, conflicts: int, *, made_by_other: bool = False) -> None:
        self._table, self.conflicts, self._made_by_other = table, conflicts, made_by_other
        self.attempts = 0

    def list_indices(self):
        return self._table.list_indices()

    def create_index(self, *arguments, **options):
        self.attempts += 1
        if self.attempts <= self.conflicts:
            if self._made_by_other:
                self._table.create_index(*arguments, **options)
            raise RuntimeError("lance error: Retryable commit conflict for version 2: preempted")
        return self._table.create_index(*arguments, **options)


@pytest.fixture
def bare_table(store):
    """A table of chunks without a full-text index."""
    return store.db.create_table("bare", schema=store.specs["chunks"].schema)


@pytest.mark.parametrize(("conflicts", "made", "attempts"), [(0, False, 1), (2, False, 3), (1, True, 1)])
def test_an_index_that_two_processes_make_at_once_is_made_once(store, bare_table, conflicts, made, attempts):
    table = Contested(bare_table, conflicts, made_by_other=made)
    create_full_text_indexes(table, store.specs["chunks"])
    assert full_text_columns(bare_table) == {"search_text"}
    assert table.attempts == attempts


def test_an_index_that_is_made_again_is_tried_until_it_is_ours(store, bare_table):
    create_full_text_indexes(bare_table, store.specs["chunks"])
    table = Contested(bare_table, 2)
    create_full_text_indexes(table, store.specs["chunks"], again=True)
    assert table.attempts == 3


def test_endless_conflicts_over_an_index_are_an_error_that_says_so(store, bare_table):
    with pytest.raises(StoreError, match="Cannot create the full-text index of search_text"):
        create_full_text_indexes(Contested(bare_table, 99), store.specs["chunks"])

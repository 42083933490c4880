from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.scoring.evaluation.ranking_divergence import COMPARED, compare_results

LIST = {
    "search": pl.Int64,
    "variant": pl.String,
    "memory_id": pl.String,
    "rank": pl.Int32,
    "score": pl.Float64,
}


def results(lists: dict[tuple[int, str], str], best: float = 0.9) -> pl.DataFrame:
    """Lists of memories of one letter; the first scores `best`, each one behind it .1 less."""
    rows = [
        (search, variant, memory, rank, best - 0.1 * (rank - 1))
        for (search, variant), memories in lists.items()
        for rank, memory in enumerate(memories, start=1)
    ]
    return pl.DataFrame(rows, schema=LIST, orient="row")


def compared(logged: str, shadow: str, best: float = 0.9) -> dict[str, float]:
    lists = pl.DataFrame({"search": [7], "variant": ["v"]})
    found = compare_results(
        lists, results({(7, "logged"): logged}).drop("variant"), results({(7, "v"): shadow}, best)
    )
    assert found.schema == {"search": pl.Int64, "variant": pl.String, **COMPARED}
    (row,) = found.rows(named=True)
    return row


@pytest.mark.parametrize(
    ("logged", "shadow", "counts", "overlap", "moved", "rescored", "correlation"),
    [
        ("abc", "abc", (3, 3, 0, 0), 1, 0, 0, 1),
        ("abc", "cba", (3, 3, 0, 0), 1, 4 / 3, 0.4 / 3, -1),
        ("abcd", "badc", (4, 4, 0, 0), 1, 1, 0.1, 0.6),
        ("abcd", "cdx", (4, 3, 2, 1), 2 / 5, 2, 0.2, 1),
        ("abc", "xay", (3, 3, 2, 2), 1 / 5, 1, 0.1, 1),
        ("abc", "xyz", (3, 3, 3, 3), 0, None, None, 0),
        ("ab", "", (2, 0, 2, 0), 0, None, None, 0),
        ("", "ab", (0, 2, 0, 2), 0, None, None, 0),
        ("", "", (0, 0, 0, 0), 1, None, None, 0),
    ],
)
def test_two_lists_by_hand(logged, shadow, counts, overlap, moved, rescored, correlation):
    row = compared(logged, shadow)
    assert (
        tuple(row[name] for name in ("logged_count", "shadow_count", "only_logged", "only_shadow")) == counts
    )
    assert row["overlap"] == pytest.approx(overlap)
    assert row["mean_rank_change"] == (None if moved is None else pytest.approx(moved))
    assert row["mean_score_change"] == (None if rescored is None else pytest.approx(rescored))
    assert row["rank_correlation"] == pytest.approx(correlation)


def test_a_change_of_every_score_alone_moves_nobody():
    row = compared("abc", "abc", best=0.5)
    assert row["mean_score_change"] == pytest.approx(0.4)
    assert (row["mean_rank_change"], row["rank_correlation"]) == (0, 1)


def test_a_memory_that_a_list_names_twice_counts_once_at_its_best_rank():
    row = compared("aab", "ab")
    assert (row["logged_count"], row["overlap"], row["rank_correlation"]) == (2, 1, 1)
    assert row["mean_rank_change"] == pytest.approx(0.5)


def test_every_pair_of_lists_has_its_row_in_the_order_that_was_given():
    lists = pl.DataFrame({"search": [2, 1, 2, 3], "variant": ["v", "v", "w", "w"]})
    logged = results({(1, "logged"): "ab", (2, "logged"): "cd", (9, "logged"): "xy"}).drop("variant")
    shadow = results({(1, "v"): "ab", (2, "v"): "dc", (2, "w"): "cx", (1, "w"): "q", (9, "v"): "x"})
    found = compare_results(lists, logged, shadow)
    assert found.select("search", "variant").rows() == lists.rows()
    assert found["overlap"].to_list() == pytest.approx([1, 1, 1 / 3, 1])
    assert found["rank_correlation"].to_list() == [-1, 1, 1, 0]
    assert compare_results(lists.clear(), logged, shadow).schema == found.schema


some = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8).map("".join)


@settings(max_examples=60)
@given(st.lists(st.tuples(some, some), min_size=1, max_size=5))
def test_the_correlation_is_that_of_the_ranks_of_the_common_results(pairs):
    lists = pl.DataFrame({"search": range(len(pairs)), "variant": "v"}, schema_overrides={"search": pl.Int64})
    logged = results({(at, "v"): one for at, (one, _) in enumerate(pairs)})
    shadow = results({(at, "v"): other for at, (_, other) in enumerate(pairs)})
    found = compare_results(lists, logged.drop("variant"), shadow)
    for row, (one, other) in zip(found.rows(named=True), pairs, strict=True):
        common = [memory for memory in one if memory in other]
        assert row["only_logged"] + len(common) == len(one)
        assert row["only_shadow"] + len(common) == len(other)
        if len(common) > 1:
            ranks = pl.DataFrame(
                {"one": [one.index(memory) for memory in common],
                 "other": [other.index(memory) for memory in common]}
            )  # fmt: skip
            expected = ranks.select(pl.corr("one", "other", method="spearman")).item()
            assert row["rank_correlation"] == pytest.approx(expected)

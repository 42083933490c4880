from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import worth_judging

SCHEMA = {
    "namespace": pl.String, "query_id": pl.String, "memory_id": pl.String, "rank": pl.Int32,
    "searches": pl.Int32, "judgments": pl.Int32,
}  # fmt: skip
pairs = st.dictionaries(
    st.tuples(st.sampled_from("ab"), st.sampled_from("qrs"), st.sampled_from("mnop")),
    st.tuples(st.integers(1, 20), st.integers(1, 9), st.integers(0, 3)),
)


def frame(*rows):
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


def first(rows, seed):
    return worth_judging(rows, 1, seed=seed)["memory_id"].item()


def test_the_least_judged_come_first_whatever_they_weigh():
    rows = frame(("a", "q", "m", 1, 1_000, 1), ("a", "r", "n", 20, 1, 0), ("a", "q", "o", 1, 9, 2))
    for seed in "abcdef":
        assert worth_judging(rows, 9, seed=seed)["memory_id"].to_list() == ["n", "m", "o"]


@pytest.mark.parametrize(
    ("often", "seldom"),
    [
        (("a", "q", "m", 2, 9, 0), ("a", "r", "n", 2, 3, 0)),  # three times the searches
        (("a", "q", "m", 2, 5, 0), ("a", "q", "n", 6, 5, 0)),  # a third of the rank
    ],
)
def test_chances_are_proportional_to_size(often, seldom):
    rows = frame(seldom, often)
    share = sum(first(rows, f"day {day}") == "m" for day in range(2_000)) / 2_000
    assert share == pytest.approx(0.75, abs=0.03)


def test_what_the_judge_has_judged_is_not_drawn_again():
    rows = frame(("a", "q", "m", 1, 9, 1), ("a", "q", "n", 2, 9, 0), ("b", "q", "m", 1, 9, 0))
    judged = rows.filter(namespace="a", memory_id="m")
    drawn = worth_judging(rows, 9, seed="s", judged=judged)
    assert set(drawn.select("namespace", "memory_id").rows()) == {("a", "n"), ("b", "m")}
    assert drawn.columns == rows.columns


@given(pairs, st.integers(0, 30), st.text(max_size=3), st.randoms())
def test_the_draw_repeats_in_any_order_and_does_not_mind_others(found, n, seed, random):
    rows = [(*pair, *counts) for pair, counts in found.items()]
    drawn = worth_judging(frame(*rows), n, seed=seed)
    assert drawn.height == min(n, len(rows))
    assert drawn["judgments"].is_sorted()
    random.shuffle(rows)
    assert worth_judging(frame(*rows), n, seed=seed).equals(drawn)
    whole = worth_judging(frame(*rows), 99, seed=seed)
    some = worth_judging(frame(*rows[::2]), 99, seed=seed)
    kept = set(some.rows())
    assert [row for row in whole.rows() if row in kept] == some.rows()


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="n = -1"):
        worth_judging(frame(), -1, seed="s")
    with pytest.raises(ValueError, match="rank = 0"):
        worth_judging(frame(("a", "q", "m", 0, 1, 0)), 1, seed="s")
    assert worth_judging(frame(), 3, seed="s").is_empty()

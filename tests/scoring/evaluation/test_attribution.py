from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import attribution, contributions

SCHEMA = {
    "search_id": pl.String,
    "rank": pl.Int32,
    "memory_id": pl.String,
    "channels": pl.List(pl.String),
}
names = st.sampled_from(["vector", "bm25", "trigger", "learned"])
searches = st.dictionaries(
    st.sampled_from("stuvw"), st.lists(st.lists(names, max_size=5) | st.none(), max_size=14), max_size=4
)


def frame(found):
    rows = [(s, rank, f"m{rank}", by) for s, all_ in found.items() for rank, by in enumerate(all_, 1)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def row(rows, channel, search="s"):
    return rows.filter(channel=channel, search_id=search).row(0, named=True)


RULE = {"s": [["vector"], ["vector", "bm25"], ["vector", "trigger"], ["bm25"]]}


def test_the_example_of_the_rule():
    rows = attribution(frame(RULE))
    assert {one: row(rows, one)["ecr"] for one in ("vector", "bm25", "trigger")} == {
        "vector": 0.25,
        "bm25": 0.25,
        "trigger": 0.0,
    }
    vector = row(rows, "vector")
    assert (vector["results"], vector["covered"], vector["exclusive"]) == (4, 3, 1)
    every = row(rows, "*")
    assert (every["single"], every["multi"], every["unattributed"]) == (2, 2, 0)
    assert every["covered"] is every["ecr"] is None
    assert rows["channel"].to_list() == ["*", "bm25", "trigger", "vector"]


def test_the_rate_is_of_the_results_that_are_there_and_in_the_top():
    found = {"s": [["bm25"]] * 3 + [["vector"]] * 9, "t": [["vector"]]}
    rows = attribution(frame(found))
    assert (row(rows, "bm25")["ecr"], row(rows, "vector")["ecr"]) == (0.3, 0.7)
    assert (row(rows, "vector", "t")["ecr"], row(rows, "bm25", "t")["ecr"]) == (1.0, 0.0)
    assert row(attribution(frame(found), k=3), "bm25")["ecr"] == 1.0


def test_a_channel_named_twice_is_one_and_none_is_unattributed():
    rows = attribution(frame({"s": [["bm25", "bm25"], [], None, ["learned", "bm25"]]}))
    every = row(rows, "*")
    assert (every["single"], every["multi"], every["unattributed"]) == (1, 1, 2)
    assert (row(rows, "bm25")["covered"], row(rows, "bm25")["exclusive"]) == (2, 1)
    assert row(rows, "learned")["exclusive"] == 0
    assert attribution(frame({})).is_empty()


@given(searches)
def test_counts_agree_with_counting_one_by_one(found):
    rows = attribution(frame(found))
    assert set(rows["search_id"]) == {one for one, all_ in found.items() if all_}
    for search, all_ in found.items():
        top = [set(by or []) for by in all_[:10]]
        for one in rows.filter(pl.col("search_id") == search, pl.col("channel") != "*").iter_rows(named=True):
            mine = one["channel"]
            assert one["results"] == len(top)
            assert one["covered"] == sum(mine in by for by in top)
            assert one["exclusive"] == sum(by == {mine} for by in top)
        if top:
            every = row(rows, "*", search)
            assert every["single"] + every["multi"] + every["unattributed"] == len(top)
            alone = rows.filter(search_id=search)["exclusive"].sum()
            assert every["single"] == alone


@pytest.mark.slow
@given(searches, st.randoms())
def test_a_search_counts_the_same_among_others_and_in_any_order(found, random):
    whole = attribution(frame(found))
    parts = [attribution(frame({one: all_})) for one, all_ in found.items()]
    assert whole.equals(pl.concat([attribution(frame({})), *parts]).sort("search_id", "channel"))
    order = list(range(frame(found).height))
    random.shuffle(order)
    assert whole.equals(attribution(frame(found)[order]))


def test_many_searches_together():
    found = {"s": [["vector"], ["bm25"]], "t": [["vector"]] * 8, "u": [["vector", "learned"]] * 2}
    made = {one.channel: one for one in contributions(attribution(frame(found)))}
    assert list(made) == ["bm25", "learned", "trigger", "vector"]
    vector = made["vector"]
    assert (vector.searches, vector.results, vector.covered, vector.exclusive) == (3, 12, 11, 9)
    assert (vector.coverage, vector.ecr) == (11 / 12, 0.75)
    assert made["learned"].coverage == 2 / 12  # of all results, not of its own search's
    assert (made["trigger"].ecr, made["trigger"].ecr_low, made["trigger"].ecr_high) == (0, 0, 0)
    assert vector.ecr_low == 0.0  # three times the third search
    assert contributions(attribution(frame({}))) == []


def test_the_interval_is_as_wide_as_searches_differ_not_as_results_do():
    rng = np.random.default_rng(1)
    alike = {f"s{at}": [["vector"]] * 5 + [["bm25"]] * 5 for at in range(100)}
    apart = {f"s{at}": [["vector"] if rng.random() < 0.5 else ["bm25"]] * 10 for at in range(100)}
    (_, _, even), (_, _, uneven) = (contributions(attribution(frame(all_))) for all_ in (alike, apart))
    assert (even.ecr_low, even.ecr_high) == (0.5, 0.5)
    half = 1.96 * 0.5 / 10  # 100 searches, not 1,000 results
    assert uneven.ecr_high - uneven.ecr_low == pytest.approx(2 * half, rel=0.1)
    assert contributions(attribution(frame(apart))) == contributions(attribution(frame(apart)))


def test_the_interval_is_as_wide_as_questions_differ_and_a_repeated_search_makes_it_no_narrower():
    rng = np.random.default_rng(1)
    once = {f"s{at}": [["vector"] if rng.random() < 0.5 else ["bm25"]] * 10 for at in range(100)}
    again = {f"{one}-{time}": shown for one, shown in once.items() for time in range(9)}
    asked = pl.DataFrame({"search_id": list(again), "query_id": [one.split("-")[0] for one in again]})
    (_, _, first), (_, _, nine) = (
        contributions(attribution(frame(once))), contributions(attribution(frame(again)), asked)
    )  # fmt: skip
    assert (nine.ecr_low, nine.ecr_high) == pytest.approx((first.ecr_low, first.ecr_high), abs=0.02)
    assert (nine.searches, nine.results, nine.ecr) == (900, 9_000, first.ecr)


def test_what_cannot_be_counted_is_named():
    with pytest.raises(ValueError, match="k = 0"):
        attribution(frame(RULE), k=0)
    with pytest.raises(ValueError, match="rank = 0"):
        attribution(frame(RULE).with_columns(rank=pl.col("rank") - 1))

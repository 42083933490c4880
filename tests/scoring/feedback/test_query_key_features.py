"""Aggregation of search keys: each user counted apart, with age (rule 7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.scoring.feedback.policy import KeyTeaching
from slowwave.scoring.feedback.query_key_features import (
    VIEW,
    aggregate_keys,
    is_examined,
    is_selected,
    search_keys_of,
)

NOW = datetime(2026, 7, 1, tzinfo=UTC)
POLICY = KeyTeaching()
COLUMNS = ["namespace", "query_id", "memory_id", "principal", "taken", "examined", "last", "num_teachers"]


def view(
    query: str, who: str, memory: str, took: float = 1.0, looked: float = 1.0, age: float = 0.0
) -> tuple[object, ...]:
    return "n", query, who, memory, NOW - timedelta(days=age), took, looked


def frame(*rows: tuple[object, ...]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=VIEW, orient="row")


def values(rows: pl.DataFrame) -> dict[tuple[str, ...], tuple[float, float]]:
    return {row[1:4]: row[4:6] for row in rows.iter_rows()}


def test_taken_and_examined_by_hand():
    rows = pl.DataFrame({"evidence": [1.0, 0.7, 1.0], "share": [1.0, 0.5, 1.2], "rank": [1, 4, 16]})
    made = rows.select(
        t=is_selected(pl.col("evidence"), pl.col("share"), POLICY), x=is_examined(pl.col("rank"), POLICY)
    )
    assert made["t"].to_list() == pytest.approx([1.0, 0.35, 1.0])
    assert made["x"].to_list() == pytest.approx([1.0, 0.5, 0.25])
    flat = rows.select(is_examined(pl.col("rank"), KeyTeaching(position_bias_exponent=0.0)))
    assert flat.to_series().to_list() == [1, 1, 1]


def test_each_voice_is_a_row_and_fades_by_itself():
    made = aggregate_keys(
        frame(
            view("q", "ann", "m", age=90),
            view("q", "bob", "m", took=0.0, looked=0.5, age=45),
            view("q", "eve", "m", age=180),
        ),
        NOW,
        POLICY,
    )
    assert made.columns == COLUMNS
    assert values(made) == {("q", "m", "ann"): (0.5, 0.5), ("q", "m", "bob"): (0.0, 0.375)}
    assert made["last"].to_list() == [NOW - timedelta(days=90), NOW - timedelta(days=45)]
    assert made["num_teachers"].to_list() == [1, 1]  # one only looked, and the keys of another have faded


def test_who_asks_again_has_one_voice():
    made = aggregate_keys(
        frame(view("q", "ann", "m", age=90), view("q", "ann", "m", took=0.0, age=0)), NOW, POLICY
    )
    assert values(made) == {("q", "m", "ann"): (0.5, 1.0)}


def test_of_the_keys_of_a_memory_the_newest_stay():
    policy = KeyTeaching(max_per_memory=2)
    rows = [view(f"q{age}", "ann", "m", age=age) for age in range(4)]
    shown = view("q0", "bob", "m", took=0.0, age=9)
    assert {name[0] for name in values(aggregate_keys(frame(*rows, shown), NOW, policy))} == {"q0", "q1"}
    assert aggregate_keys(frame(*rows, shown), NOW, policy).height == 3


def test_what_nobody_took_is_not_known():
    rows = frame(view("q", "ann", "m"), view("q", "ann", "other", took=0.0), view("r", "ann", "m", took=0.0))
    assert set(values(aggregate_keys(rows, NOW, POLICY))) == {("q", "m", "ann")}


VIEWS = st.lists(
    st.builds(
        view,
        st.sampled_from("qrs"),
        st.sampled_from("abc"),
        st.sampled_from("mn"),
        st.sampled_from([0.0, 0.35, 1.0]),
        st.sampled_from([0.25, 0.5, 1.0]),
        st.integers(0, 200),
    ),
    max_size=14,
)
FEW = KeyTeaching(max_per_memory=3)


@given(VIEWS, st.randoms())
def test_the_order_of_views_does_not_matter_nor_that_all_came_twice(rows, random):
    mixed = random.sample(rows, len(rows))
    made = aggregate_keys(frame(*rows), NOW, FEW)
    assert_frame_equal(aggregate_keys(frame(*mixed), NOW, FEW), made)
    assert_frame_equal(aggregate_keys(frame(*mixed, *rows), NOW, FEW), made)


@given(VIEWS)
def test_what_is_known_is_known_when_it_is_folded_again(rows):
    made = aggregate_keys(frame(*rows), NOW, FEW)
    again = aggregate_keys(made.with_columns(at=pl.lit(NOW, dtype=VIEW["at"])).select(*VIEW), NOW, FEW)
    assert_frame_equal(again.drop("last"), made.drop("last"))


def test_the_rows_of_a_question_stand_together():
    folded = aggregate_keys(
        frame(
            view("q", "bob", "m"), view("r", "ann", "m", took=0.5), view("q", "ann", "n"),
            view("q", "ann", "m", took=0.0), view("gone", "eve", "m"), view("r", "zoe", "gone"),
        ),
        NOW,
        POLICY,
    )  # fmt: skip
    made = search_keys_of(folded.reverse(), {"m": 5, "n": 6})
    assert made.starts.tolist() == [0, 1, 4, 5]  # gone, q, r: by their ids
    assert made.memory.tolist() == [5, 5, 5, 6, 5]
    assert made.user.tolist() == [2, 0, 1, 0, 0]
    assert made.taken.tolist() == [1, 0, 1, 1, 0.5]
    assert made.examined.tolist() == [1, 1, 1, 1, 1]
    assert made.num_teachers == 4  # zoe, too, whose memory is not here
    # A question that the caller left out has no place, and the num_teachers is that of the rows it is given.
    some = search_keys_of(folded.filter(pl.col("query_id") != "gone"), {"m": 5, "n": 6})
    assert (some.starts.tolist(), some.memory.tolist()) == ([0, 3, 4], [5, 5, 6, 5])
    assert some.user.tolist() == [0, 1, 0, 0]
    assert some.num_teachers == 4


def test_nothing_known_is_no_key():
    for memory in ({}, {"m": 0}):
        made = search_keys_of(aggregate_keys(frame(), NOW, POLICY), memory)
        assert (made.starts.tolist(), len(made.memory), made.num_teachers) == ([0], 0, 0)


def test_who_asks_much_pushes_out_nobody_and_the_crowd_stays_a_crowd():
    mine = [view(f"q{n}", "eve", "m", age=1) for n in range(40)]
    views = frame(view("old", "ann", "m", age=100), view("older", "bob", "m", age=120), *mine)
    made = aggregate_keys(views, NOW, replace(POLICY, max_per_memory=8))
    assert made.height == 8
    assert {"ann", "bob"} < set(made["principal"])
    alone = aggregate_keys(views, NOW, replace(POLICY, max_per_memory=1))
    assert set(alone["principal"]) == {"eve"}
    assert alone["num_teachers"].to_list() == [3]

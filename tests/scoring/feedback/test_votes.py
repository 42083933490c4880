from __future__ import annotations

import numpy as np
import pytest
from feedback_helpers import HOUR, START, signal, signals
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.feedback.votes import displaced, in_force

votes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=60)


@given(votes, st.integers(1, 4))
def test_a_vote_displaces_the_one_on_its_search_else_the_oldest(rows, most):
    pair = np.array([one for one, _ in rows], dtype=np.int64)
    subject = np.array([10 * one + search for one, search in rows], dtype=np.int64)
    rings: dict[int, list[int]] = {}
    expected = []
    for row, (mine, search) in enumerate(zip(pair, subject, strict=True)):
        ring = rings.setdefault(int(mine), [])
        same = [old for old in ring if subject[old] == search]
        leaves = same[0] if same else ring[0] if len(ring) == most else -1
        expected.append(leaves)
        if leaves >= 0:
            ring.remove(leaves)
        ring.append(row)
    assert displaced(pair, subject, most=most).tolist() == expected


def test_the_last_word_on_a_search_counts():
    said = [
        signal("helpful", at=START, search="a"),
        signal("helpful", at=START + HOUR, search="b"),
        signal("unhelpful", at=START + 2 * HOUR, search="a"),
        signal("neutral", at=START + 3 * HOUR, search="a", by="bob"),
    ]
    left = in_force(signals(said), 5)
    assert left.select("principal", "search_id", "verdict").rows() == [
        ("ann", "b", "helpful"), ("ann", "a", "unhelpful"), ("bob", "a", "neutral"),
    ]  # fmt: skip


@pytest.mark.parametrize("flood", [5, 6, 500])
def test_of_a_flood_the_newest_five_are_in_force(flood):
    said = [signal("unhelpful", at=START + n * HOUR, search=f"s{n}", by="eve") for n in range(flood)]
    left = in_force(signals([*said, signal("helpful", search="x")]), 5)
    assert left.filter(principal="ann").height == 1
    assert left.filter(principal="eve")["search_id"].to_list() == [f"s{n}" for n in range(flood - 5, flood)]


def test_a_rating_and_an_outcome_of_one_search_are_two_votes():
    said = [signal("helpful"), signal("success", at=START + HOUR)]
    assert in_force(signals(said), 5).height == 2


def test_nothing_is_in_force_without_votes():
    assert in_force(signals([]), 5).is_empty()
    assert displaced(np.zeros(0, np.int64), np.zeros(0, np.int64), most=5).shape == (0,)

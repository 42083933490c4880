from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NOW, OF_MEMORY, PLAIN, SCOPES, build, near, voted, votes

from slowwave.scoring.ranking import MemoryState, rank
from slowwave.scoring.ranking.negative_feedback import multiplier, vote_weight

ages = st.lists(st.floats(-50, 1_000), max_size=20)


def of(days: list[float]) -> float:
    """The multiplier that ranking gives to votes of these ages."""
    cast = tuple(NOW - timedelta(days=one) for one in days)
    found = build(near(a=0.5), states={"a": MemoryState(not_useful_at=cast)})
    (only,) = rank(found, OF_MEMORY, as_of=NOW).results
    assert only.score == pytest.approx(0.5 * only.multiplier, abs=1e-12)
    return only.multiplier


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([], 1), ([0], 0.9), ([0] * 3, 0.7), ([0] * 7, 0.3), ([0] * 8, 0.3), ([0] * 100, 0.3),
        ([30] * 3, 0.85), ([60] * 4, 0.9), ([-1], 1), ([-0.001, 0], 0.9),
    ],
)  # fmt: skip
def test_the_table_of_the_rule(days, expected):
    assert of(days) == pytest.approx(expected, abs=1e-9)
    assert multiplier(vote_weight(np.array(days)).sum()) == pytest.approx(expected, abs=1e-9)


def test_each_vote_ages_by_itself():
    """A new vote does not make the old ones young again."""
    assert of([0, 30, 60]) == pytest.approx(1 - 0.1 * (1 + 0.5 + 0.25))
    assert of([0, 300, 300, 300]) == pytest.approx(0.9, abs=1e-3)


def test_a_vote_of_the_future_counts_nothing_and_one_of_now_counts_whole():
    assert vote_weight(np.array([-1e-9, -1.0, -1e9, 0.0])).tolist() == [0, 0, 0, 1]


def test_step_floor_and_half_life_are_parameters():
    assert multiplier(2.0, step=0.2, floor=0.5) == pytest.approx(0.6)
    assert multiplier(9.0, step=0.2, floor=0.5) == 0.5
    assert vote_weight(np.array([10.0]), 10.0).tolist() == [0.5]


@given(ages, st.floats(-50, 1_000))
def test_one_more_vote_never_raises_and_the_multiplier_keeps_its_bounds(days, more):
    before = float(multiplier(vote_weight(np.array(days)).sum()))
    after = float(multiplier(vote_weight(np.array([*days, more])).sum()))
    assert 0.3 <= after <= before + 1e-12
    assert before <= 1


@given(ages.filter(bool), st.floats(0, 1_000))
def test_votes_only_lose_weight_with_time(days, later):
    past = np.abs(np.array(days))
    assert (vote_weight(past + later) <= vote_weight(past)).all()


@pytest.mark.parametrize("scope", SCOPES)
def test_votes_of_one_memory_are_not_another_ones(scope):
    found = build(near(a=0.5, b=0.4), states={"b": voted(scope, votes(3))})
    first, second = rank(found, replace(PLAIN, feedback_scope=scope), as_of=NOW).results
    assert (first.multiplier, second.multiplier) == (1, pytest.approx(0.7))


# -- of a question (rule 8.1) ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("doubts", "expected"),
    [
        ([(0, 1.0)], 0.9), ([(0, 0.5)], 0.95), ([(30, 0.5)], 0.975), ([(0, 0.25), (60, 1.0)], 0.95),
        ([(0, 1.0)] * 7, 0.3), ([(0, 0.5)] * 20, 0.3), ([(-1, 1.0)], 1),
    ],
)  # fmt: skip
def test_a_vote_on_a_near_question_counts_as_near_as_it_is(doubts, expected):
    cast = tuple((NOW - timedelta(days=age), k) for age, k in doubts)
    state = MemoryState(question_not_useful=cast, question_count=len(cast))
    (only,) = rank(build(near(a=0.5), states={"a": state}), PLAIN, as_of=NOW).results
    assert only.multiplier == pytest.approx(expected, abs=1e-9)
    assert only.score == pytest.approx(0.5 * expected, abs=1e-9)


@pytest.mark.parametrize("scope", SCOPES)
def test_votes_of_the_other_scope_count_nothing(scope):
    (other,) = set(SCOPES) - {scope}
    found = build(near(a=0.5), states={"a": voted(other, votes(7))})
    (only,) = rank(found, replace(PLAIN, feedback_scope=scope), as_of=NOW).results
    assert (only.multiplier, only.score) == (1, 0.5)
    assert "negative_feedback" not in {row.source for row in only.contributions}

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, SCOPES, build, near, served

from slowwave.scoring.ranking import MemoryState, RankingPolicy, rank
from slowwave.scoring.ranking.effectiveness import combined, counted

ROUND = RankingPolicy(vector_weight=1.0, cosine_floor=0.0)
SEEN = {scope: replace(ROUND, feedback_scope=scope) for scope in SCOPES}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("effectiveness", "expected"), [(0.5, 0.71), (1.0, 0.86), (0.0, 0.56)])
def test_the_table_of_the_rule(scope, effectiveness, expected):
    assert combined(0.80, effectiveness) == pytest.approx(expected, abs=1e-12)
    found = build(near(a=0.8), states={"a": served(scope, effectiveness)})
    (only,) = rank(found, SEEN[scope], as_of=NOW).results
    assert only.score == pytest.approx(expected, abs=1e-12)
    assert (only.semantic, only.effectiveness) == (0.8, effectiveness)
    assert only.combined == pytest.approx(expected)


@pytest.mark.parametrize(
    ("count", "value", "expected"),
    [(0, 1.0, 0.5), (2, 1.0, 0.5), (2, 0.0, 0.5), (3, 0.0, 0.0), (3, 1.0, 1.0), (50, 0.7, 0.7), (3, NAN, 0.5),
     (3, 1.2, 1.0), (3, -0.1, 0.0)],
)  # fmt: skip
def test_it_counts_from_three_data_points_on_and_zero_is_a_value(count, value, expected):
    assert counted(np.array([value]), np.array([count])).tolist() == [expected]


@pytest.mark.parametrize("minimum", [0, 1, 5])
def test_from_how_many_is_a_parameter(minimum):
    used = counted(np.full(7, 0.9), np.arange(7), minimum)
    assert used.tolist() == [0.5] * minimum + [0.9] * (7 - minimum)


def test_nothing_jumps_when_the_third_vote_arrives():
    (before,), (after,) = (
        rank(build(near(a=0.8), states={"a": MemoryState(0.5, n)}), SEEN["memory"], as_of=NOW).results
        for n in (2, 3)
    )
    assert before.score == after.score


@pytest.mark.parametrize(
    ("scope", "expected"), [("question", [0.71, 0.86, 0.86, 0.86]), ("memory", [0.71, 0.71, 0.71, 0.86])]
)
def test_of_a_question_one_data_point_counts_and_of_a_memory_three(scope, expected):
    scores = []
    for count in (0, 1, 2, 3):
        found = build(near(a=0.8), states={"a": served(scope, 1.0, count)})
        (only,) = rank(found, SEEN[scope], as_of=NOW).results
        scores.append(only.score)
    assert scores == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scope", SCOPES)
def test_what_counts_in_the_other_scope_changes_nothing(scope):
    (other,) = set(SCOPES) - {scope}
    plain, said = (
        rank(build(near(a=0.8, b=0.7), states=states), SEEN[scope], as_of=NOW)
        for states in ({}, {"a": served(other, 0.0, 9), "b": served(other, 1.0, 9)})
    )
    assert [one.score for one in said.results] == [one.score for one in plain.results]
    assert [one.flags for one in said.results] == [(), ()]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_combination_is_between_its_parts(semantic, effectiveness, weight):
    both = float(combined(semantic, effectiveness, weight))
    low, high = sorted((semantic, effectiveness))
    assert low - 1e-12 <= both <= high + 1e-12

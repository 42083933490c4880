from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, PLAIN, build, near, policies, worlds

from scoring.ranking import rank
from scoring.ranking.abstention import signal


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], 0), (near(a=0.3, b=0.7), 0.7), (near(a=-0.3), 0), ([("a", NAN, 9.0, 0, 1)], 0),
        ([("a", NAN, 9.0, 0, 1), ("b", 0.2, NAN, 1, 0)], 0.2), ([("a", 1.0000001, NAN, 1, 0)], 1),
    ],
)  # fmt: skip
def test_the_signal_is_the_best_cosine(found, expected):
    assert signal(build(found)) == expected


def test_a_phrase_that_the_query_says_whole_is_an_answer_and_half_a_phrase_is_not():
    assert signal(build(near(a=0.1), triggers={"a": ("night shift", 1.0)})) == 1
    assert signal(build(near(a=0.1), triggers={"a": ("night shift", 0.5)})) == 0.1


def test_below_the_floor_nothing_is_shown_and_the_reason_is_given():
    found = build(near(a=0.4, b=0.39))
    ranking = rank(found, replace(PLAIN, abstention_floor=0.41, sparse_recall=True), as_of=NOW)
    assert (ranking.results, ranking.abstained, ranking.signal, ranking.injection) == ((), True, 0.4, None)
    told = [(one.memory_id, one.score, one.place, one.reason) for one in ranking.unshown]
    assert told == [("a", 0.4, 1, "abstained"), ("b", 0.39, 2, "abstained")]


@pytest.mark.parametrize("floor", [0.0, 0.3, 0.4])
def test_at_the_floor_it_answers(floor):
    ranking = rank(build(near(a=0.4)), replace(PLAIN, abstention_floor=floor), as_of=NOW)
    assert (len(ranking.results), ranking.abstained) == (1, False)


@given(worlds(), policies, st.integers(0, 5))
def test_a_floor_of_nothing_never_abstains(found, policy, limit):
    ranking = rank(found, replace(policy, abstention_floor=0.0), as_of=NOW, limit=limit)
    assert not ranking.abstained
    assert 0 <= ranking.signal <= 1

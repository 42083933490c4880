from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, PLAIN, build, near, policies, worlds

from slowwave.scoring.ranking import MemoryState, rank
from slowwave.scoring.ranking.abstention import signal


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], 0), (near(a=0.3, b=0.6), 0.5), (near(a=-0.3), 0), ([("a", NAN, 9.0, 0, 1)], 0),
        ([("a", NAN, 9.0, 0, 1), ("b", 0.24, NAN, 1, 0)], 0.2), ([("a", 1.0000001, NAN, 1, 0)], 1 / 1.2),
    ],
)  # fmt: skip
def test_the_signal_is_the_best_cosine_of_what_it_could_be(found, expected):
    assert signal(build(found)) == pytest.approx(expected, abs=1e-6)


def test_where_the_model_does_not_know_the_language_words_alone_speak():
    found = replace(build(near(a=0.9, b=0.9)), coverage=np.array([0.0, 0.15]))
    assert signal(replace(found, vector_say=0.0)) == pytest.approx(0.15**0.37)
    assert signal(replace(found, vector_say=0.0, coverage=np.zeros(2))) == 0
    half = 0.5 * (0.9 + 0.2 * 0.15) / 1.2 + 0.5 * 0.15**0.37
    assert signal(replace(found, vector_say=0.5)) == pytest.approx(half)
    strange = rank(replace(found, vector_say=0.0), replace(PLAIN, abstention_floor=0.5), as_of=NOW)
    assert strange.abstained
    assert not rank(found, replace(PLAIN, abstention_floor=0.5), as_of=NOW).abstained


def test_words_of_the_query_in_a_chunk_add_to_its_cosine():
    found = replace(build(near(a=0.7, b=0.6)), coverage=np.array([0.0, 1.0]))
    assert signal(found) == pytest.approx((0.6 + 0.2) / 1.2)
    assert signal(replace(found, coverage=np.array([0.0, 0.4]))) == pytest.approx(0.7 / 1.2)
    assert signal(replace(found, cosine=np.array([1.0, 1.0]), coverage=np.ones(2))) == 1


def test_what_search_keys_add_to_a_memory_is_added_to_its_signal():
    known = {"a": MemoryState(key=0.3)}
    found = build(near(a=0.24, b=0.6), states=known)
    assert signal(found) == pytest.approx(0.5)
    assert signal(build(near(a=0.24, b=0.36), states=known)) == pytest.approx(0.2 + 0.3)
    assert signal(build(near(a=1.0), states={"a": MemoryState(key=0.4)})) == 1
    floor = replace(PLAIN, abstention_floor=0.45)
    led = build(near(a=0.24), states=known)
    assert not rank(led, floor, as_of=NOW).abstained
    assert rank(led, replace(floor, key_weight=0.0), as_of=NOW).abstained
    assert rank(build(near(a=0.24)), floor, as_of=NOW).abstained


def test_a_phrase_that_the_query_says_whole_is_an_answer_and_half_a_phrase_is_not():
    assert signal(build(near(a=0.1), triggers={"a": ("night shift", 1.0)})) == 1
    assert signal(build(near(a=0.1), triggers={"a": ("night shift", 0.5)})) == pytest.approx(0.1 / 1.2)


def test_below_the_floor_nothing_is_shown_and_the_reason_is_given():
    found = build(near(a=0.48, b=0.39))
    ranking = rank(found, replace(PLAIN, abstention_floor=0.41, sparse_recall=True), as_of=NOW)
    assert (ranking.results, ranking.abstained, ranking.signal, ranking.injections) == (
        (),
        True,
        pytest.approx(0.4),
        (),
    )
    told = [(one.memory_id, one.score, one.place, one.reason) for one in ranking.unshown]
    assert told == [("a", 0.48, 1, "abstained"), ("b", 0.39, 2, "abstained")]


@pytest.mark.parametrize("floor", [0.0, 0.3, 0.48 / 1.2])
def test_at_the_floor_it_answers(floor):
    ranking = rank(build(near(a=0.48)), replace(PLAIN, abstention_floor=floor), as_of=NOW)
    assert (len(ranking.results), ranking.abstained) == (1, False)


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 5))
def test_a_floor_of_nothing_never_abstains(found, policy, limit):
    ranking = rank(found, replace(policy, abstention_floor=0.0, fit_floor=0.0), as_of=NOW, limit=limit)
    assert not ranking.abstained
    assert 0 <= ranking.signal <= 1

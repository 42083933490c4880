"""Cut of weak results: a limit is a maximum, not a quota (rule 3.9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, PLAIN, build, near, policies, worlds

from slowwave.scoring.ranking import MemoryState, RankingPolicy, rank
from slowwave.scoring.ranking.score_terms import LEAST_OF_TIME, LONG_QUERY_FLOOR, SHORT_QUERY

CUT = replace(PLAIN, cut_share=0.65)


def returned(found, policy=CUT, limit=10):
    return [result.memory_id for result in rank(found, policy, as_of=NOW, limit=limit).results]


def left_out(found, policy=CUT, limit=10):
    unshown = rank(found, policy, as_of=NOW, limit=limit).unshown
    return [(memory.memory_id, memory.reason) for memory in unshown]


@pytest.mark.parametrize(
    ("cosines", "expected"),
    [
        ({"a": 0.8, "b": 0.53, "c": 0.52, "d": 0.51}, ["a", "b", "c"]),  # .65 of .8 is .52
        ({"a": 0.8, "b": 0.1}, ["a"]),
        ({"a": 0.1, "b": 0.1}, ["a", "b"]),
        ({"a": 0.0, "b": -0.5}, []),  # the question adds nothing to either
    ],
)
def test_results_below_the_share_of_the_best_fit_are_not_returned(cosines, expected):
    assert returned(build(near(**cosines))) == expected
    assert returned(build(near(**cosines)), PLAIN) == sorted(cosines)


def test_a_memory_with_all_words_of_the_query_is_never_weak():
    found = replace(build(near(a=0.9, b=0.2, c=0.2)), coverage=np.array([0.0, 1.0, 0.75]))
    assert returned(found) == ["a", "b"]
    nothing = replace(build(near(a=0.9, b=0.0)), coverage=np.array([0.0, 1.0]))
    assert returned(nothing) == ["a"]  # without any fit it is no result


def test_weak_results_are_named_apart_from_those_beyond_the_limit():
    found = build(near(a=0.9, b=0.8, c=0.2))
    assert left_out(found, limit=1) == [("b", "limit"), ("c", "weak")]
    assert left_out(found, replace(CUT, abstention_floor=1.0)) == [
        ("a", "abstained"), ("b", "abstained"), ("c", "abstained"),
    ]  # fmt: skip


def test_neutral_effectiveness_and_confidence_make_no_fit():
    policy = RankingPolicy(cut_share=0.65, sparse_recall=False)
    found = build([("a", 0.9, NAN, 1, 0), ("b", 0.5, NAN, 2, 0)])  # the floor of cosines is .5
    assert returned(found, policy) == ["a"]
    (best, second) = rank(found, policy.uncut, as_of=NOW, limit=10).results
    assert second.score == pytest.approx(0.3 * 0.5)
    assert second.fit == 0.0
    assert best.fit == pytest.approx(0.7 * best.semantic)
    assert (best.fit_label, second.fit_label) == ("strong", "weak")


@pytest.mark.parametrize(
    "state",
    [
        MemoryState(key=0.3),
        MemoryState(learned=0.15),
        MemoryState(question_effectiveness=1.0, question_count=3),
    ],
    ids=["search key", "learned terms", "rated for the question"],
)
def test_what_use_adds_for_the_query_counts_as_fit(state):
    policy = RankingPolicy(cut_share=0.5, sparse_recall=False)
    rows = [("a", 0.7, NAN, 1, 0), ("b", 0.55, NAN, 2, 0)]
    assert returned(build(rows), policy) == ["a"]
    assert "b" in returned(build(rows, states={"b": state}), policy)


def test_unhelpful_ratings_lower_the_place_and_leave_the_fit():
    disliked = MemoryState(
        question_count=3, question_effectiveness=0.0, question_not_useful=((NOW, 1.0),) * 3
    )
    policy = RankingPolicy(cut_share=0.65, sparse_recall=False)
    found = build(near(a=0.9, b=0.88), states={"a": disliked})
    assert returned(found, policy) == ["b", "a"]


@given(worlds(), policies, st.integers(0, 6))
def test_the_cut_only_leaves_out_and_keeps_the_order(found, policy, limit):
    policy = replace(policy, sparse_recall=False, collapse_duplicates=False)
    everything = returned(found, policy.uncut, limit=100)
    kept = returned(found, policy, limit=100)
    assert [name for name in everything if name in kept] == kept
    assert returned(found, policy, limit=limit) == kept[:limit]
    assert returned(found, policy.uncut, limit=limit) == everything[:limit]
    whole = rank(found, policy.complete, as_of=NOW, limit=100)
    if policy.cut_share or policy.fit_floor:
        fits = {one.memory_id: one.fit for one in whole.results}
        best, bar = max([*fits.values(), 0.0]), policy.cut_share * max([*fits.values(), 0.0])
        timed = {name for name in fits if policy.time_weight and found.times.get(name) == 1.0}
        of_time = max([fits[name] for name in timed], default=0.0)
        timed_bar = max(policy.cut_share * of_time, LEAST_OF_TIME * bar)
        floor = policy.fit_floor * np.sqrt(found.vector_say) * (LEAST_OF_TIME if of_time > 0 else 1.0)
        floor *= LONG_QUERY_FLOOR if found.query_words > SHORT_QUERY else 1.0
        is_said = any(strength >= 1.0 for _, strength in found.triggers.values())
        if not fits or whole.signal < policy.abstention_floor or (best < floor and not is_said):
            assert kept == []
        elif policy.cut_share:
            bars = {name: timed_bar if name in timed else bar for name in fits}
            assert set(kept) == {name for name, fit in fits.items() if fit > 0 and fit >= bars[name]}
        else:
            assert set(kept) == set(fits)


def test_a_search_whose_best_fit_is_below_the_floor_abstains():
    floor = RankingPolicy(fit_floor=0.14, sparse_recall=False)
    rows = [("a", 0.7, NAN, 1, 0), ("b", 0.6, NAN, 2, 0)]
    (first, second) = (one.fit for one in rank(build(rows), floor.complete, as_of=NOW, limit=9).results)
    assert first > floor.fit_floor > second > 0.0
    assert returned(build(rows), floor) == ["a", "b"]
    assert returned(build(rows[1:]), floor) == []
    assert left_out(build(rows[1:]), floor) == [("b", "abstained")]
    assert returned(build(rows[1:]), floor.with_weak) == ["b"]
    far = RankingPolicy(abstention_floor=0.7, sparse_recall=False)
    assert (returned(build(rows), far), returned(build(rows), far.with_weak)) == ([], ["a", "b"])


def test_the_floor_counts_as_far_as_the_model_knows_the_language():
    rows = [("a", NAN, 4.0, 0, 1)]
    floor = RankingPolicy(fit_floor=1.0, sparse_recall=False)
    assert returned(build(rows, vector_say=0.0), floor) == ["a"]
    (only,) = rank(build(rows, vector_say=0.9), floor.complete, as_of=NOW, limit=9).results
    for share, expected in ((0.99, ["a"]), (1.01, [])):
        bound = replace(floor, fit_floor=share * only.fit / 0.9**0.5)
        assert returned(build(rows, vector_say=0.9), bound) == expected


@pytest.mark.parametrize(("words", "share"), [(0, 1.0), (1, 1.0), (4, 1.0), (5, 0.8), (16, 0.8)])
def test_the_floor_falls_with_the_words_of_a_long_query(words, share):
    rows = [("a", 0.6, NAN, 1, 0)]
    floor = RankingPolicy(fit_floor=1.0, sparse_recall=False)
    (only,) = rank(build(rows), floor.complete, as_of=NOW, limit=9).results
    for part, expected in ((0.99, ["a"]), (1.01, [])):
        bound = replace(floor, fit_floor=part * only.fit / share)
        assert returned(build(rows, query_words=words), bound) == expected


def test_a_phrase_that_is_said_whole_needs_no_fit():
    floor = RankingPolicy(fit_floor=1.0, sparse_recall=False)
    rows = [("a", 0.4, NAN, 1, 0)]
    assert returned(build(rows), floor) == []
    assert returned(build(rows, triggers={"a": ("code red", 1.0)}), floor) == ["a"]
    assert returned(build(rows, triggers={"a": ("code red", 0.5)}), floor) == []


def test_half_of_the_floor_is_enough_for_a_memory_of_the_time_asked_for():
    (row,) = rows = [("a", 0.6, NAN, 1, 0)]
    policy = RankingPolicy(time_weight=0.2, sparse_recall=False)
    (only,) = rank(build(rows, times={row[0]: 1.0}), policy, as_of=NOW, limit=9).results
    for share, expected in ((1.01, ["a"]), (1.99, ["a"]), (2.01, [])):
        floor = replace(policy, fit_floor=share * only.fit)
        assert returned(build(rows, times={row[0]: 1.0}), floor) == expected
        assert returned(build(rows), floor) == []


def test_half_of_the_floor_is_enough_for_a_memory_with_all_words_of_the_query():
    policy = RankingPolicy(sparse_recall=False)
    whole, part = (
        replace(build([("a", 0.6, NAN, 1, 0)]), coverage=np.array([share])) for share in (1.0, 0.9)
    )
    (only,) = rank(whole, policy, as_of=NOW, limit=9).results
    for share, expected in ((1.01, ["a"]), (1.99, ["a"]), (2.01, [])):
        floor = replace(policy, fit_floor=share * only.fit)
        assert returned(whole, floor) == expected
        assert returned(part, floor) == []


def test_a_memory_of_the_time_asked_for_is_measured_by_the_best_of_that_time():
    rows = [("old", 0.9, NAN, 1, 0), ("day", 0.66, NAN, 2, 0), ("dim", 0.52, NAN, 3, 0)]
    policy = RankingPolicy(cut_share=0.6, sparse_recall=False)
    assert returned(build(rows), policy) == ["old"]
    times = {"day": 1.0, "dim": 1.0}
    assert set(returned(build(rows, times=times), policy)) == {"old", "day"}
    assert returned(build(rows, times=times), replace(policy, time_weight=0.0)) == ["old"]
    assert returned(build(rows, times={"old": 1.0, "day": 1.0}), policy) == ["old"]
    assert returned(build(rows, times={"day": 1 / 3}), policy) == ["old"]


def test_logged_policies_without_a_cut_are_replayed_without_it():
    earlier = RankingPolicy.logged({})
    assert (earlier.cut_share, earlier.collapse_duplicates) == (0.0, False)
    assert earlier.uncut == earlier
    cut = RankingPolicy(cut_share=0.5, abstention_floor=0.5)
    assert cut.version != replace(cut, cut_share=0.0).version
    floored = replace(cut, fit_floor=0.1)
    assert cut.version != floored.version
    assert floored.complete == cut.complete
    assert (floored.uncut.fit_floor, floored.with_weak.fit_floor) == (0.1, 0.0)
    assert (cut.complete.cut_share, cut.complete.abstention_floor) == (0.0, 0.0)
    assert cut.uncut.abstention_floor == 0.5

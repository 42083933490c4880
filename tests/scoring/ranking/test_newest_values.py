"""The newest of several values ranks first, and the earlier ones are marked (rule 3.12)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NAMES, NOW, PLAIN, build, near, policies, worlds

from slowwave.journal.kinds.search import candidates_kept, candidates_of, without
from slowwave.scoring.evaluation.batch import Batch
from slowwave.scoring.ranking import MemoryState, rank
from slowwave.scoring.ranking.results import MAY_BE_NEWER
from slowwave.scoring.ranking.score_terms import ABOVE, CutList, ScoredMemories

FOUND = near(a=0.8, b=0.6, c=0.7)
"""`b` has the newest value, `a` an earlier one."""


def ranked(found, policy=PLAIN, limit=3):
    return [(one.memory_id, one.outdated_by) for one in rank(found, policy, as_of=NOW, limit=limit).results]


def flagged(found, policy=PLAIN):
    results = rank(found, policy, as_of=NOW, limit=3).results
    return [one.memory_id for one in results for flag in one.flags if flag == MAY_BE_NEWER]


def test_the_newest_value_takes_the_rank_of_the_older_one_which_is_marked():
    found = build(FOUND, outdated={"a": "b"})
    assert ranked(found) == [("b", ""), ("a", "b"), ("c", "")]
    assert ranked(found, limit=1) == [("b", "")]
    first = rank(found, PLAIN, as_of=NOW, limit=3).results[0]
    assert first.score == pytest.approx(0.8 + ABOVE)
    added = {row.source: row.value for row in first.contributions}
    assert added["outdated"] == pytest.approx(0.2 + ABOVE)
    assert sum(added.values()) == pytest.approx(first.score)


def test_it_keeps_a_rank_that_is_better_already():
    found = build(FOUND, outdated={"b": "a"})
    assert ranked(found) == [("a", ""), ("c", ""), ("b", "a")]
    assert rank(found, PLAIN, as_of=NOW, limit=1).results[0].score == pytest.approx(0.8)


def test_the_policy_turns_it_off():
    found = build(FOUND, outdated={"a": "b"})
    assert ranked(found, replace(PLAIN, mark_outdated=False)) == [("a", ""), ("c", ""), ("b", "")]


def test_the_cut_keeps_the_newest_value_of_a_result_and_leaves_out_other_chains():
    cut = replace(PLAIN, cut_share=0.8)
    assert ranked(build(FOUND), cut) == [("a", ""), ("c", "")]
    assert ranked(build(FOUND, outdated={"a": "b"}), cut) == [("b", ""), ("a", "b"), ("c", "")]
    lower = near(a=0.8, b=0.6, d=0.5, c=0.7)
    assert ranked(build(lower, outdated={"b": "d"}), cut) == [("a", ""), ("c", "")]


def test_a_newer_memory_that_may_replace_another_one_ranks_above_it_without_a_mark():
    cut = replace(PLAIN, cut_share=0.7)
    found = build(near(a=0.8, b=0.5, c=0.7), maybe_outdated={"a": "b"})
    assert ranked(build(near(a=0.8, b=0.5, c=0.7)), cut) == [("a", ""), ("c", "")]
    assert ranked(found, cut) == [("b", ""), ("a", ""), ("c", "")]
    assert ranked(found, replace(PLAIN, mark_outdated=False)) == [("a", ""), ("c", ""), ("b", "")]
    far = near(a=0.9, b=0.3, c=0.4)
    best = build(far, maybe_outdated={"a": "b"})
    assert ranked(best) == [("b", ""), ("a", ""), ("c", "")], "of a result that fits, whatever its words"
    assert ranked(build(far, maybe_outdated={"c": "b"})) == [("a", ""), ("c", ""), ("b", "")]
    chain = build(near(a=0.8, b=0.5, d=0.6), outdated={"b": "d"}, maybe_outdated={"a": "b"})
    assert ranked(chain) == [("d", ""), ("b", "d"), ("a", "")]
    doubted = {"b": MemoryState(not_useful_at=(NOW,) * 3, feedback_count=3)}
    rated = build(near(a=0.8, b=0.6), maybe_outdated={"a": "b"}, states=doubted)
    assert ranked(rated, replace(PLAIN, feedback_scope="memory"))[0] == ("a", "")


def test_a_memory_that_ranks_above_another_because_it_may_be_newer_says_so():
    found = near(a=0.8, b=0.5, c=0.7)
    may_be = build(found, maybe_outdated={"a": "b"})
    assert flagged(may_be) == ["b"]
    assert flagged(build(near(a=0.5, b=0.8), maybe_outdated={"a": "b"})) == [], "it is the best one anyway"
    assert flagged(build(found, outdated={"a": "b"})) == [], "the older one has the mark"
    assert flagged(may_be, replace(PLAIN, mark_outdated=False)) == []
    past = build(found, maybe_outdated={"a": "b"}, times={"b": 1.0}, time_words="in May")
    assert flagged(past) == [], "it held in the time that is asked for"


def test_each_link_of_a_chain_ranks_above_the_one_before_and_all_name_the_last():
    found = build(near(a=0.8, b=0.6, c=0.7, d=0.5), outdated={"a": "b", "b": "d"})
    assert ranked(found) == [("d", ""), ("b", "d"), ("a", "d")]
    assert ranked(found, replace(PLAIN, cut_share=0.9), limit=4) == [("d", ""), ("b", "d"), ("a", "d")]


def test_a_cycle_in_a_logged_search_ends():
    places = ranked(build(FOUND, outdated={"a": "b", "b": "a"}))
    assert {name for name, _ in places} == {"a", "b", "c"}


def test_a_newest_value_that_is_rated_unhelpful_is_not_raised():
    rated = MemoryState(not_useful_at=(NOW,) * 3, feedback_count=3)
    found = build(FOUND, outdated={"a": "b"}, states={"b": rated})
    policy = replace(PLAIN, feedback_scope="memory")
    assert [name for name, _ in ranked(found, policy)] == ["a", "c", "b"]


def test_a_logged_search_is_replayed_with_its_marks_and_an_erased_memory_is_in_none():
    found = build(FOUND, outdated={"a": "b"})
    kept = candidates_kept(found)
    assert kept["outdated"] == {"a": "b"}
    assert candidates_of({"candidates": kept}).outdated == {"a": "b"}
    assert without(kept, {"b"})["outdated"] == without(kept, {"a"})["outdated"] == {}
    kept = candidates_kept(build(FOUND, maybe_outdated={"a": "b"}))
    assert candidates_of({"candidates": kept}).maybe_outdated == {"a": "b"}
    assert without(kept, {"b"})["maybe_outdated"] == {}
    assert "maybe_outdated" not in candidates_kept(found)


@given(worlds(), st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES)), policies)
def test_scores_descend_and_no_outdated_memory_is_above_its_newest(found, pairs, policy):
    newest = {old: new for old, new in pairs.items() if new not in pairs and old != new}
    found = replace(found, outdated=newest)
    policy = replace(
        policy, sparse_recall=False, abstention_floor=0.0, soft_from=0.9, negative_feedback=False
    )
    results = rank(found, policy, as_of=NOW, limit=100).results
    scores = [one.score for one in results]
    assert scores == sorted(scores, reverse=True)
    by_id = {one.memory_id: one for one in results}
    for one in results:
        if one.outdated_by and (newest := by_id.get(one.outdated_by)):
            assert newest.rank < one.rank
            assert newest.fit >= one.fit


@given(st.lists(st.tuples(worlds(), st.booleans(), st.booleans()), max_size=4))
def test_a_batch_has_the_marks_of_its_searches(searches):
    found = [
        replace(one, outdated={"a": "b"} if marked else {}, maybe_outdated={"b": "c"} if unsure else {})
        for one, marked, unsure in searches
    ]
    batch = Batch.of((one, NOW, 9) for one in found)
    scored = ScoredMemories(batch.columns, PLAIN)
    listed = CutList(scored, batch.columns, PLAIN, batch.limit).memories
    names = [batch.memory_ids[at] for at in listed.tolist()]
    assert names == [one.memory_id for each in found for one in rank(each, PLAIN, as_of=NOW, limit=9).results]

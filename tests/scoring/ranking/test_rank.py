from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ranking_helpers import (
    EVEN,
    NAMES,
    NAN,
    NOW,
    OF_MEMORY,
    PLAIN,
    SCOPES,
    asked_states,
    build,
    confidences,
    near,
    policies,
    seen,
    served,
    states,
    voted,
    votes,
    worlds,
)

from slowwave.scoring.ranking import Candidates, Confidence, MemoryState, RankingPolicy, rank
from slowwave.scoring.ranking.candidates import Led, QuestionRating
from slowwave.scoring.ranking.columns import columns_of
from slowwave.scoring.ranking.results import positions
from slowwave.scoring.ranking.score_terms import LOWEST, ScoredMemories, hold_first_places
from slowwave.search.results import formula


def ranked(found, policy=EVEN, limit=10, as_of=NOW):
    return rank(found, policy, as_of=as_of, limit=limit)


def names(ranking) -> list[str]:
    return [one.memory_id for one in ranking.results]


def scores(ranking) -> dict[str, float]:
    return {one.memory_id: one.score for one in ranking.results}


def parts(result) -> dict[str, float]:
    return {row.source: row.value for row in result.contributions}


def test_a_ranking_by_hand():
    found = build(
        [("b", 0.9, NAN, 1, 0), ("a", 0.2, 4.0, 3, 2), ("b", 0.4, 8.0, 2, 1), ("c", NAN, 2.0, 0, 3)]
    )  # fmt: skip
    ranking = ranked(found)
    assert [(one.rank, one.memory_id) for one in ranking.results] == [(1, "b"), (2, "a"), (3, "c")]
    assert [one.score for one in ranking.results] == pytest.approx([0.7, 0.35, 0.125])
    first = ranking.results[0]
    assert (first.best, first.chunks) == (2, (0, 2))
    assert parts(first) == pytest.approx({"vector": 0.2, "bm25": 0.5, "effectiveness": 0, "confidence": 0})
    assert (first.semantic, first.combined, first.multiplier) == pytest.approx((0.7, 0.7, 1))
    assert (ranking.abstained, ranking.injections, ranking.unshown) == (False, (), ())
    assert ranking.signal == pytest.approx(0.9 / 1.2)


def test_ties_are_broken_by_memory_id():
    found = build([(memory, 0.5, NAN, 1, 0) for memory in "cab"])
    assert names(ranked(found)) == ["a", "b", "c"]
    assert names(ranked(found, limit=2)) == ["a", "b"]


def test_of_equal_chunks_the_first_of_the_document_is_the_best():
    found = build([("a", 0.5, NAN, 1, 0), ("a", 0.5, NAN, 2, 0)])
    swapped = turned(found, [1, 0])
    for one in (found, swapped):
        (only,) = ranked(one).results
        assert one.chunk_ids[only.best] == "a:00000"
        assert [one.chunk_ids[at] for at in only.chunks] == ["a:00000", "a:00001"]


def test_chunks_are_in_the_order_of_their_document_not_of_their_names():
    found = build([("a", 0.5, NAN, 1, 0)] * 3, ordinal=[2, 0, 1])
    (only,) = ranked(found).results
    assert only.chunks == (1, 2, 0)
    assert only.best == 1


def test_a_memory_that_only_its_words_found_can_enter_and_win():
    found = build([("a", 0.3, NAN, 1, 0), ("b", NAN, 9.0, 0, 1), ("c", 0.2, 1.0, 2, 2)])
    (only,) = ranked(found, limit=1).results
    assert only.memory_id == "b"
    assert parts(only) == {"vector": 0.0, "bm25": 0.5, "effectiveness": 0.0, "confidence": 0.0}
    assert found.channels(1) == ("bm25",)
    assert found.channels(2) == ("vector", "bm25")


def test_a_memory_that_nothing_speaks_for_scores_nothing():
    (only,) = ranked(build([("a", NAN, NAN, 0, 0)])).results
    assert only.score == 0.0
    assert parts(only) == {"vector": 0.0, "bm25": 0.0, "effectiveness": 0.0, "confidence": 0.0}


def test_scores_that_are_not_numbers_count_as_nothing():
    found = build(
        [("a", np.inf, NAN, 1, 0), ("b", NAN, np.inf, 0, 1), ("c", 0.1, NAN, 2, 0), ("d", -np.inf, NAN, 3, 0)]
    )
    assert list(scores(ranked(found)).items()) == [
        ("c", 0.05), ("a", 0.0), ("b", 0.0), ("d", 0.0),
    ]  # fmt: skip


def turned(found: Candidates, order: list[int]) -> Candidates:
    """The same candidates in another order."""
    return replace(
        found,
        chunk_ids=[found.chunk_ids[at] for at in order],
        memory_ids=[found.memory_ids[at] for at in order],
        **{
            name: getattr(found, name)[order]
            for name in ("cosine", "bm25", "vector_rank", "bm25_rank", "ordinal", "chunk_count", "rerank")
        },
    )


@pytest.mark.parametrize("policy", [RankingPolicy(), RankingPolicy(fusion="rrf")])
def test_nothing_found_or_nothing_wanted_gives_nothing(policy):
    nothing = ranked(build([]), policy)
    assert (nothing.results, nothing.unshown, nothing.abstained, nothing.signal) == ((), (), False, 0.0)
    unwanted = ranked(build([("a", 0.5, NAN, 1, 0)]), policy, limit=0)
    assert (unwanted.results, [one.memory_id for one in unwanted.unshown]) == ((), ["a"])


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="limit = -1"):
        ranked(build([]), limit=-1)


def test_what_is_cut_is_told_with_its_place():
    ranking = ranked(build(near(a=0.9, b=0.8, c=0.7)), PLAIN, limit=1)
    told = [(one.memory_id, one.score, one.place, one.reason) for one in ranking.unshown]
    assert told == [("b", 0.8, 2, "limit"), ("c", 0.7, 3, "limit")]


# -- the sum, the bounds, the order ----------------------------------------------------------------


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_the_contributions_sum_to_the_score(found, policy, limit):
    ranking = ranked(found, policy, limit)
    assert len(ranking.results) <= limit
    # Near the bounds two scores may round to one number; the order is that of the scores before.
    keys = [(-one.score, one.memory_id if LOWEST <= one.score < 1 else "") for one in ranking.results]
    assert keys == sorted(keys)
    assert [one.rank for one in ranking.results] == list(range(1, len(keys) + 1))
    for one in ranking.results:
        assert 0 <= one.score <= 1
        assert abs(sum(row.value for row in one.contributions) - one.score) <= 1e-9
        sources = [row.source for row in one.contributions]
        assert len(set(sources)) == len(sources)
        assert {"vector", "bm25", "effectiveness", "confidence"} <= set(sources)
        said = found.confidence.get(one.memory_id, Confidence())
        (row,) = [row for row in one.contributions if row.source == "confidence"]
        assert (row.field, row.term) == (said.field, said.tier)
        assert row.value == pytest.approx(policy.confidence_point * said.points)
        assert one.confidence == said
        mine = [at for at, memory in enumerate(found.memory_ids) if memory == one.memory_id]
        assert sorted(one.chunks) == mine
        assert one.best in mine
        assert [found.ordinal[at] for at in one.chunks] == sorted(found.ordinal[at] for at in mine)
    shown, unshown = names(ranking), [one.memory_id for one in ranking.unshown]
    assert sorted(shown + unshown) == sorted(set(found.memory_ids))
    assert not (ranking.abstained and shown)
    if len(found) and not policy.fit_floor:
        assert ranking.abstained == (ranking.signal < policy.abstention_floor)
    assert positions(ranking.results).tolist() == [at for one in ranking.results for at in one.chunks]


@pytest.mark.slow
@given(worlds(), policies)
def test_a_limit_only_cuts(found, policy):
    policy = replace(policy, sparse_recall=False)
    everything = ranked(found, policy, limit=100)
    for limit in range(4):
        assert ranked(found, policy, limit).results == everything.results[:limit]


@given(worlds(), policies, st.integers(0, 6), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(found, policy, limit, random):
    order = list(range(len(found)))
    random.shuffle(order)
    other = turned(found, order)
    first, second = ranked(found, policy, limit), ranked(other, policy, limit)
    assert seen(first, found) == seen(second, other)
    assert first.unshown == second.unshown


def test_a_confidence_of_nothing_is_a_row_as_well():
    (only,) = ranked(build(near(a=0.5)), PLAIN).results
    (row,) = [row for row in only.contributions if row.source == "confidence"]
    assert row == ("confidence", "", "medium", 0.0)


# -- the order of the stages: each case would be another number if two of them were swapped --------


def test_the_bonus_of_more_chunks_is_before_effectiveness():
    policy = replace(PLAIN, mpab=True, mpab_coefficient=0.3, mpab_cap=1.0, effectiveness_weight=0.3)
    found = build([("a", 0.8, NAN, 1, 0), ("a", 0.4, NAN, 2, 0)])
    (only,) = ranked(found, policy).results
    assert only.score == pytest.approx(0.7 * 0.8848528137 + 0.3 * 0.5)  # after it .7948528
    assert only.semantic == pytest.approx(0.8848528137)
    assert parts(only)["mpab"] == pytest.approx(0.7 * 0.0848528137)


def test_a_trigger_is_before_effectiveness():
    policy = replace(PLAIN, trigger_weight=0.2, effectiveness_weight=0.3)
    found = build(near(a=0.5), triggers={"a": ("night shift", 0.5)})
    (only,) = ranked(found, policy).results
    assert only.score == pytest.approx(0.7 * 0.6 + 0.15)
    row = next(row for row in only.contributions if row.source == "trigger")
    assert row == ("trigger", "trigger_phrases", "night shift", pytest.approx(0.07))


def test_a_trigger_counts_once_and_not_for_every_chunk():
    policy = replace(PLAIN, trigger_weight=0.2, mpab=True, mpab_coefficient=1.0, mpab_cap=9.0)
    found = build([("a", 0.2, NAN, 1, 0), ("a", 0.2, NAN, 2, 0)], triggers={"a": ("x", 1.0)})
    assert scores(ranked(found, policy)) == {"a": pytest.approx(0.2 + 0.2 / np.sqrt(2) + 0.2)}


def test_the_cross_encoder_reads_after_the_bonus_and_before_effectiveness():
    policy = replace(
        PLAIN, mpab=True, mpab_coefficient=0.3, mpab_cap=1.0, effectiveness_weight=0.3, rerank_weight=0.5
    )
    found = build([("a", 0.8, NAN, 1, 0), ("a", 0.4, NAN, 2, 0)], rerank=[0.1, NAN])
    (only,) = ranked(found, policy).results
    assert only.semantic == pytest.approx(0.5 * 0.8848528137 + 0.5 * 0.1)
    assert only.score == pytest.approx(0.7 * only.semantic + 0.15)
    assert parts(only)["rerank"] == pytest.approx(0.7 * 0.5 * 0.1)


def test_what_the_cross_encoder_did_not_read_counts_nothing_with_it():
    policy = replace(PLAIN, rerank_weight=0.5)
    found = build(near(a=0.8, b=0.6), rerank=[NAN, 0.9])
    assert scores(ranked(found, policy)) == {"b": pytest.approx(0.75), "a": pytest.approx(0.4)}
    unread = build(near(a=0.8, b=0.6), rerank=[NAN, NAN])
    assert ranked(unread, policy) == ranked(unread, PLAIN)


def test_what_was_learned_is_after_effectiveness():
    policy = replace(PLAIN, effectiveness_weight=0.3, learned_cap=0.15)
    found = build(near(a=0.8), states={"a": MemoryState(learned=0.1)})
    (only,) = ranked(found, policy).results
    assert only.score == pytest.approx(0.71 + 0.1)  # before it .78
    assert only.combined == pytest.approx(0.71)
    assert parts(only)["learned"] == pytest.approx(0.1)


def test_what_was_learned_is_bounded():
    found = build(near(a=0.5), states={"a": MemoryState(learned=0.9)})
    assert scores(ranked(found, replace(PLAIN, learned_cap=0.15))) == {"a": pytest.approx(0.65)}


@pytest.mark.parametrize("scope", SCOPES)
def test_search_keys_are_after_effectiveness_and_before_the_penalty(scope):
    policy = replace(PLAIN, effectiveness_weight=0.3, feedback_scope=scope)
    found = build(near(a=0.8), states={"a": voted(scope, votes(1), key=0.12, learned=0.1)})
    (only,) = ranked(found, policy).results
    assert only.combined == pytest.approx(0.71)
    assert only.score == pytest.approx((0.71 + 0.1 + 0.12) * 0.9)
    assert [row for row in only.contributions if row.source == "key"] == [
        ("key", "search_keys", "similar searches", 0.12)
    ]


def test_the_formula_names_what_search_keys_add():
    found = build(near(a=0.8), states={"a": MemoryState(key=0.12)})
    (only,) = ranked(found, PLAIN).results
    assert formula(only, PLAIN) == "1 · 0.800 + 0 · 0.500 + 0.120 (key) = 0.920"
    (plain,) = ranked(replace(found, states={}), PLAIN).results
    assert formula(plain, PLAIN) == "1 · 0.800 + 0 · 0.500 = 0.800"


def test_search_keys_are_bounded_and_nothing_is_no_row():
    found = build(near(a=0.5, b=0.4), states={"a": MemoryState(key=0.9)})
    first, second = ranked(found, PLAIN).results
    assert (first.score, second.score) == (pytest.approx(0.5 + PLAIN.key_weight), 0.4)
    assert "key" not in parts(second)
    assert ranked(found, replace(PLAIN, key_weight=0.0)) == ranked(replace(found, states={}), PLAIN)


def test_a_row_of_search_keys_says_why():
    led = {
        "a": Led(3, 0.914, "how do I\nrestart the pump", datetime(2026, 3, 4, 23, tzinfo=UTC)),
        "b": Led(1, 0.9),
        "c": Led(1_200, 1.0, "x" * 61),
    }
    found = build(near(a=0.5, b=0.4, c=0.3), states=dict.fromkeys("abc", MemoryState(key=0.1)), led=led)
    rows = [row for one in ranked(found, PLAIN).results for row in one.contributions if row.source == "key"]
    assert [row.term for row in rows] == [
        "3 similar searches, nearest 0.91 (“how do I restart the pump”, 4 March)",
        "1 similar search, nearest 0.90",
        f"1,200 similar searches, nearest 1.00 (“{'x' * 59}…”)",
    ]
    assert ranked(replace(found, led={}), PLAIN).results[0].score == ranked(found, PLAIN).results[0].score


@pytest.mark.parametrize("scope", SCOPES)
def test_confidence_is_before_the_penalty(scope):
    found = build(
        near(a=0.5),
        states={"a": voted(scope, votes(3))},
        confidence={"a": Confidence("high", 6, "source_of_truth")},
    )
    (only,) = ranked(found, replace(PLAIN, feedback_scope=scope)).results
    assert only.score == pytest.approx(0.56 * 0.7)  # after it .41
    assert parts(only)["negative_feedback"] == pytest.approx(-0.56 * 0.3)
    assert only.multiplier == pytest.approx(0.7)


@pytest.mark.parametrize("scope", SCOPES)
def test_the_penalty_is_before_the_clamp(scope):
    policy = replace(PLAIN, feedback_scope=scope)
    found = build(
        near(a=1.0),
        states={"a": voted(scope, votes(1), learned=0.15)},
        confidence={"a": Confidence("high", 6, "source_of_truth")},
    )
    assert scores(ranked(found, policy)) == {"a": pytest.approx(1.0)}  # 1.21 · .9; after it .9
    two = replace(found, states={"a": voted(scope, votes(2), learned=0.15)})
    (only,) = ranked(two, policy).results
    assert only.score == pytest.approx(1.21 * 0.8)  # after it .8
    assert "clamp" not in parts(only)


def test_a_score_above_one_is_held_and_the_row_says_so():
    found = build(near(a=1.0), confidence={"a": Confidence("high", 6, "source_of_truth")})
    (only,) = ranked(found, PLAIN).results
    assert only.score == 1.0
    assert parts(only)["clamp"] == pytest.approx(-0.06)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_score_below_zero_is_held_and_votes_are_no_gain_there(scope):
    low = Confidence("low", -4, "sensitivity")
    found = build(near(a=0.01), confidence={"a": low}, states={"a": voted(scope, votes(3))})
    (only,) = ranked(found, replace(PLAIN, feedback_scope=scope)).results
    assert only.score == 0.0
    assert parts(only)["clamp"] == pytest.approx(0.03)
    assert "negative_feedback" not in parts(only)


SOFT = replace(PLAIN, soft_from=0.9)


def test_scores_above_one_stay_different_and_below_one():
    """Cut at 1, all three would be equal, and the order that of their ids."""
    high = Confidence("high", 6, "source_of_truth")
    found = build(
        near(a=0.97, b=0.99, c=0.98, d=0.9, e=0.5),
        triggers=dict.fromkeys("abc", ("said", 1.0)),
        confidence=dict.fromkeys("abcd", high),
    )
    policy = replace(SOFT, trigger_weight=0.2)
    assert names(ranked(found, replace(policy, soft_from=1.0)))[:3] == ["a", "b", "c"]
    ranking = ranked(found, policy)
    assert names(ranking) == ["b", "c", "a", "d", "e"]
    assert scores(ranking) == pytest.approx(
        {"b": 1 - 0.01 / 0.45, "c": 1 - 0.01 / 0.44, "a": 1 - 0.01 / 0.43, "d": 1 - 0.01 / 0.16, "e": 0.5}
    )
    assert parts(ranking.results[0])["clamp"] == pytest.approx(1 - 0.01 / 0.45 - 1.25)


def test_scores_below_zero_stay_different_and_above_zero():
    low = Confidence("low", -4, "sensitivity")
    found = build(near(a=0.0, b=0.02, c=0.01), confidence=dict.fromkeys("abc", low))
    ranking = ranked(found, SOFT)
    assert names(ranking) == ["b", "c", "a"]
    assert scores(ranking) == pytest.approx({"b": 1e-4 / 0.04, "c": 1e-4 / 0.05, "a": 1e-4 / 0.06})


@given(st.lists(st.floats(-3, 30), min_size=2, max_size=20), st.floats(0.5, 0.99))
def test_squeezing_keeps_the_order_and_the_middle(raw, soft_from):
    raw = np.sort(np.array(raw))
    score = hold_first_places(raw, soft_from)
    assert ((score > 0) & (score < 1)).all()
    assert (np.diff(score) >= 0).all()
    assert (np.diff(score)[np.diff(raw) > 1e-6] > 0).all()
    middle = (raw >= LOWEST) & (raw <= soft_from)
    assert (score[middle] == raw[middle]).all()


@pytest.mark.slow
@given(worlds(), policies)
def test_ties_are_only_broken_by_id_where_scores_are_equal(found, policy):
    policy = replace(policy, soft_from=min(policy.soft_from, 0.95), sparse_recall=False)
    columns, known = columns_of(found, NOW)
    if not known:
        return
    raw = dict(zip(known, ScoredMemories(columns, policy).raw.tolist(), strict=True))
    shown = names(ranked(found, policy, limit=100))
    assert shown == sorted(shown, key=lambda name: (-raw[name], name))


@pytest.mark.parametrize("scope", SCOPES)
def test_the_cut_comes_after_everything_that_changes_a_score(scope):
    states = {"a": voted(scope, votes(7)), "b": served(scope, 1.0)}
    found = build(near(a=0.9, b=0.5), states=states)
    policy = replace(PLAIN, effectiveness_weight=0.3, feedback_scope=scope)
    assert names(ranked(found, policy, limit=1)) == ["b"]


def test_short_memories_are_recalled_after_the_cut():
    found = build(near(a=0.9, b=0.85, c=0.81), chunk_count=[5, 5, 1])
    assert names(ranked(found, replace(PLAIN, sparse_recall=True), limit=2)) == ["a", "c"]


# -- neighbours ------------------------------------------------------------------------------------


def test_a_memory_gets_of_the_better_of_its_two_neighbours():
    found = build(near(a=0.5, b=0.1, c=0.9, d=0.3), follows={"b": "a", "c": "b"})
    policy = replace(PLAIN, neighbour_weight=0.2)
    ranking = ranked(found, policy)
    assert scores(ranking) == pytest.approx({"c": 0.92, "a": 0.52, "d": 0.3, "b": 0.28})
    assert parts(ranking.results[0])["neighbour"] == pytest.approx(0.02)
    assert "neighbour" not in parts(ranking.results[2])
    off = ranked(found, replace(policy, neighbour_weight=0.0))
    assert off == ranked(replace(found, follows={}), policy)


def test_a_neighbour_that_was_not_found_and_oneself_count_nothing():
    policy = replace(PLAIN, neighbour_weight=0.2)
    found = build(near(a=0.5, b=0.1), follows={"a": "x", "y": "b", "b": "b"})
    assert ranked(found, policy) == ranked(build(near(a=0.5, b=0.1)), policy)


# -- monotonicity ----------------------------------------------------------------------------------


def place(ranking, name: str) -> int:
    """Its place among the results; after all of them when it is not there."""
    shown = names(ranking)
    return shown.index(name) + 1 if name in shown else 10_000


def everything_scored(found, policy) -> dict[str, float]:
    ranking = ranked(found, replace(policy.complete, sparse_recall=False), limit=100)
    return scores(ranking)


@pytest.mark.slow
@given(worlds(min_size=1), policies, st.integers(0, 6), states, st.floats(0, 1), st.data())
def test_more_effectiveness_never_lowers(found, policy, limit, state, more, data):
    name = data.draw(st.sampled_from(sorted(set(found.memory_ids))))
    if policy.feedback_scope == "question":
        state = replace(state, question_count=max(state.question_count, 1))
        better = replace(state, question_effectiveness=max(more, state.question_effectiveness))
    else:
        state = replace(state, feedback_count=max(state.feedback_count, policy.effectiveness_from))
        better = replace(state, effectiveness=max(more, state.effectiveness))
    before = replace(found, states={**found.states, name: state})
    after = replace(found, states={**found.states, name: better})
    assert everything_scored(after, policy)[name] >= everything_scored(before, policy)[name]
    assert place(ranked(after, policy, limit), name) <= place(ranked(before, policy, limit), name)


@given(
    worlds(min_size=1), policies, st.integers(0, 6), st.floats(-40, 400),
    st.floats(0, 1, exclude_min=True), st.data(),
)  # fmt: skip
def test_one_more_not_useful_vote_never_raises(found, policy, limit, days, k, data):
    name = data.draw(st.sampled_from(sorted(set(found.memory_ids))))
    state, moment = found.states.get(name, MemoryState()), NOW - timedelta(days=days)
    doubted = replace(
        state,
        not_useful_at=(*state.not_useful_at, moment),
        question_not_useful=(*state.question_not_useful, (moment, k)),
    )
    before, after = found, replace(found, states={**found.states, name: doubted})
    assert everything_scored(after, policy)[name] <= everything_scored(before, policy)[name] + 1e-15
    assert place(ranked(after, policy, limit), name) >= place(ranked(before, policy, limit), name)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_vote_of_tomorrow_counts_nothing_yet(scope):
    policy = replace(PLAIN, feedback_scope=scope)
    found = build(near(a=0.5), states={"a": voted(scope, (datetime(2026, 3, 2, tzinfo=UTC),))})
    assert scores(ranked(found, policy)) == {"a": 0.5}
    later = NOW + timedelta(days=1)
    assert scores(ranked(found, policy, as_of=later))["a"] == pytest.approx(0.5 * 0.9, abs=1e-3)


# -- switches: off is exactly the ranking without the feature --------------------------------------


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_votes_switched_off_are_votes_never_cast(found, policy, limit):
    off = replace(policy, negative_feedback=False)
    silent = replace(
        found,
        states={
            name: replace(state, not_useful_at=(), question_not_useful=())
            for name, state in found.states.items()
        },
    )
    assert ranked(found, off, limit) == ranked(silent, policy, limit)


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_a_learned_cap_of_nothing_is_nothing_learned(found, policy, limit):
    never = replace(found, states={name: replace(one, learned=0.0) for name, one in found.states.items()})
    assert ranked(found, replace(policy, learned_cap=0.0), limit) == ranked(never, policy, limit)


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_a_key_weight_of_nothing_is_no_keys(found, policy, limit):
    never = replace(found, states={name: replace(one, key=0.0) for name, one in found.states.items()})
    off = ranked(found, replace(policy, key_weight=0.0), limit)
    assert off == ranked(never, policy, limit)
    assert all("key" not in parts(one) for one in off.results)


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_mpab_switched_off_is_the_best_chunk_alone(found, policy, limit):
    off = ranked(found, replace(policy, mpab=False), limit)
    assert off == ranked(found, replace(policy, mpab=True, mpab_coefficient=0.0), limit)
    assert all("mpab" not in parts(one) for one in off.results)


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_recall_switched_off_only_cuts(found, policy, limit):
    off = ranked(found, replace(policy, sparse_recall=False), limit)
    assert off.injections == ()
    assert off == ranked(found, replace(policy, sparse_recall=True, sparse_chunks=0), limit)
    on = ranked(found, replace(policy, sparse_recall=True), limit)
    if not on.injections:
        assert on == off
    added = [one.memory_id for one in on.injections]
    gone = [one.displaced for one in on.injections if one.displaced is not None]
    kept = names(on)[: len(on.results) - len(added)]
    assert names(on) == [*kept, *added]
    assert not set(added) & set(names(off))
    assert sorted(kept + gone) == sorted(names(off))


@given(worlds(states={}), policies, st.integers(0, 6), st.sets(st.sampled_from(NAMES)))
def test_no_state_is_a_neutral_state(found, policy, limit, known):
    neutral = replace(found, states=dict.fromkeys(known, MemoryState()))
    assert repr(ranked(neutral, policy, limit)) == repr(ranked(found, policy, limit))


@given(worlds(), policies, st.integers(0, 6), st.floats(0, 1))
def test_strength_has_no_weight(found, policy, limit, strength):
    other = {name: replace(state, strength=strength) for name, state in found.states.items()}
    assert ranked(replace(found, states=other), policy, limit) == ranked(found, policy, limit)


@pytest.mark.slow
@given(worlds(min_size=1), policies, confidences, st.data())
def test_more_confidence_is_worth_its_points_and_no_more(found, policy, said, data):
    name = data.draw(st.sampled_from(sorted(set(found.memory_ids))))
    plain = replace(found, confidence={})
    without, with_it = (
        everything_scored(one, policy) for one in (plain, replace(plain, confidence={name: said}))
    )
    assume(said.points)
    assert abs(with_it[name] - without[name]) <= policy.confidence_point * abs(said.points) + 1e-12
    assert (with_it[name] - without[name]) * said.points >= 0
    del with_it[name], without[name]
    assert with_it == without


# -- flags -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effectiveness", "count", "flags"),
    [
        (0.8, 3, ("highly_effective",)),
        (0.7998, 3, ("highly_effective",)),  # three helpful votes of three, some hours old
        (0.795001, 3, ("highly_effective",)),
        (0.794999, 3, ()),
        (0.7998, 2, ()),
        (0.79, 3, ()),
        (1.0, 2, ()),
        (1.0, 0, ()),
        (0.8, 50, ("highly_effective",)),
    ],
)
def test_a_highly_effective_memory_is_flagged(effectiveness, count, flags):
    found = build(near(a=0.5), states={"a": MemoryState(effectiveness, count)})
    (only,) = ranked(found, RankingPolicy(feedback_scope="memory")).results
    assert only.flags == flags
    assert only.feedback_count == count
    # Of a question it is flagged where it was effective for questions like that one (rule 8.2).
    asked = build(near(a=0.5), states={"a": served("question", effectiveness, count)})
    (only,) = ranked(asked, RankingPolicy()).results
    assert only.flags == flags
    (elsewhere,) = ranked(found, RankingPolicy()).results
    assert (elsewhere.flags, elsewhere.feedback_count) == ((), count)


# -- of questions like this one (rule 8) -----------------------------------------------------------

ASKED = replace(PLAIN, effectiveness_weight=0.3, key_weight=0.4)


@pytest.mark.parametrize(
    ("effectiveness", "key", "left"),
    [
        (1.0, 0.4, 0.25),  # .3 · .5 of it is in the effectiveness already
        (0.75, 0.4, 0.325),
        (1.0, 0.15, 0.0),
        (1.0, 0.1, 0.0),
        (0.5, 0.4, 0.4),  # neutral adds nothing,
        (0.0, 0.4, 0.4),  # and what is not effective takes nothing back from the key
    ],
)
def test_keys_add_what_is_beyond_the_gain_of_effectiveness(effectiveness, key, left):
    """The rule of the greater of both: one selection that is a rating, too, is not counted twice."""
    found = build(near(a=0.3), states={"a": served("question", effectiveness, key=key)})
    (only,) = ranked(found, ASKED).results
    base = 0.7 * 0.3 + 0.3 * effectiveness
    assert only.score == pytest.approx(base + left, abs=1e-12)
    assert parts(only).get("key", 0.0) == pytest.approx(left, abs=1e-12)
    assert ("key" in parts(only)) == (left > 0)


def test_a_key_above_its_weight_is_bounded_before_the_gain_is_taken_off():
    found = build(near(a=0.1), states={"a": served("question", 1.0, key=0.9)})
    (only,) = ranked(found, ASKED).results
    assert parts(only)["key"] == pytest.approx(0.4 - 0.15)


def test_in_the_scope_of_the_memory_keys_and_effectiveness_are_added():
    found = build(near(a=0.3), states={"a": served("memory", 1.0, key=0.2)})
    (only,) = ranked(found, replace(ASKED, feedback_scope="memory")).results
    assert only.score == pytest.approx(0.7 * 0.3 + 0.3 + 0.2)
    assert parts(only)["key"] == pytest.approx(0.2)


@given(worlds(min_size=1), policies, st.floats(0, 0.4), st.floats(0, 0.4), st.data())
def test_a_greater_key_never_lowers_and_evidence_is_not_counted_twice(found, policy, key, more, data):
    name = data.draw(st.sampled_from(sorted(set(found.memory_ids))))
    policy = replace(policy, feedback_scope="question")
    low, high = sorted((key, more))
    state = found.states.get(name, MemoryState())
    with_low, with_high = (
        ScoredMemories(
            columns_of(replace(found, states={**found.states, name: replace(state, key=one)}), NOW)[0], policy
        )
        for one in (low, high)
    )  # fmt: skip
    at = sorted(set(found.memory_ids)).index(name)
    assert with_low.raw[at] <= with_high.raw[at] + 1e-12
    gain = policy.effectiveness_weight * (with_high.served[at] - 0.5)
    assert with_high.key[at] + max(gain, 0.0) <= max(gain, high, 0.0) + 1e-12


@given(worlds(), policies, st.integers(0, 6), asked_states, st.data())
def test_what_was_said_on_other_questions_is_not_in_the_score(found, policy, limit, asked, data):
    """Scope question reads nothing of the memory as a whole, scope memory nothing of the question."""
    other = data.draw(states)
    if policy.feedback_scope == "question":
        hidden = {"effectiveness": other.effectiveness, "not_useful_at": other.not_useful_at}
    else:
        hidden = asked
    changed = {name: replace(state, **hidden) for name, state in found.states.items()}
    one, two = ranked(found, policy, limit), ranked(replace(found, states=changed), policy, limit)
    said = [(row.memory_id, row.score, row.flags, row.multiplier, row.effectiveness) for row in one.results]
    assert said == [
        (row.memory_id, row.score, row.flags, row.multiplier, row.effectiveness) for row in two.results
    ]
    assert one.signal == two.signal


def term_of(found, source: str, policy=ASKED) -> str:
    (only,) = ranked(found, policy).results
    (row,) = [row for row in only.contributions if row.source == source]
    return row.term


def test_the_row_of_effectiveness_says_what_it_rests_on():
    at = datetime(2026, 3, 4, 23, tzinfo=UTC)
    plain = {"states": {"a": MemoryState(0.9, 7, question_effectiveness=0.8, question_count=3)}}
    rated = {**plain, "rated": {"a": QuestionRating(3, 0.914, "how do I\nrestart the pump", at)}}
    quiet = {**plain, "rated": {"a": QuestionRating(1, 0.914)}}
    long = {**plain, "rated": {"a": QuestionRating(7, 1.0, "x" * 61)}}
    for known, told in (
        (rated, "3 ratings on questions like this (nearest 0.91: “how do I restart the pump”, 4 March); "
                "4 on others"),
        (quiet, "1 rating on questions like this (nearest 0.91); 6 on others"),
        (long, f"7 ratings on questions like this (nearest 1.00: “{'x' * 59}…”)"),
        (plain, "3 ratings on questions like this"),
        ({"states": {"a": MemoryState(0.9, 7)}}, "no ratings on questions like this; 7 on others"),
        ({}, "no ratings"),
    ):  # fmt: skip
        assert term_of(build(near(a=0.5), **known), "effectiveness") == told
    of_memory = replace(ASKED, feedback_scope="memory")
    assert term_of(build(near(a=0.5), **rated), "effectiveness", of_memory) == "7 data points"
    two = build(near(a=0.5), states={"a": MemoryState(0.9, 2)})
    assert term_of(two, "effectiveness", of_memory) == "2 of 3 data points"


def test_the_row_of_the_penalty_says_whose_votes_they_are():
    state = MemoryState(not_useful_at=votes(3), question_not_useful=((NOW, 1.0),), question_count=1)
    found = build(near(a=0.5), states={"a": state})
    assert term_of(found, "negative_feedback") == "1 not useful on questions like this"
    assert term_of(found, "negative_feedback", OF_MEMORY) == "3 not useful"


def test_what_people_are_told_of_ratings_is_not_in_the_score_and_not_kept():
    state = {"a": MemoryState(question_effectiveness=0.8, question_count=3)}
    plain = build(near(a=0.5), states=state)
    told = replace(plain, rated={"a": QuestionRating(3, 0.9, "secret", NOW)})
    assert scores(ranked(told, ASKED)) == scores(ranked(plain, ASKED))
    assert told.to_dict() == plain.to_dict()


# -- replay ----------------------------------------------------------------------------------------


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_candidates_that_went_through_json_give_the_same_ranking(found, policy, limit):
    again = Candidates.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    first, second = ranked(found, policy, limit), ranked(again, policy, limit)
    assert repr(first) == repr(second)
    assert first == second
    assert first.unshown == second.unshown

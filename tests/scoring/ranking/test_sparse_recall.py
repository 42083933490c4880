from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, PLAIN, SCOPES, build, near, policies, voted, votes, worlds

from slowwave.scoring.ranking import RankingPolicy, rank
from slowwave.scoring.ranking.columns import columns_of
from slowwave.scoring.ranking.score_terms import BLOCKED_BELOW
from slowwave.scoring.ranking.sparse_recall import REASON, near_and_short, recall

ON = replace(PLAIN, sparse_recall=True)
# Long memories that outscore everything: their words decide, and the short ones have none.
WORDS = replace(ON, vector_weight=0.0, sparse_keeps=0)


def world(long: int, short: dict[str, float], **known):
    """Long memories l0, l1, ... that win by their words, and short ones with their cosine distance."""
    found = [(f"l{at}", 0.1, 50.0 - at, 90 + at, at + 1) for at in range(long)]
    places = sorted(short, key=lambda name: (short[name], name))
    found += [(name, 1 - distance, NAN, places.index(name) + 1, 0) for name, distance in short.items()]
    known.setdefault("chunk_count", [5] * long + [1] * len(short))
    return build(found, **known)


def ask(found, limit, policy=WORDS):
    ranking = rank(found, policy, as_of=NOW, limit=limit)
    return [one.memory_id for one in ranking.results], ranking


def test_on_a_full_list_it_takes_the_place_of_the_lowest():
    shown, ranking = ask(world(4, {"s": 0.1}), 3)
    assert shown == ["l0", "l1", "s"]
    (injection,) = ranking.injections
    assert (injection.memory_id, injection.chunk_id, injection.displaced, injection.reason) == (
        "s", "s:00000", "l2", REASON,
    )  # fmt: skip
    assert REASON == "sparse_doc_recall"
    assert injection.distance == pytest.approx(0.1)
    assert ranking.results[-1].flags == ("recall_injected",)
    assert ranking.results[-1].rank == 3
    assert [(one.memory_id, one.place, one.reason) for one in ranking.unshown] == [
        ("l2", 3, "displaced"), ("l3", 4, "limit"),
    ]  # fmt: skip


def test_a_free_place_displaces_nobody():
    found = world(2, {"s": 0.1})
    columns, names = columns_of(found, NOW)
    given_place = recall(columns, WORDS, np.array([0, 1]), np.array([5]), np.zeros(3, dtype=bool))
    assert [names[at] for at in given_place.memory] == ["s"]
    assert given_place.displaced.tolist() == [-1]
    shown, ranking = ask(found, 5)
    assert (shown, ranking.injections) == (["l0", "l1", "s"], ())  # it is there anyway


def test_a_limit_of_nothing_shows_nothing():
    shown, ranking = ask(world(2, {"s": 0.1}), 0)
    assert (shown, ranking.injections) == ([], ())


def test_a_limit_of_one_shows_the_short_memory():
    shown, ranking = ask(world(2, {"s": 0.1}), 1)
    assert (shown, ranking.injections[0].displaced) == (["s"], "l0")


@pytest.mark.parametrize(("keeps", "limit", "enters"), [
    (3, 1, False), (3, 2, False), (3, 3, False), (3, 4, True), (5, 4, False), (5, 5, False), (5, 6, True),
    (5, 10, True), (0, 1, True),
])  # fmt: skip
def test_the_first_places_are_never_given_up(keeps, limit, enters):
    shown, ranking = ask(world(12, {"s": 0.1}), limit, replace(WORDS, sparse_keeps=keeps))
    best = [f"l{at}" for at in range(limit)]
    assert shown == ([*best[:-1], "s"] if enters else best)
    assert bool(ranking.injections) == enters


def test_by_default_a_list_of_five_or_less_is_in_the_order_of_its_scores():
    for limit in range(6):
        found = world(8, {"s": 0.0})
        policy = replace(WORDS, sparse_keeps=RankingPolicy().sparse_keeps)
        plain = rank(found, replace(policy, sparse_recall=False), as_of=NOW, limit=limit)
        assert rank(found, policy, as_of=NOW, limit=limit).results == plain.results


def test_the_lowest_that_may_be_displaced_is_not_among_the_first():
    """The fourth place is protected, so nobody can go."""
    found = build(
        [*((f"l{at}", 0.1, 50.0 - at, 90 + at, at + 1) for at in range(3)), ("s", 0.9, 40.0, 1, 4),
         ("t", 0.85, NAN, 2, 0)],
        chunk_count=[5, 5, 5, 1, 1],
    )  # fmt: skip
    shown, ranking = ask(found, 4, replace(WORDS, sparse_keeps=3))
    assert (shown, ranking.injections) == (["l0", "l1", "l2", "s"], ())


def test_what_is_superseded_is_never_injected():
    found = world(6, {"s": 0.1, "t": 0.15}, superseded=frozenset({"s"}))
    assert ask(found, 3)[0] == ["l0", "l1", "t"]
    assert ask(world(6, {"s": 0.1}, superseded=frozenset({"s"})), 3)[0] == ["l0", "l1", "l2"]


def test_of_several_short_memories_the_nearest_gets_the_one_place():
    shown, _ = ask(world(4, {"s": 0.15, "t": 0.1, "u": 0.2}), 3)
    assert shown == ["l0", "l1", "t"]


def test_ties_are_broken_by_the_id():
    for short in ({"t": 0.1, "s": 0.1}, {"s": 0.1, "t": 0.1}):
        shown, _ = ask(world(4, short), 3)
        assert shown == ["l0", "l1", "s"]


def test_a_protected_last_place_is_not_taken():
    found = build(
        [("l0", 0.1, 50.0, 9, 1), ("l1", 0.1, 49.0, 8, 2), ("s", 0.9, 48.0, 1, 3), ("t", 0.85, NAN, 2, 0)],
        chunk_count=[5, 5, 1, 1],
    )
    shown, ranking = ask(found, 3)
    assert shown == ["l0", "s", "t"]
    assert ranking.injections[0].displaced == "l1"
    assert ask(found, 2)[0] == ["l0", "s"]


def test_where_every_place_is_protected_nobody_is_injected():
    found = build([("s", 0.9, 9.0, 2, 1), ("t", 0.95, NAN, 1, 0)], chunk_count=[1, 1])
    shown, ranking = ask(found, 1)
    assert (shown, ranking.injections) == (["s"], ())


@pytest.mark.parametrize(
    ("distance", "enters"), [(0.0, True), (0.19, True), (0.20, True), (0.2001, False), (NAN, False)]
)
def test_the_distance_is_inclusive(distance, enters):
    assert ("s" in ask(world(3, {"s": distance}), 2)[0]) == enters


def test_a_distance_in_single_precision_is_the_same():
    cosine = float(np.float32(0.8))
    found = build([("l", 0.1, 9.0, 2, 1), ("s", cosine, NAN, 1, 0)], chunk_count=[5, 1])
    assert ask(found, 1)[0] == ["s"]
    below = build([("l", 0.1, 9.0, 2, 1), ("s", float(np.nextafter(np.float32(0.8), 0)), NAN, 1, 0)],
                  chunk_count=[5, 1])  # fmt: skip
    assert ask(below, 1)[0] == ["s"]


@pytest.mark.parametrize(("chunks", "enters"), [(1, True), (2, True), (3, False), (50, False)])
def test_two_chunks_are_short(chunks, enters):
    found = world(3, {"s": 0.1}, chunk_count=[5, 5, 5, chunks])
    assert ("s" in ask(found, 2)[0]) == enters


@pytest.mark.parametrize(
    ("limit", "top", "factor", "place", "enters"),
    [
        (1, 20, 3, 20, True), (1, 20, 3, 21, False), (10, 20, 3, 30, True), (10, 20, 3, 31, False),
        (2, 0, 3, 6, True), (2, 0, 3, 7, False), (1, 0, 3, 1, True), (7, 20, 3, 21, True),
        (7, 20, 3, 22, False), (10, 20, 2, 21, False), (10, 20, 4, 40, True), (10, 20, 0, 20, True),
    ],
)  # fmt: skip
def test_the_place_by_distance_is_inclusive(limit, top, factor, place, enters):
    found = [(f"l{at:02}", 0.1, 50.0 - at, 90 + at, at + 1) for at in range(limit)]
    found.append(("s", 0.9, NAN, place, 0))
    given_ = build(found, chunk_count=[5] * limit + [1])
    assert (
        "s" in ask(given_, limit, replace(WORDS, sparse_top=top, sparse_limit_factor=factor))[0]
    ) == enters


def test_a_chunk_that_only_its_words_found_has_no_right_to_a_place():
    """Its distance is known, but it is not among the nearest."""
    found = build(
        [("l0", 0.1, 9.0, 2, 1), ("l1", 0.1, 8.0, 3, 2), ("s", 0.95, 0.1, 0, 3)], chunk_count=[5, 5, 1]
    )
    assert ask(found, 2)[0] == ["l0", "l1"]


def test_the_nearest_of_two_chunks_counts():
    found = build(
        [("l", 0.1, 9.0, 3, 1), ("s", 0.7, NAN, 2, 0), ("s", 0.9, NAN, 1, 0)], chunk_count=[5, 2, 2]
    )
    shown, ranking = ask(found, 1)
    assert (shown, ranking.injections[0].chunk_id) == (["s"], "s:00001")
    assert ranking.injections[0].distance == pytest.approx(0.1)
    columns, _ = columns_of(found, NOW)
    assert columns.position[near_and_short(columns, replace(WORDS, sparse_distance=0.2), np.array([1]))] == 2


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("count", "enters"), [(0, True), (1, True), (2, False), (7, False)])
def test_votes_take_the_right_away(scope, count, enters):
    found = world(3, {"s": 0.1}, states={"s": voted(scope, votes(count))})
    assert ("s" in ask(found, 2, replace(WORDS, feedback_scope=scope))[0]) == enters
    assert BLOCKED_BELOW == 0.9


@pytest.mark.parametrize("scope", SCOPES)
def test_another_short_memory_comes_where_one_is_barred(scope):
    found = world(3, {"s": 0.1, "t": 0.15}, states={"s": voted(scope, votes(2))})
    assert ask(found, 2, replace(WORDS, feedback_scope=scope))[0] == ["l0", "t"]


@pytest.mark.parametrize("scope", SCOPES)
def test_old_votes_and_votes_that_do_not_count_bar_nobody(scope):
    policy, (other,) = replace(WORDS, feedback_scope=scope), set(SCOPES) - {scope}
    old, fresh, elsewhere = voted(scope, votes(2, days=300)), voted(scope, votes(5)), voted(other, votes(5))
    assert "s" in ask(world(3, {"s": 0.1}, states={"s": old}), 2, policy)[0]
    off = replace(policy, negative_feedback=False)
    assert "s" in ask(world(3, {"s": 0.1}, states={"s": fresh}), 2, off)[0]
    assert "s" in ask(world(3, {"s": 0.1}, states={"s": elsewhere}), 2, policy)[0]


def test_votes_on_questions_that_are_hardly_near_bar_nobody():
    for near_, enters in ((0.5, True), (0.51, False)):
        found = world(3, {"s": 0.1}, states={"s": voted("question", votes(2), near_)})
        assert ("s" in ask(found, 2)[0]) == enters


def test_switched_off_it_only_cuts():
    shown, ranking = ask(world(4, {"s": 0.0}), 3, replace(WORDS, sparse_recall=False))
    assert (shown, ranking.injections) == (["l0", "l1", "l2"], ())


def test_a_memory_that_is_shown_anyway_is_not_flagged():
    shown, ranking = ask(build(near(a=0.9, b=0.85), chunk_count=[1, 1]), 2, ON)
    assert (shown, ranking.injections) == (["a", "b"], ())
    assert [one.flags for one in ranking.results] == [(), ()]


@pytest.mark.slow
@given(worlds(), policies, st.integers(0, 6))
def test_no_more_are_injected_than_the_policy_has_and_all_bounds_hold(found, policy, limit):
    ranking = rank(found, policy, as_of=NOW, limit=limit)
    flagged = [one.memory_id for one in ranking.results if "recall_injected" in one.flags]
    assert flagged == [one.memory_id for one in ranking.injections]
    assert len(flagged) <= policy.sparse_max_injections
    assert not flagged or policy.sparse_recall
    last = ranking.results[len(ranking.results) - len(flagged) :]
    assert [one.memory_id for one in last] == flagged
    assert [one.distance for one in ranking.injections] == sorted(one.distance for one in ranking.injections)
    shown = {one.memory_id for one in ranking.results}
    for injection, result in zip(ranking.injections, last, strict=True):
        assert injection.memory_id not in found.superseded
        at = found.chunk_ids.index(injection.chunk_id)
        assert found.memory_ids[at] == injection.memory_id
        assert found.chunk_count[at] <= policy.sparse_chunks
        assert 0 < found.vector_rank[at] <= max(policy.sparse_limit_factor * limit, policy.sparse_top)
        assert 1 - found.cosine[at] <= policy.sparse_distance + 1e-6
        assert result.multiplier >= BLOCKED_BELOW
        if injection.displaced is not None:
            assert len(ranking.results) == limit > policy.sparse_keeps
            columns, names = columns_of(found, NOW)
            short = columns.memory[near_and_short(columns, policy, np.array([limit]))]
            assert names.index(injection.displaced) not in short
            assert injection.displaced not in shown
    displaced = [one.displaced for one in ranking.injections if one.displaced is not None]
    assert len(set(displaced)) == len(displaced)


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (0, ["l0", "l1", "l2", "l3"]),
        (1, ["l0", "l1", "l2", "r"]),
        (2, ["l0", "l1", "r", "s"]),
        (3, ["l0", "r", "s", "t"]),
    ],
)
def test_so_many_as_the_policy_says_are_given_places_nearest_first(most, shown):
    given_ = world(6, {"s": 0.1, "t": 0.15, "r": 0.05})
    found, ranking = ask(given_, 4, replace(WORDS, sparse_max_injections=most))
    assert found == shown
    assert [one.displaced for one in ranking.injections] == ["l3", "l2", "l1"][:most]


@pytest.mark.parametrize(("say", "there"), [(1.0, True), (0.5, False), (0.0, False)])
def test_nearness_in_a_language_that_the_model_does_not_know_is_none(say, there):
    found = replace(build(near(**{f"m{at}": 0.95 - at / 1000 for at in range(9)})), vector_say=say)
    policy = replace(RankingPolicy(), sparse_distance=0.2)
    seen, _ = columns_of(found, NOW)
    assert bool(len(near_and_short(seen, policy, np.array([3])))) is there

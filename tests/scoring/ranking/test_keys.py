"""Search keys: questions like this one led there (rule 7)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.nearness import question_nearness
from slowwave.scoring.ranking.keys import (
    MIN_USERS,
    KeyPolicy,
    Keys,
    Lifts,
    lifted,
    minority_of,
)

POLICY = KeyPolicy(weight=0.4)
"""As rule 7.3 has it; 0.3 ships."""
SAME = (0.8, 1.0)
Row = tuple[int, float, float, int]
"""Memory, taken, examined, user."""


class Asked(NamedTuple):
    """Past questions, and the cosine of each with what is asked."""

    keys: Keys
    cosines: np.ndarray


def keys_of(*searches: tuple[float, list[Row]], num_teachers: int = 1) -> Asked:
    """Searches by the cosine with what is asked, each with its rows."""
    rows = [row for _, shown in searches for row in shown]
    keys = Keys(
        np.cumsum([0, *(len(shown) for _, shown in searches)]),
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[3] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.float64),
        num_teachers,
    )
    return Asked(keys, np.array([cosine for cosine, _ in searches], dtype=np.float64))


def near_of(cosines: np.ndarray, policy: KeyPolicy) -> tuple[np.ndarray, np.ndarray]:
    """Places of the past questions that are near, the nearest first, and how near."""
    near = question_nearness(cosines, *SAME)
    search = np.flatnonzero(near)
    search = search[np.argsort(-near[search], kind="stable")][: policy.nearest]
    return search, near[search]


def found_by(asked: Asked, policy: KeyPolicy = POLICY) -> Lifts:
    return lifted(asked.keys, *near_of(asked.cosines, policy), policy)


def lifts(asked: Asked, policy: KeyPolicy = POLICY) -> dict[int, float]:
    found = found_by(asked, policy)
    return dict(zip(found.memory.tolist(), found.lift.tolist(), strict=True))


def test_what_keys_add_by_hand():
    # Asked again word for word, taken from rank 1: .4 · 1 · 1 / (1 + 1).
    assert lifts(keys_of((1.0, [(7, 1.0, 1.0, 0)]))) == pytest.approx({7: 0.2}, abs=1e-12)
    # Taken from a rank that half look at: .4 · 1 / (.5 + 1).
    assert lifts(keys_of((1.0, [(7, 1.0, 0.5, 0)]))) == pytest.approx({7: 0.4 / 1.5}, abs=1e-12)
    # Half as near: .4 · .5 · .5 / (.5 + .5).
    assert lifts(keys_of((0.9, [(7, 1.0, 1.0, 0)]))) == pytest.approx({7: 0.1}, abs=1e-12)
    # Shown in front once more and not taken: .4 · 1 / (2 + 1); used, not rated: .7 of it.
    passed_over = keys_of((1.0, [(7, 1.0, 1.0, 0)]), (1.0, [(7, 0.0, 1.0, 0)]))
    assert lifts(passed_over) == pytest.approx({7: 0.4 / 3}, abs=1e-12)
    assert lifts(keys_of((1.0, [(7, 0.7, 1.0, 0)]))) == pytest.approx({7: 0.14}, abs=1e-12)


def test_several_questions_lift_more_than_one_by_hand():
    one = (1.0, [(7, 0.5, 1.0, 0)])
    # .4 · (n · .5) / (n + 1) · 2n / (n + 1).
    assert lifts(keys_of(one)) == pytest.approx({7: 0.1}, abs=1e-12)
    assert lifts(keys_of(one, one)) == pytest.approx({7: 0.4 / 3 * 4 / 3}, abs=1e-12)
    assert lifts(keys_of(one, one, one)) == pytest.approx({7: 0.15 * 1.5}, abs=1e-12)
    # One question of three people is one question: .4 · 1.5 / 4.
    people = (1.0, [(7, 0.5, 1.0, who) for who in range(3)])
    assert lifts(keys_of(people)) == pytest.approx({7: 0.15}, abs=1e-12)
    # A question in which it was only shown is none that it was taken from: .4 · .5 / 3.
    assert lifts(keys_of(one, (1.0, [(7, 0.0, 1.0, 0)]))) == pytest.approx({7: 0.2 / 3}, abs=1e-12)
    # And the lift has an end.
    certain = (1.0, [(7, 1.0, 0.1, 0)])
    assert lifts(keys_of(*[certain] * 9)) == pytest.approx({7: 0.4}, abs=1e-12)


def test_how_far_one_of_a_crowd_lifts_by_hand():
    alone = (1.0, [(7, 1.0, 1.0, 4)])
    assert lifts(keys_of(alone, num_teachers=MIN_USERS - 1)) == pytest.approx({7: 0.2}, abs=1e-12)
    assert lifts(keys_of(alone, num_teachers=MIN_USERS)) == pytest.approx({7: 0.03}, abs=1e-12)
    assert lifts(keys_of(alone, num_teachers=MIN_USERS), replace(POLICY, max_user_boost=0.0)) == {}
    assert lifts(keys_of(alone, num_teachers=10 * MIN_USERS)) == pytest.approx({7: 0.003}, abs=1e-12)
    # Two questions of two people: .4 · 2/3 · 4/3, and without either .2.
    two = [(1.0, [(7, 1.0, 1.0, 4), (9, 1.0, 1.0, 4)]), (1.0, [(7, 1.0, 1.0, 5)])]
    assert lifts(keys_of(*two)) == pytest.approx({7: 0.4 * 8 / 9, 9: 0.2}, abs=1e-12)
    assert lifts(keys_of(*two, num_teachers=MIN_USERS)) == pytest.approx({7: 0.23, 9: 0.03}, abs=1e-12)
    # One question of two people: .4 · 2/3, and without either .2: more than that and the reach.
    both = (1.0, [(7, 1.0, 1.0, 4), (7, 1.0, 1.0, 5)])
    assert lifts(keys_of(both, num_teachers=MIN_USERS)) == pytest.approx({7: 0.23}, abs=1e-12)
    assert lifts(keys_of(both, num_teachers=MIN_USERS), replace(POLICY, max_user_boost=0.1)) == pytest.approx(
        {7: 0.8 / 3}, abs=1e-12
    )


@pytest.mark.parametrize(("num_teachers", "few"), [(3, 1), (10, 1), (19, 1), (20, 2), (50, 5), (1_000, 100)])
def test_how_many_of_a_crowd_are_a_few(num_teachers, few):
    assert minority_of(num_teachers, replace(POLICY, minority_fraction=0.1)) == few
    assert minority_of(num_teachers, replace(POLICY, minority_fraction=0.0)) == 1


def test_how_far_a_few_of_a_crowd_lift_by_hand():
    tenth = replace(POLICY, minority_fraction=0.1)
    # Three people, a question each: .4 · 3/4 · 6/4, at most .4.
    three = [(1.0, [(7, 1.0, 1.0, who)]) for who in range(3)]
    assert lifts(keys_of(*three)) == pytest.approx({7: 0.4}, abs=1e-12)
    # Of thirty they are a tenth, and together worth what one of them is: .003.
    assert lifts(keys_of(*three, num_teachers=10 * MIN_USERS), tenth) == pytest.approx({7: 0.003}, abs=1e-12)
    # A fourth is worth what he is alone, .2, plus that.
    four = [*three, (1.0, [(7, 1.0, 1.0, 3)])]
    assert lifts(keys_of(*four, num_teachers=10 * MIN_USERS), tenth) == pytest.approx({7: 0.203}, abs=1e-12)
    # Of ten one is bounded, the one with two questions: the other is worth .4 · .5 / 2, .009 on top.
    uneven = [(1.0, [(7, 1.0, 1.0, 0)]), (1.0, [(7, 1.0, 1.0, 0)]), (1.0, [(7, 0.5, 1.0, 1)])]
    assert lifts(keys_of(*uneven, num_teachers=10), tenth) == pytest.approx({7: 0.109}, abs=1e-12)
    # Of twenty the two who are missed most: a third, with .5, is left, and .0045 comes on top.
    more = [*uneven, (1.0, [(7, 1.0, 1.0, 2)])]
    assert lifts(keys_of(*more, num_teachers=20), tenth) == pytest.approx({7: 0.1045}, abs=1e-12)


def test_voices_that_agree_do_not_cover_for_each_other():
    # Three who agree from ten questions each, and somebody whose one question is nearer: that one is missed
    # more than any of the three, and is one of the few beside whom they are looked for.
    few = [(0.9 + n / 1_000, [(7, 1.0, 1.0, who) for who in range(3)]) for n in range(10)]
    nearer = (1.0, [(7, 0.2, 1.0, 3)])
    reach = 0.03 * MIN_USERS / 50
    assert lifts(keys_of(*few, num_teachers=50)) == pytest.approx({7: reach})
    assert lifts(keys_of(nearer, num_teachers=50)) == pytest.approx({7: reach})
    together = lifts(keys_of(*few, nearer, num_teachers=50))[7]
    assert together <= lifts(keys_of(nearer))[7] + reach + 1e-9


def test_what_led_there_is_told():
    took, shown = [(7, 1.0, 1.0, 0), (7, 1.0, 1.0, 1)], [(7, 0.0, 1.0, 0)]
    found = found_by(keys_of((0.9, took), (0.99, shown), (0.95, took), (0.5, took), (0.92, [(3, 1, 1, 0)])))
    assert found.memory.tolist() == [3, 7]
    assert found.led.tolist() == [1, 2]
    assert found.nearest.tolist() == [4, 2]
    assert found.search.tolist() == [1, 2, 4, 0]


def test_what_was_only_shown_is_not_lifted():
    assert lifts(keys_of((1.0, [(7, 0.0, 1.0, 0), (8, 1.0, 1.0, 0)]))).keys() == {8}


@pytest.mark.parametrize("num_teachers", [1, MIN_USERS])
def test_nothing_near_lifts_nothing(num_teachers):
    far = keys_of((0.799, [(7, 1.0, 1.0, 0)]), (0.1, [(7, 1.0, 1.0, 0)]), num_teachers=num_teachers)
    assert lifts(far) == {}
    assert lifts(keys_of(num_teachers=num_teachers)) == {}
    assert lifts(keys_of((1.0, []), num_teachers=num_teachers)) == {}


def test_the_nearest_searches_count_alone():
    searches = [(0.95, [(1, 1.0, 1.0, 0)]), (0.99, [(2, 1.0, 1.0, 0)]), (0.97, [(3, 1.0, 1.0, 0)])]
    keys, cosines = keys_of(*searches)
    for search, near in (near_of(cosines, KeyPolicy(nearest=2)), near_of(cosines, POLICY)):
        found = lifted(keys, search, near, KeyPolicy(nearest=2))
        assert found.search.tolist() == [1, 2]
        assert found.memory.tolist() == [2, 3]


ROWS = st.tuples(
    st.integers(0, 3), st.sampled_from([0.0, 0.35, 0.7, 1.0]), st.floats(0, 1), st.integers(0, 3)
)
COSINES = st.floats(0.5, 1)
SEARCHES = st.lists(
    st.tuples(COSINES, st.lists(ROWS, max_size=5, unique_by=lambda row: (row[0], row[3]))),
    max_size=8,
)


def by_hand(searches: list[tuple[float, list[Row]]], memory: int) -> float:
    """The formula for one memory, without regard to num_users."""
    every = [
        (max(0.0, (cosine - 0.8) / 0.2), number, row)
        for number, (cosine, rows) in enumerate(searches)
        for row in rows
        if cosine > 0.8 and row[0] == memory
    ]
    best = max((near for near, _, row in every if row[1]), default=0.0)
    if not best:
        return 0.0
    wanted, looks = sum(near * row[1] for near, _, row in every), sum(near * row[2] for near, _, row in every)
    led = len({number for _, number, row in every if row[1]})
    return 0.4 * min(1.0, best * wanted / (looks + best) * 2 * led / (led + 1))


@given(SEARCHES)
def test_it_is_the_formula_and_never_more_than_its_weight(searches):
    found = lifts(keys_of(*searches))
    assert all(0 < lift <= POLICY.weight for lift in found.values())
    for memory in range(4):
        assert found.get(memory, 0.0) == pytest.approx(by_hand(searches, memory), abs=1e-9)


@given(SEARCHES)
def test_a_crowd_is_the_formula_with_its_bound(searches):
    found = lifts(keys_of(*searches, num_teachers=MIN_USERS))
    for memory in range(4):
        bound = by_hand(searches, memory)
        for user in range(4):
            others = [(cosine, [row for row in rows if row[3] != user]) for cosine, rows in searches]
            bound = min(bound, by_hand(others, memory) + POLICY.max_user_boost)
        assert found.get(memory, 0.0) == pytest.approx(bound, abs=1e-9)


@given(SEARCHES, st.sets(st.integers(0, 3), min_size=1, max_size=3))
def test_as_few_as_the_minority_lift_what_nobody_else_took_no_further_than_the_reach(searches, few):
    num_teachers = 10 * len(few)
    mine = [
        (cosine, [row if row[3] in few else (row[0], 0.0, *row[2:]) for row in rows])
        for cosine, rows in searches
    ]
    policy = replace(POLICY, minority_fraction=0.1)
    assert all(
        lift <= policy.max_user_boost * MIN_USERS / num_teachers + 1e-9
        for lift in lifts(keys_of(*mine, num_teachers=num_teachers), policy).values()
    )


@given(SEARCHES, st.integers(0, 3), st.sampled_from([0.0, 0.05, 0.1]))
def test_leaving_any_one_voice_out_of_a_crowd_lowers_no_lift_by_more_than_the_reach(searches, user, reach):
    policy = replace(POLICY, max_user_boost=reach)
    whole = lifts(keys_of(*searches, num_teachers=MIN_USERS), policy)
    others = [(cosine, [row for row in rows if row[3] != user]) for cosine, rows in searches]
    left = lifts(keys_of(*others, num_teachers=MIN_USERS - 1), policy)
    assert all(lift <= left.get(memory, 0.0) + reach + 1e-9 for memory, lift in whole.items())


@given(SEARCHES, st.randoms(), st.sampled_from([1, MIN_USERS]))
def test_the_order_of_searches_and_of_their_rows_does_not_matter(searches, random, num_teachers):
    mixed = [(cosine, random.sample(rows, len(rows))) for cosine, rows in searches]
    random.shuffle(mixed)
    found, same = (lifts(keys_of(*some, num_teachers=num_teachers)) for some in (mixed, searches))
    assert found == pytest.approx(same, abs=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": -0.1},
        {"weight": 1.1},
        {"impression_pseudocount": 0.0},
        {"nearest": 0},
        {"max_user_boost": -0.1},
        {"minority_fraction": 1.0},
    ],
)
def test_a_policy_that_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        KeyPolicy(**wrong)


def test_arrays_that_do_not_belong_together_are_named():
    keys = keys_of((1.0, [(7, 1.0, 1.0, 0)])).keys
    with pytest.raises(ValueError, match="2 users"):
        replace(keys, user=np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="num_teachers = -1"):
        replace(keys, num_teachers=-1)
    with pytest.raises(ValueError, match="3 starts for 1 rows"):
        replace(keys, starts=np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="0 starts"):
        replace(keys, starts=np.zeros(0, dtype=np.int64))
    with pytest.raises(ValueError, match="1 searches"):
        lifted(keys, np.array([0]), np.array([1.0, 0.5]), POLICY)

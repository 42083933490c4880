from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from slowwave.scoring.evaluation import credit, preference, team_draft
from slowwave.scoring.evaluation.interleaving import Interleaved

rankings = st.lists(st.sampled_from("mnopqrstu"), max_size=9)
SEEDS = [f"search {at}" for at in range(2_000)]


def test_both_orders_of_two_rankings_by_hand():
    made = {team_draft("mnop", "mpqn", seed=seed, limit=4) for seed in SEEDS[:50]}
    assert made == {
        Interleaved(("m", "n", "p", "o"), ("", "a", "b", "a")),  # a, then b; a, then b has no place left
        Interleaved(("m", "n", "p", "q"), ("", "a", "b", "b")),  # a, then b; b
        Interleaved(("m", "p", "n", "o"), ("", "b", "a", "a")),
        Interleaved(("m", "p", "n", "q"), ("", "b", "a", "b")),
    }


def test_credit_is_of_what_was_used_and_contested():
    shown = Interleaved(("m", "n", "p", "o"), ("", "a", "b", "a"))
    assert credit(shown, {"m", "n", "o", "q"}) == (2, 0)
    assert credit(shown, {"p", "m"}) == (0, 1)


@given(rankings, rankings, st.text(max_size=4), st.integers(0, 12))
def test_the_list_is_fair_and_complete(a, b, seed, limit):
    made = team_draft(a, b, seed=seed, limit=limit)
    assert made == team_draft(a, b, seed=seed, limit=limit)
    assert len(made.results) == len(made.teams) == min(limit, len({*a, *b}))
    assert len(set(made.results)) == len(made.results)
    contested = [team for team in made.teams if team]
    for end in range(len(contested) + 1):
        gap = contested[:end].count("a") - contested[:end].count("b")
        assert abs(gap) <= end % 2
    for ranking, team in ((a, "a"), (b, "b")):  # who picks takes the best that is left
        order = list(dict.fromkeys(ranking))
        for at, (result, by) in enumerate(zip(made.results, made.teams, strict=True)):
            if by == team:
                assert set(order[: order.index(result)]) <= set(made.results[:at])


@given(rankings, st.text(max_size=4))
def test_equal_rankings_differ_in_nothing(ranking, seed):
    made = team_draft(ranking, ranking, seed=seed, limit=9)
    assert list(made.results) == list(dict.fromkeys(ranking))
    assert credit(made, set(ranking)) == (0, 0)


@given(rankings, rankings, st.text(max_size=4))
def test_what_both_begin_with_stays_on_top_and_is_nobodys(a, b, seed):
    made = team_draft(["x", "y", *a], ["x", "y", *b], seed=seed, limit=9)
    assert made.results[:2] == ("x", "y")
    assert made.teams[:2] == ("", "")


def test_places_are_shared_alike_over_searches_and_swapping_is_the_mirror():
    turned = {"a": "b", "b": "a", "": ""}
    plain = Counter(team_draft("mnop", "pqmr", seed=seed, limit=6) for seed in SEEDS)
    swapped = Counter(team_draft("pqmr", "mnop", seed=seed, limit=6) for seed in SEEDS)
    mirror = Counter()
    for made, times in swapped.items():
        mirror[Interleaved(made.results, tuple(turned[team] for team in made.teams))] += times
    assert set(mirror) == set(plain)
    for made, times in plain.items():
        assert times == pytest.approx(mirror[made], abs=4 * np.sqrt(2 * times))
    first = sum(times for made, times in plain.items() if made.teams[0] == "a")
    assert binomtest(first, len(SEEDS)).pvalue > 0.001


def test_a_user_who_uses_anything_prefers_nobody():
    rng = np.random.default_rng(1)
    shown = [team_draft("mnopq", "qponm", seed=seed, limit=5) for seed in SEEDS]
    gained = np.array([credit(one, set(rng.permutation(list("mnopq"))[:2])) for one in shown])
    found = preference(*gained.T, margin=0.05)
    assert abs(found.difference) < 0.03
    assert found.verdict == "equivalent"


def test_the_better_ranking_is_preferred():
    relevant = {"r", "s"}
    shown = [team_draft("mnopr", "rsmno", seed=seed, limit=4) for seed in SEEDS[:60]]
    gained = np.array([credit(one, relevant) for one in shown])
    found = preference(*gained.T, margin=0.02)
    assert found.verdict == "better"
    assert preference(*gained.T[::-1], margin=0.02).verdict == "worse"


def test_preference_by_hand_is_the_sign_test():
    found = preference([0, 0, 2, 1, 0, 0], [1, 3, 0, 1, 0, 2], margin=0.0)
    assert (found.wins, found.ties, found.losses) == (3, 2, 1)
    assert (found.baseline, found.candidate) == (0.5, pytest.approx(4 / 6))
    assert found.difference == pytest.approx(1 / 6)
    assert found.p_value == pytest.approx(binomtest(3, 4).pvalue, abs=0.02)
    wins = [0] * 9 + [1]
    assert preference(wins, 1 - np.array(wins), margin=0.0).p_value == pytest.approx(
        binomtest(1, 10).pvalue, abs=0.005
    )
    with pytest.raises(ValueError, match="credit_a has 1 searches and credit_b 2"):
        preference([1], [1, 2], margin=0.0)


def test_a_question_is_one_piece_of_evidence_however_often_it_is_asked():
    """Asked twice, once won and once lost, p is a tie; q is won; r, asked three times, by two of them."""
    won, lost = ([0, 1], [1, 0])
    searches = [("p", *won), ("r", *won), ("p", *lost), ("q", *won), ("r", *lost), ("r", *won)]
    names, a, b = zip(*searches, strict=True)
    found = preference(a, b, questions=names, margin=0.0)
    assert (found.n, found.wins, found.ties, found.losses) == (3, 2, 1, 0)
    assert found.candidate == pytest.approx((1 / 2 + 1 + 2 / 3) / 3)
    script = preference([1] * 500, [0] * 500, questions=["same"] * 500, margin=0.02)
    assert (script.n, script.losses, script.verdict) == (1, 1, "insufficient evidence")
    with pytest.raises(ValueError, match="2 questions of 3 searches"):
        preference([1, 0, 0], [0, 0, 1], questions=["p", "q"], margin=0.0)


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.integers(0, 2), st.integers(0, 2)), min_size=1),
       st.randoms())  # fmt: skip
def test_the_order_of_searches_says_nothing_of_a_preference(searches, random):
    def told(rows):
        names, a, b = zip(*rows, strict=True)
        found = preference(a, b, questions=names, margin=0.02, n_draws=50)
        return found.n, found.wins, found.ties, found.losses, found.candidate

    mixed = random.sample(searches, len(searches))
    assert told(mixed) == pytest.approx(told(searches))
    assert told(searches * 3) == pytest.approx(told(searches))

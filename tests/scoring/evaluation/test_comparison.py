from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import Comparison, compare, mean_interval

metrics = st.lists(st.sampled_from([0, 0.2, 0.25, 1 / 3, 0.5, 1]), max_size=30)


def test_identical_runs_are_equivalent():
    values = np.random.default_rng(1).random(50)
    same = compare(values, values, margin=0.0)
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    assert (same.wins, same.ties, same.losses) == (0, 50, 0)
    assert same.baseline == same.candidate == pytest.approx(values.mean())
    assert same.verdict == "equivalent"


def test_differences_and_counts_by_hand():
    found = compare([0.5, 0.5, 1, 0], [1, 0.5, 0.5, 1], margin=0.01)
    assert (found.n, found.wins, found.ties, found.losses) == (4, 2, 1, 1)
    assert (found.baseline, found.candidate, found.difference) == (0.5, 0.75, 0.25)
    assert found.low <= found.difference <= found.high


def test_rounding_is_a_tie():
    values = np.full(40, 1 / 3)
    found = compare(values, values + 1e-12, margin=0.0)
    assert (found.ties, found.p_value, found.difference, found.verdict) == (40, 1, 0, "equivalent")


@pytest.mark.parametrize(("shift", "verdict"), [(0.1, "better"), (-0.1, "worse")])
def test_a_clear_shift_is_seen(shift, verdict):
    rng = np.random.default_rng(2)
    before = rng.random(200)
    found = compare(before, before + shift + rng.normal(0, 0.2, 200), margin=0.02)
    assert found.verdict == verdict
    assert found.p_value < 0.001
    assert found.low <= shift <= found.high


def test_what_the_interval_cannot_tell_is_insufficient():
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.3, 60)
    assert compare(np.zeros(60), noise - noise.mean(), margin=0.01).verdict == "insufficient evidence"


def test_a_sure_difference_inside_the_margin_is_equivalent():
    found = compare(np.zeros(100), np.full(100, 0.01), margin=0.02)
    assert (found.verdict, found.p_value) == ("equivalent", pytest.approx(1e-4, rel=0.01))
    assert dataclasses.replace(found, margin=0.01).verdict == "equivalent"
    assert dataclasses.replace(found, margin=0.005).verdict == "better"


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "better"), ({"low": 0.0}, "insufficient evidence"), ({"p_value": 0.06}, "insufficient evidence"),
        ({"p_value": 0.05}, "better"), ({"n": 19}, "insufficient evidence"), ({"margin": 0.3}, "equivalent"),
        ({"low": -0.3, "high": -0.1}, "worse"), ({"low": -0.3, "high": -0.1, "margin": 0.3}, "equivalent"),
        ({"low": -0.3, "high": 0.3}, "insufficient evidence"), ({"level": 0.99}, "insufficient evidence"),
        ({"n": 19, "least_queries": 19}, "better"),
    ],
)  # fmt: skip
def test_verdicts_by_hand(changes, verdict):
    base = Comparison(20, 0.5, 0.7, 0.2, 0.1, 0.3, 0.02, 15, 0, 5, margin=0.05)
    assert dataclasses.replace(base, **changes).verdict == verdict


def test_a_few_equal_queries_prove_nothing():
    assert compare([1.0] * 19, [1.0] * 19, margin=0.1).verdict == "insufficient evidence"
    assert compare([0.0] * 19, [1.0] * 19, margin=0.1).verdict == "insufficient evidence"


def test_no_queries_give_no_numbers_and_no_verdict():
    found = compare([], [], margin=0.1)
    assert (found.n, found.p_value, found.verdict) == (0, 1.0, "insufficient evidence")
    assert np.isnan([found.difference, found.low, found.high, found.baseline, found.candidate]).all()
    nothing = mean_interval([])
    assert nothing.n == 0
    assert np.isnan([nothing.mean, nothing.low, nothing.high]).all()


def test_the_p_value_is_that_of_all_sign_patterns():
    moved = np.array([0.5, 0.25, -0.1, 1.0, 0.3, -0.2, 0.7, 0.05, 0.4, -0.6])
    sums = np.array([np.dot(signs, moved) for signs in product([-1, 1], repeat=10)])
    exact = (np.abs(sums) >= abs(moved.sum()) - 1e-12).mean()
    found = compare(np.zeros(14), np.append(moved, [0.0] * 4), margin=0.0, n_draws=40_000)
    assert found.p_value == pytest.approx(exact, abs=0.01)
    one = compare([0.0], [1.0], margin=0.0)
    assert one.p_value == 1.0  # both sign patterns are as far from 0


def test_chance_is_called_significant_as_often_as_the_level_says():
    rng = np.random.default_rng(4)
    values = [
        compare(*rng.random((2, 40)), margin=0.0, n_draws=400, seed=at).p_value <= 0.05 for at in range(400)
    ]
    assert 0.02 <= np.mean(values) <= 0.09


def test_the_interval_covers_the_truth_about_as_often_as_its_level():
    rng = np.random.default_rng(5)
    for level, low, high in [(0.95, 0.91, 0.98), (0.8, 0.74, 0.86)]:
        covered = []
        for at in range(500):
            found = mean_interval(rng.beta(2, 3, 80), level=level, n_draws=500, seed=at)
            covered.append(found.low <= 0.4 <= found.high)
        assert low <= np.mean(covered) <= high


@given(metrics, st.integers(0, 5))
def test_the_same_seed_gives_the_same_comparison_and_swapping_turns_it_round(values, seed):
    other = values[::-1]
    found = compare(values, other, margin=0.1, n_draws=200, seed=seed)
    again = compare(values, other, margin=0.1, n_draws=200, seed=seed)
    assert repr(found) == repr(again)
    swapped = compare(other, values, margin=0.1, n_draws=200, seed=seed)
    assert (swapped.wins, swapped.losses, swapped.p_value) == (found.losses, found.wins, found.p_value)
    if values:
        assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))
    assert found.wins + found.ties + found.losses == found.n == len(values)
    assert 0 < found.p_value <= 1


def test_another_seed_gives_another_interval_near_by():
    values = np.random.default_rng(6).random(100)
    one, two = mean_interval(values, seed=1), mean_interval(values, seed=2)
    assert one != two
    assert (one.n, one.mean) == (two.n, two.mean) == (100, values.mean())
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=0.01)
    half = 1.96 * values.std() / 10
    assert (one.low, one.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


def test_blocks_do_not_change_what_is_drawn(monkeypatch):
    values = np.random.default_rng(7).random((2, 30))
    whole = compare(*values, margin=0.0, n_draws=500)
    monkeypatch.setattr("slowwave.scoring.evaluation.resampling.BLOCK", 30 * 64)
    parts = compare(*values, margin=0.0, n_draws=500)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), abs=0.05)
    assert parts.p_value == pytest.approx(whole.p_value, abs=0.1)
    monkeypatch.setattr("slowwave.scoring.evaluation.resampling.BLOCK", 1)
    assert compare(*values, margin=0.0, n_draws=5).n == 30


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1]), {}, "baseline has 2 queries and candidate 1"),
        (([1, np.nan], [1, 2]), {}, r"baseline\[1\] = nan"),
        (([1, 2], [np.inf, 2]), {}, r"candidate\[0\] = inf"),
        (([[1, 2]], [[1, 2]]), {}, r"shape \(1, 2\)"),
        (([1], [1]), {"margin": -0.1}, "margin = -0.1"),
        (([1], [1]), {"margin": np.nan}, "margin = nan"),
        (([1], [1]), {"n_draws": 0}, "n_draws = 0"),
    ],
)
def test_what_cannot_be_compared_is_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        compare(*arguments, **{"margin": 0.0, **options})
    with pytest.raises(ValueError, match=r"level = 1\.0"):
        mean_interval([1], level=1.0)


def settled_by(difference, deviation, n=100, margin=0.02, **more):
    one = Comparison(n, 0.5, 0.5, difference, -1, 1, 0.5, 1, 1, 1, margin, deviation=deviation, **more)
    assert one.verdict == "insufficient evidence"
    return one.queries_needed


def test_queries_needed_by_hand():
    # (1.95996 + 0.84162)² = 7.8489, times (deviation / distance)²
    assert settled_by(0.05, 0.3) == settled_by(-0.05, 0.3) == 283 - 100
    assert settled_by(0.0, 0.3) == 1_766 - 100  # of the margin's size
    assert settled_by(0.005, 0.3) == 3_140 - 100  # 0.015 from the margin, nearer than from 0
    assert settled_by(0.015, 0.3) == 3_140 - 100  # and here nearer to be better
    assert settled_by(0.05, 0.3, level=0.99) > settled_by(0.05, 0.3)
    assert settled_by(0.05, 0.3, n=300) == 1  # enough, and yet not settled
    assert settled_by(0.3, 0.1, n=4) == 16  # never with fewer than 20
    assert settled_by(0.3, 0.0, n=4) == 16


def test_what_no_number_of_queries_settles():
    assert settled_by(0.0, 0.3, margin=0.0) is None
    assert settled_by(0.1, float("nan"), n=1) is None
    assert compare([], [], margin=0.1).queries_needed is None


def test_what_is_settled_needs_no_more():
    rng = np.random.default_rng(8)
    before = rng.random(100)
    for shift in (0.3, -0.3, 0.0):
        found = compare(before, before + shift, margin=0.02)
        assert found.verdict != "insufficient evidence"
        assert found.queries_needed == 0


def test_the_deviation_is_that_of_the_differences_and_no_part_of_equality():
    found = compare([0.0, 0.0, 0.0], [0.0, 0.5, 1.0], margin=0.0)
    assert found.deviation == pytest.approx(0.5)
    assert found == dataclasses.replace(found, deviation=float("nan"))
    assert found.queries_needed == 17


def test_a_comparison_is_told_in_a_sentence():
    rng = np.random.default_rng(9)
    before = rng.random(1_000)
    better = compare(before, before + 0.1, margin=0.02)
    assert better.describe() == (
        "better: +0.1000 (95% interval +0.1000 to +0.1000, p = 0.0001) over 1,000 queries, "
        "1,000 won, 0 tied, 0 lost"
    )
    assert compare(before, before, margin=0.02).describe().startswith("equivalent within 0.02: +0.0000 ")
    open_ = compare(before[:50], before[50:100], margin=0.02)
    assert open_.describe().endswith(f"; about {open_.queries_needed:,} more queries may settle it")
    assert compare([], [], margin=0.0).describe() == "insufficient evidence: no query was compared"


def reciprocal_ranks(rng, n, same):
    """MRR@5 of two rankings that are as good: the answer at a place by chance, the same on some queries."""
    ranks = rng.geometric(0.1 + 0.8 * rng.random(n), (2, n))
    values = np.where(ranks <= 5, 1 / ranks, 0.0)
    return values[0], np.where(rng.random(n) < same, values[0], values[1])


def gains(rng, n, same):
    """Continuous values, as nDCG's."""
    values = rng.beta(2, 2, n) * np.where(rng.random((2, n)) < same, 1, rng.random((2, n)))
    return values[0], values[1]


@pytest.mark.parametrize(
    ("kind", "n", "same"),
    [
        (reciprocal_ranks, 30, 0.3),
        (reciprocal_ranks, 100, 0.5),
        (reciprocal_ranks, 200, 0.9),
        (gains, 60, 0.5),
    ],
)
def test_where_nothing_differs_better_is_rarely_said(kind, n, same):
    rng, trials = np.random.default_rng(10), 500
    said = [compare(*kind(rng, n, same), margin=0.0, n_draws=400, seed=at).verdict for at in range(trials)]
    assert said.count("better") <= 0.05 * trials
    assert said.count("worse") <= 0.05 * trials


def test_a_real_effect_is_seen_the_oftener_the_more_queries_there_are():
    rng, power = np.random.default_rng(11), []
    for n in (50, 150, 450):
        better = 0
        for at in range(100):
            before, after = reciprocal_ranks(rng, n, 0.5)
            lifted = np.where(rng.random(n) < 0.2, 1.0, after)
            better += compare(before, lifted, margin=0.02, n_draws=400, seed=at).verdict == "better"
        power.append(better / 100)
    assert power[0] < power[1] < power[2]
    assert power[2] > 0.95


def test_as_many_more_queries_as_needed_mostly_settle_it():
    """By what a first look at 60 queries says; of a known effect, so that its luck does not decide."""
    rng, settled = np.random.default_rng(12), 0
    for at in range(60):
        first = compare(np.zeros(60), rng.normal(0.0, 0.3, 60), margin=0.05, n_draws=400, seed=at)
        known = dataclasses.replace(first, difference=0.1, low=-1.0, high=1.0, p_value=0.5)
        n = 60 + known.queries_needed
        more = compare(np.zeros(n), rng.normal(0.1, 0.3, n), margin=0.05, n_draws=400, seed=at)
        settled += more.verdict == "better"
    assert 0.65 <= settled / 60 <= 0.95

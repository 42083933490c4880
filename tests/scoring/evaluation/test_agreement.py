from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import agreement
from slowwave.scoring.evaluation.agreement import cohens_kappa, gwets_ac1

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


def columns(rows):
    return np.array(rows, dtype=float).reshape(-1, 2).T


def test_figures_by_hand():
    found = agreement([3, 2, 0, 1, 0], [3, 0, 0, 2, 0])
    assert (found.n, found.agreed) == (5, 3)
    assert (found.exact.value, found.tolerant.value, found.binary.value) == (0.6, 0.8, 0.8)
    # By chance: (2·3 + 1·0 + 1·1 + 1·1) / 25 = .32; (.6 − .32) / .68
    assert found.kappa.value == pytest.approx(0.28 / 0.68)
    # Squares: 4 + 1 seen of 5; by chance, summed over all 25 couples of grades: 61 / 5
    chance = sum((a - b) ** 2 for a in (3, 2, 0, 1, 0) for b in (3, 0, 0, 2, 0)) / 5
    assert found.weighted_kappa.value == pytest.approx(1 - 5 / chance)
    # Shares .5 .1 .2 .2: (.25 + .09 + .16 + .16) / 3 = .22
    assert found.ac1.value == pytest.approx((0.6 - 0.22) / 0.78)
    assert found.table == ((2, 0, 0, 0), (0, 0, 1, 0), (1, 0, 0, 0), (0, 0, 0, 1))


@pytest.mark.parametrize(
    ("table", "kappa", "digits"),
    [
        ([[20, 5], [10, 15]], 0.4, 3),  # a textbook one: .7 seen, .5 by chance
        ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.429, 3),  # Fleiss, Cohen and Everitt (1969)
        ([[118, 5], [2, 0]], -0.0234, 4),  # Gwet (2008): agreement .944, and yet below 0
    ],
)
def test_published_kappas(table, kappa, digits):
    assert round(float(cohens_kappa(table)), digits) == kappa


def test_published_ac1():
    assert round(float(gwets_ac1([[118, 5], [2, 0]])), 4) == 0.9408  # where kappa is below 0


def test_the_figures_of_other_programs():
    """cohen_kappa_score of scikit-learn 1.9.1, gwet() of irrCAC."""
    found = agreement([3, 2, 0, 1, 0, 2, 3, 1, 0, 0], [3, 0, 0, 2, 0, 2, 2, 1, 1, 0], n_draws=10)
    assert found.kappa.value == pytest.approx(0.4444444444444444, abs=1e-12)
    assert found.weighted_kappa.value == pytest.approx(0.7154471544715447, abs=1e-12)
    assert found.ac1.value == pytest.approx(0.47483589, abs=1e-8)


@given(pairs)
def test_squared_kappa_is_lins_concordance(rows):
    """Krippendorff (1970): 2 cov / (var + var + (difference of means)²)."""
    one, other = columns(rows)
    spread = one.var() + other.var() + (one.mean() - other.mean()) ** 2
    assume(spread > 0)
    expected = 2 * np.mean((one - one.mean()) * (other - other.mean())) / spread
    assert agreement(one, other, n_draws=10).weighted_kappa.value == pytest.approx(expected, abs=1e-9)


@given(pairs)
def test_the_two_can_change_places_and_order_says_nothing(rows):
    one, other = columns(rows)
    found, back = agreement(one, other, n_draws=50), agreement(other, one, n_draws=50)
    for name in ("exact", "tolerant", "binary", "kappa", "weighted_kappa", "ac1"):
        figure, turned = getattr(found, name), getattr(back, name)
        assert figure.value == pytest.approx(turned.value, nan_ok=True)
        assert not figure.value > 1 + 1e-12
    assert found.exact.value <= found.tolerant.value
    assert found.exact.value <= found.binary.value
    assert repr(agreement(one[::-1], other[::-1], n_draws=50)) == repr(found)


def test_who_agrees_on_everything_has_all_ones_and_on_one_grade_no_kappa():
    grades = [0, 1, 2, 3, 0, 1]
    found = agreement(grades, grades)
    assert found.kappa[:2] == found.weighted_kappa[:2] == found.ac1[:2] == (1, 1)
    same = agreement([0] * 20, [0] * 20)
    assert same.exact.value == same.ac1.value == 1
    assert all(math.isnan(number) for number in same.kappa)


@pytest.mark.parametrize(
    ("agreed", "of", "meets"), [(4, 5, True), (3, 5, False), (0, 0, False), (79, 99, False), (7, 10, False)]
)
def test_the_bar_is_four_of_five(agreed, of, meets):
    first = np.ones(of)
    second = np.where(np.arange(of) < agreed, 1, 2)
    assert agreement(first, second, n_draws=10).meets() is meets


def test_a_bar_that_is_no_binary_fraction_is_met_exactly():
    assert agreement(np.ones(100), np.r_[np.ones(29), np.zeros(71)], n_draws=10).meets(0.29)


def test_nothing_in_common_says_nothing():
    found = agreement([], [])
    assert (found.n, found.exact.low, found.exact.high) == (0, 0, 1)
    assert math.isnan(found.exact.value)
    assert math.isnan(found.kappa.value)


def test_means_of_labels_count_as_the_nearest_grade():
    assert agreement([0.5, 1.5, 2.49, 1 / 3], [1, 2, 2, 0]).exact.value == 1


def test_intervals_cover_the_truth_and_groups_widen_them():
    rng = np.random.default_rng(3)
    truth = np.diag([0.4, 0.1, 0.1, 0.1]) + 0.3 / 16
    expected, covered = float(cohens_kappa(truth)), 0
    for at in range(200):
        drawn = rng.choice(16, 150, p=truth.ravel())
        found = agreement(drawn // 4, drawn % 4, n_draws=300, seed=at).kappa
        covered += found.low <= expected <= found.high
    assert 0.88 <= covered / 200 <= 0.99
    one, other, group = np.repeat(drawn // 4, 5), np.repeat(drawn % 4, 5), np.repeat(np.arange(150), 5)
    alone, together = agreement(one, other).kappa, agreement(one, other, groups=group).kappa
    assert together.high - together.low > 1.8 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ([1, 2], [1], {}, "first has 2 grades and second 1"),
        ([1, 4], [1, 2], {}, r"first\[1\] = 4"),
        ([1], [np.nan], {}, r"second\[0\] = nan"),
        ([1, 1], [1, 1], {"groups": ["q"]}, "1 groups of 2 pairs"),
    ],
)
def test_what_cannot_be_compared_is_named(first, second, options, message):
    with pytest.raises(ValueError, match=message):
        agreement(first, second, **options)

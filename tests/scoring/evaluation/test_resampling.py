from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import resampling
from slowwave.scoring.evaluation.digest import digest, uniform
from slowwave.scoring.evaluation.resampling import percentiles, ratio, resampled_totals

tables = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20)


def test_totals_are_those_of_as_many_rows_as_there_are():
    assert (resampled_totals([[2, 3]] * 4, n_draws=5) == [8, 12]).all()
    two = resampled_totals([[1, 0], [0, 1]], n_draws=4_000)
    assert (two.sum(axis=1) == 2).all()
    kinds, counts = np.unique(two[:, 0], return_counts=True)
    assert kinds.tolist() == [0, 1, 2]
    assert counts / 4_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


@pytest.mark.slow
@given(tables, st.randoms())
def test_the_order_of_rows_says_nothing_and_columns_stay_together(rows, random):
    drawn = resampled_totals([(one, other, one + other) for one, other in rows], n_draws=20)
    assert (drawn[:, 2] == drawn[:, 0] + drawn[:, 1]).all()
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert (resampled_totals(rows, n_draws=20) == resampled_totals(shuffled, n_draws=20)).all()


def test_the_spread_is_that_of_a_mean(monkeypatch):
    rows = np.random.default_rng(1).poisson(3, (400, 1))
    means = resampled_totals(rows)[:, 0] / 400
    assert means.std() == pytest.approx(rows.std() / 20, rel=0.1)
    monkeypatch.setattr(resampling, "BLOCK", 100)
    assert (resampled_totals(rows)[:, 0] / 400).std() == pytest.approx(rows.std() / 20, rel=0.1)


def test_what_is_undefined_is_left_out():
    assert ratio([1, 2, 0], [2, 0, 0])[0] == 0.5
    assert np.isnan(ratio([1, 2, 0], [2, 0, 0])[1:]).all()
    assert percentiles([np.nan, *range(101), np.nan], level=0.9) == pytest.approx((5, 95))
    assert all(math.isnan(end) for end in percentiles([np.nan]))


def test_parts_of_a_digest_cannot_run_together_and_draws_are_even():
    assert len({digest(parts) for parts in (["ab", ""], ["a", "b"], ["", "ab"], ["ab"])}) == 4
    drawn = np.array([uniform("seed", str(at)) for at in range(4_000)])
    assert 0 < drawn.min() < drawn.max() < 1
    counts = np.histogram(drawn, bins=10, range=(0, 1))[0]
    assert counts == pytest.approx([400] * 10, abs=80)

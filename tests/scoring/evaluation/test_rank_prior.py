from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from slowwave.scoring.evaluation.position_prior import position_prior

RULES = {"weight": 20, "first_guess": 0.1, "guess_weight": 10}
cells = st.integers(0, 60).flatmap(lambda shown: st.tuples(st.just(shown), st.integers(0, shown)))
rows = st.lists(st.lists(cells, min_size=6, max_size=6), min_size=1, max_size=4)


def test_rates_by_hand():
    # All: (60 + 1) / (190 + 10) = .305; ranks: 46.1/120, 16.1/120, 6.1/30: the last two rise and are pooled,
    # by their impressions: (100 · 16.1/120 + 10 · 6.1/30) / 110
    (found,) = position_prior([[80, 100, 10]], [[40, 10, 10]], weight=20, first_guess=0.1, guess_weight=10)
    assert found[0] == pytest.approx((40 + 20 * 0.305) / 100)
    pooled = (100 * 16.1 / 120 + 10 * 16.1 / 30) / 110
    assert found[1:] == pytest.approx([pooled, pooled])


def test_a_seldom_seen_rank_cannot_bend_one_often_seen():
    (found,) = position_prior([[1000, 1000, 1]], [[500, 100, 1]], **RULES)
    assert found[1] == pytest.approx(0.1, abs=0.01)
    assert found[2] == found[1]


def test_without_impressions_the_first_guess_holds():
    assert position_prior([[0, 0]], [[0, 0]], **RULES).tolist() == [[0.1, 0.1]]
    assert position_prior(np.zeros((0, 3)), np.zeros((0, 3)), **RULES).shape == (0, 3)


@given(rows)
def test_it_is_isotonic_regression_of_what_was_seen(found):
    shown, clicked = (np.array([[cell[at] for cell in row] for row in found]) for at in (0, 1))
    made = position_prior(shown, clicked, **RULES)
    assert (np.diff(made, axis=1) <= 1e-12).all()
    for seen, hits, rates in zip(shown, clicked, made, strict=True):
        there = seen > 0
        if there.any():
            overall = (hits.sum() + 1) / (seen.sum() + 10)
            raw = (hits + 20 * overall) / (seen + 20)
            expected = isotonic_regression(raw[there], weights=seen[there], increasing=False).x
            assert rates[there] == pytest.approx(expected, abs=1e-12)


@given(rows)
def test_rows_and_ranks_beyond_the_last_change_nothing(found):
    shown, clicked = (np.array([[cell[at] for cell in row] for row in found]) for at in (0, 1))
    made = position_prior(shown, clicked, **RULES)
    deeper = position_prior(*(np.pad(one, ((0, 0), (0, 5))) for one in (shown, clicked)), **RULES)
    assert (deeper[:, :6] == made).all()
    alone = [position_prior(shown[[at]], clicked[[at]], **RULES)[0] for at in range(len(shown))]
    assert (made == alone).all()


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    shown = rng.integers(0, 50, (20, 8))
    clicked = rng.binomial(shown, 0.3)
    whole = position_prior(shown, clicked, **RULES)
    monkeypatch.setattr("slowwave.scoring.evaluation.position_prior._BLOCK", 3)
    assert (position_prior(shown, clicked, **RULES) == whole).all()

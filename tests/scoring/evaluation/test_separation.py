from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import answer_rate, auroc

signals = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.9, -np.inf]), min_size=1, max_size=25)


@pytest.mark.parametrize(
    ("positives", "negatives", "expected"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1), ([0.1], [0.9], 0), ([0.5], [0.5], 0.5), ([1, 2, 3], [2], 0.5),
        # scikit-learn's own example: y = 0 0 1 1, scores .1 .4 .35 .8
        ([0.35, 0.8], [0.1, 0.4], 0.75), ([0.5, 0.7], [0.5, 0.6], 0.625),
    ],
)  # fmt: skip
def test_auroc_by_hand(positives, negatives, expected):
    assert auroc(positives, negatives) == pytest.approx(expected, abs=1e-12)


@given(signals, signals)
def test_auroc_is_the_share_of_pairs_in_the_right_order(positives, negatives):
    pairs = [1.0 if high > low else 0.5 if high == low else 0.0 for high in positives for low in negatives]
    assert auroc(positives, negatives) == pytest.approx(np.mean(pairs), abs=1e-9)
    assert auroc(negatives, positives) == pytest.approx(1 - np.mean(pairs), abs=1e-9)


def test_auroc_of_nothing_is_not_a_number():
    assert np.isnan([auroc([], [1]), auroc([1], []), auroc([], [])]).all()


NONE = np.arange(20) / 100  # 0, .01, ... .19


@pytest.mark.parametrize(
    ("answerable", "most_false", "floor", "answered", "false"),
    [
        ([0.1, 0.18, 0.185, 0.19, 0.5], 0.05, 0.185, 3 / 5, 1 / 20),  # one of 20 may be let through
        ([0.1, 0.18, 0.185, 0.19, 0.5], 0.0, 0.5, 1 / 5, 0),
        ([0.1, 0.18, 0.185, 0.19, 0.5], 0.04, 0.5, 1 / 5, 0),  # 0.8 of a query is none
        ([0.1, 0.18, 0.185, 0.19, 0.5], 1.0, 0.1, 1, 10 / 20),
        ([0.1, 0.18], 0.05, np.nextafter(0.18, 1), 0, 1 / 20),
        ([0.5, 0.6], 0.05, 0.5, 1, 0),
    ],
)
def test_an_answer_rate_by_hand(answerable, most_false, floor, answered, false):
    found = answer_rate(answerable, NONE, most_false)
    assert (found.floor, found.answered, found.false_answers) == pytest.approx(
        (floor, answered, false), abs=1e-15
    )


def test_unanswerable_queries_of_the_same_signal_pass_or_are_refused_together():
    found = answer_rate([0.3, 0.4], [0.3] * 2 + [0.1] * 18)
    assert (found.floor, found.answered, found.false_answers) == (0.4, 0.5, 0.0)


@given(signals, signals, st.sampled_from([0.0, 0.05, 0.1, 0.29, 0.5, 0.9, 1.0]))
def test_no_other_floor_answers_more(answerable, unanswerable, most_false):
    found = answer_rate(answerable, unanswerable, most_false)
    with_answer, without = np.array(answerable), np.array(unanswerable)
    assert found.answered == (with_answer >= found.floor).mean()
    assert found.false_answers == (without >= found.floor).mean() <= most_false + 1e-9
    for floor in {*answerable, *unanswerable, 1.0}:
        if (without >= floor).mean() <= most_false:
            assert (with_answer >= floor).mean() <= found.answered


def test_an_exact_share_is_allowed_although_its_float_is_below():
    found = answer_rate([71.0], np.arange(100), most_false=0.29)
    assert (found.answered, found.false_answers) == (1.0, 0.29)


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "most_false", "message"),
    [
        ([], [1], 0.05, "no answerable queries"), ([1], [], 0.05, "no unanswerable queries"),
        ([1, np.nan], [1], 0.05, r"answerable\[1\] is NaN"),
        ([1], [np.inf], 0.05, "unanswerable has an infinite"),
        ([1], [1], 1.5, "most_false = 1.5"), ([1], [1], np.nan, "most_false = nan"),
    ],
)  # fmt: skip
def test_what_gives_no_floor_is_named(answerable, unanswerable, most_false, message):
    with pytest.raises(ValueError, match=message):
        answer_rate(answerable, unanswerable, most_false)

"""How much of what was learned brings up what nobody wants there: by hand, and in any order."""

from __future__ import annotations

import math

import polars as pl
import pytest

from slowwave.scoring.feedback.noise import Noise, of_keys, of_terms


def matches(*rows: tuple[str, str, int, str, bool, float]) -> pl.DataFrame:
    """Rows of memory, past question, day, question, whether it was wanted, and what the key added."""
    schema = ["memory_id", "term", "day", "query_id", "relevant", "share"]
    return pl.DataFrame([(m, t, f"2026-03-0{d}", q, r, s) for m, t, d, q, r, s in rows], schema, orient="row")


def test_a_key_is_noisy_where_two_more_questions_did_not_want_it():
    found = of_keys(
        matches(
            ("a", "k", 1, "p", False, 0.1), ("a", "k", 1, "q", False, 0.1),  # two against: noisy, .2
            ("b", "k", 1, "p", False, 0.1), ("b", "k", 1, "q", True, 0.5),  # one each: not, .6
            ("c", "k", 1, "p", False, 0.9),  # one alone: no verdict
        )
    )  # fmt: skip
    assert found == Noise(1, 2, pytest.approx(0.25))


def test_one_more_against_than_for_is_no_noise_and_two_more_are():
    against = [("a", "k", 1, name, False, 0.1) for name in "pqr"]
    assert of_keys(matches(*against, ("a", "k", 1, "s", True, 0.1), ("a", "k", 1, "t", True, 0.1))).noisy == 0
    assert of_keys(matches(*against, ("a", "k", 1, "s", True, 0.1))).noisy == 1


def test_a_question_of_which_as_much_was_said_for_as_against_is_for():
    tie = [("a", "k", 1, "p", True, 0.2), ("a", "k", 1, "p", False, 0.4)]
    assert of_keys(matches(*tie, ("a", "k", 1, "q", False, 0.1), ("a", "k", 1, "r", False, 0.1))).noisy == 0


def test_a_question_that_is_asked_again_has_the_mean_of_what_the_key_added():
    rows = [("a", "k", 1, "p", False, 0.1), ("a", "k", 1, "p", False, 0.3), ("a", "k", 1, "q", False, 0.2)]
    others = [("b", "k", 1, "p", True, 0.3), ("b", "k", 1, "q", True, 0.3)]
    assert of_keys(matches(*rows, *others)) == Noise(1, 2, pytest.approx(0.4))


def test_a_question_counts_once_a_day():
    again = [("a", "k", 1, "p", False, 0.1)] * 5
    assert of_keys(matches(*again)).judged == 0
    assert of_keys(matches(*again, ("a", "k", 2, "p", False, 0.1))) == Noise(1, 1, 1.0)


def test_the_order_of_the_matches_does_not_matter():
    rows = matches(
        *(("abc"[n % 3], "k", 1 + n % 7, f"q{n % 11}", n % 2 == 0, 0.1 / (n + 1)) for n in range(90))
    )
    assert len({of_keys(rows.sample(fraction=1, shuffle=True, seed=seed)) for seed in range(8)}) == 1


def test_nothing_is_no_share():
    assert math.isnan(of_keys(matches()[:0].cast({"share": pl.Float64, "relevant": pl.Boolean})).share)


def test_a_term_is_noisy_where_less_than_half_wanted_it():
    rows = matches(*(("a", "t", 1, f"q{n}", n == 0, 0.0) for n in range(3)), ("b", "t", 1, "p", True, 0.0))
    assert of_terms(rows) == Noise(1, 2, 0.5)
    half = matches(("a", "t", 1, "p", True, 0.0), ("a", "t", 1, "q", False, 0.0))
    assert of_terms(half) == Noise(0, 1, 0.0)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.breakdown import Contribution, split_by_term

ROWS = (
    Contribution("vector", "text", "meaning", 0.4),
    Contribution("bm25", "text", "words", 0.3),
    Contribution("confidence", "state", "high", 0.05),
)
shares = st.dictionaries(st.text(max_size=4), st.floats(1e-6, 100), max_size=8)


def test_a_row_is_split_in_proportion_the_greatest_first():
    found = split_by_term(ROWS, "bm25", {"deploy": 3.0, "day": 1.0, "a": 2.0})
    assert found[0] == ROWS[0]
    assert found[-1] == ROWS[-1]
    assert [(row.source, row.field, row.term) for row in found[1:-1]] == [
        ("bm25", "text", "deploy"), ("bm25", "text", "a"), ("bm25", "text", "day"),
    ]  # fmt: skip
    assert [row.value for row in found[1:-1]] == pytest.approx([0.15, 0.1, 0.05])


def test_equal_shares_are_in_the_order_of_their_terms():
    assert [row.term for row in split_by_term(ROWS, "bm25", {"b": 1, "a": 1})[1:3]] == ["a", "b"]


@pytest.mark.parametrize("nothing", [{}, {"deploy": 0.0}, {"deploy": -1.0}])
def test_without_shares_a_row_stays_as_it_is(nothing):
    assert split_by_term(ROWS, "bm25", nothing) == ROWS


def test_a_source_that_is_not_there_changes_nothing():
    assert split_by_term(ROWS, "trigger", {"deploy": 1.0}) == ROWS
    assert split_by_term((), "bm25", {"deploy": 1.0}) == ()


@given(shares, st.floats(0, 1))
def test_the_sum_stays_what_it_was(given_shares, value):
    rows = (*ROWS[:1], ROWS[1]._replace(value=value), *ROWS[2:])
    found = split_by_term(rows, "bm25", given_shares)
    assert sum(row.value for row in found) == pytest.approx(sum(row.value for row in rows), abs=1e-12)
    assert {row.term for row in found if row.source == "bm25"} == (set(given_shares) or {"words"})

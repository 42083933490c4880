"""Two texts side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.views.differences import MAX_COMPARED, apart


def own(side) -> list[str]:
    return [piece.text for piece in side if piece.own]


@pytest.mark.parametrize(
    ("first", "second", "left", "right"),
    [
        ("We deploy on Tuesday.", "We deploy on Thursday.", ["Tuesday"], ["Thursday"]),
        ("The lamp is red.", "The lamp is red.", [], []),
        ("It lasts 11 weeks.", "It lasts 11 weeks. Ishbel knows.", [], [" Ishbel knows."]),
        ("", "New", [], ["New"]),
        ("On 2026-03-01.", "On 2026-03-02.", ["2026-03-01"], ["2026-03-02"]),
    ],
)
def test_what_differs_is_marked_in_whole_words(first, second, left, right):
    one, two = apart(first, second)
    assert (own(one), own(two)) == (left, right)


@given(st.text(max_size=200), st.text(max_size=200))
def test_put_together_they_are_what_they_were(first, second):
    one, two = apart(first, second)
    assert "".join(piece.text for piece in one) == first
    assert "".join(piece.text for piece in two) == second
    assert "".join(p.text for p in one if not p.own) == "".join(p.text for p in two if not p.own)


def test_of_a_long_text_the_end_is_not_compared():
    first = "word " * MAX_COMPARED
    one, two = apart(first, first + "and an end")
    assert "".join(piece.text for piece in two) == first + "and an end"
    assert own(one) == own(two) == []

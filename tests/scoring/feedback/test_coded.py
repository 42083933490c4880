from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.feedback.columns import MAX_PLACES, codes, day_names, dense, turns

numbers = st.lists(st.integers(0, 40), max_size=40).map(lambda rows: np.array(rows, dtype=np.int64))


@given(numbers)
def test_dense_numbers_keep_order_and_equality(rows):
    expected = np.unique(rows, return_inverse=True)[1]
    assert dense(rows).tolist() == expected.tolist()
    assert dense(rows + MAX_PLACES).tolist() == expected.tolist()  # too large for a table of places


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "ab", ""]), st.sampled_from(["", "b", "bb"])), max_size=30)
)
def test_codes_are_equal_where_the_texts_are(rows):
    frame = pl.DataFrame(rows, schema={"one": pl.String, "two": pl.String}, orient="row")
    made = codes(frame, "one", "two").tolist()
    assert [made.index(code) for code in made] == [rows.index(row) for row in rows]


def test_codes_do_not_grow_with_what_was_coded_before():
    pl.Series([f"other {n}" for n in range(5_000)]).cast(pl.Categorical)
    frame = pl.DataFrame({"one": ["x y z", "p q"], "two": ["k", "l"]})
    assert codes(frame, "one", "two").max() < 4


@given(numbers)
def test_turns_count_within_a_group(rows):
    assert turns(rows).tolist() == [rows[:at].tolist().count(row) for at, row in enumerate(rows)]


def test_days_have_names():
    assert day_names(pl.Series([0, 20_513, 0], dtype=pl.Int32)).to_list() == [
        "1970-01-01",
        "2026-03-01",
        "1970-01-01",
    ]

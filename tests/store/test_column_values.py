"""Values of Arrow columns are those that Arrow gives, whatever the unit of a time."""

from __future__ import annotations

from datetime import UTC

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.store.frames import column_values

MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(st.lists(MOMENTS | st.none(), max_size=5))
def test_moments_are_those_of_arrow(moments):
    column = pa.chunked_array([pa.array(moments, pa.timestamp("us", "UTC"))])
    assert column_values(column) == column.to_pylist() == moments


@pytest.mark.parametrize("values", [[1, None], ["a", ""], [["a"], []], [True, None]])
def test_other_values_are_those_of_arrow(values):
    assert column_values(pa.chunked_array([values])) == values

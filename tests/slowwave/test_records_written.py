"""Rows as a record has them: many are written by Polars, and say what a few say."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.change_log import columns
from slowwave.change_log.columns import read, written

TIME = pl.Datetime("us", "UTC")
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda one: one.replace(tzinfo=UTC))  # noqa: DTZ001
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
KINDS = {
    "text": (pl.String(), TEXTS),
    "whole": (pl.Int64(), st.integers(-(2**63), 2**63 - 1)),
    "count": (pl.Int32(), st.integers(-(2**31), 2**31 - 1)),
    "number": (pl.Float64(), st.floats()),
    "finite": (pl.Float64(), st.floats(allow_nan=False, allow_infinity=False)),
    "flag": (pl.Boolean(), st.booleans()),
    "time": (TIME, MOMENTS),
    "list": (pl.List(pl.String), st.lists(TEXTS, max_size=2)),
    "times": (pl.List(TIME), st.lists(MOMENTS, max_size=2)),
}


@settings(max_examples=60)
@given(st.data(), st.sets(st.sampled_from(sorted(KINDS))))
def test_many_rows_are_written_as_few_are(data, names):
    drawn = {name: data.draw(st.lists(st.none() | KINDS[name][1], min_size=3, max_size=3)) for name in names}
    rows = pl.DataFrame({name: pl.Series(drawn[name], dtype=KINDS[name][0]) for name in sorted(names)})
    assert rows.height < columns.MANY
    few, many = written(rows), written(pl.concat([rows] * columns.MANY))
    again = orjson.loads(orjson.dumps({"columns": many}, option=orjson.OPT_SORT_KEYS))["columns"]
    assert {name: values[:3] for name, values in again.items()} == orjson.loads(orjson.dumps(few))
    schema = {name: KINDS[name][0] for name in names}
    if names:
        assert read(again, 3 * columns.MANY, schema).head(3).equals(read(few, 3, schema))

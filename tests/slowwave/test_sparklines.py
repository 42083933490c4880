"""Charts that Dagster's page shows without a click: short enough, and right."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from slowwave.views.sparklines import SHOWN, bars, inline, lines

NAMESPACE = "{http://www.w3.org/2000/svg}"
shares = st.one_of(st.none(), st.floats(0, 1))


def paths(image: bytes) -> list[str]:
    return [one.get("d", "") for one in ET.fromstring(image).iter(f"{NAMESPACE}path")]


def test_bars_are_as_high_as_their_counts():
    image = bars([2, 0, 4], "0", "1")
    assert paths(image) == ["M0 40h78v-14h-78zM160 40h78v-29h-78z"]
    assert list(ET.fromstring(image).itertext()) == ["4 at most", "0", "1"]


def test_a_line_breaks_where_a_value_is_missing():
    image = lines([0.0, None, 1.0, 0.5], [0.0, 0.0, 0.0, 0.0], "March", "April", "<MRR>")
    other, line = paths(image)
    assert line == "M0 40h1M160 11h1L240 26"
    assert other == "M0 40h1L80 40L160 40L240 40"
    assert "<MRR>" in list(ET.fromstring(image).itertext())


@given(st.lists(shares, min_size=1, max_size=20).flatmap(
    lambda one: st.tuples(st.just(one), st.lists(shares, min_size=len(one), max_size=len(one)))
))  # fmt: skip
def test_twenty_weeks_are_shown_without_a_click(both):
    shown = inline(lines(*both, "2026-01-05", "2026-05-18", "MRR@5; grey: without use"), "MRR@5 by week")
    assert 0 < len(shown) < SHOWN
    ET.fromstring(base64.b64decode(re.search(r"base64,([^)]+)", shown)[1]))


@given(st.lists(st.integers(0, 9_999_999), max_size=31))
def test_a_month_of_bars_is_shown_without_a_click_or_left_out(counts):
    shown = inline(bars(counts, "2026-01-05", "2026-02-04"), "Promotion decisions by day")
    assert len(shown) < SHOWN
    assert shown or len(counts) > 25


def test_what_dagster_would_hide_is_left_out():
    assert inline(lines([0.5] * 200, [0.5] * 200, "a", "b", ""), "Too long") == ""

"""Fast checks of identifiers say what a pattern of their own says."""

from __future__ import annotations

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from slowwave.scoring.ranking.regrouping import in_groups
from slowwave.scoring.ranking.spellings import begins_longer, may_be_regrouped, starts_of

NUMBERS = st.text("012", min_size=1, max_size=3)
TEXTS = st.text("0012.,-_ aZ٣é", max_size=14)


@given(NUMBERS, TEXTS)
def test_a_whole_number_is_found_where_its_pattern_finds_it(number, text):
    number = number.lstrip("0") or number
    assume(not re.search(r"\d{4},\d", text))
    pattern = rf"(?<![\d])(?<!\d[.,])0*{number}(?![A-Za-z0-9]|\.\d|,\d{{1,3}}(?!\d))"
    assert list(starts_of(number, text)) == [found.start() for found in re.finditer(pattern, text, re.I)]


def test_numbers_of_four_digits_with_commas_are_a_list():
    text = "4821,4822,4823 and 12,4825"
    assert [len(list(starts_of(number, text))) for number in ("4821", "4822", "4823", "4825")] == [1, 1, 1, 0]


@given(NUMBERS, TEXTS)
def test_a_longer_code_is_found_as_by_its_pattern(number, text):
    number = number.lstrip("0") or number
    pattern = rf"(?<![0-9.,])0*{number}[A-Za-z0-9]"
    assert begins_longer(number, text) is (re.search(pattern, text, re.I) is not None)


@given(st.text("12a", min_size=7, max_size=8), st.text("12aA -/.()é", max_size=20))
def test_no_text_with_another_grouping_is_left_out(characters, text):
    if re.search(in_groups(characters), text, re.I):
        assert may_be_regrouped(characters, text)

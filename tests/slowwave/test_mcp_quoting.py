from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.mcp.quoting import one_line, quoted

BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


def test_every_line_is_marked():
    assert quoted("one\n\n  two  ") == "> one\n>\n>   two  "
    assert quoted("") == ">"


@pytest.mark.parametrize("line_break", BREAKS)
def test_no_line_break_leads_out_of_a_quote(line_break):
    assert quoted(f"harmless{line_break}Now do this").splitlines() == ["> harmless", "> Now do this"]


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("\r\n\u2028 >")))
def test_no_text_leads_out_of_a_quote(text):
    assert all(line.startswith(">") for line in quoted(text).splitlines())


@given(st.text(st.characters(codec="utf-8") | st.sampled_from('\r\n\u2028"\\ >')))
def test_a_short_text_stays_on_its_line_and_in_its_quotation_marks(text):
    told = one_line(text)
    assert len(told.splitlines()) == 1
    assert told[0] == told[-1] == '"'
    assert '"' not in told[1:-1].replace("\\\\", "").replace('\\"', "")

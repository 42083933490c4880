"""Patterns that are compiled on first use are the same patterns."""

from __future__ import annotations

import re

import pytest

from slowwave.scoring.lazy_pattern import lazy_pattern


def test_it_answers_as_the_compiled_pattern_does():
    lazy, plain = lazy_pattern(r"(?P<day>\d+)\.", re.IGNORECASE), re.compile(r"(?P<day>\d+)\.", re.IGNORECASE)
    text = "On 3. and 14. of May"
    assert lazy.findall(text) == plain.findall(text)
    assert lazy.search(text)["day"] == "3"
    assert (lazy.pattern, lazy.flags, lazy.groupindex) == (plain.pattern, plain.flags, plain.groupindex)


def test_a_wrong_pattern_is_an_error_of_its_first_use():
    lazy = lazy_pattern("(")
    with pytest.raises(re.error, match="missing"):
        lazy.search("x")

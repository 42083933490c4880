"""Fingerprints: which texts count as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.notes.decoding import content_hash


@pytest.mark.parametrize(
    "variant",
    ["a é\n\nb", "a e\u0301\n\nb", "a é\r\n\r\nb", "\n\na é  \n \n\t\n\nb\n\n", "a é\r\rb", "a é\u00a0\n\nb"],
)
def test_content_hash_ignores_what_cannot_be_seen(variant):
    assert content_hash(variant) == content_hash("a é\n\nb")


def test_content_hash_tells_texts_apart():
    texts = ["a b", "A b", "a  b", "a\nb", "a\n\nb", "  a\n  b", "a\n  b", "ab", ""]
    hashes = [content_hash(text) for text in texts]
    assert hashes[5] == hashes[6]
    assert len(set(hashes)) == len(texts) - 1
    assert all(len(value) == 32 and int(value, 16) >= 0 for value in hashes)


@given(st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"])))
def test_content_hash_is_stable_under_its_own_normalisation(text):
    assert content_hash(text) == content_hash("\r\n \r\n" + text.replace("\n", " \n") + "  \n")

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.titles import from_first_words, is_from_first_words

LONG = "The harbour light at the north pier was replaced in March by a crew from the mainland, with a timer."


@given(st.text(max_size=200))
def test_what_is_made_of_first_words_is_recognised(content):
    title = from_first_words(content)
    heading = next((line for line in content.splitlines() if line.strip(" #*-\t")), "")
    said = title.replace("…", "").replace("...", "").strip()
    if said and not heading.lstrip().startswith("#"):
        assert is_from_first_words(title, content)


@pytest.mark.parametrize(
    ("title", "content"),
    [
        ("Only Ada may open the vault.", "Only Ada may open the vault."),
        ("buy milk", "- buy milk\n- call Bo"),
        ("The harbour light …", LONG),
        ("The harbour light...", LONG),
        ("THE harbour  light…", LONG),
        ("The tide is", "\n\n  The tide is  \nhigh at six."),
    ],
)
def test_first_words_are_no_title_that_somebody_gave(title, content):
    assert is_from_first_words(title, content)


@pytest.mark.parametrize(
    ("title", "content"),
    [
        ("The harbour light", LONG),  # the beginning, cut by somebody where it makes sense
        ("Vault rule", "Only Ada may open the vault."),
        ("Vault rule", "# Vault rule\n\nOnly Ada may open the vault."),
        ("What is next …", LONG),
        ("", LONG),
        ("…", LONG),
        ("Ada", ""),
    ],
)
def test_what_somebody_wrote_is_a_title(title, content):
    assert not is_from_first_words(title, content)

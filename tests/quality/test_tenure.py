"""Which versions of a text say the same (rule 7.6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.text_lineage import MAX_REVISIONS_BACK, lineages

TUESDAY = "We deploy on Tuesday at nine, from the office in Kirkwall."
SPELLED = "We deploy on Tuesday at nine, from the ofice in Kirkwall."
THURSDAY = "We deploy on Thursday at nine, from the office in Kirkwall."
FERRY = "The ferry to Hoy takes bicycles free of charge in winter."
NEVER = "We never deploy on Tuesday at nine, from the office in Kirkwall."


WORDS = frozenset(["office", "black", "block", "deploy", "notes", "harbour", "archive"])


def of(*texts: str, cosine: float = 0.95) -> list[int]:
    said = [ComparedNote("", "k", text) for text in texts]
    return lineages(said, lambda one, other: cosine, WORDS.__contains__, 0.88)


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ([TUESDAY], [0]),
        ([TUESDAY, TUESDAY], [0, 0]),
        ([TUESDAY, THURSDAY], [0, 1]),
        ([TUESDAY, NEVER], [0, 1]),
        ([TUESDAY, THURSDAY, TUESDAY], [0, 1, 0]),
        ([TUESDAY, THURSDAY, FERRY, THURSDAY], [0, 1, 2, 1]),
        ([TUESDAY, "  We deploy on Tuesday at nine,\nfrom the office in Kirkwall."], [0, 0]),
    ],
)
def test_another_statement_begins_anew_and_an_old_one_goes_on(texts, wanted):
    assert of(*texts) == wanted


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("office", "ofice", True),  # one letter too few
        ("office", "offfice", True),
        ("office", "offisse", False),
        ("office", "offise", True),
        ("harbour", "habrour", True),  # two neighbours exchanged
        ("ofice", "office", True),
        ("black", "block", False),  # both are words
        ("wibbel", "wibble", False),  # nobody knows either
        ("Office", "Ofice", False),  # a name
    ],
)
def test_a_slip_of_the_pen_changes_nothing(old, new, same):
    sentence = "Bring the papers of the {} to the meeting in the afternoon."
    assert of(sentence.format(old), sentence.format(new)) == [0, 0 if same else 1]


def test_the_cosine_decides_where_the_guard_finds_nothing():
    both = "Close the archive at six o'clock.", "Close the archive at six o'clock!"
    assert of(*both, cosine=0.88) == [0, 0]
    assert of(*both, cosine=0.8799) == [0, 1]
    assert of(TUESDAY, THURSDAY, cosine=0.999) == [0, 1]


def test_a_spelling_that_drifts_is_compared_with_the_last_spelling():
    texts = ["Close the archive at six.", "Close the archive at six!", "Close  the archive at six !"]
    assert of(*texts) == [0, 0, 0]


@given(st.lists(st.sampled_from([TUESDAY, THURSDAY, FERRY, NEVER, SPELLED]), min_size=1, max_size=12))
def test_a_later_text_changes_nothing_of_an_earlier_one(texts):
    whole = of(*texts)
    for end in range(1, len(texts) + 1):
        assert of(*texts[:end]) == whole[:end]
    assert all(tenure <= place and whole[tenure] == tenure for place, tenure in enumerate(whole))
    for place, text in enumerate(texts):
        assert whole[place] == whole[texts.index(text)]


def test_a_note_that_says_something_else_every_day_is_compared_with_few():
    asked: list[tuple[str, str]] = []

    def cosine(one: str, other: str) -> float:
        asked.append((one, other))
        return 0.0

    same = [f"Close the archive at six{'!' * n}" for n in range(40)]
    said = [ComparedNote("", "k", text) for text in same]
    assert lineages(said, cosine, WORDS.__contains__, 0.88) == list(range(40))
    assert len(asked) <= 40 * MAX_REVISIONS_BACK

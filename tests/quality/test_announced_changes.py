"""Short notes that say that something has changed, and pairs that only look like it (rule 3.12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.outdated.announced import announces_change, asked_words
from slowwave.quality.outdated.short_sentences import announces, read

CHANGES = [
    ("who is our landlord?", "The landlord is Mr. Kowalski, on the ground floor.",
     "Since May our landlord is Mrs. Brandt; Kowalski sold the house."),
    ("which carrier do we ship with?", "We ship with DHL.", "We switched from DHL to DPD for all parcels."),
    ("how much do I weigh?", "I weigh 84 kilos.", "I'm down to 79 kilos now."),
    ("what does our CI run on?", "Our CI runs on Jenkins.", "CI was migrated to Buildkite."),
    ("who is my manager?", "My manager is Peter Hahn.", "Peter Hahn left; Sabine Roth is my new manager."),
    ("what is the gate code?", "The gate code is 4821.", "New gate code: 9075."),
    ("what car do I drive?", "I drive a Golf diesel.", "Sold the Golf, I drive a Kona electric now."),
    ("where does grandma live?", "Grandma lives in the care home Rosenhof.",
     "Grandma was moved to the care home Am See."),
    ("where do backups go?", "Backups go to the NAS in the cellar.",
     "Backups no longer go to the NAS; they go to Backblaze."),
    ("what is the mortgage interest?", "Interest on the mortgage is 1.9 %.",
     "After refinancing the mortgage interest is 3.4 %."),
    ("how many sources do I cite?", "My essay cites 18 sources so far.",
     "My essay cites 23 sources after today's visit."),
    ("how many chapters have I written?", "I've written 3 chapters so far, can you help me plan the rest?",
     "I've now written 5 chapters, any tips for the end?"),
    ("Wie hoch ist die Miete?", "Die Miete beträgt 980 Euro.", "Die Miete wurde auf 1050 Euro erhöht."),
    ("¿Cuál es el código de la puerta?", "El código de la puerta es 3312.",
     "El código de la puerta cambió a 8840."),
    ("Quand est la réunion d'équipe ?", "La réunion d'équipe est le lundi à 9 h.",
     "La réunion d'équipe a été déplacée au mardi à 14 h."),
]  # fmt: skip
BOTH_HOLD = [
    ("where is room Alpha?", "Meeting room Alpha is on the second floor.",
     "Meeting room Beta was moved to the third floor."),
    ("what music do I like?", "I like jazz.", "I like techno now, too."),
    ("where does Anna work?", "Anna works at Bosch.", "Anna's brother now works at Bayer."),
    ("how much is Netflix?", "Netflix costs 12.99 a month.", "Netflix changed its logo in March."),
    ("what is the API limit?", "The API limit is 60 requests a minute.",
     "We raised the API limit to 100 requests a day."),
    ("which city did Leo move from?", "Leo moved from Ghent to Delft in 2019.",
     "Nora moved from Delft to Ghent in 2021."),
    ("what is the wifi password of the office?", "The wifi password of the office is lemon-12.",
     "New wifi password for the cabin: harbour-91."),
    ("where do we live?", "We live in Linz.", "We might move to Graz next year."),
    ("what is my rent?", "My rent is 850 euros.", "My sister's rent is now 700 euros."),
    ("what does error 502 mean?", "Error 502 comes from the proxy.", "Error 503 now comes from the app."),
    ("where is the dog?", "A dog is near the red ball.", "A dog is far from the red ball."),
    ("when is the release?", "The release is on 3 June.", "Is the release now on 5 June?"),
]  # fmt: skip


def says(question: str, older: str, newer: str) -> bool:
    return announces_change(asked_words(question), read(older), read(newer))


@pytest.mark.parametrize(("question", "older", "newer"), CHANGES)
def test_a_change_is_known_by_its_words_and_its_subject(question: str, older: str, newer: str):
    assert announces(newer) or announces(older)
    assert says(question, older, newer)


@pytest.mark.parametrize(("question", "older", "newer"), BOTH_HOLD)
def test_statements_that_both_hold_are_left_alone(question: str, older: str, newer: str):
    assert not says(question, older, newer)


@given(st.sampled_from([*CHANGES, *BOTH_HOLD]), st.sampled_from([*CHANGES, *BOTH_HOLD]))
def test_a_statement_of_something_else_replaces_nothing(one: tuple[str, ...], other: tuple[str, ...]):
    if one is not other and one[0] != other[0]:
        assert not says(one[0], one[1], other[2])


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=80))
def test_any_text_is_read(older: str, newer: str, question: str):
    assert says(question, older, newer) in {True, False}
    assert not says(question, newer, newer)

"""Newer notes that may replace older ones, and notes that titles, owners or limits tell apart (rule 3.12)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.likely_changes import likely_changes
from slowwave.quality.outdated.question import Question

JANUARY, MARCH = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)

UPDATES = [
    (
        "when does the kiln club fire?",
        "Firing plan", "The kiln club fires its pots on Friday evenings in the shed.",
        "New kiln hours", "Pots of the kiln club are fired on Sundays now, as the shed is let on Fridays.",
    ),
    (
        "who delivers our flour?",
        "Flour supplier", "Flour for the bakery comes from the Hollin mill.",
        "Mill dropped", "We switched from the Hollin mill to Burbage for flour.",
    ),
    (
        "what is the rent of the allotment?",
        "Allotment costs", "The allotment costs 80 euros a year, water included.",
        "Letter of the association", "From April the allotment has been raised to 95 euros, water included.",
    ),
    (
        "which tablets does Nan take?",
        "Nan's medicine", "Nan takes Torvan tablets with her breakfast.",
        "Doctor's visit", "Nan no longer takes Torvan tablets, the doctor gave her drops.",
    ),
    (
        "wo trainiert die Staffel?",
        "Training der Staffel", "Die Staffel trainiert dienstags im Stadtbad.",
        "Umzug ins Freibad", "Die Staffel trainiert jetzt mittwochs im Freibad, nicht mehr im Stadtbad.",
    ),
]  # fmt: skip
APART = [
    (  # two offices
        "when does the Leith office open?",
        "Leith office", "The office opens at 8:00 and has a desk for visitors.",
        "Troon office", "The office now opens at 9:00 and has a desk for visitors.",
    ),
    (  # islands, which the texts do not name
        "how long does the battery of Skerry last?",
        "Skerry", "The battery of its gauge lasts 5 weeks.",
        "Ness", "The battery of its gauge now lasts 6 weeks.",
    ),
    (  # the limit of another thing
        "what is the limit of the ferry?",
        "Ferry", "The ferry takes 40 cars on each crossing.",
        "Cars at the pier", "Since May 12 cars may wait at the pier.",
    ),
    (  # an addition
        "when does the choir sing?",
        "Choir evenings", "The choir sings on Tuesdays in the chapel.",
        "Second evening", "The choir now also sings on Thursdays in the chapel.",
    ),
    (  # the same of another thing
        "what is the deadline for the thesis submission?",
        "Thesis", "Thesis submission deadline is 30 November at the graduate office.",
        "EMBO", "EMBO abstract submission deadline was extended to 12 December.",
    ),
    (  # somebody of the person
        "what shoe size does Jonas wear?",
        "Jonas's shoes", "Jonas wears shoe size 38.",
        "At the shoe shop", "Jonas's brother now wears shoe size 40.",
    ),
    (  # a part of the same
        "what does the tram line cost?",
        "Getting to school", "The tram line costs 2 euros.",
        "Prices of the city", "The night tram line now costs 5 euros.",
    ),
    (  # another unit
        "what is the quota of the account?",
        "Account quota", "An account may send 60 messages a minute.",
        "Raised for partners", "We raised what an account may send to 100 megabytes a day.",
    ),
    (  # another attribute of one person
        "when is Anna's birthday?",
        "Anna's birthday", "Anna's birthday is on 4 May and she loves tulips.",
        "Anna's move", "Anna moved to Graz in May and loves her new flat.",
    ),
    (  # the same, under titles without a word in common
        "when is Anna's birthday?",
        "Birthday", "Anna's birthday is on 4 May and she loves tulips.",
        "News from Graz", "Anna moved to Graz and loves her new flat now.",
    ),
    (  # somebody else's
        "when is the swimming lesson?",
        "Lesson", "The swimming lesson of Ella is on Tuesdays.",
        "Pool news", "Tom's swimming lesson was moved to Thursdays.",
    ),
]  # fmt: skip


def notes(old_title, old, new_title, new):
    return [
        DatedPassage("old", old_title, old, "internal", JANUARY, JANUARY),
        DatedPassage("new", new_title, new, "internal", MARCH, MARCH),
    ]


@pytest.mark.parametrize(("question", *("old_title", "old", "new_title", "new")), UPDATES)
def test_a_newer_note_with_a_word_of_change_may_replace_an_older_one(
    question, old_title, old, new_title, new
):
    both = notes(old_title, old, new_title, new)
    assert likely_changes(Question.of(question), both) == {"old": "new"}
    assert likely_changes(Question.of(question), both[::-1]) == {"old": "new"}


@pytest.mark.parametrize(("question", *("old_title", "old", "new_title", "new")), APART)
def test_notes_that_both_hold_are_left_alone(question, old_title, old, new_title, new):
    assert likely_changes(Question.of(question), notes(old_title, old, new_title, new)) == {}


def test_only_a_question_for_a_value_that_holds_now_has_such_pairs():
    _, *texts = UPDATES[0]
    for question in ("what did the kiln club fire?", "how was the kiln club fired before?"):
        assert likely_changes(Question.of(question), notes(*texts)) == {}


def test_the_labels_the_order_and_the_better_one_of_two():
    question, *texts = UPDATES[0]
    old, new = notes(*texts)
    assert likely_changes(Question.of(question), [old, replace(new, sensitivity="secret")]) == {}
    assert (
        likely_changes(
            Question.of(question), [replace(old, created_at=MARCH), replace(new, created_at=JANUARY)]
        )
        == {}
    )
    other = replace(new, memory_id="other")
    assert likely_changes(Question.of(question), [other, old, new]) == {"old": "other"}

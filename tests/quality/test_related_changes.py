"""Newer notes that tell of a change in other words than the question (rule 3.12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.related_changes import asks_what_holds, tells_of_change, words_of_subject

JANUARY = datetime(2026, 1, 5, tzinfo=UTC)

CHANGES = [
    (
        "what do we pay for the hall?",
        "Hall at Orme Street: 410 a month, heating included, Mrs. Vance collects it on the second.",
        "Letter from Mrs. Vance. From September it goes up to 455, still with the heating, she is sorry.",
    ),
    (
        "who tunes the piano?",
        "Piano: Mr. Adeyemi tunes it twice a year, number in the green book, 95 per visit.",
        "Mr. Adeyemi retired after Easter. His niece Folake has taken over, same number and same price.",
    ),
    (
        "which tablets for the goat?",
        "Juniper the goat gets Calmivet drops against her cough, ten in the morning feed.",
        "Vet was here again. Calmivet did nothing, she switched Juniper to Broncovet powder for three weeks.",
    ),
    (
        "Wann fährt der Bus zum Markt?",
        "Bus 14 zum Markt fährt um 8:05 am Gasthof Lindner ab, samstags eine Stunde später.",
        "Neuer Fahrplan am Gasthof Lindner ausgehängt: ab Mai kommt die 14 erst um 8:20, Samstag wie gehabt.",
    ),
]
"""Question, older note, newer note that changes it."""
NO_CHANGES = [
    (  # no word of change
        "what do we pay for the hall?",
        "Hall at Orme Street: 410 a month, heating included, Mrs. Vance collects it on the second.",
        "Mrs. Vance told us that the hall was a tram depot once, and showed us the rails under the boards.",
    ),
    (  # an event, without another value
        "who tunes the piano?",
        "Piano: Mr. Adeyemi tunes it twice a year, number in the green book.",
        "Mr. Adeyemi started a choir in the parish and asked whether anybody of us would like to join it.",
    ),
    (  # somebody else's
        "Where are my winter tyres?",
        "My car is a Skoda, and the winter tyres are at Tyrell's, shelf 31.",
        "The school's Skoda has been moved to Tyrell's yard, and it now waits there for its new gearbox.",
    ),
    (  # the question names whom the newer note leaves out
        "What does Nadia pay for the lessons?",
        "Nadia pays 30 euros a lesson for the cello, and the room is extra.",
        "Theo's cello lessons were raised to 27 euros from May, because of the room with the new floor.",
    ),
    (  # only another thing is new
        "which pattern do we prefer?",
        "We prefer composition over inheritance in the Tollgate code, with plain objects.",
        "Tollgate uses functional composition with pipes instead of loops, and has a new service for it.",
    ),
]


def passages(older: str, newer: str, **labels: str) -> tuple[DatedPassage, DatedPassage]:
    later = JANUARY + timedelta(days=90)
    old = DatedPassage("old", "", older, "internal", JANUARY, JANUARY)
    return old, DatedPassage("new", "", newer, labels.get("sensitivity", "internal"), later, later)


@pytest.mark.parametrize(("question", "older", "newer"), CHANGES)
def test_a_change_needs_no_word_of_the_question(question, older, newer):
    old, new = passages(older, newer)
    assert tells_of_change(Question.of(question), old, new)
    assert not tells_of_change(Question.of(question), new, old), "the older one changes nothing"
    *_, closed = passages(older, newer, sensitivity="personal")
    assert not tells_of_change(Question.of(question), old, closed)


@pytest.mark.parametrize(("question", "older", "newer"), NO_CHANGES)
def test_a_note_on_the_same_people_and_places_may_change_nothing(question, older, newer):
    old, new = passages(older, newer)
    assert not tells_of_change(Question.of(question), old, new)


def test_a_short_note_is_left_to_the_other_rules():
    question, older, newer = CHANGES[1]
    old, new = passages(older, newer[:69])
    assert not tells_of_change(Question.of(question), old, new)


@pytest.mark.parametrize(
    ("question", "asks"),
    [("how much is the rent?", True), ("rent", True), ("what did we pay for the hall?", False)],
)
def test_a_question_about_the_past_is_left_alone(question, asks):
    assert asks_what_holds(Question.of(question)) is asks


def test_words_that_name_no_subject_are_left_out():
    text = "From Monday, 14 March, the rent of the Orme Street hall is now 455 euros a month, and new."
    assert words_of_subject(text) == "rent Orme Street hall"

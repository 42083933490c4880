"""Older values that a newer text replaces, and pairs that only look like it (rule 3.12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.updates import DatedPassage, outdated_memories, written_date

JANUARY, MARCH = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)


def passage(name, text, at=JANUARY, title="", sensitivity="", updated_at=None):
    return DatedPassage(name, title, text, sensitivity, at, updated_at or at)


def marked(question, old, new, **labels):
    found = outdated_memories(Question.of(question), [passage("old", old), passage("new", new, MARCH, **labels)])
    return {name: update.newest for name, update in found.items()}


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        (
            "What is the API limit?",
            "The API limit is 60 requests a minute.",
            "We raised the API limit to 100 requests a minute.",
        ),
        ("Where does Anna live?", "Anna lives in Berlin.", "Anna moved from Berlin to Lyon."),
        (
            "When is the standup?",
            "The standup is on Monday.",
            "The standup is no longer on Monday, but Tuesday.",
        ),
        (
            "when does the backup run?",
            "The backup runs at 03:30 UTC.",
            "The backup now runs at 04:30 UTC.",
        ),
        (
            "What is the rent of the office?",
            "The rent of the office is 900 euros.",
            "The rent of the office is 950 euros.",
        ),
        ("Wann öffnet das Büro?", "Das Büro öffnet um 8:00.", "Das Büro öffnet jetzt um 9:00."),
    ],
)
def test_a_newer_value_of_the_same_attribute_replaces_an_older_one(question, old, new):
    assert marked(question, old, new) == {"old": "new"}


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        # another subject
        ("Where does Anna live?", "Anna lives in Berlin.", "Bob moved from Berlin to Lyon."),
        ("What is the limit of the API?", "The API limit is 60.", "We raised the file limit to 100."),
        ("When does the Berlin office open?", "The office in Berlin opens at 8:00.",
         "The office in Munich now opens at 9:00."),
        ("When does Anna's morning train leave?", "Anna's morning train leaves at 8:00.",
         "Bob's morning train now leaves at 9:00."),
        # another noun or unit
        ("What is the API limit?", "The API limit is 60 requests a minute.",
         "We raised the API limit to 100 megabytes."),
        ("What is the API limit?", "The API limit is 60 requests a minute.",
         "We raised the API limit to 100 requests a day."),
        # nothing changed, or both at once
        ("What is the API limit?", "The API limit is 60 requests.", "The API limit is still 60 requests."),
        ("What is the API limit?", "The API limit is 60 requests, then 100 requests.",
         "The API limit is now 100 requests."),
        # events that do not replace each other
        ("How far did Ada run?", "Ada ran 5 km in the park.", "Ada ran 7 km in the park."),
        ("How many women ride?", "Two women ride a motorcycle.", "Three women ride a motorcycle."),
        ("How many cards are there?", "We ordered 10 cards.", "We ordered 5 more cards."),
        # another case of the same thing
        ("When does the shop open on weekdays?", "The shop opens at 9:00 on weekdays.",
         "The shop opens at 10:00 on Saturdays."),
        ("When does the museum close?", "The museum closes at 17:00.",
         "The museum closes at 20:00 on Thursdays."),
        ("What is the maximum dose of paracetamol?", "The maximum dose of paracetamol is 4 g a day.",
         "The maximum dose of paracetamol is 2 g a day with alcohol."),
        ("How much is a ticket?", "A ticket costs 12 euros.", "A ticket costs 6 euros for children."),
        ("What is the timeout of the login service?", "The timeout of the login service is 30 seconds.",
         "The timeout of the payment service is now 60 seconds."),
        ("How much does the old bike weigh?", "The old bike weighs 12 kg.", "The new bike weighs 9 kg."),
        # another speaker
        ("How much is my rent?", "Ada: My rent is 900 euros.", "Bob: My rent is now 950 euros."),
        # not what the question is about
        ("Who wrote the gateway?", "The API limit is 60 requests a minute.",
         "We raised the API limit to 100 requests a minute."),
    ],
)  # fmt: skip
def test_pairs_that_only_look_like_an_update_are_not_marked(question, old, new):
    assert marked(question, old, new) == {}


OLD, NEW = "The API limit is 60 requests a minute.", "We raised the API limit to 100 requests a minute."
LIMIT = "What is the API limit?"


def test_values_of_another_sensitivity_or_another_title_are_not_compared():
    assert marked(LIMIT, OLD, NEW) == {"old": "new"}
    assert marked(LIMIT, OLD, NEW, sensitivity="secret") == {}
    opens = "The office opens at {} on workdays."
    found = outdated_memories(
        Question.of("When does the office open?"),
        [
            passage("berlin", opens.format("8:00"), title="Berlin office"),
            passage("munich", opens.format("9:00"), MARCH, title="Munich office"),
        ],
    )
    assert found == {}


def test_the_date_that_a_text_carries_decides_before_the_date_it_came_with():
    old, new = f"[5 May 2026] {OLD}", f"[1 February 2026] {NEW}"
    assert marked(LIMIT, old, new) == {}
    found = outdated_memories(
        Question.of(LIMIT), [passage("old", f"2026-01-01: {OLD}", MARCH), passage("new", NEW, MARCH)]
    )
    assert {name: update.until for name, update in found.items()} == {"old": MARCH}
    saved = passage("new", NEW, MARCH, updated_at=MARCH + timedelta(hours=1))
    assert outdated_memories(Question.of(LIMIT), [passage("old", OLD, MARCH), saved])["old"].newest == "new"
    assert outdated_memories(Question.of(LIMIT), [passage("old", OLD, MARCH), passage("new", NEW, MARCH)]) == {}


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("[1:56 pm on 8 May, 2023] Ada: Hello", (2023, 5, 8)),
        ("2026-03-02: moved", (2026, 3, 2)),
        ("As of 2 March 2026 it is closed", (2026, 3, 2)),
        ("March 2, 2026: closed", (2026, 3, 2)),
        ("The deadline is 2 March 2026", None),
        ("[31 February 2026] never", None),
    ],
)
def test_a_text_is_dated_by_its_beginning(text, day):
    assert written_date(text) == (None if day is None else datetime(*day, tzinfo=UTC))


def test_a_chain_of_updates_points_to_its_newest_memory():
    texts = ["The API limit is {} requests a minute.", "The API limit is now {} requests a minute."]
    chain = [passage("a", texts[0].format(60))]
    chain += [
        passage(name, texts[1].format(count), MARCH + timedelta(days=at))
        for at, (name, count) in enumerate([("b", 100), ("c", 150)])
    ]
    found = outdated_memories(Question.of(LIMIT), chain)
    assert {name: update.newest for name, update in found.items()} == {"a": "c", "b": "c"}
    assert {name: update.following for name, update in found.items()} == {"a": "b", "b": "c"}
    assert (found["a"].until, found["b"].until) == (MARCH, MARCH + timedelta(days=1))


WORDS = st.sampled_from(
    ["API", "limit", "is", "now", "60", "100", "requests", "a", "minute", "raised", "to", "from", "Lyon"]
)


@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=5), st.data())
def test_the_order_of_the_passages_does_not_matter_and_newest_memories_are_not_outdated(texts, data):
    passages = [passage(f"m{at}", text, JANUARY + timedelta(days=at)) for at, text in enumerate(texts)]
    found = outdated_memories(Question.of(LIMIT), passages)
    assert outdated_memories(Question.of(LIMIT), data.draw(st.permutations(passages))) == found
    for name, update in found.items():
        assert update.newest not in found
        assert int(name[1:]) < int(update.newest[1:])

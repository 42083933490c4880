"""Values that users state again while they ask for something else (rule 3.12)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.likely_changes import likely_changes
from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.restated_values import restated_values
from slowwave.quality.outdated.updates import outdated_memories
from slowwave.scoring.wordlists import lines_of

TURNS = Path(__file__).parents[2] / "bench" / "updates_turns.txt"
JANUARY, MARCH = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)

RESTATED = [
    (  # as docs/explanation/outdated.md has it
        "How many tiles does my mosaic have?",
        "I've sketched my mosaic with 48 tiles, how many of each colour do I need?",
        "How long an edging does my mosaic need? It's 64 tiles in all",
    ),
    (
        "How many tiles does my mosaic have?",
        "I've sketched my mosaic with 48 tiles in four hues, can you work out how many of each I need?",
        "How do I cut the edging strip if every tile of my mosaic is a triangle? It's 64 tiles in all.",
    ),
    (
        "When is my intro call with Marlene?",
        "I have an intro call with Marlene on May 14, how would you present my project in five minutes?",
        "Marlene asked to push our intro call to May 16, can you help me build a slider until then?",
    ),
    (
        "What is the budget of the mini-series?",
        "I was handed the mini-series with a budget of $48,000, what do producers usually forget?",
        "They approved a budget of $53,500 for the mini-series, can you draft a report for us?",
    ),
    (
        "When is my wedding?",
        "My wedding is on 8 August, when should I send invitations?",
        "My wedding is scheduled for 22 August, what flowers are in season?",
    ),
    (
        "How tall is Mia?",
        "My daughter Mia measures 118 cm, which bike size fits?",
        "She is 124 cm, my daughter Mia, which bike fits?",
    ),
    (
        "How many words can my son say?",
        "My son can say 20 words, is that normal?",
        "My son knows a lot: he can say 50 words, is that good?",
    ),
]
APART = [
    (  # another one of its kind
        "How long is the festival cut of my film?",
        "The festival cut of my film is 11 minutes long, can you write a synopsis?",
        "There's a TV cut of my film, 22 minutes long, should I mention the narration?",
    ),
    (  # what is needed, and what is there
        "How many locations does the coastal project need?",
        "I need 12 locations for the coastal project, can you make a form for scouting?",
        "I've scouted 7 locations for the coastal project, can you write a short update?",
    ),
    (  # another name
        "When is my call with Marlene?",
        "I have a call with Marlene on May 14, how should I prepare?",
        "I have a call with Rasmus on May 16, how should I prepare?",
    ),
    (  # the same value again
        "How many tiles does my mosaic have?",
        "I've sketched my mosaic with 48 tiles, can you work out the area?",
        "My mosaic has 48 tiles and 12 edges, how much glue do I need?",
    ),
    (  # nobody asks
        "How many tiles does my mosaic have?",
        "I've sketched my mosaic with 48 tiles.",
        "My mosaic got a second panel of 64 tiles.",
    ),
    (  # nobody speaks of themselves
        "How many tiles does the mosaic have?",
        "The mosaic has 48 tiles, is it protected?",
        "The mosaic has 64 tiles, is it protected?",
    ),
    (  # two speakers
        "How many hours do I work?",
        "Anna: I work 30 hours a week, and you?",
        "Ben: I work 38 hours a week, why?",
    ),
    (  # still to come
        "How many hours do I work?",
        "I work 30 hours a week, is that part-time?",
        "From January 2031 I work 38 hours a week, what changes for my tax?",
    ),
    (  # of one who gives no name beside one who does
        "How many tiles does my mosaic have?",
        "I've sketched my mosaic with 48 tiles, how many do I need?",
        "Anna: How long an edging do I need? It's 64 tiles in all for my mosaic",
    ),
    (  # another's
        "How many tiles does my mosaic have?",
        "I've sketched my mosaic with 48 tiles, how many of each colour do I need?",
        "My sister's mosaic has 64 tiles, how do I beat her?",
    ),
    (  # a limit
        "How much rent do I pay for the flat?",
        "I pay 800 euros rent for the flat, is that too much?",
        "I pay 90 euros rent for a garage, is that too much?",
    ),
    (  # notes with links
        "How many chickens do I have?",
        "I have 6 chickens, feed from https://x.example/?p=1",
        "My chickens: 14 chickens at the farm of my uncle, see https://x.example/?p=2",
    ),
    *(
        ("How many chickens do I have?", "I have 6 chickens, what coop size do I need?", newer)
        for newer in (
            "My neighbour has 14 chickens and they are loud. What can I do?",
            "I don't have 14 chickens, why does the bill say so?",
            "I've never had 14 chickens, why do you think so?",
            "I might get 14 chickens, is my garden big enough?",
            "Suppose I get 14 chickens, how big a coop do I need?",
            "Would 14 chickens fit in my garden?",
            "If I had 14 chickens, what would my neighbours say?",
            "I had 14 chickens last year, why did the eggs stop?",
            "My mother had 14 chickens when I was a child. Why did she stop?",
            "My friend Olga keeps 14 chickens, how does she manage? I can't.",
            "2 of my chickens are ill, what can I do?",
            "My chickens are 3 years old, do they still lay?",
            "Tom has 14 chickens and I want more, how does he do it?",
            "I need to feed my chickens 2 times a day, is that enough?",
        )
    ),
    (
        "Wie viele Hühner habe ich?",
        "Ich habe 14 Hühner, welches Futter ist gut?",
        "2 meiner Hühner sind krank, was kann ich tun?",
    ),
    (  # a payment
        "When is my flight?",
        "My flight is on 12 June, what can I pack?",
        "I paid for my flight on 3 March, can I still cancel it?",
    ),
    (  # of the speaker
        "How tall is my desk?",
        "My desk is 75 cm high, is that right?",
        "I am 182 cm tall, should my desk be higher?",
    ),
    (  # another rate
        "How much do I pay for the gym?",
        "I pay 30 euros a month for the gym, is that a lot?",
        "I pay 400 euros a year for the gym, is that a lot?",
    ),
    (  # things, not years
        "How old is my son?",
        "My son is 9, what bike size does he need?",
        "My son has 3 bikes already, should I sell one?",
    ),
    (  # what somebody else has
        "How many points is my record in the dice game?",
        "My record in the dice game is 27 points, can I do better?",
        "Ada says her record in the dice game is 34 points, how likely is that? I doubt it.",
    ),
]


def passage(name: str, text: str, moment: datetime) -> DatedPassage:
    return DatedPassage(name, "", text, "internal", moment, moment)


def found(question: str, *passages: DatedPassage) -> dict[str, str]:
    return restated_values(Question.of(question), question, passages)


@pytest.mark.parametrize(("question", "older", "newer"), RESTATED)
def test_a_value_that_is_stated_again_is_the_later_one(question, older, newer):
    old, new = passage("old", older, JANUARY), passage("new", newer, MARCH)

    assert found(question, old, new) == found(question, new, old) == {"old": "new"}


@pytest.mark.parametrize(("question", "older", "newer"), APART)
def test_values_of_two_things_are_not_ordered(question, older, newer):
    assert found(question, passage("old", older, JANUARY), passage("new", newer, MARCH)) == {}


def test_a_question_about_the_past_orders_nothing():
    _, older, newer = RESTATED[0]

    assert (
        found(
            "How many tiles did my mosaic have?", passage("old", older, JANUARY), passage("new", newer, MARCH)
        )
        == {}
    )


def test_other_labels_and_equal_moments_order_nothing():
    question, older, newer = RESTATED[0]
    old, new = passage("old", older, JANUARY), passage("new", newer, MARCH)

    assert found(question, old, replace(new, sensitivity="secret")) == {}
    assert found(question, old, replace(new, created_at=JANUARY, updated_at=JANUARY)) == {}


def test_the_best_of_several_newer_turns_counts():
    question, older, newer = RESTATED[0]
    old, new = passage("old", older, JANUARY), passage("new", newer, MARCH)
    last = passage("last", "My mosaic grew to 80 tiles, which grout do you suggest?", MARCH.replace(day=9))

    assert found(question, old, last, new) == {"old": "last", "new": "last"}
    assert found(question, old, new, last) == {"old": "new", "new": "last"}


def test_a_memory_is_never_its_own_successor():
    question, older, newer = RESTATED[0]
    assert found(question, passage("one", older, JANUARY), passage("one", newer, MARCH)) == {}


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Where do I live?", "I live in Kassel.", "I moved to Leipzig last week, how do I register there?"),
        (
            "Where do I live?",
            "I live in Kassel, which gym is good?",
            "I moved to Leipzig last week, how do I register there?",
        ),
        (
            "Wo wohne ich?",
            "Ich wohne in Kassel.",
            "Ich bin letzte Woche nach Leipzig gezogen, wie melde ich mich an?",
        ),
        (
            "Where do I work?",
            "I work at Siemens.",
            "I quit Siemens and work at Bosch now, can you update my CV?",
        ),
        (
            "How many chairs do we need for the party?",
            "We need 40 chairs for the party.",
            "Update: it's 55 chairs for the party now.",
        ),
        (
            "When is the Imagine Dragons concert?",
            "The Imagine Dragons concert is on 3 June.",
            "Imagine Dragons concert moved to 10 June.",
        ),
        (
            "Where does Lena live?",
            "Lena lives in Kassel.",
            "Lena has moved to Bonn, map https://karte.invalid/?q=bonn",
        ),
        (
            "Where does Lena live?",
            "Lena lives in Kassel, map https://x.example/?q=k",
            "Lena has moved to Bonn.",
        ),
        (
            "Do we still use LastPass?",
            "We use LastPass for passwords.",
            "We cancelled LastPass (finally, right?)",
        ),
        ("Who does the bins?", "Anna does the bins.", "Ben does the bins now. Who would have thought?"),
    ],
)
def test_a_note_with_a_question_mark_that_asks_nothing_is_a_note(question, older, newer):
    notes = passage("old", older, JANUARY), passage("new", newer, MARCH)
    assert outdated_memories(Question.of(question), notes)["old"].newest == "new"


def test_a_denied_value_replaces_nothing():
    question, older, _ = RESTATED[0]
    for denial in ("doesn't have 64 tiles, does it?", "never had 64 tiles. Why did I say that?"):
        turns = passage("old", older, JANUARY), passage("new", f"My mosaic {denial}", MARCH)
        assert outdated_memories(Question.of(question), turns) == {}


def test_the_turns_of_the_benchmark_keep_their_figures():
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines_of(TURNS.read_text("utf-8")):
        kind, asked, older, newer = line.split(" | ")
        question, turns = Question.of(asked), (passage("old", older, JANUARY), passage("new", newer, MARCH))
        is_marked = bool(outdated_memories(question, turns))
        counts[kind, "marked"] += is_marked
        counts[kind, "first"] += is_marked or bool(restated_values(question, asked, turns))

    assert counts["apart", "marked"] <= 1  # of 90 pairs that both hold
    assert counts["apart", "first"] <= 4
    assert counts["update", "first"] >= 89  # of 180


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("When is training?", "Training is on Thursday at 17:00.", "Training is on Friday at 16:00 now."),
        ("When does training begin?", "Training on Thursday begins at 17:00.",
         "Training moved from Thursday to Friday at 16:00."),
        ("When does training on Thursday begin?", "Training on Thursday begins at 17:00.",
         "Training on Thursday now begins at 16:00."),
        ("When is the open house?", "The open house is on Friday at 17:00.",
         "The open house is on Saturday at 11:00."),
        ("When is the exam?", "The exam on Monday starts at 9:00.",
         "The exam is now on Wednesday and starts at 9:00."),
        ("Who is the caretaker?", "Caretaker for both houses is Mr. Bielefeld.",
         "Caretaker for both houses is Ines Rauch since June."),
    ],
)  # fmt: skip
def test_a_weekday_or_a_house_that_is_the_value_or_the_same_keeps_nothing_apart(question, older, newer):
    notes = passage("old", older, JANUARY), passage("new", newer, MARCH)
    assert outdated_memories(Question.of(question), notes)["old"].newest == "new"


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("When does the clinic open?", "The clinic opens Monday at 8.", "The clinic opens Saturday at 10."),
        ("When do I work?", "I work Monday 9 to 17.", "I work Friday 9 to 13."),
        ("How many vacation days do I have?", "I have 28 vacation days a year, how do I spread them?",
         "I took 5 vacation days in March."),
        ("How many children does Lena have?", "Lena has three children.",
         "Lena took two children to the zoo, what else is there to do in Leipzig?"),
        ("How many chickens do we keep?", "We keep nine chickens.",
         "Two of our chickens have stopped laying, what could be the reason?"),
    ],
)  # fmt: skip
def test_opening_hours_deeds_and_parts_replace_nothing(question, older, newer):
    asked, notes = Question.of(question), [passage("old", older, JANUARY), passage("new", newer, MARCH)]
    assert outdated_memories(asked, notes) == likely_changes(asked, notes) == {}


@pytest.mark.parametrize("question", ["When does the training begin?", "What time is training on Thursdays?"])
def test_a_time_on_one_weekday_replaces_none_on_another(question):
    notes = [
        passage("old", "Training on Thursday begins at 17:00.", JANUARY),
        passage("new", "Training on Friday now begins at 16:00.", MARCH),
    ]
    assert (
        outdated_memories(Question.of(question), notes) == likely_changes(Question.of(question), notes) == {}
    )

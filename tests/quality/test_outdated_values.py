"""Older values that a newer text replaces, and pairs that only look like it (rule 3.12)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.dates import written_date
from slowwave.quality.outdated.question import Question, still_holds
from slowwave.quality.outdated.updates import first_newer, next_value, outdated_memories

JANUARY, MARCH = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)


def passage(name, text, at=JANUARY, title="", sensitivity="", updated_at=None):
    return DatedPassage(name, title, text, sensitivity, at, updated_at or at)


def marked(question, old, new, **labels):
    both = [passage("old", old), passage("new", new, MARCH, **labels)]
    found = outdated_memories(Question.of(question), both)
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
            "À quelle heure est le cours de judo ?",
            "Le cours de judo est à 17 h le mercredi.",
            "Le cours de judo est désormais à 18 h le mercredi.",
        ),
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
        # other words beside the value
        ("When do I meet Ana?", "I meet Ana on Tuesdays.", "Ana now comes on Thursdays."),
        (
            "What is the daily quota?",
            "I need to handle the daily quota of 1,000 calls for my app.",
            "I'm trying to update my settings to the new daily quota of 1,200 calls, can you help me?",
        ),
        (
            "How many women do I mentor?",
            "I feel proud of mentoring those 5 women in my portfolio.",
            "I'm updating my portfolio: the number of women I mentor has increased to 7.",
        ),
        (
            "How many interviews have I secured?",
            "I only secured 3 interviews for executive roles, is that bad?",
            "How can I use the fact that I secured 5 interviews to improve my resume?",
        ),
        # values without a number
        (
            "Where does my sister work?",
            "My sister works at Siemens.",
            "My sister changed jobs and is at Bosch now.",
        ),
        ("Who is my dentist?", "My dentist is Dr Lang.", "My dentist is Dr May."),
        (
            "Is the cat allowed upstairs?",
            "The cat is allowed upstairs.",
            "The cat is no longer allowed upstairs.",
        ),
        (
            "Which database does the shop use?",
            "The shop uses MySQL.",
            "The shop moved from MySQL to Postgres.",
        ),
        # other languages
        ("Wann ist das Fest?", "Das Fest ist am 12. März.", "Das Fest wurde auf den 19. März verschoben."),
        ("¿Cuándo es la reunión?", "La reunión es el martes.", "La reunión ahora es el jueves."),
        ("Où habite Claire ?", "Claire habite à Nantes.", "Claire a déménagé à Rennes."),
        (
            "is the dentist appointment on 3 December?",
            "The dentist appointment is on 3 December at 9:00.",
            "The dentist appointment was moved to 10 December at 9:00.",
        ),
        ("Is the stand-up at 9:30?", "The stand-up is at 9:30 every day.", "The stand-up is now at 10:00."),
        (
            "is the upload limit 25 MB?",
            "The upload limit is 25 MB.",
            "The upload limit was raised to 50 MB.",
        ),
        ("Does the shop close at 18:00?", "The shop closes at 18:00.", "The shop closes at 19:00 now."),
        ("Is the meeting in room 4?", "The meeting is in room 4.", "The meeting was moved to room 7."),
        (
            "ist die Miete 900 Euro?",
            "Die Miete ist 900 Euro im Monat.",
            "Die Miete ist jetzt 950 Euro im Monat.",
        ),
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
        # somebody or something that belongs to the subject
        ("Where does Tom live?", "Tom lives in Oslo.", "Tom's parents moved to Bergen."),
        ("What is my rent?", "My rent is 850 euros.", "My sister's rent is now 700 euros."),
        ("Where does my sister work?", "My sister works at Siemens.", "My sister moved to Bonn."),
        ("Where is Lena?", "Lena has two cats.", "Lena is now in Rome."),
        # several values hold at once
        ("Which languages do I speak?", "I speak Spanish.", "I speak French."),
        ("How many books did I read?", "I read 4 books in January.", "I read 6 books in February."),
        ("Who leads the data team?", "Marta leads the data team.", "Ivan now leads the platform team."),
        # a question that asks for no value, or about the past
        ("Can you help me with the API limit?", "The API limit is 60 requests a minute.",
         "We raised the API limit to 100 requests a minute."),
        ("What did the API limit change from?", "The API limit is 60 requests a minute.",
         "We raised the API limit to 100 requests a minute."),
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
    found = outdated_memories(Question.of(LIMIT), [passage("old", OLD, MARCH), saved])
    assert found["old"].newest == "new"
    assert (
        outdated_memories(Question.of(LIMIT), [passage("old", OLD, MARCH), passage("new", NEW, MARCH)]) == {}
    )


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


def test_a_passage_that_ranks_lower_counts_if_it_says_that_something_changed():
    question, old = Question.of(LIMIT), passage("old", OLD)
    assert outdated_memories(question, [old], [passage("new", NEW, MARCH)])["old"].newest == "new"
    assert outdated_memories(question, [passage("new", NEW, MARCH)], [old]) == {}
    rent = Question.of("What is the rent?")
    old, unsaid = passage("old", "The rent is 900 euros."), passage("new", "The rent is 950 euros.", MARCH)
    assert outdated_memories(rent, [old, unsaid])["old"].newest == "new"
    assert outdated_memories(rent, [old], [unsaid]) == {}


@given(st.permutations(range(4)), st.lists(st.sampled_from(["", "secret"]), min_size=4, max_size=4))
def test_no_mark_crosses_a_label_and_each_points_to_a_later_day(days, labels):
    passages = [
        passage(f"m{at}", f"The API limit is now {60 + at} requests a minute.", JANUARY + timedelta(days=day),
                sensitivity=label)
        for at, (day, label) in enumerate(zip(days, labels, strict=True))
    ]  # fmt: skip
    by_id = {one.memory_id: one for one in passages}
    found = outdated_memories(Question.of(LIMIT), passages)
    assert len(found) == 4 - len(set(labels))
    for name, update in found.items():
        for newer in (by_id[update.following], by_id[update.newest]):
            assert newer.sensitivity == by_id[name].sensitivity
            assert newer.created_at > by_id[name].created_at
        assert update.until == by_id[update.following].created_at


@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=5), st.data())
def test_the_order_of_the_passages_does_not_matter_and_newest_memories_are_not_outdated(texts, data):
    passages = [passage(f"m{at}", text, JANUARY + timedelta(days=at)) for at, text in enumerate(texts)]
    found = outdated_memories(Question.of(LIMIT), passages)
    assert outdated_memories(Question.of(LIMIT), data.draw(st.permutations(passages))) == found
    for name, update in found.items():
        assert update.newest not in found
        assert int(name[1:]) < int(update.newest[1:])


TEXTS = st.sampled_from(
    [
        "The API limit is {} requests a minute.",
        "The API limit is now {} requests a minute.",
        "The API limit is no longer {} requests a minute.",
        "We moved the office from {0} Market Street to {1} Market Street.",
        "The office is at {} Market Street.",
        "Anna replaced Bert; she leads {} people.",
    ]
)
TITLES = st.sampled_from(["", "API limit", "Office of Anna", "Office of Bert"])
QUESTIONS = st.sampled_from(
    [LIMIT, "API limit", "Where is the office?", "Who leads?", "The API limit is 60 requests a minute."]
)


@given(
    st.lists(
        st.tuples(TEXTS, TITLES, st.integers(60, 63), st.integers(0, 5), st.sampled_from(["", "secret"])),
        max_size=6,
    ),
    QUESTIONS,
    st.booleans(),
)
def test_what_replaces_one_memory_alone_replaces_it_among_all(drawn, words, by_itself):
    passages = [
        passage(f"m{at}", text.format(value, value + 1), JANUARY + timedelta(days=day), title, label)
        for at, (text, title, value, day, label) in enumerate(drawn)
    ]
    question = Question.answered_by(words) if by_itself else Question.of(words)
    found = outdated_memories(question, passages)
    asked = {one.memory_id: next_value(one.memory_id, question, passages) for one in passages}
    following = {name: update.following for name, update in found.items()}
    titled = {one.memory_id: one.titled for one in passages}
    alone = {
        name: newer.memory_id
        for name, newer in asked.items()
        if newer and not still_holds(question, titled[name], newer.titled)
    }
    assert alone.items() <= following.items()
    assert alone == following or question.names_subject  # then memories are also asked with their own words


def test_each_memory_of_a_chain_has_the_next_one():
    texts = [OLD, NEW, "The API limit was raised to 700 requests a minute."]
    chain = [passage(str(at), text, JANUARY + timedelta(days=at)) for at, text in enumerate(texts)]
    question = Question.of(LIMIT)
    assert [next_value(str(at), question, chain) for at in range(3)] == [chain[1], chain[2], None]
    assert outdated_memories(question, chain)["0"].newest == "2"


BINS = "The crew empties the bins once a week, **Monday at 7:00**."
MOVED = "The crew empties the bins each week on **Friday at 7:00**. It replaces the Monday round."


@pytest.mark.parametrize(
    ("title", "text", "is_update"),
    [
        ("Bins move to Friday", MOVED, True),
        ("Bins of the harbour move to Friday", MOVED, False),
        ("Bins move to Friday", MOVED.replace("It replaces", "It follows"), False),
        ("Bins move to Friday", MOVED.replace("the Monday", "the Tuesday"), False),
    ],
)
def test_a_text_that_names_the_value_it_replaces_may_have_it_in_bold_and_another_title(
    title, text, is_update
):
    old, new = passage("old", BINS, title="Bin day is Monday"), passage("new", text, MARCH, title)
    assert (first_newer([old], [new]) is new) is is_update


LONG_SLOT = (
    "We deploy once a week, **Tuesday at 10:00 UTC**, after the ops meeting. All are in, the ferry is back, "
    "and there are three days left to notice damage.\n\nNo deploys on other days but fixes for an incident."
)
LATER_SLOT = (
    "From 2026-06-11 the weekly deploy is **Thursday 13:30 UTC**. Replaces the Tuesday slot.\n\n"
    "- Tuesday is a boat day. On 2 June nobody could reach a hung logger."
)


@pytest.mark.parametrize(
    ("question", "is_marked"),
    [
        ("when are deploys?", True),
        ("deploys", True),
        ("deploy schedule", True),
        ("when is the next deploy?", True),
        ("when was the deploy?", False),
        ("how should we deploy?", False),
        ("where is the logger?", False),
        ("when is the ferry?", False),
    ],
)
def test_a_question_of_one_word_asks_for_what_each_text_says_of_it(question, is_marked):
    old = passage("old", LONG_SLOT, title="Deploy day is Tuesday")
    new = passage("new", LATER_SLOT, MARCH, "Deploys move to Thursday")
    assert bool(outdated_memories(Question.of(question), [old, new])) is is_marked
    apart = passage("new", LATER_SLOT.replace("Replaces", "It does not touch"), MARCH, "Deploys of the crane")
    assert not outdated_memories(Question.of(question), [old, apart])


def test_a_unit_alone_is_no_subject():
    queue = passage("old", "Cluster rules: wall time max 24 hours, 4 GPUs a user, interactive too.")
    backup = passage("new", "The mail server is now backed up nightly. The test took three hours.", MARCH)
    for question in ("office hours", "When are Dr. Patel's office hours?", "hours"):
        assert outdated_memories(Question.of(question), [queue, backup]) == {}
    later = passage("new", "Cluster rules: the wall time max is now 72 hours.", MARCH)
    assert outdated_memories(Question.of("wall time of the cluster"), [queue, later])["old"].newest == "new"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The door opens at **8:00** on all days.", ["8:0"]),
        ("- **Opening**: at 8:00 on all days.", []),
        ("The door: **Opening**: at 8:00 on all days.", []),
    ],
)
def test_bold_words_within_a_sentence_are_read_and_labels_of_lists_are_not(text, values):
    from slowwave.quality.outdated.statements import statements_of

    assert [value.value for value in statements_of(text).values if value.kind == "clock"] == values


def test_the_date_of_a_memory_is_that_of_its_later_passages():
    old, new = passage("old", OLD, MARCH), passage("new", NEW, JANUARY)
    assert outdated_memories(Question.of(LIMIT), [old, new]) == {}
    april = datetime(2026, 4, 2, tzinfo=UTC)
    later = replace(new, written=april)
    assert outdated_memories(Question.of(LIMIT), [old, later])["old"].until == april
    assert later.is_ahead(MARCH)
    assert not later.is_ahead(april)
    assert replace(later, text=f"[2026-03-04] {NEW}").moment == datetime(2026, 3, 4, tzinfo=UTC)


def test_memories_that_nothing_replaces_are_compared_once_each(monkeypatch):
    """The work grows with the pairs of an asked memory, and not with all pairs for each question."""
    from slowwave.quality.outdated import updates

    compared = []
    counted = updates._is_update
    monkeypatch.setattr(updates, "_is_update", lambda *pair: compared.append(pair) or counted(*pair))
    places = ("Skerry", "Ness", "Voe", "Holm", "Geo", "Wick", "Sound", "Firth", "Brae", "Croft")
    gauges = [
        passage(place, f"The battery of its gauge lasts {at + 5} weeks.", JANUARY + timedelta(days=at), place)
        for at, place in enumerate(places)
    ]
    for at, gauge in enumerate(gauges):
        assert updates.first_newer([gauge], gauges[:at] + gauges[at + 1 :]) is None
    assert 0 < len(compared) <= 2 * 10 * 9 / 2  # two questions of each: its title and its sentence


UNCHANGED = [
    ("how much is the rent?", "The rent is 900 euros a month.", said)
    for said in (
        "The rent was not raised to 950 euros a month.",
        "The rent might be raised to 950 euros a month.",
        "They wanted to raise the rent to 950 euros, but we refused.",
        "The landlord threatened to raise the rent to 950 euros.",
        "If the landlord agrees, the rent is raised to 950 euros a month.",
    )
] + [
    ("when is the standup?", "The standup is at 9:30.", "Should we move the standup to 10:00?"),
    ("when is the standup?", "The standup is at 9:30.", "Bob suggested moving the standup to 10:00."),
    ("when is the standup?", "The standup is at 9:30.", "The standup will move to 10:00 next year."),
    ("when is the standup?", "The standup is at 9:30.", "The standup moved to 10:00 only for today."),
    ("which Postgres do we run?", "We run Postgres 15.", "We have not upgraded Postgres to 16 yet."),
    ("wie viel kostet es?", "Der Zugang kostet 20 Euro.", "Der Zugang wurde nicht auf 25 Euro erhöht."),
    ("how many members does team A have?", "Team A has 5 members.", "Team B now has 7 members."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "old", "new"), UNCHANGED, ids=[new for *_, new in UNCHANGED])
def test_a_change_that_is_denied_asked_for_or_unsure_replaces_nothing(question, old, new):
    assert marked(question, old, new) == {}


def test_a_note_of_a_day_to_come_is_ahead_by_the_date_it_came_with():
    raised = passage("new", "The rent was raised to 950 euros a month.", MARCH + timedelta(days=60))
    assert raised.is_ahead(MARCH)
    assert not raised.is_ahead(MARCH + timedelta(days=61))

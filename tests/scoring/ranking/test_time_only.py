"""Questions that hold only a time, in the languages of the time rules."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.time_only import (
    MAX_CHARACTERS,
    coming_only,
    label_only,
    labels_and_subjects,
    time_only,
)

FRIDAY = TODAY = date(2026, 3, 13)
YESTERDAY, MONDAY = date(2026, 3, 12), date(2026, 3, 9)
LAST_WEEK = (date(2026, 3, 2), date(2026, 3, 8))
FEBRUARY = (date(2026, 2, 1), date(2026, 2, 28))


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What did I note last week?", LAST_WEEK),
        ("what's new since Monday?", (MONDAY, TODAY)),
        ("What did we write down on Monday?", (MONDAY, MONDAY)),
        ("What did I save last Friday?", (date(2026, 3, 6),) * 2),
        ("show me my notes from today", (TODAY, TODAY)),
        ("What have I noted since yesterday?", (YESTERDAY, TODAY)),
        ("What did I record in February?", (date(2026, 2, 1), date(2026, 2, 28))),
        ("notes of 2026-03-05", (date(2026, 3, 5),) * 2),
        ("What is new since 5 March 2026?", (date(2026, 3, 5), TODAY)),
        ("What did I note in the last 10 days?", (date(2026, 3, 3), TODAY)),
        ("Was habe ich in den letzten drei Tagen notiert?", (date(2026, 3, 10), TODAY)),
        ("What did I note two days ago?", (date(2026, 3, 11),) * 2),
        ("Was habe ich gestern notiert?", (YESTERDAY, YESTERDAY)),
        ("Was war gestern?", (YESTERDAY, YESTERDAY)),
        ("Was gibt es Neues seit Montag?", (MONDAY, TODAY)),
        ("Zeig mir die Notizen von letzter Woche", LAST_WEEK),
        ("¿Qué anoté ayer?", (YESTERDAY, YESTERDAY)),
        ("¿Qué hay de nuevo desde el lunes?", (MONDAY, TODAY)),
        ("Qu’ai-je noté hier ?", (YESTERDAY, YESTERDAY)),
        ("Quoi de neuf depuis lundi ?", (MONDAY, TODAY)),
        ("O que anotei ontem?", (YESTERDAY, YESTERDAY)),
        ("O que há de novo desde segunda-feira?", (MONDAY, TODAY)),
        ("我昨天记了什么？", (YESTERDAY, YESTERDAY)),
        ("上周的笔记", LAST_WEEK),
        ("मैंने कल क्या लिखा?", (YESTERDAY, YESTERDAY)),
        ("सोमवार से क्या नया है?", (MONDAY, TODAY)),
        ("ماذا كتبت أمس؟", (YESTERDAY, YESTERDAY)),
        ("ما الجديد منذ الاثنين؟", (MONDAY, TODAY)),
        ("昨日メモしたことは？", (YESTERDAY, YESTERDAY)),
        ("先週のメモを見せて", LAST_WEEK),
    ],
)
def test_only_a_time_and_a_word_of_noting(question, days):
    asked = time_only(question, FRIDAY)
    assert asked is not None
    assert (asked.since, asked.until) == days


@pytest.mark.parametrize(
    "question",
    [
        "War gestern Training?",
        "Wer war letzte Woche da?",
        "What did I note about the harbour last week?",
        "What did we decide last week?",
        "What is new in the deploy script since Monday?",
        "meeting notes from last week",
        "What did I note?",
        "yesterday",
        "last week",
        "What did I note next week?",
        "what happened last?",
        "what did we do first?",
        "what is the latest note about the harbour?",
        "what is the latest version?",
        "what is my newest record?",
        "the last store",
        "the last record of last week",
        "first aid notes",
        "what is the last name of Tom?",
        "note 17 of last week",
        "my last 3 notes about the harbour",
        "my last 3000 notes",
        "Was habe ich gestern über den Hafen notiert?",
        "我昨天在港口记了什么？",
        "昨日港で書いたこと",
        "what's new since monday? " + "what's new " * 20,
    ],
)
def test_a_subject_or_no_time_is_an_ordinary_question(question):
    assert time_only(question, FRIDAY) is None


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("what is my newest note?", "newest"), ("what is the last thing I saved?", "newest"),
        ("What have I noted recently?", "newest"), ("my first note", "oldest"),
        ("Was habe ich zuletzt notiert?", "newest"), ("meine erste Notiz", "oldest"),
        ("¿Cuál es mi última nota?", "newest"), ("quelle est ma dernière note ?", "newest"),
        ("qual é a minha última nota?", "newest"), ("最新的笔记", "newest"), ("मेरा सबसे नया नोट", "newest"),
        ("أحدث الملاحظات", "newest"), ("最後に書いたメモ", "newest"), ("最初のメモ", "oldest"),
    ],
)  # fmt: skip
def test_an_order_alone_has_all_days_until_today(question, order):
    asked = time_only(question, FRIDAY)
    assert asked is not None
    assert (asked.since, asked.until, asked.order) == (None, TODAY, order)


@pytest.mark.parametrize(
    ("question", "since", "until", "order"),
    [
        ("my newest note from yesterday", "2026-03-12", "2026-03-12", "newest"),
        ("What was my last note in December 2025?", "2025-12-01", "2025-12-31", "newest"),
        ("first note of 2025", "2025-01-01", "2025-12-31", "oldest"),
        ("meine letzte Notiz von gestern", "2026-03-12", "2026-03-12", "newest"),
        ("mi última nota de ayer", "2026-03-12", "2026-03-12", "newest"),
    ],
)
def test_an_order_within_days_has_both(question, since, until, order):
    asked = time_only(question, FRIDAY)
    assert asked is not None
    assert (str(asked.since), str(asked.until), asked.order) == (since, until, order)


@pytest.mark.parametrize(
    ("question", "most", "since"),
    [
        ("my last 3 notes", 3, None), ("show me the last five entries", 5, None),
        ("my last note", 1, None), ("meine letzte Notiz", 1, None), ("mi última nota", 1, None),
        ("the three newest notes", 3, None), ("3 most recent notes from March", 3, "2026-03-01"),
        ("meine letzten drei Notizen", 3, None), ("mis últimas 3 notas", 3, None),
        ("mes 3 dernières notes", 3, None), ("my last notes", 0, None),
        ("What did I note in the last 3 days?", 0, "2026-03-10"), ("last 3 days of notes", 0, "2026-03-10"),
    ],
)  # fmt: skip
def test_a_number_beside_an_order_is_how_many_notes_are_asked_for(question, most, since):
    asked = time_only(question, FRIDAY)
    assert asked is not None
    assert (asked.most, str(asked.since) if asked.since else None) == (most, since)


def test_on_a_monday_since_monday_is_the_week_before():
    asked = time_only("what's new since Monday?", MONDAY)
    assert (asked.since, asked.until) == (date(2026, 3, 2), MONDAY)


@given(st.text(max_size=MAX_CHARACTERS + 5))
def test_any_text_is_read(text):
    asked = time_only(text, FRIDAY)
    assert asked is None or (asked.since or date.min) <= asked.until


@pytest.mark.parametrize(
    ("question", "labels", "days", "order", "most"),
    [
        ("tickets from February", ("tickets", "ticket"), FEBRUARY, "", 0),
        ("all stories", ("stories", "storie", "story"), (None, TODAY), "", 0),
        ("my last 3 decisions", ("decisions", "decision"), (None, TODAY), "newest", 3),
        ("my last decision", ("decision",), (None, TODAY), "newest", 1),
        ("my latest test", ("test",), (None, TODAY), "newest", 1),
        ("Entscheidungen", ("entscheidungen", "entscheidung"), (None, TODAY), "", 0),
        ("#recipe", ("recipe",), (None, TODAY), "", 0),
        ("Personen", ("personen", "person"), (None, TODAY), "", 0),
        ("all Straße", ("strasse", "straße"), (None, TODAY), "", 0),
        ("Entscheidungen von letzter Woche", ("entscheidungen", "entscheidung"), LAST_WEEK, "", 0),
        ("quelles réunions en février ?", ("réunions", "réunion"), FEBRUARY, "", 0),
    ],
)  # fmt: skip
def test_one_word_beside_a_time_may_be_a_label(question, labels, days, order, most):
    asked = label_only(question, FRIDAY)
    assert asked is not None
    assert (asked.labels[0], asked.since, asked.until, asked.order, asked.most) == (
        labels[0],
        *days,
        order,
        most,
    )
    assert set(labels) <= set(asked.labels)


@pytest.mark.parametrize(
    "question",
    [
        "What did I note last week?",
        "tickets about billing",
        "decisions and tickets",
        "tickets from 2031",
        "",
        "all notes",
        "show notes",
        "note",
        "my last invoice 4",
        "my last mp3",
    ],
)
def test_no_word_or_several_are_no_label(question):
    assert label_only(question, FRIDAY) is None


@pytest.mark.parametrize(("word", "plural"), [("crane", False), ("kitchen", False), ("tickets", True)])
def test_a_word_alone_is_a_plural_by_the_first_language_alone(word, plural):
    asked = label_only(word, FRIDAY)
    assert asked is not None
    assert asked.plural == plural


@pytest.mark.parametrize(
    ("question", "label", "subject"),
    [
        ("decisions about the roof", "decision", {"roof"}),
        ("my last 3 roof decisions", "decision", {"roof"}),
        ("vegetarian recipes", "recipe", {"vegetarian"}),
        ("#recipe soup", "recipe", {"soup"}),
        ("Entscheidungen zum Dach", "decision", {"dach"}),
        ("Rezepte mit Linsen", "rezept", {"linsen"}),
        ("décisions sur le toit", "decision", {"toit"}),
        ("which projects use Postgres?", "project", {"postgr"}),
    ],
)
def test_a_plural_may_be_a_label_and_the_other_words_its_subject(question, label, subject):
    found = labels_and_subjects(question, FRIDAY)
    assert any(label in asked.labels and subject == stems for asked, stems in found)


def test_a_singular_with_a_subject_needs_an_order():
    (found,) = labels_and_subjects("the last decision about the roof", FRIDAY)[:1]
    of_roof = [asked for asked, subject in (found,) if subject == {"roof"}]
    assert [(one.labels[0], one.order, one.most, one.plural) for one in of_roof] == [
        ("decision", "newest", 1, False)
    ]
    assert labels_and_subjects("the decision about the roof", FRIDAY) == ()
    assert labels_and_subjects("what is the latest meeting room?", FRIDAY) == ()
    first = labels_and_subjects("what was my first project at Siemens?", FRIDAY)
    assert not any("project" in asked.labels for asked, _ in first)


@pytest.mark.parametrize(
    "question",
    [
        "may I enter the crane", "decisions", "decisions not about the roof",
        "what did we decide about the roof?",
        "decisions about the roof of the old boat house", "garage per month", "tickets from March",
    ],
)  # fmt: skip
def test_what_has_no_plural_or_no_short_subject_has_no_label_with_a_subject(question):
    found = labels_and_subjects(question, FRIDAY)
    assert all(asked.labels[0] not in question.casefold().split() for asked, _ in found)
    assert not any({"decision", "crane"} & {*asked.labels} for asked, _ in found)


REST_OF_WEEK = (TODAY, date(2026, 3, 15))
NEXT_WEEK = (date(2026, 3, 16), date(2026, 3, 22))
TOMORROW = (date(2026, 3, 14),) * 2


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What is due next week?", NEXT_WEEK),
        ("What's coming up this week?", REST_OF_WEEK),
        ("anything planned for next week?", NEXT_WEEK),
        ("what do I have tomorrow?", TOMORROW),
        ("Anything due tomorrow?", TOMORROW),
        ("What is due on Monday?", (date(2026, 3, 16),) * 2),
        ("what is due in the next 2 weeks?", (TODAY, date(2026, 3, 27))),
        ("what is due until Monday?", (TODAY, date(2026, 3, 16))),
        ("Was steht nächste Woche an?", NEXT_WEEK),
        ("Was steht diese Woche an?", REST_OF_WEEK),
        ("Was ist morgen fällig?", TOMORROW),
        ("¿Qué tengo mañana?", TOMORROW),
        ("Qu'est-ce qui est prévu demain ?", TOMORROW),
        ("O que tenho amanhã?", TOMORROW),
        ("what do I have to do by Monday?", (TODAY, date(2026, 3, 16))),
        ("is there anything promised for 16 March?", (date(2026, 3, 16),) * 2),
        ("callbacks next week", NEXT_WEEK),
        ("Which tickets are due tomorrow?", TOMORROW),
        ("Termine nächste Woche", NEXT_WEEK),
        ("which callbacks are due this week?", REST_OF_WEEK),
        ("any callbacks due by Monday?", (TODAY, date(2026, 3, 16))),
        ("What is on this week?", REST_OF_WEEK),
        ("what do I have this week?", REST_OF_WEEK),
        ("What should I not forget this week?", REST_OF_WEEK),
        ("which callbacks do I have this week?", REST_OF_WEEK),
        ("what is on in April?", (date(2026, 4, 1), date(2026, 4, 30))),
        ("what is on today?", (TODAY, TODAY)),
        ("Was muss ich diese Woche erledigen?", REST_OF_WEEK),
        ("¿Qué hay esta semana?", REST_OF_WEEK),
        ("O que há esta semana?", REST_OF_WEEK),
        ("what was on this week?", None),
        ("what should I have noted this week?", None),
        ("which tasks did I forget this week?", None),
        ("callbacks this week", None),
        ("What is due?", None),
        ("tickets from August", None),
        ("What was due on Monday?", None),
        ("what did I note this week?", None),
        ("what's new this week?", None),
        ("what happened on Monday?", None),
        ("what was planned for Monday?", None),
        ("which invoice is due next week?", None),
        ("What do we owe Wendt next week?", None),
        ("my next appointment", None),
    ],
)
def test_only_what_days_to_come_bring(question, days):
    asked = coming_only(question, FRIDAY)
    assert (asked and (asked.since, asked.until)) == days


@pytest.mark.parametrize("question", ["What is due next week?", "what do I have tomorrow?"])
def test_a_long_question_has_a_subject(question):
    assert coming_only(question + " " * MAX_CHARACTERS, FRIDAY) is None

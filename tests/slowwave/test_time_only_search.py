"""A question that holds only a time hands over the memories of its days, newest first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import slowwave
from slowwave.search.log import replay
from slowwave.views.mcp_text import next_step

QUESTION = "What did I note since yesterday?"
TEXTS = {
    "lamp": "The lamp on the pier is red since the storm.",
    "kettle": "The kettle in the kitchen whistles at noon.",
    "sluice": "The sluice at the northern gauge opens every April.",
}


@pytest.fixture
def dated(memory):
    """Three notes: of today, of yesterday, of last month; their ids by key."""
    now = datetime.now(UTC)
    days = {"lamp": 0, "kettle": 1, "sluice": 40}
    return {
        key: memory.save(text, key=key, tags=[key], created_at=now - timedelta(days=days[key])).memory_id
        for key, text in TEXTS.items()
    }


def found(memory, question: str = QUESTION, **more):
    return [one.memory_id for one in memory.search(question, **more)]


def test_the_notes_of_the_days_are_handed_over_newest_first(memory, dated):
    response = memory.search(QUESTION, explain=True)
    assert [one.memory_id for one in response] == [dated["lamp"], dated["kettle"]]
    assert not response.abstained
    for one in response:
        assert one.text == TEXTS[one.tags[0]]
        rows = one.explanation.contributions
        assert sum(row.value for row in rows) == pytest.approx(one.score)
        assert ("dates", "since yesterday") in {(row.field, row.term) for row in rows}
    ordinary = memory.search(TEXTS["lamp"])
    assert response.results[0].confidence == ordinary.results[0].confidence
    assert found(memory, limit=1) == [dated["lamp"]]
    assert found(memory, limit=0) == []


def test_the_newest_and_the_oldest_note(memory, dated):
    newest_first = [dated["lamp"], dated["kettle"], dated["sluice"]]
    assert found(memory, "what are my newest notes?") == newest_first
    assert found(memory, "what is my newest note?") == newest_first[:1]
    assert found(memory, "what did I save last?", limit=1) == newest_first[:1]
    assert found(memory, "my first notes") == newest_first[::-1]
    assert found(memory, "my last two notes") == newest_first[:2]
    assert found(memory, "my last two notes", limit=1) == newest_first[:1]
    memory.save("The regatta is on the outer lake.", created_at=datetime.now(UTC) + timedelta(days=3))
    assert found(memory, "my newest notes") == newest_first


def test_with_a_subject_it_is_searched_as_any_other(memory, dated):
    assert found(memory, "What did I note about the sluice since yesterday?")[:1] == [dated["sluice"]]


def test_filters_hold_and_nothing_hidden_is_handed_over(memory, dated, open_memory):
    assert found(memory, tags=["kettle"]) == [dated["kettle"]]
    memory.forget(dated["lamp"])
    memory.save("The code of the safe is 4711.", key="safe", sensitivity="secret")
    open_memory("bob").save("The ferry leaves at nine from the western pier.")
    assert found(memory) == [dated["kettle"]]


def test_days_without_notes_are_said_to_have_none(memory, dated):
    response = memory.search("What did I note in 2001?")
    assert response.results == ()
    assert response.nothing.kind == "time"
    assert (
        response.nothing.message == f"No memory of namespace {memory.namespace!r} is from 2001 (3 checked)."
    )
    with_filter = memory.search("What did I note in 2001?", tags=["lamp"])
    assert "that passes tag lamp is from 2001 (1 checked)" in with_filter.nothing.message
    by_filter = memory.search("What did I note in 2001?", source="nowhere")
    assert by_filter.nothing.kind == "filtered"


def test_a_replay_gives_the_same_and_feedback_counts(memory, dated):
    response = memory.search(QUESTION)
    payload = memory.journal.get(response.search_id).payload
    again = replay(payload)
    assert [(one.memory_id, one.score) for one in again.results] == [
        (one.memory_id, one.score) for one in response
    ]
    assert memory.feedback(response.search_id, 1, "helpful").new


def test_good_and_bad_ratings_do_not_change_the_order(memory, dated):
    first = memory.search(QUESTION)
    memory.feedback(first.search_id, dated["lamp"], "unhelpful")
    memory.feedback(first.search_id, dated["kettle"], "helpful")
    assert found(memory) == [dated["lamp"], dated["kettle"]]


def test_many_notes_of_a_day_are_all_given_up_to_the_limit(memory):
    now = datetime.now(UTC)
    notes = [
        {"content": f"Boat {number} of the harbour got berth {900 - number} for the winter.",
         "created_at": now - timedelta(seconds=number)}
        for number in range(60)
    ]  # fmt: skip
    names = [saved.memory_id for saved in memory.save_many(notes)]
    assert found(memory, "what's new since yesterday?", limit=50) == names[:50]


def test_other_notes_of_the_subject_do_not_hide_the_note_of_the_day(open_memory):
    memory, now = open_memory(ranking={"cut_share": 0.95, "sparse_recall": False}), datetime.now(UTC)
    texts = [
        ("The harbour decision: the pier lights are replaced by lamps, decided by the board.", 90),
        ("We talked to the harbour master; mooring fees go up by five percent.", 1),
        ("Ada repairs the kettle in the kitchen with a new spring.", 1),
    ]
    names = [memory.save(text, created_at=now - timedelta(days=days)).memory_id for text, days in texts]
    question = "What did we decide about the harbour"
    assert found(memory, f"{question}?") == names[:1]
    assert found(memory, f"{question} yesterday?") == names[1:2]


@pytest.mark.parametrize(
    "question",
    ["What happened yesterday?", "Was ist gestern passiert?", "¿Qué pasó ayer?", "昨天发生了什么？"],
)
def test_a_question_for_what_happened_lists_the_notes_of_the_day(memory, dated, question):
    assert found(memory, question) == [dated["kettle"]]


def test_an_assistant_is_told_to_ask_for_another_time(memory, dated):
    response = memory.search("What did I note in 2001?")
    assert "from that time" in next_step(response.search_id, response.nothing)


@pytest.fixture
def worded(tmp_path):
    """Memory in which a question with words of time fits less than the floor."""
    model, floor = {"model": "wordllama-256"}, {"abstention_floor": 0.3}
    with slowwave.open(tmp_path / "worded", namespace="ada", embedding=model, ranking=floor) as memory:
        yield memory


def test_a_time_that_nothing_fits_is_searched_in_its_days_without_its_words(worded):
    may = datetime(2026, 5, 20, tzinfo=UTC)
    larch = worded.save("We decided to buy larch from the Styrian forestry only.", created_at=may).memory_id
    for month in (3, 7):
        worded.save("The pool was closed for some days.", created_at=may.replace(month=month))
    assert found(worded, "what did we decide?")[:1] == [larch]
    assert found(worded, "what did we decide in May 2026?")[:1] == [larch]
    for month in ("July", "June"):
        nothing = worded.search(f"what did we decide in {month} 2026?")
        assert (list(nothing), nothing.abstained) == ([], True)


# -- labels ----------------------------------------------------------------------------------------


@pytest.fixture
def tickets(open_memory, monkeypatch):
    """A home that abstains as it ships, with labelled notes: key, text, tags, type and age in days."""
    monkeypatch.delenv("SLOWWAVE_RANKING__ABSTENTION_FLOOR")
    monkeypatch.delenv("SLOWWAVE_RANKING__CUT_SHARE")
    monkeypatch.delenv("SLOWWAVE_RANKING__FIT_FLOOR")
    memory, now = open_memory(), datetime.now(UTC)
    notes = [
        ("loops", "Safari loops at login; clearing cookies helps.", ["ticket"], "note", 3),
        ("slow", "Invoices of large customers take forty seconds.", ["Ticket", "billing"], "note", 70),
        ("vat", "Norway is computed with the wrong rate.", ["ticket"], "note", 80),
        ("stay", "Billing stays on Postgres.", [], "decision", 2),
        ("roof", "The landlord repairs the roof in spring.", ["garden"], "note", 1),
    ]
    ids = {
        key: memory.save(
            text, key=key, tags=tags, memory_type=kind, created_at=now - timedelta(days=days)
        ).memory_id
        for key, text, tags, kind, days in notes
    }
    return memory, ids


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("all tickets", ["loops", "slow", "vat"]),
        ("What tickets do we have?", ["loops", "slow", "vat"]),
        ("alle Tickets", ["loops", "slow", "vat"]),
        ("tickets", ["loops", "slow", "vat"]),
        ("my last ticket", ["loops"]),
        ("my last 2 tickets", ["loops", "slow"]),
        ("tickets from the last 10 days", ["loops"]),
        ("welche Tickets gab es in den letzten 10 Tagen?", ["loops"]),
        ("decisions from the last 10 days", ["stay"]),
        ("my decisions", ["stay"]),
    ],
)
def test_a_label_that_no_text_fits_lists_its_memories(tickets, question, keys):
    memory, ids = tickets
    response = memory.search(question, explain=True)
    assert [one.memory_id for one in response] == [ids[key] for key in keys]
    for one in response:
        assert one.fit == "strong"
        phrase = {row.term for row in one.explanation.contributions if row.field == "dates"}
        assert len(phrase) == 1  # no trigger phrase of the memory
        assert sum(row.value for row in one.explanation.contributions) == pytest.approx(one.score)
    again = replay(memory.journal.get(response.search_id).payload)
    assert [one.memory_id for one in again.results] == [one.memory_id for one in response]


def test_a_label_whose_word_fits_a_text_is_searched_as_a_word(tickets):
    memory, ids = tickets
    assert found(memory, "billing")[:1] == [ids["stay"]]


def test_a_label_without_memories_in_its_days_is_no_list(tickets):
    memory, _ = tickets
    assert found(memory, "tickets from 2001") == []
    assert found(memory, "all recipes") == []


def test_filters_hold_for_labels_and_nothing_hidden_is_listed(tickets, open_memory):
    memory, ids = tickets
    assert found(memory, "all tickets", tags=["billing"]) == [ids["slow"]]
    memory.forget(ids["loops"])
    memory.save("The code of the safe is 4711.", key="safe", tags=["ticket"], sensitivity="secret")
    open_memory("bob").save("The ferry leaves at nine.", tags=["ticket"])
    assert found(memory, "all tickets") == [ids["slow"], ids["vat"]]


def test_what_else_fits_a_question_follows_its_list(tickets):
    memory, ids = tickets
    other = memory.save("No tickets are issued at the counter of the ferry, only on board.").memory_id
    response = memory.search("all tickets", explain=True)
    listed = [ids["loops"], ids["slow"], ids["vat"]]
    assert [one.memory_id for one in response] == [*listed, other]
    assert [one.fit for one in response][:3] == ["strong"] * 3
    assert response.results[3].fit != "weak"  # its own, to the question
    assert all(
        sum(row.value for row in one.explanation.contributions) == pytest.approx(one.score)
        for one in response
    )
    assert found(memory, "all tickets", limit=2) == listed[:2]
    assert found(memory, "my last 2 tickets") == listed[:2]
    assert found(memory, "tickets from 2001")[:1] == [other]


@pytest.fixture
def roofs(tickets):
    """Decisions and notes about a roof, a recipe and meetings, beside the tickets."""
    memory, ids = tickets
    now = datetime.now(UTC)
    notes = [
        ("slate", "We repair the roof and do not replace it.", [], "decision", 40),
        ("poles", "The scaffold stays until the gutter is done.", ["Roof"], "decision", 9),
        ("quote", "Wiesner wants 4,100 euros for the roof, all included.", [], "note", 8),
        ("dal", "Red lentils with ginger, forty minutes.", ["recipe", "vegetarian"], "note", 30),
        ("stew", "Beef with beer, three hours in the oven.", ["recipe"], "note", 31),
        ("retro", "Ravi and Ines: fewer alerts at night.", ["meeting"], "note", 3),
    ]
    more = {
        key: memory.save(
            text, key=key, tags=tags, memory_type=kind, created_at=now - timedelta(days=days)
        ).memory_id
        for key, text, tags, kind, days in notes
    }
    return memory, ids | more


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("decisions about the roof", ["poles", "slate"]),
        ("my last roof decisions", ["poles", "slate"]),
        ("roof decisions from the last 10 days", ["poles"]),
        ("vegetarian recipes", ["dal"]),
        ("meetings with Ravi", ["retro"]),
        ("my last decision", ["stay"]),
        ("the last decision about the roof", ["poles"]),
    ],
)
def test_a_label_with_a_subject_lists_those_that_mention_it(roofs, question, keys):
    memory, ids = roofs
    response = memory.search(question, explain=True)
    assert [one.memory_id for one in response][: len(keys)] == [ids[key] for key in keys]
    assert {one.fit for one in response.results[: len(keys)]} == {"strong"}
    for one in response:
        assert sum(row.value for row in one.explanation.contributions) == pytest.approx(one.score)
    again = replay(memory.journal.get(response.search_id).payload)
    assert [one.memory_id for one in again.results] == [one.memory_id for one in response]


def test_a_word_that_looks_ahead_may_be_a_tag(memory):
    old = datetime.now(UTC) - timedelta(days=60)
    kept = memory.save("Zahnarzt um neun.", tags=["termine"], created_at=old).memory_id
    memory.save("Die Katze schläft in der Kiste.")
    day = old.strftime("%d.%m.%Y")
    assert found(memory, f"Welche Termine gab es am {day}?")[:1] == [kept]
    assert found(memory, "alle Termine")[:1] == [kept]


def test_the_last_one_with_a_tag_is_no_list(roofs):
    memory, ids = roofs
    newer = memory.save("Bread without yeast, two hours.", tags=["recipe"]).memory_id
    assert found(memory, "the last recipe with beer")[:1] == [ids["stew"]] != [newer]


def test_a_tag_beside_a_subject_hides_no_better_answer(roofs):
    memory, _ = roofs
    now = datetime.now(UTC)
    umbrella = "Left my umbrella in the Oban train, it is at the stop of the tram."
    memory.save(umbrella, key="umbrella", tags=["train"], created_at=now)
    answer = memory.save(
        "The train to Oban stops at Crianlarich and Tyndrum.",
        tags=["train"],
        created_at=now - timedelta(days=90),
    )
    for question in ("Which trains stop in Oban?", "trains to Oban"):
        assert found(memory, question)[:1] == [answer.memory_id]


def test_a_list_shows_the_passage_about_the_subject_and_what_lies_beyond_the_limit(roofs):
    memory, _ = roofs
    parts = (
        "All of the old house, in short.\n\n" * 60,
        "## Chimney\n\nThe chimney gets a steel liner.\n\n" * 9,
    )
    long = memory.save("# House\n\n" + "".join(parts), key="house", memory_type="decision").memory_id
    first = memory.search("decisions about the liner").results[0]
    assert first.memory_id == long
    assert "steel liner" in first.text
    response = memory.search("decisions about the roof", limit=1)
    assert len(response.results) == 1
    assert response.warnings == ("2 memories match. A higher limit returns more.",)


def test_one_plural_tag_does_not_hide_the_singular_ones(tickets):
    memory, ids = tickets
    one = memory.save("The lamp of the printer blinks.", tags=["tickets"]).memory_id
    assert found(memory, "all tickets") == [one, ids["loops"], ids["slow"], ids["vat"]]


def test_a_day_that_only_texts_have_is_answered_by_these(memory, monkeypatch):
    now = datetime.now(UTC)
    day = now - timedelta(days=20)
    text = f"The mast came down on {day:%-d %B} in the storm."
    noted = memory.save(text, created_at=now - timedelta(days=15)).memory_id
    assert found(memory, f"what happened on {day:%-d %B}?") == [noted]
    assert found(memory, f"what did I note on {day:%-d %B}?") == []


def test_a_subject_that_no_memory_with_the_label_mentions_makes_no_list(roofs):
    memory, ids = roofs
    assert found(memory, "decisions about the harbour wall") == []
    assert found(memory, "tickets about the roof", include_weak=True)[:1] != [ids["loops"]]
    memory.save("The decisions about the ferry are in the blue folder.", key="ferry")
    assert memory.search("decisions about the ferry").results[0].source == "ferry"


def test_what_follows_a_list_of_some_days_is_of_these_days(roofs):
    memory, _ = roofs
    response = memory.search("roof decisions from the last 10 days", include_weak=True)
    assert len(response.results) > 1
    assert all(one.created_at > datetime.now(UTC) - timedelta(days=11) for one in response)


def test_what_happened_on_a_day_is_followed_by_texts_with_its_date(roofs):
    memory, ids = roofs
    day = datetime.now(UTC) - timedelta(days=3)
    noted = memory.save(f"The new pump was delivered on {day:%-d %B} at noon.", key="pump").memory_id
    assert found(memory, f"what happened on {day:%-d %B}?") == [ids["retro"], ids["loops"], noted]
    assert noted not in found(memory, f"what did I note on {day:%-d %B}?")


def test_what_is_due_lists_texts_with_a_date_of_the_days_the_first_date_first(memory):
    now = datetime.now(UTC)
    days = {"invoice": 12, "lease": 11, "fair": 20}
    texts = {name: f"The {name} is on {now + timedelta(days=ahead):%-d %B}." for name, ahead in days.items()}
    ids = {name: memory.save(text, created_at=now - timedelta(days=5)) for name, text in texts.items()}
    due = ids["lease"].memory_id, ids["invoice"].memory_id
    tomorrow = memory.save("Tomorrow the pump is delivered.", created_at=now).memory_id
    question = "what is due in the next 14 days?"
    assert found(memory, question)[:3] == [tomorrow, *due]
    assert ids["fair"].memory_id not in [
        one.memory_id for one in memory.search(question) if one.fit == "strong"
    ]
    assert found(memory, question, limit=1) == [tomorrow]
    assert memory.search(question, limit=1).warnings == ("3 memories match. A higher limit returns more.",)
    assert found(memory, "what do I have tomorrow?")[0] == tomorrow
    assert memory.search("was steht morgen an?").results[0].memory_id == tomorrow


def test_a_label_narrows_what_is_due(memory):
    now, tomorrow = datetime.now(UTC), datetime.now(UTC) + timedelta(days=1)
    call = memory.save(f"Call Sam back on {tomorrow:%-d %B}.", tags=["callback"], created_at=now).memory_id
    memory.save(f"The fair opens on {tomorrow:%-d %B}.", created_at=now)
    assert found(memory, "callbacks for tomorrow")[0] == call
    assert memory.search("callbacks for tomorrow", limit=1).warnings == ()
    assert memory.search("anything due tomorrow?", limit=1).warnings != ()
    done = memory.save("The leaking tap is repaired.", tags=["ticket"], created_at=now).memory_id
    listed = memory.search("tickets for tomorrow", explain=True)
    assert not any("trigger" in one.explanation.channels for one in listed if one.memory_id != done)


def test_what_is_due_on_days_without_a_date_is_searched(memory, dated):
    memory.save("What is due in the next days is on the board.", key="board")
    assert memory.search("what is due in the next 14 days?").results[0].source == "board"


def test_a_list_marks_an_outdated_value(tickets):
    memory, _ = tickets
    now = datetime.now(UTC)
    old = memory.save(
        "The upload limit is 25 MB.", memory_type="fact", created_at=now - timedelta(days=9)
    ).memory_id
    new = memory.save("The upload limit was raised to 50 MB.", memory_type="fact").memory_id
    response = memory.search("all facts")
    assert [one.memory_id for one in response] == [new, old]
    assert [one.outdated_by for one in response] == ["", new]
    assert response.results[1].valid_until is not None


def test_a_tag_with_its_sign_and_a_type_in_another_language_are_labels(tickets):
    memory, ids = tickets
    assert found(memory, "#garden") == [ids["roof"]]
    assert found(memory, "alle Entscheidungen") == [ids["stay"]]


def test_a_text_that_fits_the_question_is_not_hidden_by_a_list(tickets):
    memory, _ = tickets
    wanted = memory.save("On 14 March we met at the bank about the loan.").memory_id
    question = "meeting on 14 March"
    assert wanted in found(memory, question)
    memory.save("See envelope 7711 in the cupboard.", tags=["meeting"])
    assert wanted in found(memory, question)


def test_the_exact_label_goes_before_its_singular(tickets):
    memory, _ = tickets
    news = memory.save("The gazette came late.", tags=["news"]).memory_id
    memory.save("The broom stands in the shed.", tags=["new"])
    assert found(memory, "all news") == [news]


def test_one_text_said_twice_is_listed_once(open_memory, monkeypatch):
    monkeypatch.delenv("SLOWWAVE_RANKING__ABSTENTION_FLOOR")
    memory = open_memory(gate={"mode": "off"})
    for key in ("one", "two", "three"):
        memory.save("The gutter drips at the corner.", key=key, tags=["chore"])
    other = memory.save("The fence needs paint.", key="fence", tags=["chore"]).memory_id
    response = memory.search("all chores", limit=2)
    assert len(response.results) == 2
    assert other in {one.memory_id for one in response}
    assert sum(len(one.duplicates) for one in response) == 2
    assert response.warnings == ()  # nothing beyond the limit but repetitions
    assert memory.search("all chores", limit=1).warnings
    again = replay(memory.journal.get(response.search_id).payload)
    assert [one.memory_id for one in again.results] == [one.memory_id for one in response]


def test_a_list_names_the_memories_beyond_the_limit(memory, dated):
    for question, limit in (("my newest notes", 2), ("my first notes", 2), ("my last two notes", 1)):
        (warning,) = memory.search(question, limit=limit).warnings
        assert warning == "3 memories match. A higher limit returns more."
    for question, limit in (("my newest notes", 3), ("my last two notes", 2), ("the lamp on the pier", 1)):
        assert memory.search(question, limit=limit).warnings == ()
    assert memory.search("my newest notes", limit=0).nothing.kind == "limit"


def test_a_question_that_fits_weakly_is_answered_only_if_asked_for(open_memory, monkeypatch):
    for name in ("ABSTENTION_FLOOR", "CUT_SHARE", "FIT_FLOOR"):  # which the tests have for one another
        monkeypatch.delenv(f"SLOWWAVE_RANKING__{name}")
    memory = open_memory(ranking={"fit_floor": 0.3})
    memory.save(TEXTS["lamp"], created_at=datetime.now(UTC) - timedelta(days=1))
    question = "which light is at sea"
    response = memory.search(question)
    assert (response.results, response.abstained) == ((), True)
    assert response.nothing.kind == "abstained"
    assert "--include-weak" in response.nothing.message
    (result,) = memory.search(question, include_weak=True)
    assert result.fit == "weak"
    assert memory.search("lamp on the pier").results
    assert memory.search("what did I note yesterday?").results


def test_after_the_dates_nothing_follows_that_only_has_the_words_of_the_time(memory):
    today = datetime.now(UTC)
    day = today + timedelta(days=7 - today.weekday())
    month = f"We move into the new house in {day:%B %Y}."
    saved = [
        memory.save(text).memory_id
        for text in (
            f"Parents' evening on {day + timedelta(days=2):%-d %B}.",
            month,
            "The first week in recovery is done, four days a week.",
        )
    ]
    assert found(memory, "What is on next week?") == saved[:2], "a whole month comes last"
    assert found(memory, "Do I have any appointments next week?")[:2] == saved[:2], "no memory has this label"

"""Results say that their value is outdated, in every face (rule 3.12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slowwave.search.log import replay
from slowwave.views.answers import Found
from slowwave.views.mcp_text import found as mcp_text
from slowwave.views.scores import outdated_text

OLD = "The API limit is 60 requests a minute, and the gateway enforces it."
NEW = "We raised the API limit to 100 requests a minute for every plan."
QUESTION = "What is the API limit?"
JANUARY, MARCH = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def memory(open_memory):
    memory = open_memory()
    memory.save(OLD, title="API limit", created_at=JANUARY)
    memory.save(NEW, title="API limit raised", created_at=MARCH)
    return memory


def test_the_newest_comes_first_and_the_older_one_names_it(memory):
    response = memory.explain(QUESTION, limit=2)
    new, old = response
    assert (new.text, old.text) == (NEW, OLD)
    assert (old.outdated_by, old.newer_title, old.valid_until) == (new.memory_id, "API limit raised", MARCH)
    assert (new.outdated_by, new.newer_title, new.valid_until) == ("", "", None)
    assert "newer value" in new.explanation.formula
    assert sum(row.value for row in new.explanation.contributions) == pytest.approx(new.score)
    assert response.to_dict()["results"][1]["outdated_by"] == new.memory_id
    shown = outdated_text(old.outdated_by, old.newer_title, old.valid_until)
    assert shown == f"outdated, until 2 March 2026: see API limit raised ({new.memory_id})"
    quoted = shown.replace("API limit raised", '"API limit raised"')
    assert f"> {quoted}\n" in mcp_text(Found.of(response, "", account=False))


def test_a_logged_search_replays_with_the_same_order(memory):
    response = memory.search(QUESTION, limit=2)
    again = replay(memory.journal.get(response.search_id).payload)
    assert [one.memory_id for one in again.results] == [one.memory_id for one in response]
    assert again.results[1].outdated_by == response[0].memory_id


def test_a_secret_update_is_in_no_mark_and_a_forgotten_one_ends_it(memory, open_memory):
    other = open_memory("bob")
    other.save(OLD, title="API limit", created_at=JANUARY)
    other.save(NEW, title="API limit raised", created_at=MARCH, sensitivity="secret")
    hits = [(one.text, one.outdated_by, one.newer_title) for one in other.search(QUESTION)]
    assert hits == [(OLD, "", "")]
    newest = memory.search(QUESTION)[0].memory_id
    memory.forget(newest)
    assert [(one.text, one.outdated_by) for one in memory.search(QUESTION)] == [(OLD, "")]


def test_the_setting_turns_it_off(memory, open_memory):
    plain = open_memory(ranking={"mark_outdated": False})
    assert [(one.text, one.outdated_by) for one in plain.search(QUESTION)] == [(OLD, ""), (NEW, "")]


def test_a_question_about_a_past_time_has_the_value_of_that_time(memory):
    assert [one.outdated_by for one in memory.search("What is the API limit since March 2026?")][:1] == [""]
    asked = memory.search("What is the API limit of February 2026?")
    assert (asked[0].text, asked[0].outdated_by) == (OLD, "")
    assert memory.search(QUESTION)[1].outdated_by


@pytest.mark.parametrize("days", [-200, 60])
def test_a_change_from_a_coming_month_on_replaces_nothing_before(open_memory, days):
    memory = open_memory()
    month = datetime.now(UTC) + timedelta(days=days)
    memory.save("The standup is at 9:30.", created_at=JANUARY - timedelta(days=400))
    memory.save(f"From {month:%B} the standup is at 10:00.", created_at=min(month, datetime.now(UTC)))
    marked = [one.outdated_by for one in memory.search("When is the standup?") if one.text.endswith("9:30.")]
    assert [bool(newer) for newer in marked] == [days < 0]


def test_a_newer_note_that_may_replace_another_one_ranks_first_without_a_mark(open_memory):
    memory = open_memory("kiln")
    older = memory.save(
        "The kiln club fires its pots on Friday evenings in the shed.",
        title="Firing plan",
        created_at=JANUARY,
    )
    newer = memory.save(
        "Pots of the kiln club are fired on Sundays now, as the shed is let on Fridays.",
        title="New kiln hours", created_at=MARCH,
    )  # fmt: skip
    question = "when does the kiln club fire its pots?"
    response = memory.explain(question)
    assert [one.memory_id for one in response] == [newer.memory_id, older.memory_id]
    assert [one.outdated_by for one in response] == ["", ""]
    assert "newer word on the same thing" in {row.term for row in response[0].explanation.contributions}
    again = replay(memory.journal.get(response.search_id).payload)
    assert [(one.memory_id, one.score) for one in again.results] == [
        (one.memory_id, one.score) for one in response
    ]
    plain = open_memory("kiln", ranking={"mark_outdated": False})
    assert plain.search(question)[0].memory_id == older.memory_id


HALL = "Hall at Orme Street: 410 a month, heating included, Mrs. Vance collects it on the second."
LETTER = "Letter from Mrs. Vance. From September it goes up to 455, still with the heating, she is sorry."
HALL_QUESTION = "what do we pay for the hall at Orme Street?"


@pytest.fixture
def hall(open_memory):
    memory = open_memory("hall", ranking={"cut_share": 0.55})
    memory.save(HALL, created_at=JANUARY)
    for day in range(1, 20):
        text = f"Rehearsal {day}: we played the slow movement twice and the reeds were too loud again."
        memory.save(text, created_at=JANUARY.replace(day=day))
    return memory


@pytest.mark.parametrize("size", [64, 0], ids=["snapshot", "table"])
def test_a_newer_note_is_found_by_the_older_one(hall, open_memory, size):
    memory = open_memory("hall", ranking={"cut_share": 0.55}, store={"snapshot_mb": size})
    assert [one.text for one in memory.search(HALL_QUESTION)] == [HALL]
    memory.save(LETTER, created_at=MARCH)
    found = memory.search(HALL_QUESTION)
    if not size:  # the rarity of words in a table is not known
        assert [one.text for one in found] == [HALL]
        return
    assert [(one.text, one.outdated_by) for one in found] == [(LETTER, ""), (HALL, "")]
    assert [one.text for one in memory.search(HALL_QUESTION, limit=1)] == [LETTER]
    assert LETTER not in [one.text for one in memory.search(HALL_QUESTION, until=JANUARY)]
    again = replay(memory.journal.get(found.search_id).payload)
    assert [one.memory_id for one in again.results] == [one.memory_id for one in found]


def test_an_explanation_says_why_the_newer_note_is_there(hall):
    hall.save(LETTER, created_at=MARCH)
    newer, _ = hall.explain(HALL_QUESTION)
    assert newer.text == LETTER
    assert sum(row.value for row in newer.explanation.contributions) == pytest.approx(newer.score)
    assert "newer value" in newer.explanation.formula


def test_nobody_finds_what_they_may_not_see_by_an_older_note(hall, open_memory):
    hall.save(LETTER, created_at=MARCH, sensitivity="secret")
    open_memory("other").save(LETTER, created_at=MARCH)
    assert [one.text for one in hall.search(HALL_QUESTION)] == [HALL]


def test_notes_that_are_not_newer_and_those_of_other_labels_hide_no_change(hall):
    hall.save(LETTER, created_at=MARCH)
    near = "Mrs. Vance collects the keys of the heating in Orme Street on the second, they are 41 years old."
    hall.save(near, created_at=JANUARY)  # of the same moment
    hall.save(near.replace("41", "42"), created_at=datetime(2026, 4, 1, tzinfo=UTC), sensitivity="public")
    hall.save(near.replace("41", "43"), created_at=datetime(2999, 4, 1, tzinfo=UTC))  # to come
    found = [one.text for one in hall.search("what do we pay for the hall?")]
    assert found[:2] == [LETTER, HALL]


def test_a_text_that_is_saved_again_counts_from_that_save(open_memory):
    memory = open_memory()
    first = memory.save("My landlord's phone number is 0171 111.", key="landlord")
    between = memory.save("The landlord's phone number is 0171 222 now.")
    memory.save("My landlord's phone number is 0171 333 now.", key="landlord")
    newest, older = memory.search("What is my landlord's phone number?")
    assert (newest.memory_id, newest.outdated_by) == (first.memory_id, "")
    assert (older.memory_id, older.outdated_by) == (between.memory_id, first.memory_id)
    kept = memory.get(first.memory_id)
    assert kept.created_at < older.created_at < newest.created_at == kept.updated_at
    assert memory.search("What is my landlord's phone number?", as_of=None)[0].created_at == newest.created_at


def test_a_text_that_is_saved_again_as_it_was_is_as_old_as_before(open_memory):
    memory = open_memory()
    memory.save("Lena works at the library.", key="lena")
    memory.save("Lena works at the archive now.", key="archive")
    for tags in ([], ["work"]):
        memory.save("Lena works at the library.", key="lena", tags=tags)
        archive, library = memory.search("Where does Lena work?")
        assert (archive.source, library.outdated_by) == ("archive", archive.memory_id)

"""Refused notes and decisions with both texts, and sources that a person trusts."""

from __future__ import annotations

import pytest
from page_home import THURSDAY, TUESDAY, words

from slowwave.memory import Memory

LAMP = "The lamp on the pier is red since the storm."


@pytest.fixture
def claude(memory) -> Memory:
    """The same memory, used by an assistant."""
    return Memory(memory.settings, namespace="ada", principal="claude", space=memory.home)


@pytest.fixture
def enforcing(make_site):
    """A person at the page of a home whose gate refuses."""
    return make_site().person()


def test_a_refused_note_stands_beside_what_it_repeats(person, memory, claude):
    lamp = memory.save(LAMP, title="Lamp").memory_id
    again = claude.save(LAMP, title="Lamp again").memory_id
    page = person.text(f"/quarantine/{again}")
    assert "by claude" in words(page)
    assert f'href="/memory/{lamp}"' in page
    assert page.partition("Write it again")[0].count(LAMP) == 2
    assert "Both texts are the same." in person.words("/quarantine")


def test_an_echo_names_the_memory_that_a_search_returned(person, memory, claude):
    text = "The ferry to Skerry leaves at ten past six, and on Sundays at half past eight in the morning."
    ferry = memory.save(text, title="Ferry").memory_id
    assert claude.search("when does the ferry leave").results
    said = claude.save("The ferry to Skerry leaves at ten past six, and on Sundays", title="Ferries")
    assert said.reasons == ("echo",)
    page = person.text(f"/quarantine/{said.memory_id}")
    assert f'href="/memory/{ferry}"' in page
    assert "<del>at half past eight" in page or "at half past eight in the morning.</del>" in page


def test_a_decision_shows_both_texts_with_their_difference(person, open_memory, make_site):
    memory = open_memory(reconsolidation={"policy": "guarded"})
    memory.save(TUESDAY, title="Deploy day", source_of_truth=True)
    waits = memory.save(THURSDAY, title="Deploy day").decision_id
    page = person.text(f"/decisions/{waits}")
    assert "<del>Tuesday</del>" in page
    assert "<ins>Thursday</ins>" in page
    assert person.get("/decisions/none").status_code == 404


def test_no_text_of_a_secret_decision_is_shown(person, open_memory):
    memory = open_memory(reconsolidation={"policy": "guarded"})
    memory.save(TUESDAY, title="Deploy day", source_of_truth=True, sensitivity="secret")
    waits = memory.save(THURSDAY, title="Deploy day", sensitivity="secret").decision_id
    page = person.text(f"/decisions/{waits}")
    assert "Tuesday" not in page
    assert "Thursday" not in page
    assert "not shown" in page


def test_a_source_is_trusted_until_a_person_ends_that(person, memory, claude):
    note = claude.save("ok then", title="A remark")
    assert note.status == "quarantined"
    assert "Always let in notes of claude" in person.words("/quarantine")
    told = person.done(f"/quarantine/{note.memory_id}/trust", why="short remarks", back="/quarantine")
    assert "Notes of claude are let in from now on" in told
    assert "short remarks" in told
    assert memory.get(note.memory_id).status == "live"
    other = claude.save("well then", title="Another")
    assert (other.status, bool(other.reasons)) == ("live", True)
    assert memory.save("fine so", title="Mine").status == "quarantined"  # another user
    told = person.done("/quarantine/sources/untrust", source="user:claude")
    assert "judged by the save gate again" in told
    assert claude.save("right so", title="A third").status == "quarantined"


def test_an_assistant_cannot_trust_itself(assistant, memory, claude):
    note = claude.save("ok then", title="A remark")
    assistant.refused(f"/quarantine/{note.memory_id}/trust", 403)
    assert memory.gate_policy.trusted == ()

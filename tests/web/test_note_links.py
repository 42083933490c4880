"""Wiki links of notes: to memories in the text, and both ways among the links of a page."""

from __future__ import annotations

import pytest

from slowwave.lifecycle.note_links import link_targets, linked_from
from slowwave.web.markdown import markdown

LAMP = "The lamp of the north pier is green, and [[Skerry boat|the boat]] brings its oil. See [[nowhere]]."
BOAT = "The boat to Skerry leaves at ten past six, and on Sundays at half past eight in the morning."


@pytest.fixture
def notes(saved):
    return saved(LAMP, title="Lamp"), saved(BOAT, title="Skerry boat", aliases=["ferry"])


def test_a_link_leads_to_the_memory_with_its_title_and_others_stay_text(person, notes):
    lamp, boat = notes
    page = person.text(f"/memory/{lamp}")
    assert f'<a href="/memory/{boat}" rel="noopener noreferrer nofollow">the boat</a>' in page
    assert "[[nowhere]]" in page
    assert "links to Skerry boat" in person.words(f"/memory/{lamp}")
    assert "linked from Lamp" in person.words(f"/memory/{boat}")


def test_targets_are_files_titles_and_aliases_of_the_same_namespace(memory, open_memory, notes):
    _, boat = notes
    other = open_memory("bob")
    other.save(BOAT, title="Berth")
    found = link_targets(memory.tenant, ["skerry BOAT", "ferry", "Ferry", "Berth", "it's", "100%"])
    assert found == {"skerry BOAT": boat, "ferry": boat}
    assert link_targets(other.tenant, ["Skerry boat"]) == {}
    assert linked_from(other.tenant, "Skerry Boat", "") == []
    assert link_targets(memory.tenant, []) == {}


def test_a_file_comes_before_a_title(memory, notes):
    file = memory.save(
        "Nine boats may lie at the quay, and each has a number of its own.", key="Skerry boat.md"
    )
    assert link_targets(memory.tenant, ["Skerry boat"]) == {"Skerry boat": file.memory_id}


def test_no_link_leads_to_a_secret_or_forgotten_memory_of_an_assistant(assistant, memory, saved, notes):
    lamp, boat = notes
    memory.forget(boat)
    assert link_targets(memory.tenant, ["Skerry Boat"]) == {}
    memory.unforget(boat)
    memory.save(BOAT, key=memory.get(boat).source, title="Skerry boat", sensitivity="secret")
    page = assistant.text(f"/memory/{lamp}")
    assert boat not in page
    assert "the boat" in page


@pytest.mark.parametrize(
    "text", ["[[Lamp", "[[]]", "[[|x]]", "[[Lamp]", "`[[Lamp]]`", "[[a\nb]]", "\\[[Lamp]]", "[[https://x.y]]"]
)
def test_what_is_no_wiki_link_of_a_memory_stays_as_it_is(text):
    assert 'href="/memory' not in markdown(text, {"Lamp": "/memory/1"})


def test_where_nobody_looked_for_its_memory_a_link_is_its_words(person, notes):
    assert markdown("The [[Skerry boat|boat]] and [[Lamp]].") == "<p>The boat and Lamp.</p>\n"
    assert "[[" not in person.text("/?q=lamp+of+the+north+pier")


def test_an_address_is_that_of_the_target_without_its_heading():
    for text in ("[[Lamp]]", "[[lamp]]", "[[ Lamp ]]", "[[Lamp#Oil]]", "[[Lamp|it]]", "![[Lamp]]"):
        assert 'href="/memory/1"' in markdown(text, {"Lamp": "/memory/1"})

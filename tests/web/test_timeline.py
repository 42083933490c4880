"""The timeline of a namespace: what was said, changed, forgotten and superseded, by day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from page_home import THURSDAY, TUESDAY, words

from slowwave.lifecycle.tagging import change_tag

LAMP = "The lamp on the pier is red since the storm."
KETTLE = "The kettle in the kitchen whistles at noon."
SECRET = "The code of the safe in the cellar is 4711 since Tuesday."
MARCH = datetime(2026, 3, 2, 12, tzinfo=UTC)


def lines(page: str) -> list[str]:
    """What each event of a timeline says, from the newest on."""
    return [words(part.partition("</li>")[0]) for part in page.split('<li class="')[1:]]


def said(page: str) -> list[str]:
    return [line.partition('">')[2].strip() for line in lines(page)]


def test_everything_that_happens_to_memories_is_listed_newest_first(person, memory):
    one = memory.save(LAMP, title="Lamp", key="lamp", created_at=MARCH).memory_id
    kettle = memory.save(KETTLE, title="Kettle").memory_id
    memory.save("The lamp on the pier is green since May.", title="Lamp", key="lamp", created_at=MARCH)
    change_tag(memory.tenant, [one], "pier", add=True)
    memory.forget(one)
    memory.unforget(one)
    memory.forget(kettle)
    page = person.text("/timeline")
    assert said(page) == [
        "forgotten Kettle", "no longer forgotten Lamp · application", "forgotten Lamp",
        "labels changed Lamp · application", "text changed Lamp · application", "new Kettle · application",
        "new, with an earlier text Lamp · application",
    ]  # fmt: skip
    assert "2 Mar 2026" in page
    assert "2026-03 (1)" in words(page)
    assert said(person.text("/timeline?month=2026-03")) == ["new, with an earlier text Lamp · application"]
    assert said(person.text("/timeline?kind=forgotten")) == ["forgotten Kettle", "forgotten Lamp"]
    assert "Nothing matches these filters." in person.words("/timeline?month=1999-01")


@pytest.mark.parametrize("query", ["kind=lost", "month=march", "month=2026-13"])
def test_an_unknown_filter_is_refused(person, query):
    assert person.get(f"/timeline?{query}").status_code == 400


def test_a_superseded_memory_names_the_newer_one(person, open_memory):
    memory = open_memory(reconsolidation={"policy": "guarded"})
    memory.save(TUESDAY, title="Deploy day")
    assert memory.save(THURSDAY, title="Deploy day").outcome == "supersede"
    assert "superseded Deploy day by Deploy day" in said(person.text("/timeline"))


def test_refused_texts_and_other_namespaces_are_not_listed(person, memory):
    from slowwave.memory import Memory

    memory.save(LAMP, title="Lamp", key="lamp")
    assert memory.save("ok", title="Lamp", key="lamp").status == "quarantined"
    memory.save("ok then", title="A remark")
    Memory(memory.settings, namespace="bob", space=memory.home).save(KETTLE, title="Kettle")
    assert said(person.text("/timeline")) == ["new Lamp · application"]


def test_no_word_of_a_secret_memory_is_in_a_timeline(person, assistant, memory):
    safe = memory.save(SECRET, title="Safe", key="safe", sensitivity="secret").memory_id
    memory.save(f"{SECRET} Or so.", title="Safe", key="safe", sensitivity="secret")
    page = person.text("/timeline")
    assert [line.split(" · ")[0] for line in said(page)] == [
        "text changed (secret)", "new, with an earlier text (secret)",
    ]  # fmt: skip
    assert "Safe" not in page
    page = assistant.text("/timeline")
    assert said(page) == []
    assert safe not in page


def test_an_outdated_value_names_the_newer_one_on_the_page(person, assistant, memory):
    april = datetime(2026, 4, 2, 12, tzinfo=UTC)
    memory.save("The rate limit is 100 requests a minute.", title="Old", created_at=MARCH)
    memory.save("The rate limit was raised to 200 requests a minute.", title="New", created_at=april)
    for visitor in (person, assistant):
        assert said(visitor.text("/timeline")) == [
            "new New · application", "new Old · application until 2 Apr 2026 outdated by New",
        ]  # fmt: skip


def test_a_secret_update_ends_nothing_that_is_open(person, memory):
    april = datetime(2026, 4, 2, 12, tzinfo=UTC)
    memory.save("The rate limit is 100 requests a minute.", title="Old", created_at=MARCH)
    text = "The rate limit was raised to 200 requests a minute."
    memory.save(text, title="New", created_at=april, sensitivity="secret")
    assert "until" not in " ".join(said(person.text("/timeline")))

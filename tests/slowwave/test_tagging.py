"""Tags of several memories, authors that stay, and what the history says of labels."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from slowwave.errors import ArgumentError, NotFoundError
from slowwave.lifecycle.tagging import change_tag
from slowwave.memory import Memory
from slowwave.store import one_of

LAMP = "The lamp on the pier is red since the storm."
KETTLE = "The kettle in the kitchen whistles at noon."


def row(memory: Memory, memory_id: str) -> dict:
    columns = ["principal", "updated_at", "created_at", "tags", "status", "content", "released"]
    where = memory.tenant.mine(one_of("memory_id", [memory_id]))
    return memory.store.read("memories", where, columns=columns).row(0, named=True)


def beside(memory: Memory, principal: str) -> Memory:
    return Memory(memory.settings, namespace="ada", principal=principal, space=memory.home)


def test_a_memory_that_is_unforgotten_keeps_its_author_and_its_place(memory):
    lamp = beside(memory, "claude").save(LAMP, tags=["pier"]).memory_id
    memory.save(KETTLE)
    before = row(memory, lamp)
    assert before["principal"] == "claude"
    for _ in range(2):  # also the second time
        beside(memory, "eve").forget(lamp)
        assert beside(memory, "ida").unforget(lamp)
        assert row(memory, lamp) == before | {"released": True}
    chunk = memory.store.read("chunks", memory.tenant.mine(one_of("memory_id", [lamp])))
    assert chunk["updated_at"].to_list() == [before["updated_at"]]
    last = memory.history(lamp)[-1]
    assert (last["event"], last["by"]) == ("remembered", "ida")


def test_a_past_day_has_the_moment_of_the_save_too(memory):
    from past_chunks import chunks_as_of

    lamp = memory.save(LAMP).memory_id
    before = row(memory, lamp)["updated_at"]
    memory.forget(lamp)
    memory.unforget(lamp)
    past = chunks_as_of(memory.home, "ada", datetime.now(UTC).date())
    assert past["updated_at"].to_list() == [before]


def test_a_tag_is_added_and_removed_without_a_change_of_text_or_author(memory):
    lamp = beside(memory, "claude").save(LAMP, tags=["pier"], metadata={"room": 4}).memory_id
    kettle = memory.save(KETTLE).memory_id
    assert change_tag(memory.tenant, [lamp, kettle], "#light", add=True) == [lamp, kettle]
    assert change_tag(memory.tenant, [lamp, kettle], "light", add=True) == []
    found = row(memory, lamp)
    assert (found["tags"], found["principal"], found["content"]) == (["pier", "light"], "claude", LAMP)
    assert memory.get(lamp).metadata == '{"room":4}'
    assert change_tag(memory.tenant, [lamp, kettle], "pier", add=False) == [lamp]
    assert [event["details"] for event in memory.history(lamp)] == [
        "", "tags added: light", "tags removed: pier"
    ]  # fmt: skip
    assert memory.search("lamp on the pier").results[0].memory_id == lamp


def test_memories_that_are_not_current_stay_as_they_are(memory):
    lamp, kettle = memory.save(LAMP).memory_id, memory.save(KETTLE).memory_id
    memory.forget(kettle)
    assert change_tag(memory.tenant, [lamp, kettle], "light", add=True) == [lamp]
    assert row(memory, kettle)["status"] == "retired"


@pytest.mark.parametrize("tag", ["", " # ", "a,b", "a\nb", "x" * 101])
def test_a_tag_that_cannot_be_one_changes_nothing(memory, tag):
    lamp = memory.save(LAMP).memory_id
    with pytest.raises(ArgumentError, match="tag = "):
        change_tag(memory.tenant, [lamp], tag, add=True)


def test_an_unknown_memory_ends_the_change_before_it_begins(memory):
    lamp = memory.save(LAMP).memory_id
    with pytest.raises(NotFoundError):
        change_tag(memory.tenant, [lamp, "nobody"], "light", add=True)
    assert not row(memory, lamp)["tags"]


def test_a_secret_label_is_not_named_in_a_history_that_an_assistant_reads(memory):
    from slowwave.home.visibility import Viewer

    lamp = memory.save(LAMP, key="lamp", sensitivity="secret", tags=["hidden"]).memory_id
    memory.save(LAMP, key="lamp", sensitivity="internal", tags=["shown"])
    details = [event["details"] for event in memory.history(lamp, viewer=Viewer.ASSISTANT)]
    assert "hidden" not in " ".join(details)


@pytest.mark.parametrize("tag", ["secret", "#Sensitivity/Secret"])
def test_a_tag_that_closes_is_refused(memory, tag):
    one = memory.save("The bell of the east tower rings at six.").memory_id
    with pytest.raises(ArgumentError, match="means that a memory is secret"):
        change_tag(memory.tenant, [one], tag, add=True)
    assert memory.get(one).tags == ()


@pytest.mark.parametrize("tag", ["on the\npier", "red\tlamp", "a\x07b", "a\u2028b", "a\x85b"])
def test_a_tag_with_a_line_break_or_a_control_character_is_refused(memory, tag):
    with pytest.raises(ArgumentError, match="line break or a control character"):
        memory.save(LAMP, tags=["plain", tag])
    assert memory.journal.count("ada", "save") == 0
    assert memory.save(LAMP, tags=[" a 👩\u200d🚒 tag\n"]).status == "live"

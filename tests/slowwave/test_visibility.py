"""Who may see what: the decision, and how it is applied to rows."""

from __future__ import annotations

import polars as pl
import pytest

from slowwave.home.visibility import (
    HIDDEN,
    AccessView,
    Viewer,
    access_view,
    is_open,
    label,
    may_see,
    open_rows,
    open_where,
)
from slowwave.lifecycle.decisions import titled
from slowwave.serving.caller import Caller
from slowwave.serving.request import MemoryRequest
from slowwave.serving.tools import memory_history

FERRY = "The ferry to the island leaves at seven in the morning and comes back before the dark."
OPEN, CLOSED = (None, "", "public", "internal"), ("secret", "Secret", "confidential", "unknown")


@pytest.mark.parametrize(
    ("viewer", "of_open", "of_closed", "of_what_never_came_in"),
    [
        (Viewer.OWNER, True, True, True),
        (Viewer.REPORT, True, False, True),
        (Viewer.ASSISTANT, True, False, False),
        (Viewer.RECORD, False, False, False),
    ],
)
def test_the_policy(viewer, of_open, of_closed, of_what_never_came_in):
    assert {may_see(viewer, one) for one in OPEN} == {of_open}
    assert {may_see(viewer, one) for one in CLOSED} == {of_closed}
    assert {may_see(viewer, one, let_in=False) for one in OPEN} == {of_what_never_came_in}


def test_the_condition_of_the_store_and_that_of_a_frame_are_the_decision(memory):
    names = [f"m{at}" for at in range(len(OPEN + CLOSED))]
    rows = pl.DataFrame({"memory_id": names, "sensitivity": OPEN + CLOSED, "namespace": "ada"})
    memory.store.upsert("memories", rows)
    wanted = [name for name, said in zip(names, OPEN + CLOSED, strict=True) if is_open(said)]
    assert sorted(memory.store.read("memories", open_where())["memory_id"]) == wanted
    assert rows.filter(open_rows())["memory_id"].to_list() == wanted
    for viewer in (Viewer.REPORT, Viewer.ASSISTANT):
        assert access_view(memory.store, "ada", names, viewer).hidden == set(names) - set(wanted)
    assert access_view(memory.store, "ada", names, Viewer.OWNER).hidden == set()
    assert access_view(memory.store, "ada", names, Viewer.RECORD).hidden == set(names)
    assert access_view(memory.store, "bob", names, Viewer.ASSISTANT).hidden == set(names)
    assert access_view(memory.store, "ada", ["m4", "m5"], Viewer.REPORT, named=["m4"]).hidden == {"m5"}


def test_rows_are_veiled_where_they_say_something():
    rows = pl.DataFrame({
        "memory_id": ["a", "b", "b", None], "other": ["b", "c", None, "c"],
        "title": ["one", "two", "", None], "terms": [["x"], ["y"], None, ["z"]],
    })  # fmt: skip
    shown = AccessView(frozenset("b")).veiled(rows, "title", "terms", "not there")
    assert shown["title"].to_list() == ["one", HIDDEN, "", None]
    assert shown["terms"].to_list() == [["x"], [], None, ["z"]]
    both = AccessView(frozenset("b")).veiled(rows, "title", by=("memory_id", "other"))
    assert both["title"].to_list() == [HIDDEN, HIDDEN, "", None]


def test_a_label_that_is_no_known_word_is_no_label():
    rows = pl.DataFrame({
        "sensitivity": ["secret", "secret", "internal"], "memory_type": ["fact", "my password", "my own"],
    })  # fmt: skip
    assert rows.select(label("memory_type"))["memory_type"].to_list() == ["fact", HIDDEN, "my own"]


def test_an_unknown_sensitivity_is_closed_until_it_is_asked_for(open_memory):
    memory = open_memory(gate={"mode": "off"})
    name = memory.save(FERRY, key="a", sensitivity="confidential").memory_id
    assert not memory.search("when does the ferry leave?")
    assert not memory.wakeup().sections
    assert [one.memory_id for one in memory.search("ferry", sensitivity="confidential")] == [name]


def test_a_version_is_as_secret_as_it_was(memory):
    name = memory.save(f"{FERRY} Its word is quuxzyx.", key="a", sensitivity="secret").memory_id
    memory.save(FERRY, key="a", title="Ferry", sensitivity="internal")
    told = memory.history(name, viewer=Viewer.ASSISTANT)
    assert [event["text"] for event in told if event["event"] == "saved"] == [HIDDEN, FERRY]
    assert "quuxzyx" not in str(told)
    assert "quuxzyx" in str(memory.history(name))


def test_closing_a_note_closes_its_earlier_texts_until_one_is_opened_again(memory):
    word = f"{FERRY} Its word is quuxzyx."
    name = memory.save(word, key="a", sensitivity="internal").memory_id
    memory.save(f"{word} It is secret now.", key="a", sensitivity="secret")
    memory.save(FERRY, key="a", sensitivity="internal")

    def texts() -> list[str]:
        events = memory.history(name, viewer=Viewer.ASSISTANT)
        return [event["text"] for event in events if event["event"] == "saved"]

    assert texts() == [HIDDEN, HIDDEN, FERRY]
    memory.save(word, key="a", sensitivity="internal")
    assert texts() == [word, HIDDEN, FERRY, word]


def test_a_forgotten_memory_is_hidden_from_assistants_and_not_from_reports(memory):
    one, other = (memory.save(f"{FERRY} {more}", key=more).memory_id for more in ("Always.", "Never."))
    memory.forget(one)

    def hidden(viewer: Viewer, *, forgotten: bool = False) -> frozenset[str]:
        return access_view(memory.store, "ada", [one, other], viewer, forgotten=forgotten).hidden

    assert hidden(Viewer.ASSISTANT) == {one}
    assert hidden(Viewer.REPORT) == hidden(Viewer.ASSISTANT, forgotten=True) == set()
    memory.unforget(one)
    assert hidden(Viewer.ASSISTANT) == set()


TIDE = "The tide table of the harbour hangs beside the door of the ferry office."


@pytest.mark.parametrize("hide", ["secret", "forgotten"])
def test_scores_tell_nothing_of_a_hidden_memory(open_memory, hide):
    """Otherwise an assistant could guess the words of a secret by comparing scores."""
    memory = open_memory(gate={"mode": "off"})
    memory.save(FERRY, key="a")
    memory.save(TIDE, key="b")

    def answer() -> list[tuple]:
        found = memory.search("the harbour ferry mallory quuxzyx", explain=True)
        return [(one.memory_id, one.score, one.fit, one.explanation.contributions) for one in found]

    before = answer()
    hidden = memory.save(f"{TIDE} Mallory has its key quuxzyx.", key="c", sensitivity="secret" if
                         hide == "secret" else "internal")  # fmt: skip
    if hide == "forgotten":
        assert answer() != before
        memory.forget(hidden.memory_id)
    assert answer() == before
    if hide == "secret":
        asked = memory.search("the harbour ferry mallory quuxzyx", sensitivity="secret", explain=True)
        (one,) = [one for one in asked if one.memory_id == hidden.memory_id]
        assert one.score == pytest.approx(sum(row.value for row in one.explanation.contributions))


@pytest.mark.parametrize("hide", ["secret", "forgotten"])
def test_what_an_assistant_reads_names_no_hidden_memory(open_memory, hide):
    policy = {"policy": "literal", "conflict": 0.3, "merge": 0.98, "duplicate": 0.99}
    memory = open_memory(gate={"mode": "off"}, reconsolidation=policy)
    old = memory.save("The deploy day is Thursday, decided by the whole team.", key="a")
    new = memory.save("The deploy day is Friday, decided by the whole team.", key="b")
    assert new.outcome == "supersede"
    assistant = MemoryRequest(Caller("ada", "ada", "assistant"), memory)
    person = MemoryRequest(Caller("ada", "ada", "person"), memory)

    def named(request: MemoryRequest) -> bool:
        read = [memory_history(request, old.memory_id).data, request.record(old.memory_id)]
        return new.memory_id in str(read)

    assert named(assistant)
    if hide == "secret":
        memory.save("The deploy day is Friday, decided by the whole team.", key="b", sensitivity="secret")
    else:
        memory.forget(new.memory_id)
    assert not named(assistant)
    assert named(person)


def test_evidence_of_a_closed_version_stays_closed_when_another_text_is_opened(open_memory):
    policy = {"policy": "literal", "conflict": 0.3, "merge": 0.98, "duplicate": 0.99}
    memory = open_memory(gate={"mode": "off"}, reconsolidation=policy | {"policy": "guarded"})
    old = memory.save("The pilot fee of the harbour is 120 pounds.", key="a")
    word = "The pilot fee of the harbour is now 977 pounds."
    new = memory.save(word, key="b")
    assert new.outcome != "complement"
    assistant = MemoryRequest(Caller("ada", "ada", "assistant"), memory)

    def shown_to(viewer: str) -> str:
        if viewer == "person":
            return str(titled(memory.home, "ada", memory.store.read("decisions", "true")).to_dicts())
        names = (old.memory_id, new.memory_id)
        return str([memory_history(assistant, name).data for name in names])

    assert "977 pounds" in shown_to("assistant")
    assert "977 pounds" in shown_to("person")
    memory.save(word, key="b", sensitivity="secret")
    memory.save("The pilot comes on board at the outer buoy.", key="b", sensitivity="internal")
    assert "977 pounds" not in shown_to("assistant")
    assert "977 pounds" not in shown_to("person")
    assert "977 pounds" in str(memory.history(new.memory_id))
    memory.save(word, key="b")
    assert "977 pounds" in shown_to("assistant")

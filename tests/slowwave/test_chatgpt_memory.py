"""Memories of ChatGPT and custom instructions are imported once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.imports.registry import SOURCES
from slowwave.imports.run_import import ImportOptions, run_import

START = 1_760_000_000.0
SHEEP = "User keeps eleven Soay sheep on the slope behind the mill."
RYE = "User bakes rye bread every Friday and cannot eat sesame."
HIVES = "Remove the lids of the hives in Rauma before noon, User was told by a neighbour."
PROFILE = "I repair church organs in Tartu, and my workshop is on Pikk street."
STYLE = "Answer in metric units, and show prices in euros without cents."


def message(name: str, role: str, content: Any, *, at: Any = START, **more: Any) -> dict[str, Any]:
    return {"id": name, "author": {"role": role}, "create_time": at, "content": content, **more}


def bio(name: str, content: Any, *, at: Any = START) -> dict[str, Any]:
    return message(name, "assistant", content, at=at, recipient="bio")


def instructions(name: str, profile: str, style: str = "", *, at: Any = START, **data: Any) -> dict[str, Any]:
    content = {"content_type": "user_editable_context", "user_profile": profile, "user_instructions": style}
    metadata = {"is_visually_hidden_from_conversation": True, **data}
    return message(name, "user", content, at=at, metadata=metadata)


def chat(name: str, *messages: Any, at: Any = START) -> dict[str, Any]:
    nodes, parent = {}, None
    for number, one in enumerate(messages):
        node = one["id"] if isinstance(one, dict) else f"n{number}"
        nodes[node] = {"id": node, "parent": parent, "message": one}
        parent = node
    return {"id": name, "title": "", "create_time": at, "mapping": nodes, "current_node": parent}


def texts(text: str) -> dict[str, Any]:
    return {"content_type": "text", "parts": [text]}


def imported(memory, path, chats, *, dry_run=False):
    path.write_text(json.dumps(chats))
    source = SOURCES[0].load()("chatgpt", str(path), memory.home.now(), 10**6)
    return run_import(memory, source, ImportOptions(dry_run=dry_run))


def rows(memory) -> dict[str, str]:
    found = memory.store.read("memories", memory.tenant.mine("status = 'live'"))
    return dict(found.select("content", "source").iter_rows())


@pytest.mark.parametrize(
    "content",
    [
        texts(SHEEP),
        {"content_type": "code", "language": "unknown", "text": SHEEP},
        {"content_type": "text", "parts": [{"text": SHEEP}]},
        {"content_type": "text", "parts": SHEEP},
        {"parts": [SHEEP]},
    ],
)
def test_a_note_of_chatgpt_in_each_form(memory, tmp_path, content):
    file = tmp_path / "c.json"
    report = imported(memory, file, [chat("c1", bio("m1", content))], dry_run=True)
    assert (report.found["memory"], rows(memory)) == (1, {})
    imported(memory, file, [chat("c1", bio("m1", content))])
    assert list(rows(memory)) == [SHEEP]
    found = memory.store.read("memories").row(0, named=True)
    assert found["created_at"].timestamp() == START
    assert found["source"].startswith("chatgpt:memory/")
    assert found["source_kind"] == "generated"


def test_instructions_of_many_conversations_are_one_memory_each_and_the_newest_counts(memory, tmp_path):
    old = [chat(f"o{n}", instructions(f"i{n}", "I repair clocks in Tartu and live in Elva."), at=START + n)
           for n in range(3)]  # fmt: skip
    new = [chat(f"n{n}", instructions(f"j{n}", PROFILE, STYLE, at=None), at=START + 99 + n) for n in range(3)]
    imported(memory, tmp_path / "c.json", new + old)
    assert rows(memory) == {PROFILE: "chatgpt:memory/profile", STYLE: "chatgpt:memory/instructions"}
    assert imported(memory, tmp_path / "c.json", old).new == {}
    assert set(rows(memory)) == {PROFILE, STYLE}


def test_the_words_around_instructions_are_no_part_of_them(memory, tmp_path):
    wrapped = f"The user provided the following information about themselves. It is shown:\n```{PROFILE}```"
    data = {"about_user_message": "", "about_model_message": STYLE}
    one = instructions("i", wrapped, "The user wants:\n```x```", user_context_message_data=data)
    imported(memory, tmp_path / "c.json", [chat("c1", one)])
    assert set(rows(memory)) == {PROFILE, STYLE}


def test_what_was_forgotten_switched_off_or_is_empty_stays_out(memory, tmp_path):
    off = instructions(
        "i1", PROFILE, user_context_message_data={"about_user_message": PROFILE, "enabled": False}
    )
    chats = [
        chat("c1", off, instructions("i2", " ", ""), bio("m1", texts(SHEEP)), bio("m2", texts(""))),
        chat("c2", bio("m3", texts(f"Forget that {SHEEP}"), at=START + 5), bio("m4", texts(RYE), at="?")),
        chat("c3", bio("m5", texts("Forget everything about the boat."))),
        chat("c4", bio("m6", texts("Remove the memory about the boat.")), bio("m7", texts(HIVES))),
    ]  # fmt: skip
    report = imported(memory, tmp_path / "c.json", chats)
    assert set(rows(memory)) == {RYE, HIVES}
    assert report.skipped == {
        "custom instructions that are switched off": 1, "empty custom instructions": 1, "an empty memory": 1,
        "forgotten in ChatGPT": 1, "a request to forget a memory": 3,
    }  # fmt: skip


def test_a_note_after_it_was_forgotten_counts_again(memory, tmp_path):
    said = [bio("a", texts(SHEEP)), bio("b", texts(f"Forget: {SHEEP}"), at=START + 1)]
    imported(memory, tmp_path / "c.json", [chat("c", *said, bio("d", texts(SHEEP), at=START + 2))])
    assert list(rows(memory)) == [SHEEP]


def test_an_odd_message_costs_itself_and_a_broken_conversation_is_named(memory, tmp_path):
    odd = [
        bio("x", 7),
        bio("y", {"content_type": "text", "parts": [None, 3]}),
        bio("z", texts(RYE), at=1e300),
    ]
    report = imported(
        memory, tmp_path / "c.json", [{"id": "b", "mapping": 3}, chat("c", *odd), {"mapping": {}}]
    )
    assert list(rows(memory)) == [RYE]
    assert [problem.place for problem in report.problems] == ["c.json, record 1", "c.json, record 3"]


def test_a_folder_of_single_conversations(memory, tmp_path):
    folder = tmp_path / "json"
    folder.mkdir()
    (folder / "user.json").write_text('{"email": "x"}')
    (folder / "Sheep.json").write_text(json.dumps(chat("c1", bio("m1", texts(SHEEP)))))
    (folder / "Bread.json").write_text(json.dumps(chat("c2", bio("m2", texts(RYE)))))
    source = SOURCES[0].load()("chatgpt", str(folder), memory.home.now(), 10**6)
    report = run_import(memory, source, ImportOptions())
    assert (set(rows(memory)), report.unread) == ({SHEEP, RYE}, 0)


WORDS = st.sampled_from([SHEEP, RYE, f"{RYE.upper()}", f"Forget that {SHEEP}", "", PROFILE])
MESSAGES = st.lists(st.tuples(WORDS, st.booleans(), st.none() | st.integers(0, 9)), max_size=5)


@settings(max_examples=8)
@given(st.lists(MESSAGES, min_size=1, max_size=3))
def test_twice_is_once(open_memory, tmp_path_factory, drawn):
    folder = tmp_path_factory.mktemp("twice")
    memory = open_memory(path=folder / "home", namespace="default")
    chats = [
        chat(f"c{n}", *(
            bio(f"{n}-{k}", texts(text), at=at and START + at) if note
            else instructions(f"{n}-{k}", text, at=at and START + at)
            for k, (text, note, at) in enumerate(messages)
        ))
        for n, messages in enumerate(drawn)
    ]  # fmt: skip
    imported(memory, folder / "c.json", chats)
    once = rows(memory)
    assert imported(memory, folder / "c.json", chats).new == {}
    assert rows(memory) == once

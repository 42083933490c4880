"""One bad line or one bad character costs itself, and the report names it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.common.json_repair import (
    REPLACEMENT,
    Damaged,
    objects_with,
    parse,
    records,
    replace_invalid_text,
)
from slowwave.connect.capture import capture, session_of
from slowwave.connect.transcript import Losses, messages
from slowwave.imports.model import ImportFailedError
from slowwave.imports.registry import SOURCES
from slowwave.imports.run_import import ImportOptions, run_import

ANY_TEXT = st.text(st.characters(exclude_categories=()))
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9)
OBJECTS = st.dictionaries(TEXT, TEXT | st.integers() | st.none(), min_size=1)


@given(ANY_TEXT)
def test_any_text_can_be_stored_once_it_is_mended(text):
    mended, replaced = replace_invalid_text(text)
    mended.encode()
    assert replace_invalid_text(mended) == (mended, 0)
    if replaced == 0 and not any("\ud800" <= one <= "\udfff" for one in text):
        assert mended == text


def test_a_pair_is_one_character_and_a_half_is_replaced():
    assert replace_invalid_text("a\ud83d\ude00b") == ("a\U0001f600b", 0)
    assert replace_invalid_text("a\ud83db\ude00c") == (f"a{REPLACEMENT}b{REPLACEMENT}c", 2)
    broken = rb'{"k\ud83d": ["\ude00", "x' + b'\xff"]}'
    assert parse(broken) == ({f"k{REPLACEMENT}": [REPLACEMENT, f"x{REPLACEMENT}"]}, 3)


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from(["", " ", ", ", "\0"]))
def test_several_records_on_one_line_are_all_read(values, between):
    read = list(records(between.join(json.dumps(value) for value in values)))
    assert [record.value for record in read] == values


@given(OBJECTS, st.integers(1, 30), OBJECTS)
def test_the_record_after_a_half_one_is_read(first, cut, second):
    second = {"kind": 1, **second}
    half = json.dumps({"kind": 1, **first})[:-1][: cut + 9]
    read = list(records(half + json.dumps(second)))
    assert isinstance(read[0], Damaged)
    assert read[-1].value == second


def test_objects_in_a_broken_text_are_found_by_their_names():
    text = '[{"k": "it said "no"", "rows": [{"x": 1}]}, {"k": 1, "rows": []}, {"k": 2, "rows": [{}]} '
    assert [one.value["k"] for one in objects_with(text, ["rows"])] == [1, 2]


def test_of_a_session_file_the_sound_messages_are_read():
    def line(number: int, text: str) -> str:
        return json.dumps({"type": "user", "uuid": f"u{number}", "message": {"content": text}})

    file = [
        line(1, "one"),
        line(2, "two")[:30],
        line(3, "three") + line(4, "fo\ud83du\0r"),
        "",
        line(5, "x")[:9],
    ]
    losses = Losses()
    read = list(messages([*file[:1], file[1] + file[2], *file[3:]], losses))
    assert [(one.id, one.text) for one in read] == [
        ("u1", "one"), ("u3", "three"), ("u4", f"fo{REPLACEMENT}u{REPLACEMENT}r")
    ]  # fmt: skip
    assert [remark.partition(":")[0] for remark in losses.broken] == ["line 2", "line 4"]
    assert losses.replaced == [f"line 2: 2 characters without a Unicode value, replaced by {REPLACEMENT}"]


def test_a_captured_message_loses_one_character_and_the_broken_lines_are_named(memory, tmp_path):
    text = "We decided to keep the anchor chain in the north shed \ud83d because the barge is full."
    lines = [
        json.dumps({"type": "user", "uuid": "u1", "message": {"content": text}}),
        '{"type": "user", "uuid": "u2", "mess',
    ]
    file = tmp_path / "s1.jsonl"
    file.write_text("\n".join(lines))
    hook = {"session_id": "s1", "transcript_path": str(file), "cwd": "/shed \ud83d"}
    done = capture(memory, session_of(json.dumps(hook)))
    (saved,) = done.saved
    assert memory.get(saved.memory_id).content == text.replace("\ud83d", REPLACEMENT)
    assert done.replaced == (f"line 1: 1 character without a Unicode value, replaced by {REPLACEMENT}",)
    (broken,) = done.broken
    assert broken.startswith("line 2: Unterminated string")


# -- exports ---------------------------------------------------------------------------------------


def chat(number: int, text: str) -> dict[str, object]:
    message = {"uuid": f"m{number}", "sender": "human", "text": text}
    return {"uuid": f"c{number}", "name": f"Chat {number}", "chat_messages": [message]}


def gpt(number: int, text: str) -> dict[str, object]:
    message = {"id": f"m{number}", "author": {"role": "user"}, "content": {"parts": [text]}}
    node = {"id": f"n{number}", "message": message, "parent": None}
    return {"title": f"Chat {number}", "mapping": {f"n{number}": node}, "id": f"c{number}"}


TEXTS = [
    f"Our {what} is in the {where}, as we agreed with {who} in spring."
    for what, where, who in (
        ("anchor", "north shed", "Ruaridh"), ("boiler", "cellar", "Ailsa"), ("ledger", "office", "Morag"),
        ("ladder", "barn", "Eilidh"),
    )
]  # fmt: skip


def imported(memory, tmp_path, name, file, data):
    path = tmp_path / file
    path.write_bytes(data)
    reader = next(form for form in SOURCES if form.name == name).load()
    source = reader(name, str(path), memory.home.now(), 10**6)
    return run_import(memory, source, ImportOptions())


def damaged(texts: list[str], how: str) -> str:
    """A list of records of which the second is broken."""
    bad = texts[1]
    texts = list(texts)
    texts[1] = {
        "no end": bad[:-1],
        "a quote": bad.replace("cellar", 'cel"lar', 1),
        "a bracket too many": bad + "}",
        "cut": bad[: len(bad) // 2],
        "no value": bad.replace('"boiler', "boiler", 1).replace(": ", ": ,", 1),
    }[how]
    return f"[{', '.join(texts)}]"


@pytest.mark.parametrize("how", ["no end", "a quote", "a bracket too many", "cut", "no value"])
@pytest.mark.parametrize(("name", "made"), [("claude", chat), ("chatgpt", gpt)])
def test_one_broken_chat_of_an_export_costs_itself(memory, tmp_path, name, made, how):
    texts = [json.dumps(made(number, text)) for number, text in enumerate(TEXTS)]
    report = imported(memory, tmp_path, name, "conversations.json", damaged(texts, how).encode())
    entered = {example.text for example in report.entering}
    assert {TEXTS[0], TEXTS[2], TEXTS[3]} <= entered
    assert report.unread >= 1
    assert all(problem.place and problem.why for problem in report.problems)


@pytest.mark.parametrize(("name", "made"), [("claude", chat), ("chatgpt", gpt)])
def test_half_an_emoji_costs_one_character_and_is_named(memory, tmp_path, name, made):
    chats = [made(number, text.replace("in spring", "in spring \ud83d")) for number, text in enumerate(TEXTS)]
    report = imported(memory, tmp_path, name, "conversations.json", json.dumps(chats).encode())
    assert report.found["message"] == len(TEXTS)
    assert report.unread == 0
    remark = f"4 characters without a Unicode value, replaced by {REPLACEMENT}"
    assert report.notes[0].startswith(f"In 4 records: {remark}. The first: ")
    assert "conversations.json, record 1;" in report.notes[0]


def test_a_record_of_unexpected_values_costs_itself(memory, tmp_path):
    odd = gpt(0, TEXTS[0]) | {"mapping": {"a": {"message": {"create_time": "X"}}, "b": {"message": {}}}}
    data = json.dumps([odd, gpt(1, TEXTS[1])]).replace('"X"', "1" + "0" * 400).encode()
    report = imported(memory, tmp_path, "chatgpt", "conversations.json", data)
    assert report.found["message"] == 1


def entity(name: str, text: str) -> str:
    return json.dumps({"type": "entity", "name": name, "entityType": "thing", "observations": [text]})


@pytest.mark.parametrize(
    ("lines", "unread"),
    [
        (["A", '{"type":"ent', "C"], 1),
        (["A C"], 0),
        (['{"type": "entity", "name": "haA', "C"], 1),
        (["A", "\0\0\0\0C"], 0),
        (["A", "C", '{"type":'], 1),
        (["log: started", "A", "C"], 1),
    ],
)
def test_the_sound_lines_of_a_memory_server_come_in(memory, tmp_path, lines, unread):
    made = {"A": entity("Anchor", TEXTS[0]), "C": entity("Ledger", TEXTS[2])}
    text = "\n".join(lines)
    data = "".join(made.get(one, one) for one in text).encode()
    report = imported(memory, tmp_path, "memory-server", "memory.jsonl", data)
    assert report.found["entity"] == 2
    assert report.unread == unread
    assert all("memory.jsonl, line" in problem.place for problem in report.problems)


def test_a_broken_list_of_a_memory_server_has_its_sound_entities(memory, tmp_path):
    data = f'{{"entities": [{entity("Anchor", TEXTS[0])}, {{"name": "x", {entity("Ledger", TEXTS[2])}], "rel'
    report = imported(memory, tmp_path, "memory-server", "memory.json", data.encode())
    assert report.found["entity"] == 2
    assert report.unread == 1


def test_a_file_of_another_form_is_refused_still(memory, tmp_path):
    with pytest.raises(ImportFailedError, match=r"not an export|not JSON|not a JSON"):
        imported(memory, tmp_path, "memory-server", "memory.jsonl", b"Dear diary,\n{it rained}\n")
    with pytest.raises(ImportFailedError):
        imported(memory, tmp_path, "chatgpt", "conversations.json", b'[{"a": 1}, {"b": "\\ud83d"}]')

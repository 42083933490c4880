"""Reading notes: what is taken from Markdown, plain text and JSON lines."""

from __future__ import annotations

import codecs
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_helpers import LIMIT, markdown

from slowwave.notes.model import Note, NoteError, NoteFailure
from slowwave.notes.reading import parse_jsonl, parse_text, plain_note, read_notes


def jsonl(*lines, source="facts.jsonl", max_bytes=LIMIT):
    rows = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return list(parse_jsonl(b"\n".join(rows), source, max_bytes=max_bytes))


def test_a_note_with_every_field():
    note = markdown(
        """---
title: Backup plan
created: 2024-05-01T10:00:00+02:00
memory_type: Decision
importance_tier: " Critical "
retrieval_priority: high
sensitivity: secret
state: draft
source_kind: imported
source_of_truth: true
trigger_phrases:
  - restore the database
  - backup
tags: [ops, db]
aliases: Disaster recovery, DR plan
owner: Ada
reviewed: 2024-06-01
nested: {a: [1, 2.5, null]}
---
# Heading

See [[Runbook#Restore|the runbook]] #ops #on-call/night.
"""
    )
    assert note == Note(
        source="folder/my-first_note.md",
        title="Backup plan",
        content="# Heading\n\nSee [[Runbook#Restore|the runbook]] #ops #on-call/night.\n",
        created_at=datetime(2024, 5, 1, 8, tzinfo=UTC),
        memory_type="decision",
        importance_tier="critical",
        retrieval_priority="high",
        sensitivity="secret",
        state="draft",
        source_kind="imported",
        source_of_truth=True,
        trigger_phrases=("restore the database", "backup"),
        tags=("ops", "db", "on-call/night"),
        aliases=("Disaster recovery", "DR plan"),
        links=("Runbook",),
        metadata={"owner": "Ada", "reviewed": "2024-06-01", "nested": {"a": [1, 2.5, None]}},
        front_matter="ok",
    )


def test_defaults_of_a_bare_note():
    note = markdown("Just text.")
    assert note == Note(source="folder/my-first_note.md", title="my first note", content="Just text.")
    assert (note.memory_type, note.importance_tier, note.retrieval_priority) == ("note", "normal", "normal")
    assert (note.sensitivity, note.state, note.source_kind) == ("internal", "accepted", "manual")
    assert (note.front_matter, note.metadata) == ("none", {})


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Given\n---\n# H1", "Given"),
        ("---\ntitle: 1.10\n---\nx", "1.10"),
        ("---\ntitle: 2024-01-05\n---\nx", "2024-01-05"),
        ("---\ntitle: No\n---\nx", "No"),
        ("---\ntitle: |\n  two\n  lines\n---\nx", "two lines"),
        ("---\ntitle: null\n---\n# H1\nx", "H1"),
        ("---\ntitle: ''\n---\nx", "my first note"),
        ("intro\n\n# First\n\n# Second", "First"),
        ("## Deeper\n# Top", "Top"),
        ("```\n# comment\n```\n# Real", "Real"),
        ("#tag only", "my first note"),
    ],
)
def test_title(text, title):
    assert markdown(text).title == title


def test_a_file_name_may_hold_a_hash():
    assert markdown("text", "langs/C#_notes.md").title == "C# notes"


def test_plain_text_is_taken_as_it_is():
    note = parse_text(b"---\ntitle: x\n---\r\n# no #tag [[no]]", "to-do.txt", max_bytes=LIMIT)
    assert note == Note(source="to-do.txt", title="to do", content="---\ntitle: x\n---\n# no #tag [[no]]")
    with pytest.raises(NoteError, match="no text"):
        parse_text(b" \n", "to-do.txt", max_bytes=LIMIT)


def test_a_plain_note_is_read_as_markdown_and_has_no_title_of_last_resort():
    assert plain_note("Buy\r\nmilk [[Shop]] #home", source="k-1") == Note(
        source="k-1", title="", content="Buy\nmilk [[Shop]] #home", tags=("home",), links=("Shop",)
    )
    assert plain_note("text\n# Title", source="k-1").title == "Title"


def test_jsonl_lines():
    notes = jsonl(
        {"id": "a1", "text": "First #tag", "title": "T", "said_at": "2024-05-01T10:00:00Z", "speaker": "Ada"},
        b"",
        {"_id": 7, "content": "Second\r\nline", "tags": ["x"]},
        {"text": "# Third\n[[Link]]"},
        {"key": "k", "text": "", "content": "Fourth", "created_at": "2024-05-01"},
        source="in/my-facts.jsonl",
    )
    first, second, third, fourth = notes
    assert first == Note(
        source="in/my-facts.jsonl#a1",
        title="T",
        content="First #tag",
        created_at=datetime(2024, 5, 1, 10, tzinfo=UTC),
        tags=("tag",),
        metadata={"speaker": "Ada"},
        front_matter="ok",
    )
    assert (second.source, second.content, second.tags) == ("in/my-facts.jsonl#7", "Second\nline", ("x",))
    assert (second.title, third.title) == ("my facts", "Third")
    assert (third.source, third.links, third.front_matter) == ("in/my-facts.jsonl#L4", ("Link",), "none")
    assert (fourth.source, fourth.content, fourth.metadata) == ("in/my-facts.jsonl#k", "Fourth", {"text": ""})


@pytest.mark.parametrize(
    ("line", "reason", "told"),
    [
        (b"{not json", "bad_json_line", "one JSON object a line"),
        (b"[1]", "bad_json_line", "a list, not an object"),
        (b'{"id": 1, "body": "x"}', "bad_json_line", "no 'text' or 'content' field; its fields: body, id"),
        (b'{"text": NaN}', "empty", ""),
        (b'{"text": "\\u00', "bad_json_line", ""),
        (b"[" * 100_000, "bad_json_line", ""),
        (b'{"text": " "}', "empty", ""),
        (b'{"text": null}', "empty", ""),
        (b'{"text": ["x"]}', "wrong_type", "'text'"),
        (b'{"text": "x", "id": {}}', "wrong_type", "'id'"),
        (b'{"text": "\xff\xff\xff\xff"}', "not_utf8", "0xff at offset 10"),
        (b'{"text": "\\u0000"}', "empty", ""),
        (b'{"text": "' + b"x" * 300_000 + b'"}', "too_large", "the limit is 200,000"),
    ],
)
def test_a_broken_line_fails_alone(line, reason, told):
    before, failure, after = jsonl({"text": "one"}, line, {"text": "three"}, max_bytes=200_000)
    assert (before.content, after.content) == ("one", "three")
    assert isinstance(failure, NoteFailure)
    assert (failure.source, failure.reason, failure.size_bytes) == ("facts.jsonl#L2", reason, len(line))
    assert failure.message.startswith("facts.jsonl#L2: ")
    assert told in failure.message
    assert failure.excerpt == line[:500].decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("line", "content", "remark"),
    [
        (b'{"text": "a pier\\ud800"}', "a pier\ufffd", "1 character"),
        (b'{"text": "a\\u0000 pier", "tags": ["x\\u0000"]}', "a pier", "2 NUL characters, removed"),
        (b'{"text": "a\\u0000 pier", "own\\ud83d": 1}', "a pier", "1 NUL character, removed"),
        (b'{"text": "a pier\xff"}', "a pier\ufffd", "1 character not in UTF-8"),
        (b'{"text": "caf\xe9"}', "caf\xe9", "read as Windows-1252"),
        (b'{"text": "two\tlines", "n": NaN}', "two\tlines", ""),
    ],
)
def test_a_bad_character_of_a_line_costs_itself(line, content, remark):
    before, note, after = jsonl({"text": "one"}, line, {"text": "three"}, max_bytes=LIMIT)
    assert [one.content for one in (before, note, after)] == ["one", content, "three"]
    assert any(remark in one for one in note.unread) or not remark
    assert note.metadata.get("damaged_characters", []) == list(note.unread)


def test_two_records_on_one_line_and_a_half_one_before_a_whole_one():
    lines = b'{"id": "a", "text": "one"}{"text": "two"}\n{"id": "b", "te{"id": "c", "text": "three"}'
    notes = read_notes(lines, "facts.jsonl", max_bytes=LIMIT)
    assert [note.source for note in notes] == [f"facts.jsonl#{name}" for name in ("a", "L1.2", "L2", "c")]
    assert [getattr(note, "content", "") for note in notes] == ["one", "two", "", "three"]
    assert notes[2].reason == "bad_json_line"


def test_a_jsonl_file_in_utf16_is_read():
    [note] = read_notes('{"text": "x"}'.encode("utf-16"), "facts.jsonl", max_bytes=LIMIT)
    assert note.content == "x"


def test_a_byte_order_mark_before_the_first_line_is_dropped():
    [note] = read_notes(codecs.BOM_UTF8 + b'{"text": "x"}\r\n', "facts.jsonl", max_bytes=LIMIT)
    assert note.content == "x"


@pytest.mark.parametrize(
    ("source", "title"), [("a.md", "H"), ("a.MD", "H"), ("a.markdown", "H"), ("a.txt", "a"), ("b.TXT", "b")]
)
def test_read_notes_goes_by_the_suffix(source, title):
    [note] = read_notes(b"# H", source, max_bytes=LIMIT)
    assert (note.source, note.title) == (source, title)


def test_read_notes_returns_failures_and_refuses_other_files():
    [failure] = read_notes(b"\xff" * 3000, "a.md", max_bytes=LIMIT)
    assert (failure.reason, failure.excerpt, failure.size_bytes) == ("not_utf8", "\ufffd" * 500, 3000)
    [empty] = read_notes(b"\n", "a.jsonl", max_bytes=LIMIT)
    assert (empty.source, empty.reason) == ("a.jsonl", "empty")
    with pytest.raises(ValueError, match=r"suffix '\.pdf' is not a note format"):
        read_notes(b"", "a.pdf", max_bytes=LIMIT)


YAML_PARTS = """
title: |tags: |created: |- |? |[|]|{|}|a|: |&a |*a|<<: |'|"|#t|0x1|1:2|~|é|!!set |!!bool |!!int |
!!timestamp |!!binary """.replace("\n", "").split("|")


YAML_LIKE = st.lists(st.sampled_from(["\n", "---\n", "|\n ", *YAML_PARTS]), max_size=40).map("".join)


@settings(max_examples=150, deadline=None)
@given(
    data=st.one_of(
        st.binary(max_size=200), YAML_LIKE.map(lambda text: b"---\n" + text.encode() + b"\n---\nx")
    ),
    suffix=st.sampled_from([".md", ".txt", ".jsonl"]),
)
def test_no_content_raises_and_every_note_can_be_written(data, suffix):
    for note in read_notes(data, f"a{suffix}", max_bytes=LIMIT):
        if isinstance(note, Note):
            assert note.title
            assert note.content.strip()
            assert note.created_at is None or note.created_at.tzinfo is UTC
            json.dumps(note.metadata, allow_nan=False).encode()
            "".join((note.title, note.content, *note.tags, *note.aliases, *note.links)).encode()
        else:
            assert note.message.startswith("a.")
            assert len(note.excerpt) <= 500


@settings(max_examples=80, deadline=None)
@given(
    record=st.dictionaries(
        st.sampled_from(["id", "text", "title", "tags", "created", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            ),
            max_leaves=6,
        ),
    )
)
def test_any_json_record_is_a_note_or_a_failure(record):
    [entry] = read_notes(json.dumps(record).encode(), "a.jsonl", max_bytes=LIMIT)
    if isinstance(entry, Note):
        json.dumps(entry.metadata, allow_nan=False)


def test_a_tag_of_several_lines_is_read_on_one_with_a_remark():
    note = markdown('---\ntags: ["on the\\npier", "red\\tlamp", "plain"]\n---\nThe lamp on the pier is red.')
    assert note.tags == ("on the pier", "red lamp", "plain")
    assert note.unread == ("tags: line breaks and control characters, read as spaces",)

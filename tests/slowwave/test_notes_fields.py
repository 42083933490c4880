"""Fields: their values, their names, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from notes_helpers import with_field


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("created: 2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("created: '2024-05-01'", datetime(2024, 5, 1, tzinfo=UTC)),
        ("created: 20240501", datetime(2024, 5, 1, tzinfo=UTC)),
        ("created: 2024-05-01 10:30:00", datetime(2024, 5, 1, 10, 30, tzinfo=UTC)),
        ("created: 2024-05-01 10:30", datetime(2024, 5, 1, 10, 30, tzinfo=UTC)),
        ("created: 2024-05-01T10:30:00Z", datetime(2024, 5, 1, 10, 30, tzinfo=UTC)),
        ("created: 2024-05-01T10:30:00.5-05:00", datetime(2024, 5, 1, 15, 30, 0, 500_000, tzinfo=UTC)),
        ("created_at: '2024-05-01T10:30:00+0200'", datetime(2024, 5, 1, 8, 30, tzinfo=UTC)),
        ("date: 2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("created:\ndate: 2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("Created: 2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
    ],
)
def test_created_at_is_in_utc(line, moment):
    note = with_field(line)
    assert note.created_at == moment
    assert note.created_at.utcoffset().total_seconds() == 0
    assert "created_invalid" not in note.metadata


@pytest.mark.parametrize(
    ("line", "raw"),
    [
        ("created: yesterday", "yesterday"),
        ("created: 2024-13-45", "2024-13-45"),
        ("created: 06/09/2017", "06/09/2017"),
        ("created: <% tp.date.now() %>", "<% tp.date.now() %>"),
        ("created: [2024-01-01, 2024-01-02]", ["2024-01-01", "2024-01-02"]),
        ("created: true", True),
        ("created: 0001-01-01T00:00:00+10:00", "0001-01-01T00:00:00+10:00"),
    ],
)
def test_a_date_that_cannot_be_read_is_kept_as_it_was_written(line, raw):
    note = with_field(line)
    assert note.created_at is None
    assert note.metadata == {"created_invalid": raw}
    assert note.unread == ("created is no date with one meaning",)


def test_a_date_that_can_be_read_counts_before_one_that_cannot():
    note = with_field("created: soon\ndate: 14.03.2026")
    assert note.created_at == datetime(2026, 3, 14, tzinfo=UTC)
    assert note.metadata == {"created": "soon"}


def test_the_first_time_field_counts_and_the_others_are_metadata():
    note = with_field("date: 2024-01-02\ncreated: 2024-01-01")
    assert note.created_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert note.metadata == {"date": "2024-01-02"}


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        ("tags: a, b  c,,", "tags", ("a", "b", "c")),
        ("tags: ['#a', a, ' b ', '']", "tags", ("a", "b")),
        ("tags: [on, off, 1.10, 007, 2024-01-01, null]", "tags", ("on", "off", "1.10", "007", "2024-01-01")),
        ("tags: 2024", "tags", ("2024",)),
        ("tags:", "tags", ()),
        ("tags: []", "tags", ()),
        ("tag: solo", "tags", ("solo",)),
        ("aliases: One name, Two names", "aliases", ("One name", "Two names")),
        ("aliases:\n  - One, with comma\n  - Two", "aliases", ("One, with comma", "Two")),
        ("triggerPhrases: how to, how to, why", "trigger_phrases", ("how to", "why")),
        ("Trigger-Phrases: [x]", "trigger_phrases", ("x",)),
        ("trigger_phrases: 42", "trigger_phrases", ("42",)),
    ],
)
def test_list_fields(line, field, expected):
    assert getattr(with_field(line), field) == expected


def test_the_exact_name_wins_over_another_spelling():
    note = with_field("Title: Loud\ntitle: Quiet")
    assert (note.title, note.metadata) == ("Quiet", {"Title": "Loud"})


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("true", True),
        ("yes", True),
        ("1", True),
        ("'True'", True),
        ("false", False),
        ("no", False),
        ("", False),
    ],
)
def test_source_of_truth(word, expected):
    assert with_field(f"source_of_truth: {word}").source_of_truth is expected


def test_unknown_words_are_left_out_and_null_is_the_default():
    note = with_field("importance_tier: Whatever\nstate:\nmemory_type: Fact")
    assert (note.importance_tier, note.state, note.memory_type) == ("normal", "accepted", "fact")
    assert note.metadata["importance_tier"] == "Whatever"
    [remark] = note.unread
    assert remark == "importance_tier is none of critical, important, normal, temporary"
    assert note.metadata["labels_left_out"] == [remark]


@pytest.mark.parametrize(
    "line",
    [
        "title: [a, b]",
        "title: {a: b}",
        "tags: {a: b}",
        "aliases: [[a, b]]",
        "aliases:\n  - ?\n  - where",
        "state: [x]",
        "source_of_truth: maybe",
        "follows: <% tp.file.title %>",
        'context: "a\\0b"',
        'other: "a\\0b"',
    ],
)
def test_a_field_that_cannot_be_read_is_left_out(line):
    note = with_field(f"{line}\nowner: Ada")
    bare = with_field("owner: Ada")
    assert note.content == "body"
    assert (note.title, note.tags, note.state) == (bare.title, bare.tags, bare.state)
    [remark] = note.unread
    assert remark.startswith(line.split(":")[0])
    assert note.metadata["labels_left_out"] == [remark]


def test_the_readable_items_of_a_list_are_taken():
    note = with_field("tags: [ops, <% tp.x %>, {a: b}, db]\naliases: [[Link]]")
    assert (note.tags, note.aliases) == (("ops", "db"), ("Link",))
    assert len(note.unread) == 1

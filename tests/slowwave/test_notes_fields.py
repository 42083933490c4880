"""Fields: their values, their names, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from notes_helpers import refusal, with_field


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
        ("created: 1700000000", 1700000000),
        ("created: [2024-01-01]", ["2024-01-01"]),
        ("created: true", True),
        ("created: 0001-01-01T00:00:00+10:00", "0001-01-01T00:00:00+10:00"),
    ],
)
def test_a_date_that_cannot_be_read_is_kept_as_it_was_written(line, raw):
    note = with_field(line)
    assert note.created_at is None
    assert note.metadata == {"created_invalid": raw}


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


def test_words_are_read_not_judged_and_null_is_the_default():
    note = with_field("importance_tier: Whatever\nstate:\nsensitivity: No")
    assert (note.importance_tier, note.state, note.sensitivity) == ("whatever", "accepted", "no")


@pytest.mark.parametrize(
    "line",
    [
        "title: [a, b]",
        "title: {a: b}",
        "tags: {a: b}",
        "aliases: [[a]]",
        "aliases:\n  - ?\n  - where",
        "state: [x]",
        "source_of_truth: maybe",
    ],
)
def test_fields_of_the_wrong_type(line):
    reason, message = refusal(f"---\n{line}\n---\nbody")
    assert reason == "wrong_type"
    assert line.split(":")[0] in message

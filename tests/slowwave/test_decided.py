"""Decisions in two or three lines that fit a terminal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from slowwave.views.decisions import between, describe_decision, outcome_of, whole

NOW = datetime(2026, 3, 10, 15, 30, tzinfo=UTC)
ROW = {
    "decision_id": "4f0c9a1eaaaaaaaaaaaa", "memory_id": "m" * 26, "other_memory": "o" * 26, "title": "Deploy",
    "other_title": "Deploy day", "outcome": "merge", "proposed": None, "similarity": 0.98765, "reasons": [],
    "refused": False, "policy": "guarded", "evidence": "addition: rolls / –", "appended": ["a line"],
    "decided_at": NOW - timedelta(hours=1), "undone_at": None, "undone_by": None, "undone_why": None,
}  # fmt: skip


def test_a_decision_has_three_lines_of_a_terminal():
    one = describe_decision(ROW, "4f0c9a1e", now=NOW, width=80)
    assert one.head == "merge · cosine 0.988 · 1 hour ago"
    assert one.lines == ["  Deploy → Deploy day", "  addition: rolls / –"]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_long_titles_and_evidence_of_many_lines_are_cut_between_words(width):
    long = ROW | {
        "title": "A title that goes on and on " * 5,
        "other_title": "Another one of many words " * 5,
        "evidence": "\n".join(f"line {number} says something" for number in range(40)),
    }
    one = describe_decision(long, "4f0c9a1e", now=NOW, width=width)
    assert len(one.lines) == 2
    assert all(len(line) <= max(width, 42) for line in one.lines)
    assert one.lines[0].count("…") == 2
    assert one.lines[1].endswith(" …")
    assert one.lines[1].removesuffix(" …").split()[-1] in long["evidence"].split()
    assert long["evidence"] in dict(whole(long, now=NOW))["evidence"]


def test_a_short_title_leaves_its_room_to_a_long_one():
    assert between("a" * 30, "b" * 10, 60) == f"{'a' * 30} → {'b' * 10}"
    assert between("a" * 60, "b" * 10, 60) == f"{'a' * 46}… → {'b' * 10}"
    assert between("a" * 10, "b" * 60, 60) == f"{'a' * 10} → {'b' * 46}…"
    assert between("alone", "", 60) == "alone"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "merge"),
        ({"outcome": "duplicate", "refused": True}, "duplicate (refused)"),
        ({"outcome": "related", "proposed": "merge"}, "related (merge: a person has to decide)"),
        ({"outcome": "related", "proposed": "merge", "undone_at": NOW}, "related (declined)"),
        ({"undone_at": NOW, "undone_why": "undo"}, "merge (undone: undo)"),
        ({"outcome": "complement", "reasons": ["echo"]}, "complement (stored; the gate only warns)"),
    ],
)
def test_what_it_became_says_what_of_it_holds(change, said):
    assert outcome_of(ROW | change) == said


def test_one_decision_is_told_whole_and_nothing_of_what_is_not_there():
    shown = dict(whole(ROW, now=NOW))
    assert shown["note"] == f"Deploy  {'m' * 26}"
    assert shown["copied lines"] == "a line"
    assert "undone" not in shown
    undone = ROW | {"undone_at": NOW - timedelta(minutes=2), "undone_by": "ann", "title": None}
    assert dict(whole(undone, now=NOW))["undone"] == "2 minutes ago by ann"
    assert dict(whole(undone, now=NOW))["note"] == "m" * 26

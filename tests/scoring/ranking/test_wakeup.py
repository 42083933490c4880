"""What is worth knowing before anything was asked: scores by hand, and sections within their budget."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.ranking.wakeup import (
    PRIORITIES,
    RECENCY_HALF_LIFE_DAYS,
    SECTIONS,
    TIERS,
    Item,
    Section,
    pack,
    tokens,
    wakeup_scores,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HALF_LIFE = timedelta(days=RECENCY_HALF_LIFE_DAYS)


def frame(*rows: dict) -> pl.DataFrame:
    plain = {
        "importance_tier": "normal", "retrieval_priority": "normal", "effectiveness": 0.5,
        "updated_at": NOW,
    }  # fmt: skip
    return pl.DataFrame(
        [plain | row for row in rows],
        schema={
            "importance_tier": pl.String, "retrieval_priority": pl.String, "effectiveness": pl.Float64,
            "updated_at": pl.Datetime("us", "UTC"),
        },
    )  # fmt: skip


def score(as_of: datetime = NOW, **row) -> float:
    return wakeup_scores(frame(row), as_of).item()


def item(text: str, *, section: str = "note", title: str = "", confidence: str = "medium") -> Item:
    return Item(
        memory_id=f"{section}-{text}", section=section, title=title, text=text, source="", score=0.5,
        confidence=confidence, importance_tier="normal", updated_at=NOW,
    )  # fmt: skip


def sized(cost: int, section: str = "note") -> Item:
    """An item whose line takes `cost` tokens with its line break."""
    made = item("x" * (4 * (cost - 1) - len("> [medium] ")), section=section)
    assert tokens(made.line) + 1 == cost
    return made


def rendered(sections) -> str:
    lines = []
    for section in sections:
        if section.items:
            lines += [section.heading, *(one.line for one in section.items)]
    return "\n".join(lines)


# -- scores ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, 0.5 * 0.4 + 0.2 * 0.5 + 0.2 * 0.5 + 0.1),
        ({"importance_tier": "critical", "retrieval_priority": "high", "effectiveness": 1.0}, 1.0),
        ({"importance_tier": "important"}, 0.35 + 0.1 + 0.1 + 0.1),
        ({"importance_tier": "temporary", "retrieval_priority": "low", "effectiveness": 0.0}, 0.05 + 0.1),
        ({"retrieval_priority": "high"}, 0.2 + 0.2 + 0.1 + 0.1),
        ({"effectiveness": 0.8}, 0.2 + 0.1 + 0.16 + 0.1),
        ({"updated_at": NOW - HALF_LIFE}, 0.2 + 0.1 + 0.1 + 0.05),
        ({"updated_at": NOW - 2 * HALF_LIFE}, 0.2 + 0.1 + 0.1 + 0.025),
        ({"updated_at": NOW - HALF_LIFE / 2}, 0.2 + 0.1 + 0.1 + 0.1 / math.sqrt(2)),
        ({"updated_at": NOW + HALF_LIFE}, 0.2 + 0.1 + 0.1 + 0.1),  # what is to come is not better than now
        ({"effectiveness": 1.7}, 0.2 + 0.1 + 0.2 + 0.1),
        ({"effectiveness": -3.0}, 0.2 + 0.1 + 0.0 + 0.1),
        ({"importance_tier": "unheard of", "retrieval_priority": "odd"}, 0.2 + 0.1 + 0.1 + 0.1),
        ({"importance_tier": None, "retrieval_priority": None}, 0.2 + 0.1 + 0.1 + 0.1),
    ],
)
def test_scores_by_hand(row, expected):
    assert score(**row) == pytest.approx(expected, abs=1e-9)


def test_every_tier_and_priority_has_its_place():
    tiers = [score(importance_tier=tier) for tier in ("critical", "important", "normal", "temporary")]
    assert tiers == sorted(tiers, reverse=True)
    assert len(set(tiers)) == len(TIERS) == 4
    priorities = [score(retrieval_priority=priority) for priority in ("high", "normal", "low")]
    assert priorities == sorted(priorities, reverse=True)
    assert len(set(priorities)) == len(PRIORITIES) == 3


def test_a_moment_in_another_time_zone_is_the_same_moment():
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert score(east, updated_at=NOW - HALF_LIFE) == score(NOW, updated_at=NOW - HALF_LIFE)


def test_no_memories_have_no_scores():
    scores = wakeup_scores(frame(), NOW)
    assert (len(scores), scores.dtype) == (0, pl.Float64)


@given(
    st.sampled_from([*TIERS, "odd"]), st.sampled_from([*PRIORITIES, "odd"]), st.floats(0, 1),
    st.floats(-400, 40_000),
)  # fmt: skip
def test_a_score_is_a_share(tier, priority, effectiveness, days):
    found = score(
        importance_tier=tier, retrieval_priority=priority, effectiveness=effectiveness,
        updated_at=NOW - timedelta(days=days),
    )  # fmt: skip
    assert 0 <= found <= 1 + 1e-12


# -- tokens and lines ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本語", 2), ("日" * 16, 10), ("ab日", 2), ("🌊", 1)],
)
def test_tokens_by_hand(text, expected):
    assert tokens(text) == expected


@given(st.lists(st.text(max_size=40), max_size=8))
def test_lines_take_no_more_together_than_alone(lines):
    assert tokens("\n".join(lines)) <= sum(tokens(line) + 1 for line in lines)


def test_a_line_has_the_confidence_the_title_and_the_text():
    assert item("On Thursday.", title="Deploy day", confidence="high").line == (
        "> [high] Deploy day: On Thursday."
    )
    assert item("On Thursday.").line == "> [medium] On Thursday."
    assert item("", title="Deploy day").line == "> [medium] Deploy day"


# -- packing ---------------------------------------------------------------------------------------


def test_the_shares_are_the_whole_budget():
    assert sum(SECTIONS.values()) == pytest.approx(1.0)


def test_nothing_is_packed_into_nothing():
    assert pack({}, {}, 1_000) == ()
    assert pack({"note": [item("x")]}, {"note": 1}, 0) == (Section("note", (), 1),)


def test_a_section_has_its_share_and_no_more():
    candidates = {"constraint": [sized(10, "constraint") for _ in range(9)]}
    (section,) = pack(candidates, {"constraint": 9}, 200)
    # A fifth of 200 are 40 tokens: 5 for the heading and its line break, 30 for three items.
    assert tokens("## Constraint") + 1 == 5
    assert [one.tokens for one in section.items] == [10, 10, 10]
    assert section.left_out == 6


def test_what_fits_exactly_is_packed():
    candidates = {"constraint": [sized(35, "constraint")]}
    assert len(pack(candidates, {"constraint": 1}, 200)[0].items) == 1
    assert pack(candidates, {"constraint": 1}, 195) == (Section("constraint", (), 1),)


def test_what_a_section_leaves_over_the_next_ones_get():
    decisions = [sized(10, "decision") for _ in range(20)]
    alone = pack({"decision": decisions}, {"decision": 20}, 200)
    # 80 tokens, with the share of the empty constraints: 4 for the heading, 70 for seven items.
    assert tokens("## Decision") + 1 == 4
    assert len(alone[0].items) == 7
    beside = pack(
        {"constraint": [sized(35, "constraint")], "decision": decisions},
        {"constraint": 1, "decision": 20}, 200,
    )  # fmt: skip
    assert [len(section.items) for section in beside] == [1, 3]


def test_room_rolls_on_and_never_back():
    notes = [sized(10) for _ in range(30)]
    assert len(pack({"note": notes}, {"note": 30}, 200)[0].items) == 19  # all of it, less a heading of 3
    constraints = [sized(10, "constraint") for _ in range(30)]
    assert len(pack({"constraint": constraints}, {"constraint": 30}, 200)[0].items) == 3


def test_a_section_without_items_costs_no_heading():
    huge = {"constraint": [sized(500, "constraint")], "decision": [sized(10, "decision")] * 20}
    sections = pack(huge, {"constraint": 1, "decision": 20}, 200)
    assert [(section.name, len(section.items), section.left_out) for section in sections] == [
        ("constraint", 0, 1), ("decision", 7, 13),
    ]  # fmt: skip


def test_an_item_that_does_not_fit_ends_its_section():
    best, long, short = sized(10, "constraint"), sized(100, "constraint"), sized(5, "constraint")
    (section,) = pack({"constraint": [best, long, short]}, {"constraint": 3}, 200)
    assert [one.text for one in section.items] == [best.text]
    assert section.left_out == 2


def test_what_was_never_read_is_left_out_too():
    (section,) = pack({"note": [sized(10)]}, {"note": 1_000}, 1_000)
    assert (len(section.items), section.left_out) == (1, 999)
    assert pack({}, {"person": 3}, 1_000) == (Section("person", (), 3),)


def test_sections_stand_in_their_order():
    names = list(SECTIONS)
    candidates = {name: [item("x", section=name)] for name in reversed(names)}
    assert [one.name for one in pack(candidates, dict.fromkeys(names, 1), 10_000)] == names


items = st.builds(
    item, st.text(max_size=120), title=st.text(max_size=30),
    confidence=st.sampled_from(["high", "medium", "low"]),
)  # fmt: skip
worlds = st.dictionaries(st.sampled_from(list(SECTIONS)), st.lists(items, max_size=12))


@given(worlds, st.integers(0, 800), st.integers(0, 5))
def test_the_budget_is_never_exceeded(candidates, budget, more):
    counts = {name: len(ones) + more for name, ones in candidates.items()}
    sections = pack(candidates, counts, budget)
    assert tokens(rendered(sections)) <= budget
    for section in sections:
        given_ = candidates[section.name]
        chosen = [one.memory_id for one in section.items]
        assert chosen == [one.memory_id for one in given_[: len(chosen)]]  # the best ones, in their order
        assert section.left_out == counts[section.name] - len(chosen)
        assert all(one.tokens == tokens(one.line) + 1 for one in section.items)
    left = counts.keys() - {section.name for section in sections}
    assert all(counts[name] == 0 for name in left)
    assert pack(dict(reversed(candidates.items())), counts, budget) == sections


@given(worlds, st.integers(0, 400), st.integers(0, 400))
def test_no_section_takes_more_than_the_shares_up_to_it(candidates, budget, more):
    counts = {name: len(ones) for name, ones in candidates.items()}
    packed = {section.name: section.items for section in pack(candidates, counts, budget)}
    taken = share = 0.0
    for name, part in SECTIONS.items():
        share += part
        if packed.get(name):
            taken += tokens(f"## {name}") + 1 + sum(one.tokens for one in packed[name])
        assert taken <= share * budget + 1e-6
    largest = pack(candidates, counts, 1_000_000 + more)
    assert all(section.left_out == 0 for section in largest)

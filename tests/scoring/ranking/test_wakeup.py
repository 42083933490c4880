"""What is worth knowing before anything was asked: scores by hand, and sections within their budget."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.wakeup import (
    PRIORITIES,
    RECENCY_HALF_LIFE_DAYS,
    SECTIONS,
    TIERS,
    Item,
    PacketSection,
    kind_named,
    note_dates,
    pack,
    tokens,
    wakeup_scores,
    wakeup_sections,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HALF_LIFE = timedelta(days=RECENCY_HALF_LIFE_DAYS)


def frame(*rows: dict) -> pl.DataFrame:
    plain = {
        "importance_tier": "normal", "retrieval_priority": "normal", "effectiveness": 0.5,
        "date": NOW,
    }  # fmt: skip
    return pl.DataFrame(
        [plain | row for row in rows],
        schema={
            "importance_tier": pl.String, "retrieval_priority": pl.String, "effectiveness": pl.Float64,
            "date": pl.Datetime("us", "UTC"),
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
        ({"date": NOW - HALF_LIFE}, 0.2 + 0.1 + 0.1 + 0.05),
        ({"date": NOW - 2 * HALF_LIFE}, 0.2 + 0.1 + 0.1 + 0.025),
        ({"date": NOW - HALF_LIFE / 2}, 0.2 + 0.1 + 0.1 + 0.1 / math.sqrt(2)),
        ({"date": NOW + HALF_LIFE}, 0.2 + 0.1 + 0.1 + 0.1),  # what is to come is not better than now
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


def test_the_order_of_two_that_were_saved_within_a_second_is_the_same_at_every_moment():
    rows = frame({"date": NOW}, {"date": NOW + timedelta(milliseconds=7)})
    for hundredths in range(1, 200):
        older, newer = wakeup_scores(rows, NOW + timedelta(milliseconds=10 * hundredths))
        assert older < newer, hundredths


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


def test_nothing_is_packed_into_nothing():
    assert pack({}, {}, 1_000) == ()
    assert pack({"note": [item("x")]}, {"note": 1}, 0) == (PacketSection("note", (), 1),)


def test_what_is_important_takes_all_that_it_needs():
    """A fifth of the budget once was all that constraints could have."""
    candidates = {
        "constraint": [sized(10, "constraint") for _ in range(15)],
        "note": [sized(10) for _ in range(9)],
    }
    constraints, notes = pack(candidates, {"constraint": 15, "note": 9}, 200)
    # 5 tokens for the heading and its line break, 150 for the items; 3 and 40 are left for notes.
    assert tokens("## Constraint") + 1 == 5
    assert [one.tokens for one in constraints.items] == [10] * 15
    assert [len(notes.items), notes.left_out] == [4, 5]
    (alone,) = (one for one in pack(candidates, {"constraint": 15, "note": 9}, 110) if one.items)
    assert (alone.name, len(alone.items), alone.left_out) == ("constraint", 10, 5)


def test_what_fits_exactly_is_packed_whole():
    candidates = {"constraint": [sized(35, "constraint")]}
    (section,) = pack(candidates, {"constraint": 1}, 40)
    assert (section.items[0].tokens, section.items[0].cut) == (35, 0)
    (section,) = pack(candidates, {"constraint": 1}, 39)
    assert section.items[0].cut > 0


def test_an_item_larger_than_the_room_is_cut_and_says_so():
    long = item("a rule that says this and that, " * 20, section="constraint", title="Rule")
    long = replace(long, length=700, memory_id="m1")
    (section,) = pack({"constraint": [long]}, {"constraint": 1}, 100)
    (cut,) = section.items
    assert cut.text == long.text[: len(cut.text)].rstrip()
    assert cut.cut == 700 - len(cut.text)
    assert cut.line == (
        f"> [medium] Rule: {cut.text} … cut, {cut.cut} more characters: `slowwave get {long.memory_id}`"
    )
    assert 94 < tokens(section.heading) + 1 + cut.tokens <= 100
    (tight,) = pack({"constraint": [long]}, {"constraint": 1}, 22)
    assert tight.items[0].line == f"> [medium] {tight.items[0].said} … cut, {tight.items[0].cut} more"
    assert tight.items[0].said.startswith("Rule: a rule that")


def test_a_title_too_long_is_cut_as_well():
    (section,) = pack({"note": [item("text", title="t" * 400)]}, {"note": 1}, 30)
    (cut,) = section.items
    assert (set(cut.title), cut.text) == ({"t"}, "")
    assert cut.cut == 4


def test_an_item_that_was_cut_ends_the_packet():
    best, long, short = sized(10, "constraint"), sized(100, "constraint"), sized(5, "constraint")
    candidates = {"constraint": [best, long, short], "note": [sized(5)]}
    constraints, notes = pack(candidates, {"constraint": 3, "note": 1}, 60)
    assert [one.cut > 0 for one in constraints.items] == [False, True]
    assert (constraints.left_out, notes) == (1, PacketSection("note", (), 1))


def test_a_few_letters_of_the_next_item_are_not_worth_it():
    candidates = {"constraint": [sized(10, "constraint"), sized(100, "constraint")], "note": [sized(5)]}
    constraints, notes = pack(candidates, {"constraint": 2, "note": 1}, 27)
    assert (len(constraints.items), constraints.left_out, notes.items) == (1, 1, ())


def test_what_was_never_read_is_left_out_too():
    (section,) = pack({"note": [sized(10)]}, {"note": 1_000}, 1_000)
    assert (len(section.items), section.left_out) == (1, 999)
    assert pack({}, {"person": 3}, 1_000) == (PacketSection("person", (), 3),)


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


def flat(sections) -> list[Item]:
    return [one for section in sections for one in section.items]


@given(worlds, st.integers(0, 800))
def test_what_is_less_important_never_takes_the_room_of_what_is_left_out(candidates, budget):
    """The packet is the beginning of one list, the most important first; only its last item may be cut."""
    chosen = flat(pack(candidates, {name: len(ones) for name, ones in candidates.items()}, budget))
    everything = [one for name in SECTIONS for one in candidates.get(name, ())]
    assert [one.memory_id for one in chosen] == [one.memory_id for one in everything[: len(chosen)]]
    assert not any(one.cut for one in chosen[:-1])
    for whole, shown in zip(everything, chosen, strict=False):
        assert shown.cut or (shown.title, shown.text) == (whole.title, whole.text)
        assert whole.said.casefold().startswith(shown.title.rstrip(" …").casefold())


@given(worlds, st.integers(0, 500), st.integers(0, 200))
def test_more_budget_loses_nothing(candidates, budget, more):
    counts = {name: len(ones) for name, ones in candidates.items()}
    less, greater = flat(pack(candidates, counts, budget)), flat(pack(candidates, counts, budget + more))
    assert [one.memory_id for one in less] == [one.memory_id for one in greater[: len(less)]]
    assert all(two.cut == 0 for one, two in zip(less, greater, strict=False) if one.cut == 0)
    assert all(not flat(pack(candidates, counts, 1_000_000))[at].cut for at in range(len(less)))


@given(items, st.sampled_from(list(SECTIONS)), st.integers(26, 60))
def test_what_can_be_cut_to_fit_is_never_left_out(one, section, budget):
    """26 tokens are what the least budget leaves beside the notice."""
    one = replace(one, section=section, length=12_345)
    (packed,) = pack({section: [one]}, {section: 1}, budget)
    assert len(packed.items) == 1
    assert bool(packed.items[0].cut) == (tokens(one.line) + 1 + tokens(packed.heading) + 1 > budget)


# -- section, date and title of a note -------------------------------------------------------------


def section(folders: str = "", tags: str = "", metadata: str = "", kind: str = "note", by: str = "manual"):
    row = {"memory_type": kind, "source_kind": by, "metadata": metadata, "tags": tags.split(),
           "folders": folders.split("/") if folders else []}  # fmt: skip
    schema = {"tags": pl.List(pl.String), "folders": pl.List(pl.String)}
    return wakeup_sections(pl.DataFrame([row], schema_overrides=schema)).item()


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("decision", "decision"), ("Decisions", "decision"), ("02 - ADRs", "decision"),
        ("How-to", "procedure"), ("#Rule", "constraint"), ("policies", "constraint"), ("People", "person"),
        ("decision/api", "decision"), ("Decisive", None), ("inbox", None), ("", None), ("2026", None),
    ],
)  # fmt: skip
def test_a_word_names_a_kind_in_any_spelling(word, kind):
    assert kind_named(word) == kind


def test_type_then_front_matter_then_tag_then_the_nearest_folder_decide():
    assert section("decisions") == "decision"
    assert section("projects/Mill/decisions") == "decision"
    assert section("decisions/Mill") == "decision"
    assert section("decisions", tags="shop project") == "project"
    assert section("decisions", tags="project", metadata='{"type": "Rule"}') == "constraint"
    assert section("decisions", "project", '{"type": "Rule"}', kind="incident") == "incident"
    assert section("decisions", metadata='{"type": "essay", "category": "preferences"}') == "preference"
    assert section("inbox", tags="green") == "note"


def test_chats_and_what_was_taken_from_them_come_last():
    imported = '{"imported": {"from": "elsewhere"}}'
    assert SECTIONS[-1] == "chat"
    assert section(kind="chat") == "chat"
    assert section("Chats/May") == "chat"
    assert section(metadata=imported, kind="fact", by="generated") == "chat"
    # Text that a person wrote, and what another tool kept as a preference, stand where they belong.
    assert section(metadata=imported, kind="fact") == "fact"
    assert section(metadata=imported, kind="preference", by="imported") == "preference"
    assert section(kind="fact", by="generated") == "fact"


def test_what_is_over_is_a_plain_note():
    assert section("projects", metadata='{"status": "Done"}') == "note"
    assert section("projects/Archive") == "note"
    assert section("projects", metadata='{"status": "running"}') == "project"


def test_a_note_is_as_old_as_its_text_and_not_as_its_ingest():
    day = timedelta(days=1)
    rows = [
        (NOW - 9 * day, NOW, ""), (None, NOW - day, "{}"),
        (NOW - 9 * day, NOW, '{"updated": "2026-02-27"}'), (NOW - 9 * day, NOW, '{"updated": "soon"}'),
    ]  # fmt: skip
    moment = pl.Datetime("us", "UTC")
    schema = {"dated": moment, "updated_at": moment, "metadata": pl.String}
    dates = note_dates(pl.DataFrame(rows, schema=schema, orient="row")).to_list()
    assert dates == [NOW - 9 * day, NOW - day, datetime(2026, 2, 27, tzinfo=UTC), NOW - 9 * day]


def test_a_text_that_goes_on_after_its_title_stands_alone():
    whole = replace(item("Mail moves in May."), title="Mail")
    assert whole.line == "> [medium] Mail moves in May."
    assert replace(whole, title="Post").line == "> [medium] Post: Mail moves in May."


@given(st.integers(5, 60))
def test_a_cut_item_repeats_no_title(budget):
    text = "The northern gauge under the bridge reports a level every six minutes and a voltage every hour."
    whole = replace(item(text), title="The northern gauge under the bridge reports …")
    for found in pack({"note": [whole]}, {"note": 1}, budget):
        for shown in found.items:
            assert text.startswith(shown.said)

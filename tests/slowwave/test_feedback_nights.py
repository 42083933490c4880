"""What days of feedback come to in the tables: backfilled, day by day, late, and in any order of arrival."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import polars as pl
import pytest
from feedback_days import DAY, HOUR, at, fold_days, name, observed, outcome, rating, search, taught
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.common import ids
from slowwave.feedback.carry_over_state import CarryOverState
from slowwave.feedback.stale_days import ProcessedDay, Seqs, stale_days, stretches, unprocessed
from slowwave.feedback.states import states_in
from slowwave.feedback.stats import waiting
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry, projections

DAYS = [name(day) for day in range(1, 8)]
MEMORIES = [ids.memory_id("ada", f"m{n}") for n in range(5)]


def some_acts(seed: int, searches: int = 14) -> list[Entry]:
    """Searches of a week with ratings, corrections, answers and outcomes, some of them days later."""
    draw = random.Random(seed)
    acts = []
    for number in range(searches):
        when = at(1, 24 * 7 * draw.random())
        shown = draw.sample(MEMORIES, draw.randint(0, 4))
        who = {"principal": draw.choice(["ann", "bob", "eve"])}
        project = draw.choice(["", "", "x", "y"])
        acts.append(search(f"s{number}", when, shown, project=project, **who))
        for memory in shown:
            for _ in range(draw.choice([0, 0, 1, 1, 2])):
                said = draw.choice(["helpful", "helpful", "neutral", "unhelpful"])
                acts.append(rating(f"s{number}", _later(draw, when), memory, said, **who))
        if shown and draw.random() < 0.7:
            verdicts = {memory: draw.choice(["used", "ignored"]) for memory in shown}
            acts.append(observed(f"s{number}", _later(draw, when), verdicts, **who))
        if project and draw.random() < 0.6:
            acts.append(outcome(project, _later(draw, when), draw.choice(["success", "failure"]), **who))
    return acts


def _later(draw: random.Random, when: datetime) -> datetime:
    return min(when + draw.choice([HOUR / 60, HOUR, 2 * DAY]) * draw.random(), at(7, 23.9))


@pytest.fixture
def folded(make_space) -> Callable[..., dict[str, pl.DataFrame]]:
    """Tables after these acts came and the days were folded in these runs; by default as one."""

    def make(acts: Sequence[Entry], runs: Sequence[Sequence[str]] = (DAYS,)) -> dict[str, pl.DataFrame]:
        space = make_space()
        space.journal.append(acts)
        for run in runs:
            fold_days(space, run)
        return taught(space)

    return make


def assert_same(one: dict[str, pl.DataFrame], other: dict[str, pl.DataFrame]) -> None:
    for table in one:
        left, right = (frame.drop("seq", strict=False) for frame in (one[table], other[table]))
        assert_frame_equal(left, right, check_exact=True)


@pytest.mark.slow
@settings(max_examples=12)
@given(st.integers(0, 10_000), st.sets(st.integers(1, 6), max_size=4), st.randoms())
@pytest.mark.soak
def test_a_backfill_is_its_days_whatever_came_first(folded, seed, cuts, shuffle):
    acts = some_acts(seed)
    edges = [0, *sorted(cuts), 7]
    runs = [DAYS[first:last] for first, last in pairwise(edges)]
    other = acts[:]
    shuffle.shuffle(other)
    whole = folded(acts)
    assert_same(whole, folded(other, runs))
    assert whole["usage_signals"].height > 0


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sets(st.integers(2, 6), max_size=4), st.integers(0, 8))
def test_what_is_carried_from_part_to_part_is_what_the_tables_have(make_space, folded, seed, cuts, lost):
    acts = some_acts(seed)
    space = make_space()
    space.journal.append(acts)
    fold_days(space, DAYS[:1])
    edges = [1, *sorted(cuts), 7]
    carried = CarryOverState(DAYS[1]), CarryOverState(DAYS[1])
    for number, (first, last) in enumerate(pairwise(edges)):
        kept = [one.of(whole=number != lost) for one in carried]
        fold_days(
            space, DAYS[first:last], carried=dict(zip(("effectiveness", "strength"), kept, strict=True))
        )
    assert_same(taught(space), folded(acts))


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(0, 6), st.randoms())
def test_late_acts_are_taken_up_by_running_from_their_day(make_space, folded, seed, share, shuffle):
    acts = some_acts(seed)
    late = shuffle.sample(acts, len(acts) * share // 6)
    space = make_space()
    space.journal.append([act for act in acts if act not in late])
    fold_days(space, DAYS)
    assert stale_days(space.journal, space.store) == []
    space.journal.append(late)
    due = stale_days(space.journal, space.store)
    assert bool(due) == bool(late)
    if late:
        assert due[0] == min(act.occurred_at for act in late).date().isoformat()
        fold_days(space, DAYS[DAYS.index(due[0]) : DAYS.index(due[-1]) + 1])
    assert stale_days(space.journal, space.store) == []
    assert_same(taught(space), folded(acts))


@pytest.mark.slow
def test_running_again_changes_nothing_and_writes_nothing(make_space):
    space = make_space()
    space.journal.append(some_acts(7))
    fold_days(space, DAYS)
    before = taught(space)
    versions = {table: space.store.table(table).version for table in before if table != "memory_state"}
    fold_days(space, DAYS)
    fold_days(space, DAYS[3:4])
    assert_same(before, taught(space))
    assert versions == {table: space.store.table(table).version for table in versions}


def test_days_of_the_journal_can_be_asked_for_alone(make_space):
    space = make_space()
    space.journal.append(some_acts(3))
    every = space.journal.days(["search", "feedback"])
    some = every.filter(pl.col("day").is_in(DAYS[1:3]))
    assert every.height > some.height > 0
    assert_frame_equal(space.journal.days(["search", "feedback"], DAYS[1:3]), some)
    assert space.journal.days(["search"], []).is_empty()


def test_a_day_that_is_folded_alone_again_makes_the_days_after_it_due(make_space):
    space = make_space()
    space.journal.append(some_acts(3))
    fold_days(space, DAYS)
    late = rating("s0", at(2), MEMORIES[0], "unhelpful", principal="zoe")
    space.journal.append([late])
    fold_days(space, [name(2)])
    due = stale_days(space.journal, space.store)
    assert due
    assert due[0] > name(2)
    state = space.store.read("memory_state", f"state_id = '{MEMORIES[0]}'")
    assert late.occurred_at in state["not_useful_at"][0]  # what is newest is not lost meanwhile
    fold_days(space, due)
    assert stale_days(space.journal, space.store) == []


def test_which_days_are_due():
    one = ProcessedDay.of("d1", Seqs(4, 3), "")
    two = ProcessedDay.of("d2", Seqs(8, 9), one.chain)
    three = ProcessedDay.of("d3", Seqs(0, 7), two.chain)
    folded = {"d1": one, "d2": two, "d3": three}
    seen = {"d1": Seqs(4, 3), "d2": Seqs(8, 9), "d3": Seqs(0, 7)}
    assert unprocessed(seen, folded) == []
    assert unprocessed(seen | {"d4": Seqs(11)}, folded) == ["d4"]
    assert unprocessed(seen | {"d2": Seqs(8, 12)}, folded) == ["d2", "d3"]
    assert unprocessed(seen | {"d3": Seqs(5, 7)}, folded) == ["d3"]  # a search of before the last act
    assert unprocessed(seen | {"d0": Seqs(12)}, folded) == ["d0", "d1", "d2", "d3"]
    assert unprocessed(seen, {**folded, "d2": ProcessedDay.of("d2", Seqs(8, 12), one.chain)}) == ["d3"]
    assert unprocessed({}, {}) == []


@pytest.mark.parametrize("looks", [("searches", "events"), ("events", "searches")])
def test_what_comes_between_the_two_looks_of_a_night_is_due(make_space, monkeypatch, looks):
    """The second look sees a higher seq than that of what the first one came too early for."""
    space = make_space()
    space.journal.append([search("s1", at(1), MEMORIES[:1])])
    new = {
        "searches": search("s2", at(1, 13), MEMORIES[:2]),
        "events": rating("s1", at(1, 14), MEMORIES[0], "helpful"),
    }
    look = getattr(projections, f"drain_{looks[0]}")

    def look_too_early(*arguments):
        seen = look(*arguments)
        space.journal.append([new[table] for table in looks])
        return seen

    monkeypatch.setattr(projections, f"drain_{looks[0]}", look_too_early)
    fold_days(space, DAYS[:1], looks=looks)
    monkeypatch.undo()
    assert stale_days(space.journal, space.store) == DAYS[:1]
    assert waiting(space, "ada").height == (looks[0] == "events")
    fold_days(space, DAYS[:1])
    assert stale_days(space.journal, space.store) == []
    assert (space.store.count("searches"), space.store.count("events")) == (2, 1)


def test_days_that_belong_together_are_one_stretch():
    assert stretches([]) == []
    assert stretches(["2026-03-08", "2026-03-01"]) == [("2026-03-01", "2026-03-08")]
    far = ["2024-06-04", "2024-06-05", "2024-12-10", "2024-12-17", "2025-03-03"]
    assert stretches(far) == [
        ("2024-06-04", "2024-06-05"), ("2024-12-10", "2024-12-17"), ("2025-03-03", "2025-03-03"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_namespace_learns_nothing_from_another_one(folded, make_space):
    acts = some_acts(5)
    theirs = [
        rating(f"t{n}", at(n % 7 + 1), MEMORIES[0], "unhelpful", namespace="eve", principal=f"p{n}")
        for n in range(20)
    ]
    mine = {table: rows.filter(namespace="ada") for table, rows in folded([*acts, *theirs]).items()}
    # The same id in two namespaces cannot be: an id is made of both. So their feedback is on ids of theirs.
    theirs = [
        rating(f"t{n}", at(n % 7 + 1), ids.memory_id("eve", "m0"), "unhelpful", namespace="eve")
        for n in range(20)
    ]
    assert_same(
        {t: rows.filter(namespace="ada") for t, rows in folded([*acts, *theirs]).items()}, folded(acts)
    )
    assert mine["searches"].height == 14


# -- promotions ------------------------------------------------------------------------------------


def praise(memory: str, day: int, count: int, *, first: int = 0) -> list[Entry]:
    acts = []
    for n in range(first, first + count):
        who = {"principal": f"p{n}"}
        acts += [
            search(f"{memory}{n}", at(day, 1), [memory], **who),
            rating(f"{memory}{n}", at(day, 2), memory, "helpful", **who),
        ]
    return acts


def stage(
    space: Workspace, key: str, day: int, *, tier: str = "normal", act: str = "save", by: str = "writer"
) -> str:
    """Say that a note was saved or forgotten, as the night stages it."""
    memory = ids.memory_id("ada", key)
    row = {"staged_id": f"{name(day)}:{memory}", "day": name(day), "namespace": "ada", "memory_id": memory,
           "revision": f"{day:016x}-e", "act": act, "importance_tier": tier, "principal": by}  # fmt: skip
    space.store.upsert("staged_notes", pl.DataFrame([row]))
    return memory


def reasons(space: Workspace) -> dict[tuple[str, str], str]:
    rows = space.store.read("promotions", columns=["day", "memory_id", "reason"])
    return {(day, memory): why for day, memory, why in rows.iter_rows()}


def test_five_useful_votes_promote_but_not_the_authors_nor_what_is_gone(make_space):
    space = make_space()
    plain, own, short, gone = (
        stage(space, "plain", 1),
        stage(space, "own", 1, by="p0"),
        stage(space, "short", 1, tier="temporary"),
        stage(space, "gone", 1),
    )
    stage(space, "gone", 2, act="forget")
    for memory in (plain, own, short, gone):
        space.journal.append(praise(memory, 3, 5))
    fold_days(space, DAYS)
    told = {memory: why for (_, memory), why in reasons(space).items()}
    assert told == {
        plain: "promoted", own: "below_threshold", short: "tier_not_promotable", gone: "tier_not_promotable",
    }  # fmt: skip
    assert states_in(space).promoted("ada") == {plain: "important"}


@pytest.mark.slow
def test_a_home_of_one_promotes_and_says_so(make_space):
    space = make_space()
    mine, theirs = stage(space, "mine", 1, by="ann"), ids.memory_id("ada", "theirs")
    row = {"staged_id": f"{name(5)}:{theirs}", "day": name(5), "namespace": "ada", "memory_id": theirs,
           "revision": "5-e", "act": "save", "importance_tier": "normal", "principal": "bob"}  # fmt: skip
    space.store.upsert("staged_notes", pl.DataFrame([row]))
    imported = {"imported_from": "a file"}
    acts = []
    for n in range(12):
        acts += [
            search(f"s{n}", at(2 + n // 6, n % 6), [mine]),
            rating(f"s{n}", at(2 + n // 6, 8 + n % 6), mine, "helpful"),
        ]
    strange = rating("s0", at(2, 9), mine, "helpful", principal="zoe")
    space.journal.append([*acts, replace(strange, payload={**strange.payload, **imported})])
    for day in DAYS[1:]:
        fold_days(space, [day])
    told = space.store.read("promotions").sort("day").select("day", "to_tier", "useful", "reason", "detail")
    assert told.rows() == [
        (name(2), "important", 7, "promoted", "sole_principal"),
        (name(3), "critical", 13, "promoted", "sole_principal"),
    ]
    # From the day on which somebody else wrote there, an author's votes count no more; what was given stays.
    space.journal.append([search("late", at(6), [mine]), rating("late", at(6), mine, "helpful")])
    fold_days(space, DAYS[5:])
    assert space.store.read("promotions", f"day = '{name(6)}'").is_empty()
    assert states_in(space).promoted("ada") == {mine: "critical"}


def test_what_is_superseded_is_not_promoted_while_it_is(make_space):
    space = make_space()
    memory = stage(space, "old", 1)
    decision = {"decision_id": "d", "namespace": "ada", "memory_id": "new", "other_memory": memory,
                "outcome": "supersede", "refused": False, "decided_at": at(3),
                "undone_at": at(5)}  # fmt: skip
    space.store.upsert("decisions", pl.DataFrame([decision]))
    space.journal.append(
        [*praise(memory, 2, 4), *praise(memory, 4, 1, first=4), *praise(memory, 6, 1, first=5)]
    )
    fold_days(space, DAYS)
    assert reasons(space) == {
        (name(2), memory): "below_threshold", (name(4), memory): "tier_not_promotable",
        (name(6), memory): "promoted",
    }  # fmt: skip


@pytest.mark.slow
def test_promotions_of_a_backfill_are_those_of_its_days(make_space):
    spaces = make_space(), make_space()
    acts = [act for n in range(5) for act in praise(ids.memory_id("ada", f"m{n}"), 1 + n // 4, 5 + n)]
    acts += praise(ids.memory_id("ada", "m9"), 5, 1)
    for space in spaces:
        for n in range(5):
            stage(space, f"m{n}", 1)
        space.journal.append(acts)
    fold_days(spaces[0], DAYS)
    for day in DAYS:
        fold_days(spaces[1], [day])
    assert_same(*map(taught, spaces))
    assert sorted(reasons(spaces[0]).values()).count("promoted") == 5
    assert "rate_limited" in reasons(spaces[0]).values()

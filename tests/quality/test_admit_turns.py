"""What is newer is decided by the date that a note carries, then by the order of acts (rule 2.1)."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from admit_world import GUARDED, LITERAL, World, at, note
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality.admission.labels import Labels
from slowwave.quality.admission.state_machine import reconsider
from slowwave.quality.admission.types import AdmissionAct, AdmissionRecord

UNGATED = [replace(policy, gate=False) for policy in (GUARDED, LITERAL)]
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def arriving(notes: list[AdmissionRecord]) -> list[AdmissionRecord]:
    """The notes as they arrive: the order of acts is that of arrival, the date is what they carry."""
    return [replace(one, revision=f"{number:04}-{one.memory_id}") for number, one in enumerate(notes)]


def standing(world: World) -> dict[str, tuple]:
    return {name: state[:-1] for name, state in world.state().items()}


def one_by_one(notes: list[AdmissionRecord], policy) -> World:
    world = World(policy)
    for one in arriving(notes):
        world.take(one)
    return world


def deploys(count: int) -> list[AdmissionRecord]:
    return [
        note(f"m{number}", f"we deploy on {day}", at(1 - number / 100), title="Deploy day", moment=number)
        for number, day in enumerate(DAYS[:count])
    ]


@pytest.mark.parametrize("policy", [GUARDED, replace(LITERAL, thresholds=replace(LITERAL.thresholds, merge=1,
                                                                                duplicate=1))])  # fmt: skip
def test_three_facts_in_any_order_are_one_chain(policy):
    facts = deploys(3)
    wanted = one_by_one(facts, policy)
    assert wanted.status() == {"m0": "superseded", "m1": "superseded", "m2": "live"}
    assert (wanted.records["m0"].replaced_by, wanted.records["m1"].replaced_by) == ("m1", "m2")
    for order in permutations(facts):
        assert standing(one_by_one(list(order), policy)) == standing(wanted)


def test_the_older_one_of_a_conflict_is_superseded_also_when_it_comes_later():
    old, new = deploys(2)
    world = World(GUARDED)
    world.take(replace(new, revision="1"))
    before = world.state()
    done = world.take(replace(old, revision="2"))
    first, look = done.decisions
    assert (first.memory_id, first.outcome) == ("m0", "complement")
    assert (look.memory_id, look.revision, look.outcome, look.other, look.look) == (
        "m1", "1", "supersede", "m0", "2",
    )  # fmt: skip
    assert world.state()["m1"] == before["m1"]
    assert world.lapsed == []
    world.take(AdmissionAct("undo", "m1", other="m0", by="undo"))
    assert world.status() == {"m0": "live", "m1": "live"}


def test_the_older_one_absorbs_the_newer_one_also_when_it_comes_later():
    old = note("a", "the lamp is red", at(1.0), moment=1)
    new = note("b", "the lamp is red\nit hangs on the pier", at(0.9), moment=2)
    world = World(replace(GUARDED, gate=False))
    for one in arriving([new, old]):
        world.take(one)
    assert world.records["b"].replaced_by == "a"
    assert world.records["a"].merged_content == "the lamp is red\nit hangs on the pier"


def test_undated_notes_go_by_the_order_of_acts_and_equal_dates_too():
    facts = [replace(one, moment=7) for one in deploys(3)]
    for order in permutations(facts):
        assert one_by_one(list(order), GUARDED).status()[order[-1].memory_id] == "live"


def test_a_late_duplicate_is_refused_and_changes_nothing():
    facts = deploys(3)
    world = one_by_one([facts[0], facts[2]], GUARDED)
    before = world.state()
    twin = note("twin", "we deploy on Monday", at(1.0), title="Deploy day", moment=1, revision="9")
    assert world.take(twin).decisions[0].refused  # in its turn Monday is what is known
    assert world.state() == before
    assert world.lapsed == []


labels = st.builds(
    Labels,
    memory_type=st.sampled_from(["note", "note", "fact", "constraint"]),
    importance_tier=st.sampled_from(["temporary", "normal", "normal", "important", "critical"]),
    state=st.sampled_from(["draft", "accepted", "accepted", "canonical"]),
    source_kind=st.sampled_from(["generated", "manual"]),
    tags=st.lists(st.sampled_from(["a", "A", "b"]), max_size=2).map(tuple),
)


@st.composite
def dated(draw: st.DrawFn) -> list[AdmissionRecord]:
    """Notes of one to three clusters, each with a date of its own."""
    made = []
    for number, moment in enumerate(draw(st.permutations(range(draw(st.integers(2, 7)))))):
        content = "\n".join(
            f"we deploy on {day}" for day in draw(st.lists(st.sampled_from(DAYS), min_size=1, max_size=2))
        )
        angle = draw(st.sampled_from([0, 0, 1.2, 2.4])) + draw(st.floats(0, 0.8))
        made.append(
            note(
                f"m{number}", content, np.array([np.cos(angle), np.sin(angle), 0], dtype=np.float32),
                title=draw(st.sampled_from(["Deploy day", "Deploy day", ""])), moment=moment,
                protected=draw(st.integers(0, 6)) == 0, released=draw(st.integers(0, 9)) == 0,
                sensitivity=draw(st.sampled_from(["internal"] * 5 + ["secret"])),
                labels=draw(labels), vault=draw(st.booleans()),
                context=draw(st.sampled_from(["", "", "x", "y"])),
            )
        )  # fmt: skip
    return made


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(dated(), st.integers(0, 7), st.sampled_from(UNGATED), st.randoms(use_true_random=False))
def test_a_batch_its_halves_and_single_saves_in_any_order_agree(notes, split, policy, random):
    """On what is live, what is superseded and by which, what is merged into which, and what is said."""
    wanted = standing(one_by_one(sorted(notes, key=lambda one: one.moment), policy))
    for _ in range(3):
        random.shuffle(notes)
        assert standing(one_by_one(notes, policy)) == wanted
        halves = World(policy)
        halves.take(*arriving(notes)[:split])
        halves.take(*arriving(notes)[split:])
        assert standing(halves) == wanted


@settings(max_examples=40, deadline=None)
@given(dated(), st.sampled_from([GUARDED, LITERAL]), st.randoms(use_true_random=False))
def test_with_the_gate_nothing_newer_is_hidden_by_something_older(notes, policy, random):
    random.shuffle(notes)
    world = one_by_one(notes, policy)
    for record in world.records.values():
        if record.status == "superseded":
            assert world.records[record.replaced_by].turn > record.turn
        if record.status == "merged":
            assert world.records[record.replaced_by].turn < record.turn


@settings(max_examples=40, deadline=None)
@given(dated(), st.sampled_from(UNGATED), st.randoms(use_true_random=False))
def test_undoing_everything_brings_every_memory_back(notes, policy, random):
    random.shuffle(notes)
    world = World(policy)
    decisions = []
    for one in arriving(notes):
        decisions += world.take(one).decisions
    for one in decisions:
        if one.outcome in ("merge", "supersede"):
            world.take(AdmissionAct("undo", one.memory_id, other=one.other, by="undo"))
    for one in notes:
        assert world.state()[one.memory_id][:5] == ("live", None, (), one.content, one.labels)


@settings(max_examples=40, deadline=None)
@given(dated(), st.sampled_from(UNGATED), st.randoms(use_true_random=False))
def test_looking_again_goes_by_dates_as_well(notes, policy, random):
    stored = World(replace(policy, reconsolidation="off"))
    random.shuffle(notes)
    stored.take(*arriving(notes))
    stored.policy = policy
    live = sorted(stored.records.values(), key=lambda one: one.turn)
    stored.keep(reconsider([one.memory_id for one in live], stored.around(stored.records, live)))
    assert standing(stored) == standing(one_by_one(sorted(notes, key=lambda one: one.moment), policy))

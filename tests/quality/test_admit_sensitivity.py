"""Nothing is merged, superseded or refused as a duplicate across a difference of sensitivity (rule 2.5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from admit_world import GUARDED, LITERAL, OFF, World, at, note
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality.admission.state_machine import reconsider

KINDS = ("public", "internal", "secret")
BORDERS = [(first, second) for first in KINDS for second in KINDS if first != second]
WORDS = ("red", "blue", "nine", "ten")


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("policy", [OFF, GUARDED, LITERAL])
@pytest.mark.parametrize("cosine", [1.0, 0.95, 0.9, 0.8])
@pytest.mark.parametrize("warned", [False, True])
def test_notes_of_two_sensitivities_do_not_concern_each_other(border, policy, cosine, warned):
    world = World(policy)
    told = "we deploy on Tuesday"
    world.take(note("a", told, at(1.0), title="Deploy day", sensitivity=border[0]))
    new = told if cosine == 1.0 else "we deploy on Thursday" if cosine == 0.8 else f"{told}\nthe code is 4711"
    done = world.take(
        note("b", new, at(cosine), title="Deploy day", sensitivity=border[1], warned=warned)
    ).decisions[0]
    assert (done.outcome, done.other, done.other_revision, done.evidence, done.reasons) == (
        "complement", None, None, "", (),
    )  # fmt: skip
    assert world.status() == {"a": "live", "b": "live"}


def test_secret_ones_do_not_take_the_place_of_those_that_are_looked_at():
    world = World(OFF)
    world.take(note("same", "the pier has nine lamps", at(0.96)))
    for number in range(5):
        secret = note(f"s{number}", f"the pier has {number + 20} lamps", at(0.99), sensitivity="secret")
        world.take(replace(secret, content_hash=secret.memory_id, released=True))
    done = world.take(note("new", "The pier has nine lamps.", at(1.0), content_hash="x")).decisions[0]
    assert (done.refused, done.other) == (True, "same")


@pytest.mark.parametrize("policy", [GUARDED, LITERAL])
@pytest.mark.parametrize("who", ["target", "part"])
@pytest.mark.parametrize("cosine", [0.9, 0.8])
def test_a_memory_whose_sensitivity_changes_parts(policy, who, cosine):
    world = World(policy)
    first = note("a", "we deploy on Tuesday", at(1.0), title="Deploy day")
    more = "we deploy on Tuesday\nRuaridh has the key" if cosine == 0.9 else "we deploy on Thursday"
    second = note("b", more, at(cosine), title="Deploy day")
    world.take(first)
    assert world.take(second).decisions[0].outcome in ("merge", "supersede")
    changed = first if who == "target" else second
    world.take(replace(changed, sensitivity="secret", revision="s" + changed.revision))
    assert world.status() == {"a": "live", "b": "live"}
    assert all(one.merged_content is None for one in world.records.values())


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcde"), st.sampled_from(KINDS), st.lists(st.sampled_from(WORDS), min_size=1),
            st.floats(0, 0.6),
        ),
        min_size=2, max_size=10,
    ),
    st.sampled_from([OFF, GUARDED, LITERAL]),
)  # fmt: skip
def test_whatever_is_saved_the_border_holds(saves, policy):
    world = World(policy)
    for number, (name, kind, words, angle) in enumerate(saves):
        content = "\n".join(f"the lamp is {word}" for word in words)
        vector = np.array([np.cos(angle), np.sin(angle), 0], dtype=np.float32)
        made = note(name, content, vector, sensitivity=kind, title="Lamp")
        world.take(replace(made, revision=f"{number:04}"))
        decision = world.decisions[name]
        if decision.other is not None:
            assert world.records[decision.other].sensitivity == kind
        for record in world.records.values():
            if record.replaced_by:
                assert world.records[record.replaced_by].sensitivity == record.sensitivity
    live = [one for one in world.records.values() if one.status == "live"]
    done = reconsider([one.memory_id for one in live], world.around(world.records, live))
    for one in done.decisions:
        if one.other is not None:
            assert world.records[one.other].sensitivity == world.records[one.memory_id].sensitivity

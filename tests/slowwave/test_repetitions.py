"""Memories that say the same as one that is forgotten or erased are named, with title and status."""

from __future__ import annotations

import pytest
from reconsolidation_helpers import supersede

from slowwave.lifecycle.repetitions import connected
from slowwave.views.erasing import beside

FIRST = "The spare key of the boathouse hangs behind the barometer in the hall."


@pytest.mark.parametrize(
    ("pairs", "reached"),
    [
        ([], "a"), ([("b", "c")], "a"), ([("a", "b"), ("b", "c")], "abc"), ([("c", "b"), ("b", "a")], "abc"),
        ([("a", "b"), ("b", "a"), ("d", "e")], "ab"),
    ],
)  # fmt: skip
def test_what_decisions_connect_is_reached_over_any_number_of_steps(pairs, reached):
    assert connected(pairs, ["a"]) == set(reached)


def test_a_forgotten_memory_names_what_says_the_same(memory):
    kept = memory.save(FIRST, title="Boathouse key").memory_id
    copy = memory.save(FIRST, title="Key again", key="copy")
    assert copy.status == "quarantined"
    assert memory.repetitions(kept) == {copy.memory_id: "Key again (in quarantine)"}
    memory.forget(kept)
    other = memory.release(copy.memory_id).memory_id
    assert memory.repetitions(kept) == {other: "Key again (live)"}
    assert memory.repetitions(other).keys() == {kept}


def test_a_secret_memory_is_named_by_its_id(memory):
    kept = memory.save(FIRST, title="Boathouse key", sensitivity="secret").memory_id
    copy = memory.save(FIRST, title="Key again", key="copy", sensitivity="secret")
    memory.release(copy.memory_id)
    assert memory.repetitions(kept) == {copy.memory_id: f"{copy.memory_id} (live)"}


def test_the_plan_of_an_erasure_names_the_live_memory_that_repeats_it(guarded):
    old, new = supersede(guarded)
    planned = guarded.plan_erasure(old.memory_id)
    title = guarded.get(new.memory_id).title
    assert f"Stays, and may have a similar text: {title} (live) [{new.memory_id}]" in beside(planned, 10)
    assert planned.labels == {new.memory_id: f"{title} (live)"}
    assert "labels" not in planned.to_dict()

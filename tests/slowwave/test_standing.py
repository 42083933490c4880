"""A save that knows its namespace from memory decides as one that asks the tables, and writes the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.index.neighbour_cache import NEVER
from slowwave.lifecycle.admission.context_loader import live_memories
from slowwave.memory import Memory
from slowwave.quality.neighbours import EXCLUDED
from slowwave.store.tenancy import within

TEXTS = (
    "The boat lies at the pier in winter, and Ruaridh looks after it.",
    "The boat lies at the pier in winter, and Ruaridh looks after it every week.",
    "The boat lies at the pier in winter, and Ishbel looks after it.",
    "The boat does not lie at the pier in winter, and Ruaridh looks after it.",
    "The battery of the gauge lasts eleven weeks, and Ishbel changes it on Fridays.",
    "The battery of the gauge lasts nineteen weeks, and Ishbel changes it on Fridays.",
    "ok",
)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
ACTS = st.lists(
    st.tuples(
        st.sampled_from(("save", "save", "save", "save", "secret", "late", "many", "forget", "undo", "read")),
        st.integers(0, len(TEXTS) - 1),
        st.integers(0, 5),
    ),
    min_size=3, max_size=12,
)  # fmt: skip
SAID = {
    "memories": ("memory_id", "status", "replaced_by", "content", "original", "chunk_count", "absorbed",
                 "frequency", "sensitivity", "title"),
    "chunks": ("chunk_id", "memory_id", "status", "text", "embedding_hash"),
    "decisions": ("memory_id", "other_memory", "outcome", "similarity", "reasons", "refused", "evidence",
                  "undone_why"),
    "edges": ("from_memory", "to_memory", "kind", "strength"),
    "quarantine": ("memory_id", "reasons", "status", "duplicate_of", "content"),
}  # fmt: skip


def happen(memory: Memory, act: str, text: int, key: int) -> Any:
    """One act; what it told, without what names it."""
    said, name = TEXTS[text], f"k{key}"
    if act == "forget":
        there = memory.store.read("memories", within("ada", "status = 'live'"), columns=["memory_id"])[
            "memory_id"
        ].sort()
        return memory.forget(there[key % len(there)]) if len(there) else None
    if act == "undo":
        where = "undone_at IS NULL AND outcome IN ('merge', 'supersede', 'related')"
        found = memory.store.read("decisions", within("ada", where)).sort(
            "memory_id", "other_memory", "outcome"
        )
        if found.height:
            memory.undo(found["decision_id"][key % found.height])
        return found.height
    if act == "read":
        return memory.store.table("memories").count_rows()
    if act == "many":
        notes = [
            {"content": f"{TEXTS[(text + n) % len(TEXTS)]}", "key": f"k{(key + n) % 9}"} for n in range(9)
        ]
    else:
        more = {"secret": {"sensitivity": "restricted"}, "late": {"created_at": LONG_AGO}}.get(act, {})
        notes = [{"content": said, "key": name, **more}]
    return [
        (one.memory_id, one.status, one.outcome, one.other, one.reasons, one.duplicate_of, one.quality)
        for one in memory.save_many(notes)
    ]


def rows(memory: Memory) -> dict[str, list[tuple]]:
    return {
        name: sorted(map(repr, memory.store.read(name).select(columns).rows()))
        for name, columns in SAID.items()
    }


@pytest.mark.slow
@pytest.mark.soak
@settings(max_examples=12)
@pytest.mark.parametrize("policy", ["literal", "guarded"])
@given(acts=ACTS)
def test_both_decide_and_write_alike(make_space, policy, acts):
    groups = {"gate": {"mode": "enforce"}, "reconsolidation": {"policy": policy}}
    spaces = [make_space(store={"snapshot_mb": size}, **groups) for size in (64, 0)]
    one, two = (Memory(space.settings, namespace="ada", space=space) for space in spaces)
    others = [Memory(space.settings, namespace="bob", space=space) for space in spaces]
    for memory in others:
        memory.save(TEXTS[0], key="k0")
    for act in acts:
        assert happen(one, *act) == happen(two, *act), act
    assert rows(one) == rows(two)
    spaces[0].store.settle()
    assert rows(one) == rows(two)
    assert rows(others[0]) == rows(others[1])


def test_it_knows_what_there_is(make_space):
    space = make_space(gate={"mode": "off"}, store={"snapshot_mb": 64})
    memory = Memory(space.settings, namespace="ada", space=space)
    first = memory.save(TEXTS[0], key="a")
    memory.save(TEXTS[4], key="b", sensitivity="restricted")
    standing = live_memories(space, "ada")
    assert standing is not None
    assert standing.knows([first.memory_id, "nobody"])
    assert not standing.knows(["nobody"])
    vector = space.embedder.embed_documents([TEXTS[0]])[0]
    every = {"statuses": ("live",), "floor": -1.0, "count": 9}
    assert standing.nearest(vector, "internal", **every) == [first.memory_id]
    assert len(standing.nearest(vector, "restricted", **every)) == 1
    assert standing.nearest(vector, "internal", statuses=("merged",), floor=-1.0, count=9) == []
    assert standing.latest(0) > 0
    assert standing.latest(standing.latest(0) + 1) == NEVER
    names, matrix, kinds = standing.live()
    assert len(names) == 2
    assert matrix.shape == (2, space.embedder.dimension)
    assert kinds.tolist() == standing.codes_of(["internal", "restricted"]).tolist()
    assert len(set(kinds.tolist())) == 2
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1)
    memory.forget(first.memory_id)
    now = live_memories(space, "ada")
    assert now is standing
    assert now.nearest(vector, "internal", **every) == []
    assert now.knows([first.memory_id])
    assert np.count_nonzero(now.live()[2] != EXCLUDED) == 1


def test_a_namespace_beyond_the_bound_is_asked_in_its_tables(make_space):
    space = make_space(gate={"mode": "off"}, store={"snapshot_mb": 0.001})
    memory = Memory(space.settings, namespace="ada", space=space)
    memory.save(TEXTS[0], key="a")
    memory.save(TEXTS[4], key="b")
    assert live_memories(space, "ada") is None
    assert memory.count() == 2

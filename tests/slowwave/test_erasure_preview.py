"""The preview of an erasure reads little; what it says is what reading all of it would say."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reconsolidation_helpers import BATTERY, CHANGED, ROTA

from slowwave.common import ids
from slowwave.maintenance.erasure import entry_redaction, files, matches, tables
from slowwave.maintenance.erasure.entry_redaction import RedactedEntries
from slowwave.maintenance.erasure.model import ErasureTask
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints
from slowwave.memory import Memory

LAMP = "The lamp on the pier is red since the storm of January; before that it was white."


@pytest.fixture
def lived(open_memory) -> Memory:
    """Notes by key, a copy, a merge, a follower, refusals, searches and ratings."""
    memory = open_memory(gate={"mode": "enforce"}, reconsolidation={"policy": "guarded"})
    memory.save(LAMP, key="lamp", title="Lamp of the pier")
    memory.save(LAMP, key="copy of the lamp", title="Another lamp")
    memory.save(BATTERY, title="Battery")
    memory.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    memory.save(ROTA, key="rota", follows="lamp")
    memory.save("ok then", key="refused")
    for query in ("what colour is the lamp?", "who changes the battery?", "who is on call?"):
        found = memory.search(query, limit=5)
        memory.feedback(found.search_id, 1, "helpful")
    return memory


def test_its_plan_is_that_of_reading_everything(lived, monkeypatch):
    names = lived.store.read("memories", columns=["memory_id"])["memory_id"].to_list()
    refused = lived.quarantine()[0]["memory_id"]
    ends = [[name] for name in names] + [[refused], names[:2]]
    fast = [lived.plan_erasure(*some) for some in ends]
    monkeypatch.setattr(matches, "_named_sources", lambda *_: None)
    monkeypatch.setattr(matches, "_KEPT", -1)
    monkeypatch.setattr(entry_redaction, "_FEW", -1)
    monkeypatch.setattr(RedactedEntries, "_is_untouched", lambda *_: False)
    monkeypatch.setattr(tables, "_FILTERS", 1)
    monkeypatch.setattr(tables, "_snapshot", tables._open)
    monkeypatch.setattr(
        files, "_files",
        lambda home: [one for one in sorted(home.rglob("*")) if one.is_file() and "lance" not in one.parts],
    )  # fmt: skip
    for plan, some in zip(fast, ends, strict=True):
        whole = lived.plan_erasure(*some)
        same_work = dataclasses.replace(plan.work, erasure=whole.work.erasure)
        assert dataclasses.replace(plan, work=same_work) == whole
    assert any(plan.places.get("journal: search") for plan in fast)
    assert any(len(plan.memories) > len(some) for plan, some in zip(fast, ends, strict=True))


def test_a_row_with_the_id_of_another_source_is_not_believed(lived):
    space, right = lived.home, ids.memory_id(lived.namespace, "lamp")
    assert matches._named_sources(space, lived.namespace, [right]) == {right: "lamp"}
    lived.store.settle()
    table = lived.store.table("memories")
    table.update(where=f"memory_id = '{right}'", values={"source": "moved by hand"})
    assert matches._named_sources(space, lived.namespace, [right]) is None
    assert {one.memory_id: one.source for one in lived.plan_erasure(right).memories}[right] == "lamp"


texts = st.text() | st.sampled_from(['"query":"', 'a "quote" and a \\', "é\u2028\x00"])


@given(texts, texts, st.booleans())
def test_a_query_is_read_without_the_rest(query, other, nested):
    import orjson

    data = {"candidates": {"query": other} if nested else {"text": other}, "query": query, "more": [other]}
    found = entry_redaction.query_in(orjson.dumps(data))
    assert found == (None if nested else query)
    assert entry_redaction.query_in(orjson.dumps({"more": other})) is None


MEMORIES = [ids.memory_id("default", name) for name in "abc"]
results = st.lists(st.sampled_from(MEMORIES), max_size=3).map(
    lambda names: [{"memory_id": name} for name in names]
)
candidates = st.lists(st.sampled_from(MEMORIES), max_size=4).map(
    lambda names: {"chunk_id": [ids.chunk_id(name, at) for at, name in enumerate(names)]}
)
searches = st.fixed_dictionaries({
    "query": st.sampled_from(["plain", "zebracanary of the pier"]), "shown": results,
    "candidates": candidates,
    "left_out": st.lists(st.sampled_from(MEMORIES), max_size=2),
})  # fmt: skip
ratings = st.fixed_dictionaries({
    "memory_id": st.sampled_from(MEMORIES), "text": st.sampled_from(["", "zebracanary"]),
})  # fmt: skip
entries = st.one_of(
    st.tuples(st.just("search"), searches),
    st.tuples(st.just("feedback"), ratings),
    st.tuples(st.just("judgment"), ratings),
)


@given(entries, st.sets(st.sampled_from(MEMORIES), min_size=1))
def test_an_entry_is_redacted_as_if_all_of_it_had_been_read(entry, erased):
    import orjson

    kind, data = entry
    row = {
        "seq": 1, "kind": kind, "event_id": "e", "subject": "", "origin": "", "digest": "", "data": data,
        "payload": orjson.dumps(data), "principal": "",
    }  # fmt: skip
    work = ErasureTask("x", "default", "memories", tuple(sorted(erased)))
    needles = QuoteFingerprints(frozenset({"zebracanary"}), ())
    quick, whole = (RedactedEntries(work, {}, needles) for _ in range(2))
    whole._may_name = lambda _: True
    if quick._is_untouched(row):
        assert whole._of(row) is None
    assert quick._of(row) == whole._of(row)
    assert quick.searches == whole.searches

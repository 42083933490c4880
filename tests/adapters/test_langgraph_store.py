"""LangGraph's store: it does what the framework's own store in memory does, and leads out of no namespace."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from adapter_home import BATTERY, DEPLOY, Known
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from slowwave.adapters.langgraph import ROOT, RefusedError, SlowwaveStore, item_of, source_of
from slowwave.common import ids
from slowwave.errors import ArgumentError
from slowwave.lifecycle.forgetting import ProtectedError
from slowwave.memory import Memory

PARTS = st.sampled_from(["a", "ab", "A", "users/1", "..", "%2F", ":", "", "é", "a.b", "' OR 1=1 --", "*"])
NAMESPACES = st.lists(PARTS, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "K", ":k", "k/../l", "", " ", "é", "a:b", "%3A"])
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["red", "blue", DEPLOY])
VALUES = st.dictionaries(
    st.sampled_from(["n", "color", "of"]), LEAVES | st.lists(LEAVES, max_size=2), max_size=3
)
FILTERS = st.sampled_from(
    [None, {"color": "red"}, {"color": {"$ne": "red"}}, {"of": ["red"]}, {"n": {"$eq": 1}}]
)
CONDITIONS = st.lists(
    st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), st.lists(PARTS, max_size=2).map(tuple)),
    max_size=2,
).map(tuple)  # fmt: skip
OPS = (
    st.builds(PutOp, NAMESPACES, KEYS, VALUES | st.none(), st.none(), st.none())
    | st.builds(GetOp, NAMESPACES, KEYS)
    | st.builds(SearchOp, NAMESPACES, FILTERS, st.just(1_000), st.just(0))
    | st.builds(
        ListNamespacesOp, CONDITIONS, st.sampled_from([None, 1, 2]), st.just(1_000), st.just(0)
    )
)  # fmt: skip


def plain(result: Any) -> Any:
    """A result without moments, in an order of its own."""
    if isinstance(result, list):
        return sorted((plain(one) for one in result), key=repr)
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


@pytest.mark.slow
@settings(max_examples=10, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(batches=st.lists(st.lists(OPS, min_size=1, max_size=6), min_size=1, max_size=3))
def test_it_answers_what_the_frameworks_own_store_answers(open_memory, tmp_path_factory, batches):
    memory: Memory = open_memory(path=tmp_path_factory.mktemp("store") / "home")
    ours, theirs = SlowwaveStore(memory, refused="keep"), InMemoryStore()
    for batch in batches:
        # Their store lists a namespace that was only asked for, or is empty by now; ours has what there is.
        theirs._data = type(theirs._data)(dict, {name: held for name, held in theirs._data.items() if held})
        expected = theirs.batch([one for one in batch if not isinstance(one, GetOp)])
        got = ours.batch([one for one in batch if not isinstance(one, GetOp)])
        assert plain_all(got) == plain_all(expected)
        gets = [GetOp(one.namespace, one.key) for one in batch if isinstance(one, GetOp | PutOp)]
        assert plain_all(ours.batch(gets)) == plain_all(theirs.batch(gets))


def plain_all(results: list[Any]) -> list[Any]:
    return [plain(one) for one in results]


@given(namespace=st.lists(st.text(st.characters(exclude_categories=["Cs"]))).map(tuple), key=st.text(
    st.characters(exclude_categories=["Cs"])))  # fmt: skip
def test_every_name_has_a_source_of_its_own_below_the_root(namespace, key):
    source = source_of(namespace, key)
    assert item_of(source) == (namespace, key)
    assert source.startswith(source_of(namespace))
    assert source.startswith(ROOT)
    assert not {".", " ", "'", "\\"} & set(source)
    assert all(part not in ("", "..") or "" in namespace for part in source.split("/"))


@pytest.fixture
def store(known: Known) -> SlowwaveStore:
    return SlowwaveStore(known.memory)


def test_no_tuple_leads_to_what_is_not_below_it(store, known, open_memory):
    """Neither another tenant, nor a note of the same one, nor an item of a longer name."""
    other = SlowwaveStore(open_memory("bob"))
    other.put(("a",), "k", {"text": BATTERY})
    store.put(("a",), "k", {"text": DEPLOY.replace("deploy", "market")})
    store.put(("ab",), "k", {"text": BATTERY.replace("gauge", "pump")})
    assert other.get(("a",), "k").value == {"text": BATTERY}
    for prefix in [("bob",), ("..", "bob"), ("../bob",), ("bob", "a"), ("saved",), ("a", "..", "..", "x")]:
        question = "the canary of bob, the deploy day, the battery"
        asked = [SearchOp(prefix), SearchOp(prefix, query=question), GetOp(prefix, "k")]
        assert store.batch(asked) == [[], [], None]
    assert {one.namespace for one in store.search(("a",), query="the market day and the battery")} == {("a",)}
    assert [one.namespace for one in store.search(())] == [("a",), ("ab",)]
    assert {one.namespace for one in store.search((), query="battery of the pump")} <= {("a",), ("ab",)}
    assert store.list_namespaces() == [("a",), ("ab",)]
    store.delete(("bob",), "k")
    store.delete(("a",), "k")
    assert other.get(("a",), "k") is not None
    assert known.memory.get(known.deploy).status == "live"


def test_a_search_finds_by_meaning_and_filters(store):
    store.put(("docs",), "deploy", {"text": f"{DEPLOY} So it stays.", "year": 2024})
    store.put(("docs", "north"), "gauge", {"text": f"{BATTERY} Ruaridh says so.", "year": 2023})
    found = store.search(("docs",), query="how long does the battery of the gauge last?")
    assert found[0].key == "gauge"
    assert 0 < found[0].score <= 1
    assert [one.key for one in store.search(("docs",), query="battery of the gauge", filter={"year": 2024})] \
        in ([], ["deploy"])  # fmt: skip
    assert [one.key for one in store.search(("docs", "north"), query="the deploy day")] in ([], ["gauge"])
    assert [one.key for one in store.search(("docs",), filter={"year": {"$gt": 2023}})] == ["deploy"]
    assert store.search(("docs",), filter={"text": {"$gt": 1}}) == []
    assert [one.key for one in store.search(("docs",), limit=1, offset=1)] == ["gauge"]
    with pytest.raises(ArgumentError, match="unknown operator"):
        store.search(("docs",), filter={"year": {"$near": 1}})


def test_what_is_not_indexed_is_found_by_its_key_alone(store):
    text = "The second ferry to the island leaves at nine from the western pier."
    store.put(("docs",), "ferry", {"text": text}, index=False)
    assert store.get(("docs",), "ferry").value == {"text": text}
    assert [one.key for one in store.search(("docs",))] == ["ferry"]
    assert store.search(("docs",), query="when does the second ferry leave?") == []


def test_the_named_fields_are_what_an_item_is_found_by(known):
    store = SlowwaveStore(known.memory, fields=["said", "list[*].text"])
    store.put(
        ("docs",), "a", {"said": DEPLOY.replace("deploy", "market"), "n": 1, "list": [{"text": "And so on."}]}
    )
    store.put(("docs",), "b", {"x": f"{BATTERY} So."}, index=["x"])
    (found,) = known.memory.search("the market day", source="langgraph/docs/:a").results
    assert found.text == f"{DEPLOY.replace('deploy', 'market')}\nAnd so on."
    assert known.memory.search("battery", source="langgraph/docs/:b").results[0].text == f"{BATTERY} So."


def test_what_the_gate_refuses_is_told_and_the_key_keeps_what_it_had(store, known):
    store.put(("u",), "plan", {"text": f"{DEPLOY} Until May."})
    with pytest.raises(RefusedError, match=r"refused 'plan' of \('u',\): no_statement") as refused:
        store.batch(
            [PutOp(("u",), "plan", {"text": "ok"}), PutOp(("u",), "other", {"text": f"{BATTERY} So."})]
        )
    assert "quarantine" in str(refused.value)
    assert store.get(("u",), "plan").value == {"text": f"{DEPLOY} Until May."}
    assert store.get(("u",), "other") is not None
    keeping = SlowwaveStore(known.memory, refused="keep")
    keeping.put(("u",), "plan", {"theme": "dark"})
    assert store.get(("u",), "plan").value == {"theme": "dark"}


def test_two_keys_may_say_the_same(store):
    for user in ("1", "2"):
        store.put(("users", user), "likes", {"text": f"{DEPLOY} I like that."})
    assert [one.namespace for one in store.search(("users",))] == [("users", "1"), ("users", "2")]


def test_time_to_live_is_refused_and_what_is_secret_is_not_there(store, known):
    with pytest.raises(NotImplementedError):
        store.put(("u",), "k", {"text": DEPLOY}, ttl=5)
    with pytest.raises(NotImplementedError, match="no time to live"):
        store.batch([PutOp(("u",), "k", {"text": DEPLOY}, None, 5.0)])
    known.memory.save(
        "The code of the cellar is quuxzyy, and nobody else knows it.", key=source_of(("u",), "k"),
        sensitivity="secret", metadata={"langgraph": {"value": {"code": "quuxzyy"}}},
    )  # fmt: skip
    known.memory.save(f"{BATTERY} So.", key=source_of(("u",), "note"))
    assert store.get(("u",), "k") is None
    assert store.get(("u",), "note") is None
    assert store.search(("u",)) == store.search(("u",), query="code of the cellar") == []
    assert store.list_namespaces() == []
    with pytest.raises(ArgumentError, match="lone surrogates"):
        store.put(("u", "\ud800"), "k", {"text": DEPLOY})


def test_an_item_that_a_person_protects_is_neither_replaced_nor_deleted(store, known):
    store.put(("a",), "k", {"text": DEPLOY})
    source = source_of(("a",), "k")
    metadata = {"langgraph": {"value": {"text": DEPLOY}}}
    known.memory.save(DEPLOY, key=source, metadata=metadata, importance_tier="important", state="candidate")
    store.put(("a",), "k", {"text": BATTERY})
    name = ids.memory_id("ada", source)
    row = known.memory.store.read("memories", f"memory_id = '{name}'").row(0, named=True)
    assert (row["importance_tier"], row["state"], row["content"]) == ("normal", "accepted", BATTERY)
    known.memory.save(DEPLOY, key=source, metadata=metadata, importance_tier="critical")
    other = PutOp(("a",), "l", {"text": "The otter came back to the mill pond in April."})
    for ops in ([PutOp(("a",), "k", {"text": BATTERY})], [PutOp(("a",), "k", {"text": BATTERY}), other],
                [other, PutOp(("a",), "k", None)]):  # fmt: skip
        with pytest.raises(ProtectedError):
            store.batch(ops)
    assert store.get(("a",), "k").value == {"text": DEPLOY}
    assert store.get(("a",), "l") is None


def test_a_value_is_what_is_there_and_its_update_is_dated(store):
    value = {"text": f"{DEPLOY} Yes.", "nested": {"list": [1, None, {"a": False}]}, "é": "ü"}
    store.put(("u",), "k", value)
    first = store.get(("u",), "k")
    assert first.value == value
    assert first.updated_at.tzinfo is not None
    store.put(("u",), "k", value | {"n": 1})
    assert store.get(("u",), "k").value == value | {"n": 1}
    assert store.get(("u",), "k").updated_at > first.updated_at


class State(TypedDict):
    """Of a graph."""

    found: list[str]


@pytest.mark.asyncio
async def test_a_graph_uses_it(store):
    async def remember(state: State, runtime: Runtime[None]) -> dict[str, Any]:
        assert runtime.store is not None
        await runtime.store.aput(
            ("docs",), "ferry", {"text": "The ferry to the island leaves at seven from here."}
        )
        return {}

    async def recall(state: State, runtime: Runtime[None]) -> dict[str, Any]:
        assert runtime.store is not None
        found = await runtime.store.asearch(("docs",), query="when does the ferry leave?")
        return {"found": [one.key for one in found]}

    graph = StateGraph(State).add_node("remember", remember).add_node("recall", recall)
    graph.add_edge(START, "remember").add_edge("remember", "recall").add_edge("recall", END)
    done = await graph.compile(store=store).ainvoke({"found": []})
    assert done["found"] == ["ferry"]

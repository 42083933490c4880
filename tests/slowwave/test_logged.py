"""Searches of a real journal, ranked again together and one by one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from rated_rows import put_rating

from slowwave.common import ids
from slowwave.evaluation import query_log
from slowwave.evaluation.query_log import logged_searches
from slowwave.journal import Entry
from slowwave.journal.kinds.search import candidates_kept, candidates_of
from slowwave.scoring.evaluation.batch import Batch
from slowwave.scoring.evaluation.replay import Variant, replay
from slowwave.scoring.ranking import SEEDS, RankingPolicy
from slowwave.scoring.ranking.candidates import NEUTRAL, Led
from slowwave.search.log import replay as replay_one

NOTES = {
    "deploy": "The deploy day of the harbour is Thursday, and Friday where the tide is low for the crane.",
    "battery": "The battery of the northern gauge lasts two winters; the southern one lasts a single winter.",
    "rota": "Who is awake in the night shift stands on the rota beside the door of the harbour office.",
    "gauge": "The gauge of the pier is read at noon, and again in the evening when the tide was unusual.",
}
QUERIES = (
    "who is awake",
    "deploy day",
    "gauge of the pier",
    "battery in winter",
    "zzz",
    "harbour tide crane",
)
POLICIES = (
    RankingPolicy(),
    RankingPolicy(feedback_scope="memory"),
    SEEDS,
    RankingPolicy(fusion="rrf", effectiveness_weight=0.1),
)


@pytest.fixture
def asked(memory):
    """A memory that was searched; the searches by their ids."""
    memory.save_many(
        [
            {"content": content, "key": key, "title": key.capitalize(),
             "trigger_phrases": ["who is awake"] if key == "rota" else []}
            for key, content in NOTES.items()
        ]
    )  # fmt: skip
    now = datetime.now(UTC)
    taught = [
        {"state_id": memory_id, "day": "2026-03-01", "namespace": "ada", "memory_id": memory_id,
         "effectiveness": effectiveness, "feedback_count": 5, "not_useful_at": moments, "strength": 0.7}
        for memory_id, effectiveness, moments in (
            (ids.memory_id("ada", "deploy"), 0.123456789012345, [now, now - timedelta(days=40)]),
            (ids.memory_id("ada", "gauge"), 0.9, []),
        )
    ]  # fmt: skip
    types = {"feedback_count": pl.Int32, "not_useful_at": pl.List(pl.Datetime("us", "UTC"))}
    memory.store.upsert("memory_state", pl.DataFrame(taught, schema_overrides=types))
    before = now - timedelta(days=1, microseconds=123_457)
    for query, key, verdict in (
        ("deploy day", "deploy", "unhelpful"),
        ("deploy day", "battery", "helpful"),
        ("gauge of the pier", "gauge", "helpful"),
        ("gauge of the pier", "deploy", "unhelpful"),
    ):
        put_rating(memory, query, ids.memory_id("ada", key), verdict, before)
    return {
        response.search_id: response
        for limit in (1, 2, 10)
        for response in (memory.search(query, limit=limit) for query in QUERIES)
    }


def days(memory) -> list[str]:
    return memory.journal.days(["search"])["day"].unique().to_list()


@pytest.mark.slow
def test_searches_ranked_together_are_what_each_alone_gives_to_the_last_digit(memory, asked):
    (slice_,) = logged_searches(memory.journal, days(memory), "ada")
    assert slice_.searches["search_id"].to_list() == list(asked)
    assert slice_.left_out == ()
    columns = slice_.batch.columns
    assert set(columns.question_count.tolist()) == {0, 1}
    assert len(columns.doubted) == 6  # two questions, asked three times
    assert 0 < len(columns.voted) != len(columns.doubted)
    variants = [Variant(str(at), policy) for at, policy in enumerate(POLICIES)]
    found = replay(slice_.batch, variants, depth=None)
    expected = [
        (at, variant.name, one.rank, one.memory_id, one.score)
        for variant in variants
        for at, search_id in enumerate(asked)
        for one in replay_one(memory.journal.get(search_id).payload, variant.policy).results
    ]
    assert found.drop("channels").rows() == expected


def test_under_its_own_policy_a_replay_is_what_was_shown(memory, asked):
    (slice_,) = logged_searches(memory.journal, days(memory), "ada")
    again = replay(slice_.batch, [Variant("own", memory.policy)], depth=None)
    names = ["search", "rank", "memory_id", "score", "channels"]
    assert again.select(names).equals(slice_.shown.select(names))
    shown = slice_.shown.group_by("search", maintain_order=True).agg("memory_id")
    for search, memories in shown.iter_rows():
        assert memories == [one.memory_id for one in asked[slice_.searches["search_id"][search]]]


@pytest.mark.slow
def test_a_search_is_of_the_query_that_has_its_words(memory, asked):
    (slice_,) = logged_searches(memory.journal, days(memory), "ada")
    assert slice_.searches["query"].to_list() == list(QUERIES) * 3
    assert slice_.searches["query_id"].to_list() == [ids.query_id("ada", query) for query in QUERIES] * 3
    assert slice_.searches["limit"].to_list() == [1] * 6 + [2] * 6 + [10] * 6
    assert slice_.searches["policy_version"].unique().to_list() == [memory.policy.version]


@pytest.mark.slow
def test_slices_together_are_the_whole(memory, asked, monkeypatch):
    variants = [Variant("v", POLICIES[0])]
    (whole,) = logged_searches(memory.journal, days(memory), "ada")
    monkeypatch.setattr(query_log, "SEARCHES_AT_ONCE", 5)
    slices = list(logged_searches(memory.journal, days(memory), "ada"))
    assert [len(one.batch) for one in slices] == [5, 5, 5, 3]
    ids_ = [search_id for one in slices for search_id in one.searches["search_id"]]
    assert ids_ == whole.searches["search_id"].to_list()
    rows = [
        (ids_.index(one.searches["search_id"][search]), *rest)
        for one in slices
        for search, *rest in replay(one.batch, variants).rows()
    ]
    assert rows == replay(whole.batch, variants).rows()


@pytest.mark.slow
def test_another_namespace_and_another_day_are_not_read(memory, asked):
    assert list(logged_searches(memory.journal, days(memory), "bob")) == []
    assert list(logged_searches(memory.journal, ["2020-01-01"], "ada")) == []
    assert list(logged_searches(memory.journal, [], "ada")) == []


def test_what_cannot_be_ranked_again_is_told_and_left_out(memory, asked):
    payload = memory.journal.get(next(iter(asked))).payload
    considered = payload["candidates"]
    other = {
        "imported": {name: value for name, value in payload.items() if name != "candidates"},
        "no limit": {**payload, "limit": None},
        "negative": {**payload, "limit": -1},
        "no moment": {**payload, "as_of": "yesterday"},
        "short": {**payload, "candidates": {**considered, "cosine": considered["cosine"][:-1]}},
        "lost": {name: value for name, value in payload.items() if name != "as_of"},
        "no ids": {**payload, "candidates": {**considered, "chunk_id": []}},
        "no place": {
            **payload,
            "candidates": {**considered, "chunk_id": ["x"] * len(considered["chunk_id"])},
        },
        "hole": {**payload, "candidates": {**considered, "bm25_rank": [None] * len(considered["bm25_rank"])}},
        "text": {**payload, "candidates": "none"},
        "words": {**payload, "candidates": {**considered, "vector_rank": ["first"]}},
        "list": {"query": ["a"]},
    }
    nothing = {**payload, "candidates": {}}
    entries = [
        Entry(event_id=name, kind="search", namespace="ada", subject=name, occurred_at=datetime.now(UTC),
              principal="p", payload=said)
        for name, said in (*other.items(), ("nothing", nothing))
    ]  # fmt: skip
    memory.journal.append(entries)
    (slice_,) = logged_searches(memory.journal, days(memory), "ada")
    assert slice_.searches["search_id"].to_list() == [*asked, "nothing"]
    assert sorted(slice_.left_out) == sorted(other)
    found = replay(slice_.batch, [Variant("own", memory.policy)], depth=None)
    assert found.filter(pl.col("search") == len(asked)).height == 0
    assert found.drop("variant").equals(slice_.shown.filter(pl.col("search") < len(asked)))


@pytest.mark.slow
def test_what_search_keys_add_is_logged_and_a_search_of_before_has_none(memory, asked):
    payload = memory.journal.get(list(asked)[-1]).payload
    old = candidates_of(payload)
    lifted = old.memory_ids[-1]
    states = {**old.states, lifted: replace(old.states.get(lifted, NEUTRAL), key=0.25)}
    led = {lifted: Led(2, 0.95, "the tide at the harbour")}
    kept = candidates_kept(replace(old, states=states, led=led))
    assert kept["states"][lifted]["key"] == 0.25
    assert "led" not in kept
    assert not any("key" in state for state in payload["candidates"].get("states", {}).values())
    assert {state.key for state in old.states.values()} <= {0.0}
    entry = Entry(
        event_id="lifted", kind="search", namespace="ada", subject="lifted", occurred_at=datetime.now(UTC),
        principal="p", payload={**payload, "candidates": kept},
    )  # fmt: skip
    memory.journal.append([entry])
    (slice_,) = logged_searches(memory.journal, days(memory), "ada")
    at = slice_.searches["search_id"].to_list().index("lifted")
    columns = slice_.batch.columns
    assert columns.key[columns.search == at].max() == 0.25
    assert not columns.key[columns.search != at].any()
    variants = [Variant("with", RankingPolicy()), Variant("less", RankingPolicy(), frozenset({"keys"}))]
    again = replay(slice_.batch, variants, depth=None).filter(pl.col("search") == at)
    told = {name: rows.select("memory_id", "score").rows() for (name,), rows in again.group_by("variant")}
    for name, one in (("with", entry.payload), ("less", payload)):
        expected = replay_one(one, RankingPolicy()).results
        assert told[name] == [(row.memory_id, row.score) for row in expected]
    assert told["with"] != told["less"]


@pytest.mark.slow
def test_a_logged_search_can_be_ranked_without_what_was_said(memory, asked):
    (slice_,) = logged_searches(memory.journal, days(memory), "ada")
    payloads = [memory.journal.get(search_id).payload for search_id in slice_.searches["search_id"]]
    untaught = [
        (replace(candidates_of(one), states={}), datetime.fromisoformat(one["as_of"]), 20) for one in payloads
    ]
    for policy in POLICIES:
        variants = [Variant("with", policy), Variant("less", policy, frozenset({"ratings"}))]
        found = replay(slice_.batch, variants, depth=20)
        told = {name: rows.drop("variant") for (name,), rows in found.group_by("variant")}
        assert not told["with"].equals(told["less"])
        nobody = replay(Batch.of(untaught), [Variant("less", policy)], depth=20)
        assert told["less"].equals(nobody.drop("variant"))


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["question", "memory"])
def test_votes_have_the_age_of_their_own_search(memory, asked, scope):
    """The same candidates, asked 60 days later: older votes take less."""
    search_id = next(one for one, response in asked.items() if response.query == "deploy day")
    payload = memory.journal.get(search_id).payload
    later = datetime.fromisoformat(payload["as_of"]) + timedelta(days=60)
    memory.journal.append(
        [Entry(event_id="later", kind="search", namespace="ada", subject="later", principal="p",
               occurred_at=datetime.now(UTC), payload={**payload, "as_of": later.isoformat()})]
    )  # fmt: skip
    (slice_,) = logged_searches(memory.journal, days(memory), "ada")
    deploy = ids.memory_id("ada", "deploy")
    policy = replace(memory.policy, sparse_recall=False, feedback_scope=scope)
    kept = replay(slice_.batch, [Variant("v", policy)], depth=20)
    scores = dict(kept.filter(pl.col("memory_id") == deploy).select("search", "score").iter_rows())
    first = slice_.searches["search_id"].to_list().index(search_id)
    assert scores[len(asked)] > scores[first]

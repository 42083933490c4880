from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, PLAIN, build, near, policies, votes, worlds

from slowwave.scoring.evaluation.batch import CANDIDATES, Batch
from slowwave.scoring.evaluation.replay import RESULTS, Variant, abstentions, replay
from slowwave.scoring.ranking import Candidates, MemoryState, RankingPolicy, rank

ON = replace(PLAIN, sparse_recall=True)


@st.composite
def full_worlds(draw) -> Candidates:
    """Candidates that have titles and words of the query as well."""
    found = draw(worlds())
    size = len(found)
    shares = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=size, max_size=size).map(np.array)
    return replace(found, title=draw(shares), coverage=draw(shares)) if size else found


searches = st.lists(
    st.tuples(
        full_worlds(), st.floats(0, 90).map(lambda days: NOW + timedelta(days=days)), st.integers(0, 6)
    ),
    max_size=6,
)
channels = st.frozensets(st.sampled_from(["vector", "bm25", "trigger", "learned", "keys"]), max_size=3)


def taken(found: Candidates, without: frozenset[str]) -> Candidates:
    """The candidates that a search would have had without some channels, made one chunk after the other."""
    by = [set(found.channels(at)) for at in range(len(found))]
    kept = np.array([at for at, names in enumerate(by) if not names or names - without], dtype=np.int64)
    given_ = {
        name: getattr(found, name)[kept]
        for name in ("cosine", "bm25", "vector_rank", "bm25_rank", "ordinal", "chunk_count", "title",
                     "coverage", "rerank")
    }  # fmt: skip
    if "vector" in without:
        given_ |= {"cosine": np.full(len(kept), NAN), "vector_rank": np.zeros(len(kept), dtype=np.int64)}
    if "bm25" in without:
        given_ |= {"bm25": np.full(len(kept), NAN), "bm25_rank": np.zeros(len(kept), dtype=np.int64)}
    if "trigger" in without:
        given_["triggers"] = {}
    states = found.states
    if "learned" in without:
        states = {name: replace(one, learned=0.0) for name, one in states.items()}
    if "keys" in without:
        states = {name: replace(one, key=0.0) for name, one in states.items()}
    given_["states"] = states
    return replace(
        found,
        chunk_ids=[found.chunk_ids[at] for at in kept],
        memory_ids=[found.memory_ids[at] for at in kept],
        **given_,
    )


def one_by_one(asked, variants, depth) -> list[tuple]:
    rows = []
    for variant in variants:
        for at, (found, as_of, limit) in enumerate(asked):
            less = taken(found, variant.without)
            ranking = rank(less, variant.policy, as_of=as_of, limit=limit if depth is None else depth)
            rows += [
                (at, variant.name, one.rank, one.memory_id, one.score, list(less.channels_of(one.chunks)))
                for one in ranking.results
            ]
    return rows


@pytest.mark.slow
@settings(max_examples=150)
@given(searches, st.lists(st.tuples(policies, channels), max_size=3), st.none() | st.integers(0, 20))
def test_a_replay_is_the_ranking_of_each_search_to_the_last_digit(asked, tried, depth):
    variants = [Variant(f"v{at}", policy, without) for at, (policy, without) in enumerate(tried)]
    found = replay(Batch.of(asked), variants, depth=depth)
    assert found.schema == RESULTS
    assert found.rows() == one_by_one(asked, variants, depth)


@pytest.mark.slow
@settings(max_examples=100)
@given(searches, policies, channels)
def test_who_abstains_is_told_and_how_sure_they_are(asked, policy, without):
    expected = []
    for at, (found, as_of, limit) in enumerate(asked):
        ranking = rank(taken(found, without), policy, as_of=as_of, limit=limit)
        expected.append((at, "v", ranking.signal, ranking.abstained))
    assert abstentions(Batch.of(asked), [Variant("v", policy, without)]).rows() == expected


def frame(asked) -> pl.DataFrame:
    """The searches as their payloads are decoded."""
    lines = [json.dumps(found.to_dict(), allow_nan=False) for found, _, _ in asked]
    payload = pl.Struct({"memory_id": pl.List(pl.String), "ordinal": pl.List(pl.Int64), **CANDIDATES})
    return pl.DataFrame(
        {"limit": [limit for _, _, limit in asked], "as_of": [as_of for _, as_of, _ in asked],
         "said": pl.Series(lines, dtype=pl.String).str.json_decode(payload)},
        schema_overrides={"limit": pl.Int64, "as_of": pl.Datetime("us", "UTC")},
    ).unnest("said")  # fmt: skip


@pytest.mark.slow
@settings(max_examples=100)
@given(searches, policies, channels)
def test_a_batch_from_a_frame_is_the_batch_of_the_candidates(asked, policy, without):
    variants = [Variant("all", policy), Variant("less", policy, without)]
    one, other = Batch.of(asked), Batch.of_frame(frame(asked))
    assert len(other) == len(asked)
    for depth in (None, 20):
        assert replay(other, variants, depth=depth).equals(replay(one, variants, depth=depth))
    assert abstentions(other, variants).equals(abstentions(one, variants))


def shown(found, policy=PLAIN, without=(), limit=10, depth=None) -> list[str]:
    batch = Batch.of([(found, NOW, limit)])
    return replay(batch, [Variant("v", policy, frozenset(without))], depth=depth)["memory_id"].to_list()


HALF = replace(PLAIN, vector_weight=0.5)
MIXED = build(
    [("a", 0.9, NAN, 1, 0), ("b", 0.2, 8.0, 0, 1), ("c", 0.8, 4.0, 2, 2), ("d", 0.6, NAN, 0, 0)],
    triggers={"d": ("night shift", 1.0)},
)


def test_what_only_a_channel_found_is_gone_without_it():
    assert shown(MIXED, HALF) == ["c", "b", "d", "a"]
    assert shown(MIXED, HALF, {"vector"}) == ["b", "c", "d"]
    assert shown(MIXED, HALF, {"bm25"}) == ["d", "a", "c"]
    assert shown(MIXED, HALF, {"trigger"}) == ["c", "b", "a"]
    assert shown(MIXED, HALF, {"vector", "bm25", "trigger"}) == []


def test_the_scores_of_a_channel_do_not_count_without_it():
    batch = Batch.of([(MIXED, NOW, 10)])
    scores = {
        name: dict(rows.select("memory_id", "score").iter_rows())
        for (name,), rows in replay(
            batch, [Variant(one, HALF, frozenset({one})) for one in ("vector", "bm25", "trigger")]
        ).group_by("variant")
    }
    assert scores["vector"] == pytest.approx({"b": 0.5, "c": 0.25, "d": 0.2})
    assert scores["bm25"] == pytest.approx({"d": 0.5, "a": 0.45, "c": 0.4})
    assert scores["trigger"] == pytest.approx({"c": 0.65, "b": 0.6, "a": 0.45})


def test_without_the_vector_channel_no_short_memory_is_recalled_and_the_query_is_less_sure():
    found = build([("l0", 0.1, 9.0, 9, 1), ("s", 0.95, 1.0, 1, 2)], chunk_count=[5, 1])
    words = replace(ON, vector_weight=0.0)
    assert shown(found, words, limit=1) == ["s"]
    assert shown(found, words, {"vector"}, limit=1) == ["l0"]
    sure = abstentions(
        Batch.of([(found, NOW, 1)]),
        [Variant("all", replace(words, abstention_floor=0.5)),
         Variant("less", replace(words, abstention_floor=0.5), frozenset({"vector"}))],
    )  # fmt: skip
    assert sure["signal"].to_list() == pytest.approx([0.95 / 1.2, 0])
    assert sure["abstained"].to_list() == [False, True]


def test_what_was_learned_is_a_channel():
    found = build(
        [("a", 0.5, NAN, 1, 0), ("b", 0.45, NAN, 2, 0), ("c", 0.4, NAN, 0, 0)],
        states={"b": MemoryState(learned=0.1), "c": MemoryState(learned=0.15)},
    )
    assert shown(found) == ["b", "c", "a"]
    assert shown(found, without={"learned"}) == ["a", "b"]
    by = replay(Batch.of([(found, NOW, 9)]), [Variant("v", PLAIN)])["channels"].to_list()
    assert by == [["learned", "vector"], ["learned"], ["vector"]]


def test_search_keys_are_a_channel():
    found = build(
        [("a", 0.5, NAN, 1, 0), ("b", 0.4, NAN, 2, 0), ("c", 0.3, NAN, 0, 0)],
        states={"b": MemoryState(key=0.2), "c": MemoryState(key=0.4, learned=0.15)},
    )
    assert shown(found) == ["c", "b", "a"]
    assert shown(found, without={"keys"}) == ["a", "c", "b"]
    assert shown(found, without={"keys", "learned"}) == ["a", "b"]
    assert shown(found, replace(PLAIN, key_weight=0.0)) == ["a", "c", "b"]
    by = replay(Batch.of([(found, NOW, 9)]), [Variant("v", PLAIN)])["channels"].to_list()
    assert by == [["keys", "learned"], ["keys", "vector"], ["vector"]]


def test_a_depth_is_what_each_search_is_asked_for_and_none_is_its_own_limit():
    found = build(near(a=0.9, b=0.8, c=0.7))
    assert shown(found, limit=1) == ["a"]
    assert shown(found, limit=1, depth=2) == ["a", "b"]
    assert shown(found, limit=3, depth=2) == ["a", "b"]
    assert shown(found, limit=0) == []


def test_each_search_has_its_own_best_words_and_its_own_moment():
    voted = build(near(a=0.5), states={"a": MemoryState(not_useful_at=votes(3))})
    words = build([("a", NAN, 2.0, 0, 1), ("b", NAN, 1.0, 0, 2)])
    louder = build([("a", NAN, 20.0, 0, 1), ("b", NAN, 5.0, 0, 2)])
    batch = Batch.of(
        [(voted, NOW, 9), (words, NOW, 9), (louder, NOW, 9), (voted, NOW + timedelta(days=30), 9)]
    )
    found = replay(batch, [Variant("v", replace(PLAIN, vector_weight=0.5))])
    assert found["search"].to_list() == [0, 1, 1, 2, 2, 3]
    assert found["score"].to_list() == pytest.approx([0.25 * 0.7, 0.5, 0.25, 0.5, 0.125, 0.25 * 0.85])


def test_searches_of_very_different_sizes_are_ranked_alike():
    """One with many memories among many with one: they do not fit into a table of equal rows."""
    many = build(near(**{f"m{at:03}": 0.5 + at / 1_000 for at in range(300)}))
    asked = [(build(near(a=0.5)), NOW, 5)] * 50 + [(many, NOW, 5)]
    found = replay(Batch.of(asked), [Variant("v", PLAIN)], depth=None)
    assert found.rows() == one_by_one(asked, [Variant("v", PLAIN)], None)


def test_nothing_to_replay_gives_an_empty_frame_of_the_same_columns():
    for asked in ([], [(build([]), NOW, 10)]):
        for variants in ([], [Variant("v", RankingPolicy())]):
            for batch in (Batch.of(asked), Batch.of_frame(frame(asked))):
                found = replay(batch, variants)
                assert (found.schema, found.height) == (RESULTS, 0)
                assert abstentions(batch, variants).height == len(asked) * len(variants)


def test_what_cannot_be_replayed_is_named():
    batch = Batch.of([])
    with pytest.raises(ValueError, match="a name of its own"):
        replay(batch, [Variant("v", PLAIN), Variant("v", ON)])
    with pytest.raises(ValueError, match="depth = -1"):
        replay(batch, [], depth=-1)
    with pytest.raises(ValueError, match="smell: no channel"):
        Variant("v", PLAIN, frozenset({"smell"}))
    with pytest.raises(ValueError, match="smell: no channel"):
        batch.columns.without({"smell"})

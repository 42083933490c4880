from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, PLAIN, SCOPES, build, near, policies, served, voted, votes, worlds

from slowwave.scoring.evaluation.batch import CANDIDATES, Batch
from slowwave.scoring.evaluation.replay import RESULTS, Variant, abstentions, replay
from slowwave.scoring.ranking import Candidates, MemoryState, RankingPolicy, rank
from slowwave.scoring.ranking.columns import columns_of

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
channels = st.frozensets(
    st.sampled_from(["vector", "bm25", "trigger", "learned", "keys", "ratings"]), max_size=3
)


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
    if "ratings" in without:
        states = {name: MemoryState(learned=one.learned, key=one.key) for name, one in states.items()}
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
            policy = variant.policy if depth is None else variant.policy.uncut
            ranking = rank(less, policy, as_of=as_of, limit=limit if depth is None else depth)
            rows += [
                (
                    at,
                    variant.name,
                    one.rank,
                    one.memory_id,
                    one.score,
                    list(less.origins([one.best], [one.chunks])[0][0]),
                )
                for one in ranking.results
            ]
    return rows


@pytest.mark.slow
@settings(max_examples=40)
@given(searches, st.lists(st.tuples(policies, channels), max_size=3), st.none() | st.integers(0, 20))
def test_a_replay_is_the_ranking_of_each_search_to_the_last_digit(asked, tried, depth):
    variants = [Variant(f"v{at}", policy, without) for at, (policy, without) in enumerate(tried)]
    found = replay(Batch.of(asked), variants, depth=depth)
    assert found.schema == RESULTS
    assert found.rows() == one_by_one(asked, variants, depth)


@pytest.mark.slow
@settings(max_examples=25)
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
@settings(max_examples=25)
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


@pytest.mark.parametrize("scope", SCOPES)
def test_a_search_can_be_ranked_without_what_was_said(scope):
    """Rule 8.3: keys and learned terms stay, and are not cut by a gain that is not there."""
    policy = replace(PLAIN, effectiveness_weight=0.3, feedback_scope=scope)
    found = build(
        [("a", 0.5, NAN, 1, 0), ("b", 0.4, NAN, 2, 0), ("c", 0.3, NAN, 3, 0)],
        states={
            "a": voted(scope, votes(3)), "b": served(scope, 1.0, key=0.1), "c": MemoryState(learned=0.05)
        },
    )  # fmt: skip
    assert shown(found, policy) == ["b", "c", "a"]
    assert shown(found, policy, {"ratings"}) == ["b", "a", "c"]
    without = {"ratings", "keys", "learned"}
    assert shown(found, policy, without) == ["a", "b", "c"]
    batch = Batch.of([(found, NOW, 9)])
    variants = [Variant("less", policy, frozenset({"ratings"})), Variant("none", policy, frozenset(without))]
    rows = replay(batch, variants).select("variant", "memory_id", "score").rows()
    scores = {row[:2]: row[2] for row in rows}
    assert scores == pytest.approx({
        ("less", "b"): 0.7 * 0.4 + 0.15 + 0.1, ("less", "a"): 0.7 * 0.5 + 0.15,
        ("less", "c"): 0.7 * 0.3 + 0.15 + 0.05, ("none", "a"): 0.5, ("none", "b"): 0.43,
        ("none", "c"): 0.36,
    })  # fmt: skip
    sure = abstentions(batch, [Variant("all", policy), variants[0]])["signal"]
    assert sure[0] == sure[1]  # feedback says nothing of whether there is an answer


@given(searches)
def test_without_ratings_a_search_is_one_that_nobody_ever_rated(asked):
    batch = Batch.of(asked)
    less = batch.columns.without({"ratings"})
    same = batch.columns.unrated()
    nobody = Batch.of([(taken(found, frozenset({"ratings"})), *rest) for found, *rest in asked]).columns
    for part in fields(less):
        value, plain = getattr(less, part.name), getattr(nobody, part.name)
        assert value.dtype == plain.dtype, part.name
        assert np.array_equal(value, plain, equal_nan=value.dtype.kind == "f"), part.name
        assert np.array_equal(getattr(same, part.name), value, equal_nan=value.dtype.kind == "f")
    keep = {"key", "learned", "cosine", "bm25", "superseded", "points", "trigger"}
    for name in keep:
        assert getattr(less, name) is getattr(batch.columns, name)


def test_fields_of_a_question_are_logged_and_read_to_the_last_digit():
    """A moment with microseconds, a nearness and an effectiveness that no short number has."""
    moment = datetime(2026, 2, 27, 23, 59, 59, 999_999, tzinfo=UTC)
    doubts = ((moment, 1 / 3), (moment - timedelta(days=17, microseconds=1), 0.1 + 0.2))
    state = MemoryState(
        effectiveness=0.9, feedback_count=7, question_effectiveness=2 / 3, question_count=3,
        question_not_useful=doubts, key=0.31,
    )  # fmt: skip
    found = build(near(a=0.7, b=0.6, c=0.5), states={"a": state, "c": MemoryState(0.2, 4)})
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert kept["states"]["a"]["question_not_useful"][0] == [moment.isoformat(), 1 / 3]
    assert not any(name.startswith("question") for name in kept["states"]["c"])
    assert Candidates.from_dict(kept).states == found.states
    asked = [(found, NOW, 9), (build(near(a=0.5)), NOW, 9)]
    one, other = Batch.of(asked).columns, Batch.of_frame(frame(asked)).columns
    assert other.doubted_near.tolist() == [1 / 3, 0.1 + 0.2]
    assert other.doubted_at.tolist() == [when.timestamp() for when, _ in doubts]
    assert other.question_effectiveness.tolist() == [2 / 3, 0.5, 0.5, 0.5]
    assert other.question_count.tolist() == [3, 0, 0, 0]
    for part in fields(one):
        if part.name != "number":
            value = getattr(one, part.name)
            assert np.array_equal(getattr(other, part.name), value, equal_nan=value.dtype.kind == "f")
    for scope in SCOPES:
        policy = RankingPolicy(feedback_scope=scope)
        ranking = rank(found, policy, as_of=NOW, limit=9)
        again = replay(Batch.of_frame(frame(asked)), [Variant("v", policy)], depth=None)
        again = again.filter(pl.col("search") == 0)
        assert again["score"].to_list() == [row.score for row in ranking.results]


def test_a_search_that_found_an_identifier_never_abstains_in_a_replay_either():
    """Its strength is above that of a trigger phrase."""
    found = build(near(a=0.1, b=0.1), triggers={"a": ("F-2026/091", 5.0)})
    batch = Batch.of_frame(frame([(found, NOW, 9)]))
    policy = replace(PLAIN, abstention_floor=0.5, fit_floor=0.5)
    assert not rank(found, policy, as_of=NOW, limit=9).abstained
    assert abstentions(batch, [Variant("v", policy)]).rows() == [(0, "v", 1.0, False)]


def test_a_search_of_before_there_were_questions_has_none():
    """Its states do not name the fields at all; another one of the same batch does."""
    old = build(near(a=0.5), states={"a": MemoryState(0.9, 5, votes(1))})
    new = build(near(a=0.5), states={"a": served("question", 0.9)})
    asked = [(old, NOW, 9), (new, NOW, 9)]
    for batch in (Batch.of(asked), Batch.of_frame(frame(asked))):
        assert batch.columns.question_count.tolist() == [0, 3]
        assert batch.columns.question_effectiveness.tolist() == [0.5, 0.9]
        assert batch.columns.doubted.tolist() == []
    alone = frame(asked[:1])
    assert Batch.of_frame(alone).columns.question_effectiveness.tolist() == [0.5]


def test_doubts_go_with_the_memory_that_only_another_channel_found():
    """What a channel alone found is gone with its votes; those of the others keep their memory."""
    found = build(
        [("a", 0.9, NAN, 1, 0), ("b", NAN, 8.0, 0, 1), ("c", NAN, 4.0, 0, 2)],
        states={name: voted("question", votes(n), 0.5) for n, name in enumerate("abc", start=1)},
    )
    less = columns_of(found, NOW)[0].without({"vector"})
    assert less.doubted.tolist() == [0, 0, 1, 1, 1]
    assert less.doubted_near.tolist() == [0.5] * 5
    assert less.question_count.tolist() == [2, 3]


def test_a_depth_is_what_each_search_is_asked_for_and_none_is_its_own_limit():
    found = build(near(a=0.9, b=0.8, c=0.7))
    assert shown(found, limit=1) == ["a"]
    assert shown(found, limit=1, depth=2) == ["a", "b"]
    assert shown(found, limit=3, depth=2) == ["a", "b"]
    assert shown(found, limit=0) == []


@pytest.mark.parametrize("scope", SCOPES)
def test_each_search_has_its_own_best_words_and_its_own_moment(scope):
    doubted = build(near(a=0.5), states={"a": voted(scope, votes(3))})
    words = build([("a", NAN, 2.0, 0, 1), ("b", NAN, 1.0, 0, 2)])
    louder = build([("a", NAN, 20.0, 0, 1), ("b", NAN, 5.0, 0, 2)])
    batch = Batch.of(
        [(doubted, NOW, 9), (words, NOW, 9), (louder, NOW, 9), (doubted, NOW + timedelta(days=30), 9)]
    )
    found = replay(batch, [Variant("v", replace(PLAIN, vector_weight=0.5, feedback_scope=scope))])
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
    with pytest.raises(ValueError, match="smell: unknown channel"):
        batch.columns.without({"ratings", "smell"})
    with pytest.raises(ValueError, match="smell: unknown channel"):
        batch.columns.without({"smell"})

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from ranking_helpers import NAN, NOW, build, near, worlds

from slowwave.scoring.ranking import Candidates, MemoryState
from slowwave.scoring.ranking.candidates import Led

COLUMNS = ("cosine", "bm25", "vector_rank", "bm25_rank", "ordinal", "chunk_count", "rerank")


@pytest.mark.slow
@given(worlds())
def test_candidates_go_through_json_and_back_to_the_last_digit(found):
    text = json.dumps(found.to_dict(), allow_nan=False)
    again = Candidates.from_dict(json.loads(text))
    for name in COLUMNS:
        one, two = getattr(found, name), getattr(again, name)
        assert one.dtype == two.dtype, name
        assert np.array_equal(one, two, equal_nan=True), name
    for name in ("chunk_ids", "memory_ids", "triggers", "follows", "states", "confidence"):
        assert getattr(found, name) == getattr(again, name), name
    assert json.dumps(again.to_dict()) == text


def test_what_is_not_given_is_absent():
    plain = Candidates(["a:0", "a:1"], ["a", "a"], *(np.zeros(2),) * 2, *(np.zeros(2, np.int64),) * 2)
    assert (plain.ordinal.tolist(), plain.chunk_count.tolist()) == ([0, 0], [1, 1])
    assert np.isnan(plain.rerank).tolist() == [True, True]
    assert (plain.triggers, plain.states, plain.confidence) == ({}, {}, {})
    assert plain.to_dict()["rerank"] is None
    assert len(plain) == 2


@pytest.mark.parametrize("name", ["memory_ids", *COLUMNS])
def test_a_column_of_another_length_is_an_error(name):
    given_ = {
        "memory_ids": ["a", "b"], "cosine": np.zeros(2), "bm25": np.zeros(2), "vector_rank": np.zeros(2),
        "bm25_rank": np.zeros(2), "ordinal": np.zeros(2), "chunk_count": np.zeros(2), "rerank": np.zeros(2),
    }  # fmt: skip
    for wrong in (given_[name][:1], [*given_[name], given_[name][0]]):
        with pytest.raises(ValueError, match=f"{name} has {len(wrong)} values for 2 candidates"):
            Candidates(chunk_ids=["a:0", "b:0"], **{**given_, name: wrong})


@pytest.mark.parametrize("name", ["memory_ids", "cosine", "bm25", "vector_rank", "bm25_rank"])
def test_a_column_that_has_to_be_there_cannot_be_empty(name):
    given_ = {"memory_ids": ["a"], "cosine": [0], "bm25": [0], "vector_rank": [0], "bm25_rank": [0]}
    with pytest.raises(ValueError, match=f"{name} has 0 values for 1 candidates"):
        Candidates(chunk_ids=["a:0"], **{**given_, name: []})


def test_every_channel_that_found_a_candidate_is_known():
    found = build(
        [("a", 0.5, NAN, 1, 0), ("b", NAN, 2.0, 0, 1), ("c", 0.1, 1.0, 2, 2), ("d", 0.2, NAN, 0, 0)],
        triggers={"d": ("x", 1.0), "c": ("y", 0.5)},
    )
    assert [found.channels(at) for at in range(4)] == [
        ("vector",), ("bm25",), ("vector", "bm25", "trigger"), ("trigger",),
    ]  # fmt: skip
    assert [scores for _, scores in found.origins(range(4), [[at] for at in range(4)])] == [
        {"cosine": 0.5}, {"bm25": 2.0}, {"cosine": 0.1, "bm25": 1.0}, {"cosine": 0.2},
    ]  # fmt: skip


def test_keys_are_a_channel_and_are_kept_where_there_are_some():
    found = build(near(a=0.5, b=0.4), states={"a": MemoryState(key=0.2), "b": MemoryState(learned=0.1)})
    assert [found.channels(at) for at in range(2)] == [("vector", "keys"), ("vector", "learned")]
    told = found.to_dict()
    assert told["states"]["a"]["key"] == 0.2
    assert "key" not in told["states"]["b"]
    assert Candidates.from_dict(json.loads(json.dumps(told))).states == found.states


def test_why_keys_lift_a_memory_is_not_kept():
    plain = build(near(a=0.5), states={"a": MemoryState(key=0.2)})
    assert replace(plain, led={"a": Led(1, 0.9, "a question")}).to_dict() == plain.to_dict()


def test_a_moment_keeps_its_time_zone():
    elsewhere = datetime(2026, 2, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    found = build([("a", 0.5, NAN, 1, 0)], states={"a": MemoryState(not_useful_at=(NOW, elsewhere))})
    again = Candidates.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.states["a"].not_useful_at == (NOW, elsewhere)


@pytest.mark.parametrize("say", [0.0, 0.25, 1.0])
def test_what_the_vector_channel_had_to_say_is_kept(say):
    found = replace(build(near(a=0.5)), vector_say=say)
    assert Candidates.from_dict(json.loads(json.dumps(found.to_dict()))).vector_say == say


def test_a_bound_goes_through_json_and_back_and_may_be_unknown():
    found = build(near(a=0.5))
    assert math.isnan(Candidates.from_dict(json.loads(json.dumps(found.to_dict()))).bm25_bound)
    known = replace(found, bm25_bound=12.5)
    assert Candidates.from_dict(json.loads(json.dumps(known.to_dict()))).bm25_bound == 12.5


@pytest.mark.parametrize("words", [0, 1, 7])
def test_the_words_of_a_query_go_through_json_and_back(words):
    data = replace(build(near(a=0.5)), query_words=words).to_dict()
    assert Candidates.from_dict(json.loads(json.dumps(data))).query_words == words
    del data["query_words"]  # as older versions logged it
    assert Candidates.from_dict(data).query_words == 0

"""Searches whose best candidates a cross-encoder reads."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from search_helpers import ROTA, found, payload, rows_of

from slowwave.search.log import replay


class FakeReranker:
    """Says of every text what its words are worth, and remembers what it was asked."""

    name = "fake"

    def __init__(self, worth: dict[str, float]) -> None:
        self.worth = worth
        self.asked: list[tuple[str, list[str]]] = []

    def scores(self, query, texts):
        self.asked.append((query, list(texts)))
        found = [max((worth for word, worth in self.worth.items() if word in text), default=0.0)
                 for text in texts]  # fmt: skip
        return np.array(found, dtype=np.float64)


def reranking(open_memory, worth: dict[str, float], **ranking):
    memory = open_memory()
    memory._space.__dict__["policy"] = replace(memory.policy, **ranking)
    memory._space.__dict__["reranker"] = FakeReranker(worth)
    return memory, memory._space.reranker


def test_the_cross_encoder_turns_the_order(three, memory, open_memory):
    query = "deploy day of the whole team"
    plain = memory.search(query, explain=True)
    before = {one.memory_id: one for one in plain}
    worth = {"Ishbel": 0.9, "battery": 0.1234567891, "deploy day": 0.0}
    judged, fake = reranking(open_memory, worth, rerank_weight=0.6)
    response = judged.search(query, explain=True)
    assert plain[0].source == "deploy"
    assert response[0].source == "rota"
    assert [asked for asked, _ in fake.asked] == [query]
    read = {"rota": 0.9, "battery": 0.123457, "deploy": 0.0, "long": 0.0}
    for result in response:
        account, told = result.explanation, before[result.memory_id].explanation
        assert sum(row.value for row in account.contributions) == pytest.approx(result.score, abs=1e-9)
        assert account.scores["rerank"] == read[result.source]
        value = read[result.source]
        rows = rows_of(result, "rerank")
        assert [row.value for row in rows] == ([pytest.approx(0.7 * 0.6 * value)] if value else [])
        assert [(row.field, row.term) for row in rows] == [("text", "cross-encoder")] * bool(value)
        assert account.semantic_score == pytest.approx(0.4 * told.semantic_score + 0.6 * value)


def test_the_cross_encoder_reads_titles_and_headings_with_the_text(three, open_memory):
    judged, fake = reranking(open_memory, {}, rerank_weight=0.5)
    judged.search("deploy day")
    ((_, texts),) = fake.asked
    assert len(texts) == 4
    (rota,) = [text for text in texts if ROTA in text]
    assert rota.index("Rota") < rota.index(ROTA)
    (long,) = [text for text in texts if "Gauge number" in text]
    assert "Gauges" in long
    assert "Part" in long


@pytest.mark.parametrize("limit", [0, 1, 10])
def test_a_reranked_search_is_replayed_without_the_cross_encoder(three, open_memory, limit):
    judged, fake = reranking(open_memory, {"Ishbel": 1 / 3, "pier 1": 2 / 3}, rerank_weight=0.5)
    for query in ("deploy day", "gauge of the pier", "zzz"):
        response = judged.search(query, limit=limit)
        asked = len(fake.asked)
        logged = json.loads(json.dumps(payload(judged, response)))
        again = replay(logged)
        assert len(fake.asked) == asked
        assert [(one.memory_id, one.score, one.flags) for one in again.results] == [
            (one.memory_id, one.score, one.flags) for one in response
        ]
        assert any(score is not None for score in logged["candidates"]["rerank"])


@pytest.mark.parametrize("top", [1, 2, 3])
def test_only_the_best_are_read(three, memory, open_memory, top):
    query = "deploy day of the whole team"
    best = [result.memory_id for result in memory.search(query)][:top]
    judged, fake = reranking(open_memory, {"": 0.5}, rerank_weight=0.5, rerank_top=top)
    response = judged.search(query, explain=True)
    ((_, texts),) = fake.asked
    assert len(texts) == top
    read = {result.memory_id for result in response if "rerank" in result.explanation.scores}
    assert read == set(best)
    assert {result.memory_id for result in response if rows_of(result, "rerank")} == set(best)
    column = payload(judged, response)["candidates"]["rerank"]
    assert sum(score is not None for score in column) == top
    assert len(response) == 4
    for result in response:
        assert sum(row.value for row in result.explanation.contributions) == pytest.approx(result.score)


@pytest.mark.parametrize("ranking", [{}, {"rerank_weight": 0.0}, {"rerank_weight": 0.5, "rerank_top": 0}])
def test_a_cross_encoder_without_a_share_is_not_asked(three, memory, open_memory, ranking):
    judged, fake = reranking(open_memory, {"": 1.0}, **ranking)
    response = judged.search("deploy day", explain=True)
    assert fake.asked == []
    assert found(response) == found(memory.search("deploy day"))
    assert all(rows_of(result, "rerank") == [] for result in response)


def test_nothing_found_is_nothing_to_read(open_memory):
    judged, fake = reranking(open_memory, {}, rerank_weight=0.5)
    assert judged.search("deploy day").results == ()
    assert fake.asked == []


def test_a_reader_of_everything_changes_neither_signal_nor_abstention(three, memory, open_memory):
    judged, _ = reranking(open_memory, {"": 1.0}, rerank_weight=1.0, abstention_floor=0.999)
    response = judged.search("weather on the moon", explain=True)
    assert response.abstained
    assert response.signal == memory.search("weather on the moon").signal
    assert {one.reason for one in response.not_shown} == {"abstained"}

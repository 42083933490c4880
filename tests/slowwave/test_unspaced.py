"""Texts that are written without spaces: found, explained, erased, and taken over from old homes."""

from __future__ import annotations

import pytest

from slowwave.learning.isolation import contaminated_chunks
from slowwave.search.log import replay
from slowwave.search.searcher import searcher_in

TEXTS = {
    "deploy": "我们每个星期四用Kubernetes部署新版本，星期五谁都不许部署。",
    "sister": "我姐姐住在柏林，她在一家医院当护士，养了一只猫。",
    "rota": "เวรกลางคืนสัปดาห์คี่เป็นของอิชเบล สัปดาห์คู่เป็นของรูริด โทรศัพท์ทั้งสองเครื่องดังตอนกลางคืน",
    "battery": "แบตเตอรี่ของเครื่องวัดทางเหนือใช้ได้สิบเอ็ดสัปดาห์ในฤดูหนาว",
    "ferry": "The ferry to the island leaves at seven in the morning and comes back before the dark.",
}


@pytest.fixture
def home(open_memory):
    memory = open_memory(gate={"mode": "off"})
    memory.save_many([{"key": key, "content": text} for key, text in TEXTS.items()])
    return memory


def found(memory, query: str) -> list[str]:
    """What the full-text channel finds, best first."""
    candidates = searcher_in(memory._space).find("ada", query, 10).candidates
    names = {result.memory_id: result.source for result in memory.search("the ferry", limit=10)}
    ranks = zip(candidates.bm25_rank.tolist(), candidates.memory_ids, strict=True)
    return [names[memory_id] for rank, memory_id in sorted(ranks) if rank]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("什么时候部署？", "deploy"), ("谁是护士", "sister"), ("猫", "sister"), ("kubernetes", "deploy"),
        ("Kubernetes部署", "deploy"),
        ("ใครเข้าเวรกลางคืน", "rota"), ("แบตเตอรี่ใช้ได้กี่สัปดาห์", "battery"), ("when does the ferry leave", "ferry"),
    ],
)  # fmt: skip
def test_a_question_finds_its_text(home, query, expected):
    assert found(home, query)[0] == expected


def test_the_account_of_a_score_has_the_pieces_of_the_query(home):
    response = home.search("星期五可以部署吗", limit=1, explain=True)
    (result,) = response
    assert result.source == "deploy"
    rows = {row.term: row.value for row in result.explanation.contributions if row.source == "bm25"}
    assert {"星期", "期五", "部署"} <= set(rows)
    assert sum(row.value for row in result.explanation.contributions) == pytest.approx(result.score, abs=1e-9)


def test_what_is_embedded_and_shown_is_the_text_as_it_was_written(home):
    rows = home.store.read("chunks", columns=["text", "search_text"])
    assert sorted(rows["text"]) == sorted(TEXTS.values())
    assert set(TEXTS.values()) & set(rows["search_text"]) == {TEXTS["ferry"]}
    assert contaminated_chunks(home.store).is_empty()
    vector = home.store.read("memories", f"content = '{TEXTS['sister']}'")["vector"].item().to_list()
    assert vector == home.embedder.embed_query(TEXTS["sister"]).tolist()


@pytest.mark.slow
def test_words_lent_by_an_erased_turn_go(home):
    asked = home.save("午夜的密码是什么？潮汐闸门由谁打开？", key="t1")
    home.save("由伊什贝尔打开，钥匙挂在墙上。", key="t2", follows="t1")
    assert found_by(home, "潮汐闸门") == ["t1", "t2"]
    home.erase(asked.memory_id)
    assert found_by(home, "潮汐闸门") == []
    assert found_by(home, "钥匙挂在墙上") == ["t2"]
    assert contaminated_chunks(home.store).is_empty()


def found_by(memory, words: str) -> list[str]:
    """Sources of the memories that the words find by text, in order."""
    from slowwave.store.text import full_text

    rows = full_text(memory.store, "chunks", "search_text", words).select(["source", "_score"]).to_list()
    return sorted(row["source"] for row in rows)


@pytest.mark.slow
def test_a_model_that_does_not_know_the_language_has_no_say_and_a_replay_knows_it(home, monkeypatch):
    monkeypatch.setattr(type(home.embedder), "knows", lambda *_: 0.0, raising=False)
    response = home.search("谁是护士", limit=3, explain=True)
    assert response[0].source == "sister"
    rows = {row.source: row for row in response[0].explanation.contributions}
    assert (rows["vector"].value, rows["vector"].term) == (0, "meaning, the model knows the language by 0%")
    payload = home.journal.get(response.search_id).payload
    assert payload["candidates"]["vector_say"] == 0
    again = replay(payload)
    assert [(one.memory_id, one.score) for one in again.results] == [
        (one.memory_id, one.score) for one in response
    ]
    del payload["candidates"]["vector_say"]  # as older versions logged it
    assert replay(payload).results[0].score != response[0].score

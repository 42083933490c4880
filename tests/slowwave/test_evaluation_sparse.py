"""What the place that short memories are guaranteed was worth, and which of them are not found."""

from __future__ import annotations

import pytest
from evaluation_days import NOTES, judge, memory_of, said, take_in, with_clock
from feedback_days import at, name

from slowwave.search.sparse_recall import figures, short_memories

ASKED = {
    "the gauge of the pier in spring and autumn": "used",
    "the gauge of the harbour in the evening": "ignored",
    "the gauge where the tide was unusual": "judged",
    "the gauge of the sea floor at noon": "nobody",
}


@pytest.fixture
def memory(open_memory):
    """Long notes win by their words; each search gives the nearest short one the last place."""
    memory = open_memory(
        gate={"mode": "off"},
        reconsolidation={"policy": "off"},
        ranking={"vector_weight": 0.0, "sparse_keeps": 3, "sparse_distance": 2.0, "sparse_top": 1_000},
    )
    with_clock(memory)
    words = " ".join(ASKED)
    memory.save_many(
        [
            {"content": f"Pier {at}.\n\n" + f"Part {at}: {words}. " * 40, "key": f"long {at}"}
            for at in range(5)
        ]
        + [{"content": NOTES[key], "key": key, "title": key.capitalize()} for key in ("deploy", "ferry")]
    )  # fmt: skip
    return memory


def test_the_figures_are_those_of_the_verdicts(memory):
    injected = {}
    for query, becomes in ASKED.items():
        response = memory.search(query, limit=4)
        (one,) = [result for result in response if "recall_injected" in result.flags]
        injected[becomes] = (query, one.memory_id)
        if becomes in ("used", "ignored"):
            rating = "helpful" if becomes == "used" else "unhelpful"
            memory.feedback(response.search_id, one.memory_id, rating)
    take_in(memory._space, [name(1)])
    query, found = injected["judged"]
    key = next(key for key in ("deploy", "ferry") if memory_of(key) == found)
    judge(memory.store, [said(name(1), query, memory_of(key), 2.0)])
    done = figures(memory._space, [name(1)], "ada")
    assert done.to_dict() == {
        "sparse_recall_injections": 4,
        "sparse_recall_hit_rate": pytest.approx(2 / 3),
        "sparse_recall_false_positive_rate": pytest.approx(1 / 3),
        "judged": 3,
    }
    assert figures(memory._space, [name(1)]) == done
    assert figures(memory._space, [name(1)], "bob").sparse_recall_injections == 0
    assert figures(memory._space, [name(2)]).sparse_recall_injections == 0


def test_a_short_memory_is_diagnosed_by_its_own_questions(memory, open_memory):
    found = {one.memory_id: one for one in short_memories(memory._space, "ada")}
    assert found.keys() == {memory_of("deploy"), memory_of("ferry")}
    assert {one.diagnosis for one in found.values()} == {"passes"}
    assert {(one.by_id, one.by_search) for one in found.values()} == {(1.0, 1.0)}
    shy = open_memory(ranking={"abstention_floor": 1.0})
    (one,) = short_memories(shy._space, "ada", memory_id=memory_of("ferry"))
    assert (one.by_id, one.by_search, one.diagnosis) == (1.0, 0.0, "retrieval_regression")
    memory.store.table("chunks").delete(f"memory_id = '{memory_of('ferry')}'")
    (one,) = short_memories(memory._space, "ada", memory_id=memory_of("ferry"))
    assert (one.by_id, one.diagnosis) == (0.0, "ingestion_failure")
    assert memory.journal.read(kinds=["search"]).height == 0


def test_a_question_that_it_was_judged_relevant_for_is_asked(memory):
    before = short_memories(memory._space, "ada", memory_id=memory_of("ferry"))[0]
    judge(memory.store, [said(name(1), "boat trip before breakfast", memory_of("ferry"), 3.0)])
    judge(memory.store, [said(name(1), "something else", memory_of("ferry"), 0.0)])
    after = short_memories(memory._space, "ada", memory_id=memory_of("ferry"))[0]
    assert after.questions == before.questions + 1


def test_what_is_closed_or_long_or_elsewhere_is_not_asked_for(memory, open_memory):
    memory.save(NOTES["mast"], key="mast", sensitivity="secret")
    open_memory("bob").save(NOTES["rota"], key="rota")
    assert len(short_memories(memory._space, "ada")) == 2
    assert short_memories(memory._space, "ada", memory_id=memory_of("long 1")) == []
    assert short_memories(memory._space, "ada", memory_id=memory_of("mast")) == []
    assert len(short_memories(memory._space, "ada", most=1)) == 1
    assert at(1) == memory._space.now()

"""Search keys beside the full-text search, which must not reach them, and beside a change of the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from evaluation_days import with_clock
from feedback_days import DAY, at
from key_life import TEXTS, keys, lead_to
from learned_rows import decide

from slowwave.common import ids
from slowwave.errors import StoreError
from slowwave.learning import events
from slowwave.learning.isolation import canary, prove
from slowwave.maintenance.doctor import examine
from slowwave.maintenance.reembed import reembed
from slowwave.memory import Memory
from slowwave.scoring.feedback.learned import KEYS
from slowwave.settings import load
from slowwave.store.tables import CANARY_NAMESPACE
from slowwave.store.text import full_text, full_text_config

pytestmark = pytest.mark.usefixtures("learning_on")

NOON = at(10)
LEDGER = ids.memory_id("ada", "ledger")
QUERY = "what is the kestrel for?"
BGE, FAST = "bge-small-en-v1.5", "wordllama-256"


@pytest.fixture
def led(open_memory: Callable[..., Memory]) -> Memory:
    """A memory of five notes, to one of which a past question led."""
    memory = open_memory(learning={"interleave": 0.0})
    with_clock(memory, 10)
    memory.save_many([{"content": text, "key": key, "title": key} for key, text in TEXTS.items()])
    rows = [*keys(LEDGER, QUERY, taught=NOON - DAY), *keys(LEDGER, "Which KESTREL?", taught=NOON - DAY,
                                                           search_id="other")]  # fmt: skip
    lead_to(memory._space, rows)
    decide(memory, events.APPROVE, kind=KEYS)
    return memory


def lift(memory: Memory) -> float:
    """What keys add to the ledger."""
    found = memory.search(QUERY, explain=True)
    return sum(row.value for one in found for row in one.explanation.contributions if row.source == "key")


def index(table: str, column: str) -> Callable[[Memory], None]:
    """Someone gives a column a full-text index."""

    def contaminate(memory: Memory) -> None:
        memory.store.table(table).create_index(column, config=full_text_config())

    return contaminate


CONTAMINATED = [
    (index("question_vectors", "query"), "question_vectors.query has a full-text index"),
    (index("question_vectors", "query"), "is found in question_vectors by a text query"),
    (index("question_vectors", "namespace"), "question_vectors.namespace has a full-text index"),
    (index("search_keys", "query_id"), "search_keys.query_id has a full-text index"),
    (index("search_keys", "memory_id"), "search_keys.memory_id has a full-text index"),
    (index("search_views", "query"), "search_views.query has a full-text index"),
]


def test_a_store_as_it_is_made_is_proven_and_the_canary_is_in_both_tables(led):
    assert prove(led.store) == ()
    term = canary(led.store)
    rows = led.store.read("question_vectors", f"namespace = '{CANARY_NAMESPACE}'")
    assert rows["query"].to_list() == [term]
    assert lift(led) > 0
    assert led.search(QUERY).warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize(("contaminate", "said"), CONTAMINATED)
def test_an_index_is_found_out_nothing_learned_is_used_and_it_can_be_repaired(led, contaminate, said):
    full = lift(led)
    assert full > 0
    before = {table: led.store.read(table) for table in ("question_vectors", "search_keys")}
    contaminate(led)
    assert said in "; ".join(prove(led.store))
    fresh = Memory(led.settings, namespace="ada")  # as after a start
    fresh._space.now = led._space.now
    try:
        response = fresh.search(QUERY, explain=True)
        assert "full-text" in response.warnings[0]
        assert "slowwave doctor --repair" in response.warnings[0]
        assert lift(fresh) == 0
        assert [one.ok for one in examine(led.settings) if one.subject == "learning"] == [False]
        mended = {one.subject: one for one in examine(led.settings, repair=True)}
        assert [one.message for one in mended.values() if not one.ok] == []
        assert prove(led.store) == ()
        for memory in (fresh, led):
            assert lift(memory) == full
            assert memory.search(QUERY).warnings == ()
    finally:
        fresh.close()
    same = ["query_id", "key_id"]
    for (table, rows), key in zip(before.items(), same, strict=True):
        mine = pl.col("namespace") != CANARY_NAMESPACE
        assert led.store.read(table).filter(mine).sort(key).equals(rows.filter(mine).sort(key)), table


@pytest.mark.parametrize("at", [0, 3])
def test_a_process_that_is_searching_notices_it(led, at):
    assert lift(led) > 0
    CONTAMINATED[at][0](led)
    assert lift(led) == 0
    assert "full-text" in led.search(QUERY).warnings[0]


def test_without_an_approval_nobody_is_warned(led):
    index("question_vectors", "query")(led)
    decide(led, events.WITHDRAW, kind=KEYS)
    assert led.search(QUERY).warnings == ()


@pytest.mark.parametrize(
    ("table", "column"),
    [("question_vectors", "query"), ("search_views", "query"), ("search_keys", "query_id")],
)
def test_no_column_of_theirs_may_be_searched_by_text(led, table, column):
    with pytest.raises(StoreError, match=f"{table}.{column}"):
        full_text(led.store, table, column, "kestrel")


def test_a_question_is_found_by_no_search(led):
    decide(led, events.WITHDRAW, kind=KEYS)
    for query in ("kestrel", canary(led.store)):
        found = led.search(query, limit=10, explain=True)
        assert not any("bm25" in one.explanation.channels for one in found)


# -- another model ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_questions_move_to_another_model_with_the_memory_and_still_lead(led: Memory, home: Path) -> None:
    prove(led.store)
    was = led.store.read("question_vectors").sort("query_id")
    learned = led.store.read("search_keys").sort("key_id")
    (home / "slowwave.toml").write_text(f'[embedding]\nthreads = 1\nmodel = "{FAST}"\n')
    led.close()
    reembed(load(home), BGE)
    moved = Memory(load(home, learning={"interleave": 0.0}), namespace="ada")
    try:
        moved._space.now = led._space.now
        rows = moved.store.read("question_vectors").sort("query_id")
        assert rows["vector"].dtype == pl.Array(pl.Float32, 384)
        assert rows.drop("vector").equals(was.drop("vector"))
        own = rows.filter(pl.col("namespace") == "ada")
        assert own.height == 2
        for query, vector in own.select("query", "vector").iter_rows():
            wanted = moved.embedder.embed_query(query)
            np.testing.assert_allclose(np.asarray(vector), wanted, atol=1e-6, err_msg=query)
        assert moved.store.read("search_keys").sort("key_id").equals(learned)
        assert prove(moved.store) == ()
        assert lift(moved) > 0
        assert moved.search(QUERY).warnings == ()
    finally:
        moved.close()

"""What is erased is gone from what was learned of questions, too, and what is lost is rebuilt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from erasure_helpers import places
from feedback_days import at, name
from key_life import TEXTS, KeyLife
from key_rows import night_of_keys

from slowwave.common import ids
from slowwave.learning.isolation import prove
from slowwave.maintenance.rebuild import rebuild
from slowwave.memory import Memory
from slowwave.store.tables import CANARY_NAMESPACE

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("learning_on")]

CANARY, ASKED = "zebracanary", "okapicanary"
TABLES = ("search_views", "question_vectors", "search_keys")
TEXT = f"The {CANARY} relay of the harbour gauge is replaced on Thursday; its spare is behind the mast."
QUOTED = f"where is the {CANARY} relay of the harbour gauge?"
PLAIN = f"which relay is it, {ASKED}?"
SHARED = "please show me everything that turns or moves"
NEUTRAL = "please tell me something nice of Tuesday nights"
OTHERS = "who has the second machine in the library?"


@pytest.fixture
def life(open_memory: Callable[..., Memory]) -> KeyLife:
    """Questions led to a note that is going to be erased, and to others; all that was proposed is applied."""
    made = KeyLife(open_memory(learning={"interleave": 0.0}))
    for key in TEXTS:
        made.save(key)
    made.save("relay", TEXT)
    made.take(QUOTED, "relay", when=at(5, 9))
    made.take(PLAIN, "relay", when=at(5, 10), limit=1)
    made.take(SHARED, "relay", when=at(5, 11), limit=6)
    made.take(NEUTRAL, "relay", when=at(6, 11), limit=6)
    made.take(SHARED.upper(), "radar", when=at(6, 12), source="radar", by="bob")
    made.take(OTHERS, "ledger", when=at(6, 13), source="ledger")
    made.take(QUOTED.replace(CANARY, "red"), when=at(6, 14))
    learn(made, 1, 6)
    prove(made.space.store)
    assert {one for one, _ in found(made, "search_keys")} >= {QUOTED, PLAIN, SHARED, OTHERS}
    made.moment = at(7, 9)
    return made


def learn(life: KeyLife, first: int, last: int) -> None:
    life.view(first, last)
    rows = night_of_keys(life.space, life.memory.namespace)
    assert rows["memory_id"].n_unique() > 1


def questions(life: KeyLife) -> dict[str, str]:
    """Texts of the questions that have a vector, by id; without the canary."""
    rows = life.space.store.read("question_vectors", f"namespace != '{CANARY_NAMESPACE}'")
    return dict(rows.select("query_id", "query").iter_rows())


def found(life: KeyLife, table: str) -> set[tuple[str, str]]:
    """Questions and memories of which a table has a row."""
    asked = {ids.query_id(life.memory.namespace, one): one for one in (QUOTED, PLAIN, SHARED, OTHERS)}
    rows = life.space.store.read(table, f"namespace = '{life.memory.namespace}'")
    return {
        (asked.get(query, query), memory) for query, memory in rows.select("query_id", "memory_id").rows()
    }


def left_alone(life: KeyLife) -> None:
    """Every question that has a vector is one that a view has, and each question of a view has one."""
    views = life.space.store.read("search_views", f"namespace = '{life.memory.namespace}'")
    mine = life.space.store.read("question_vectors", f"namespace = '{life.memory.namespace}'")
    assert set(mine["query_id"]) == set(views["query_id"])


def test_a_memory_that_is_erased_leaves_nothing_in_what_was_learned(life: KeyLife, home: Path) -> None:
    store, gone = life.space.store, life.id("relay")
    told = places(home, CANARY, ASKED)
    assert any("question_vectors" in place for place in told), told
    life.memory.erase(gone)
    for table in ("search_views", "search_keys"):
        assert gone not in set(store.read(table)["memory_id"]), table
    assert places(home, CANARY, ASKED) == []
    assert ids.normalised_query(SHARED) in questions(life).values()  # bob asked it, and was shown another


def test_no_vector_is_left_of_a_question_that_nobody_else_asked(life: KeyLife) -> None:
    """A search that showed the memory goes, whatever it asked: so does what it asked."""
    life.memory.erase(life.id("relay"))
    assert not {ids.query_id("ada", one) for one in (PLAIN, NEUTRAL)} & questions(life).keys()
    left_alone(life)


def test_what_others_asked_and_took_stays_as_it_was(life: KeyLife) -> None:
    store = life.space.store
    keep = f"principal = 'bob' OR query_id = '{ids.query_id('ada', OTHERS)}'"
    before = {table: store.read(table, keep).sort("day") for table in ("search_views", "search_keys")}
    vectors = store.read("question_vectors", f"query_id = '{ids.query_id('ada', OTHERS)}'")
    assert before["search_keys"].height == 2
    life.memory.erase(life.id("relay"))
    for table, rows in before.items():
        assert store.read(table, keep).sort("day").equals(rows), table
    assert store.read("question_vectors", f"query_id = '{ids.query_id('ada', OTHERS)}'").equals(vectors)


def test_a_question_that_quotes_what_is_erased_goes_also_where_it_showed_something_else(
    life: KeyLife, home: Path
) -> None:
    life.take(f"{QUOTED} or of another?", "ferry", when=at(7, 10), by="bob", source="ferry")
    rows = life.space.journal.read(kinds=["search"], days=[name(7)])
    assert rows.height == 1
    learn(life, 7, 7)
    life.memory.erase(life.id("relay"))
    assert not [query for query in questions(life).values() if CANARY in query]
    assert places(home, CANARY) == []
    left_alone(life)


def test_what_nights_make_of_the_days_again_has_nothing_of_it(life: KeyLife, home: Path) -> None:
    life.memory.erase(life.id("relay"))
    life.view(1, 6)
    night_of_keys(life.space)
    for table in ("search_views", "search_keys"):
        assert life.id("relay") not in set(life.space.store.read(table)["memory_id"])
    assert places(home, CANARY, ASKED) == []


def test_a_namespace_that_is_erased_leaves_nothing_and_others_keep_theirs(
    life: KeyLife, open_memory: Callable[..., Memory], home: Path
) -> None:
    other = KeyLife(open_memory("bob", learning={"interleave": 0.0}))
    for key in TEXTS:
        other.save(key)
    other.take(OTHERS, "ledger", when=at(5, 9))
    learn(other, 1, 5)
    store = life.space.store
    before = {table: store.read(table, "namespace = 'bob'") for table in TABLES}
    life.memory.erase(everything=True)
    for table in TABLES:
        assert store.count(table, "namespace = 'ada'") == 0, table
        assert store.read(table, "namespace = 'bob'").equals(before[table]), table
    assert places(home, CANARY, ASKED) == []
    assert prove(store) == ()


def test_a_rebuilding_after_it_does_not_bring_it_back(life: KeyLife, home: Path) -> None:
    life.memory.erase(life.id("relay"))
    before = tables(life)
    rebuild(life.space)
    assert same(before, tables(life)) == []
    assert places(home, CANARY, ASKED) == []


def tables(life: KeyLife) -> dict[str, pl.DataFrame]:
    """The three tables, by key."""
    store = life.space.store
    return {table: store.read(table).sort(store.specs[table].key) for table in TABLES}


def same(one: dict[str, pl.DataFrame], other: dict[str, pl.DataFrame]) -> list[str]:
    """Tables that differ; vectors may by 1e-6."""
    found: list[str] = []
    for table, rows in one.items():
        vectors: list[Any] = [frame["vector"].to_numpy() if "vector" in frame.columns else None
                              for frame in (rows, other[table])]  # fmt: skip
        plain = [frame.drop("vector", strict=False) for frame in (rows, other[table])]
        if not plain[0].equals(plain[1]):
            found.append(f"{table}: rows")
        elif vectors[0] is not None and not (abs(vectors[0] - vectors[1]) <= 1e-6).all():
            worst = abs(vectors[0] - vectors[1]).max(axis=1) > 1e-6
            found.append(f"{table}: vectors of {rows.filter(worst)['query'].to_list()}")
    return found


def test_rebuilt_from_the_journal_they_are_as_they_were(life: KeyLife) -> None:
    before = tables(life)
    assert all(rows.height > 4 for rows in before.values())
    rebuild(life.space)
    assert same(before, tables(life)) == []
    assert prove(life.space.store) == ()

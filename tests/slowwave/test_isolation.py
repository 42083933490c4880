"""The proof that no full-text search reaches what was learned, and what happens where one does."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from evaluation_days import with_clock
from feedback_days import DAY, at
from learned_rows import decide, lessons, teach

import slowwave
from slowwave.common import ids
from slowwave.errors import StoreError
from slowwave.learning import events, isolation
from slowwave.learning.isolation import IsolationWatch, canary, proof_of_all, prove
from slowwave.maintenance.doctor import examine
from slowwave.memory import Memory
from slowwave.store.frames import quote
from slowwave.store.tables import CANARY_NAMESPACE
from slowwave.store.text import full_text, full_text_config

pytestmark = pytest.mark.usefixtures("learning_on")

ROOT = Path(slowwave.__file__).parents[1]
NOON = at(10)
LAMP = ids.memory_id("ada", "lamp")
NOTES = {
    "lamp": "The lamp above the door burns from dusk; Ruaridh has the second key of the house.",
    "ferry": "The ferry to the island leaves at seven in the morning and comes back before dark.",
    "gauge": "The gauge of the pier is read at noon, and again in the evening when the tide is high.",
}


@pytest.fixture
def taught(open_memory) -> Memory:
    """A memory of three notes that searches for kestrels find the lamp of."""
    memory = open_memory(learning={"interleave": 0.0})
    with_clock(memory, 10)
    memory.save_many(
        [{"content": text, "key": key, "title": key.capitalize()} for key, text in NOTES.items()]
    )
    teach(memory.store, lessons(LAMP, "kestrel", taught=NOON - DAY))
    decide(memory, events.APPROVE)
    return memory


def index(table: str, column: str) -> Callable[[Memory], None]:
    """Someone gives a column a full-text index."""

    def contaminate(memory: Memory) -> None:
        memory.store.table(table).create_index(column, config=full_text_config())

    return contaminate


def write(table: str, column: str) -> Callable[[Memory], None]:
    """Someone writes learned terms into the text of a chunk, to find it by them."""

    def contaminate(memory: Memory) -> None:
        rows = memory.store.read(table, f"memory_id = {quote(LAMP)}", columns=["chunk_id", column])
        for chunk, text in rows.iter_rows():
            value = f"{text} kestrel {canary(memory.store)}"
            memory.store.table(table).update(where=f"chunk_id = {quote(chunk)}", values={column: value})

    return contaminate


def both(memory: Memory) -> None:
    index("learned_triggers", "question")(memory)
    write("chunks", "search_text")(memory)


CONTAMINATED = [
    (index("learned_triggers", "term"), "learned_triggers.term has a full-text index"),
    (index("learned_triggers", "question"), "is found in learned_triggers by a text query"),
    (index("learned_proposals", "query"), "learned_proposals.query has a full-text index"),
    (index("learning_log", "term"), "learning_log.term has a full-text index"),
    (index("chunks", "title"), "chunks.title has a full-text index"),
    (index("memories", "content"), "memories.content has a full-text index"),
    (write("chunks", "search_text"), "is found in chunks by a text query"),
    (both, "is found in chunks by a text query"),
]


def learned(memory: Memory) -> float:
    """What learned terms add to the lamp in a search."""
    response = memory.search("a kestrel", explain=True)
    rows = [row for one in response for row in one.explanation.contributions if row.source == "learned"]
    return sum(row.value for row in rows)


def test_a_store_as_it_is_made_is_proven_and_has_one_canary(taught):
    assert prove(taught.store) == ()
    term = canary(taught.store)
    assert prove(taught.store) == ()
    assert canary(taught.store) == term
    assert taught.store.count("learned_triggers", f"namespace = {quote(CANARY_NAMESPACE)}") == 1


def test_the_canary_survives_a_night_that_writes_the_days_again(taught):
    term = canary(taught.store)
    teach(taught.store, lessons(LAMP, "otter", taught=NOON - DAY))
    teach(taught.store, [])
    assert canary(taught.store) == term


def test_two_processes_that_write_the_canary_at_once_agree(taught, monkeypatch):
    from slowwave.store import Store

    other = Store(taught.store.uri, model=taught.embedder.name, dimension=taught.embedder.dimension)
    upsert, theirs = Store.upsert, []

    def second_comes_first(self, *given, **more):
        if not theirs:
            theirs.append("")
            theirs[0] = canary(other)
        return upsert(self, *given, **more)

    monkeypatch.setattr(Store, "upsert", second_comes_first)
    assert canary(taught.store) == theirs[0]


def test_no_two_stores_have_the_same_canary(taught, open_memory, tmp_path):
    """Who knew it could write it into a note, and switch learning off for everybody."""
    assert canary(taught.store) != canary(open_memory(path=tmp_path / "other").store)


@pytest.mark.slow
@pytest.mark.parametrize(("contaminate", "said"), CONTAMINATED)
def test_a_contaminated_store_is_found_out_uses_nothing_learned_and_can_be_repaired(
    taught, contaminate, said
):
    assert learned(taught) > 0
    contaminate(taught)
    assert said in "; ".join(prove(taught.store))
    fresh = Memory(taught.settings, namespace="ada")  # as after a start
    fresh._space.now = taught._space.now
    try:
        response = fresh.search("a kestrel", explain=True)
        assert said in response.warnings[0]
        assert "slowwave doctor --repair" in response.warnings[0]
        assert learned(fresh) == 0
        assert [one.ok for one in examine(taught.settings) if one.subject == "learning"] == [False]
        mended = {one.subject: one for one in examine(taught.settings, repair=True)}
        assert [one.message for one in mended.values() if not one.ok] == []
        assert prove(taught.store) == ()
        for memory in (fresh, taught):
            assert learned(memory) > 0
            assert memory.search("a kestrel").warnings == ()
    finally:
        fresh.close()


@pytest.mark.parametrize(
    "contaminate", [one for one, _ in CONTAMINATED if one not in (CONTAMINATED[i][0] for i in (2, 3, 5))]
)
def test_a_process_that_is_searching_notices_what_can_be_searched(taught, contaminate):
    """Tables that no search reads are looked at when a process starts, and before each night's writes."""
    assert learned(taught) > 0
    contaminate(taught)
    assert learned(taught) == 0
    assert "full-text" in taught.search("a kestrel").warnings[0]


def test_what_was_written_into_a_text_is_gone_after_the_repair_and_the_chunk_is_found_as_before(taught):
    before = taught.store.read("chunks").sort("chunk_id")
    write("chunks", "search_text")(taught)
    examine(taught.settings, repair=True)
    assert taught.store.read("chunks").sort("chunk_id").equals(before)
    assert full_text(taught.store, "chunks", "search_text", "kestrel").to_arrow().num_rows == 0
    assert taught.search("second key of the house")[0].memory_id == LAMP


def test_a_store_without_its_text_index_is_still_looked_at(taught):
    table = taught.store.table("chunks")
    table.drop_index(next(one.name for one in table.list_indices() if one.index_type.upper() == "FTS"))
    assert prove(taught.store) == ()
    write("chunks", "search_text")(taught)
    assert any("chunks" in problem for problem in prove(taught.store))


def test_without_an_approval_or_learned_terms_nobody_is_warned(taught):
    index("chunks", "title")(taught)
    decide(taught, events.WITHDRAW)
    assert taught.search("a kestrel").warnings == ()


def test_a_proof_that_cannot_be_carried_out_is_none(taught, monkeypatch):
    from slowwave.learning import isolation

    def broken(*_) -> None:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(isolation, "canary", broken)
    assert learned(taught) == 0
    assert "the disk is gone" in taught.search("a kestrel").warnings[0]
    monkeypatch.undo()
    assert learned(taught) > 0


def test_a_watch_asks_only_when_something_has_changed(taught, monkeypatch):
    from slowwave.learning import isolation

    asked = []
    monkeypatch.setattr(isolation, "prove", lambda store, tables=None: asked.append(tables) or ())
    watch = IsolationWatch(taught.store)
    assert watch.problems() == watch.problems() == ()
    taught.save(
        "The paint of the mast holds for about six winters at sea, the harbour master says.", key="new"
    )
    watch.problems()
    watch.problems()
    assert asked == [None, ["chunks"]]


# -- every text query names a column that may be searched -----------------------------------------


@pytest.mark.parametrize(("table", "column"), [("learned_triggers", "term"), ("searches", "query")])
def test_the_proof_of_all_tables_is_that_of_the_first_time_and_repeats_only_what_changed(
    taught, monkeypatch, table, column
):
    assert proof_of_all(taught.store) == prove(taught.store) == ()  # writes the canary
    assert proof_of_all(taught.store) == ()
    asked = []
    real = isolation._problems
    monkeypatch.setattr(isolation, "_problems", lambda *parts: asked.append(parts[1]) or real(*parts))
    assert proof_of_all(taught.store) == ()
    assert asked == []
    index(table, column)(taught)
    found = proof_of_all(taught.store)
    assert set(asked) == {table}
    assert found == prove(taught.store) == proof_of_all(taught.store)
    assert f"{table}.{column} has a full-text index" in found


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("learned_triggers", "term"),
        ("learned_proposals", "query"),
        ("chunks", "text"),
        ("memories", "content"),
    ],
)
def test_a_column_that_is_not_on_the_list_is_not_searched_by_text(taught, table, column):
    """LanceDB would find it, by a scan, without an index and without an error."""
    with pytest.raises(StoreError, match=f"{table}.{column}"):
        full_text(taught.store, table, column, "kestrel")


def test_no_other_code_begins_a_full_text_query():
    """`full_text` names the column; the canary's own queries must not."""
    begin = []
    for room in ("slowwave", "assets", "orchestration", "scoring", "quality"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                words = {"fts", "hybrid", "auto"}
                said = isinstance(node, ast.keyword) and node.arg in ("query_type", "fts_columns")
                said = said and not (isinstance(node.value, ast.Constant) and node.value.value not in words)
                made = isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                    "MatchQuery",
                    "PhraseQuery",
                )
                if said or made:
                    begin.append(path.relative_to(ROOT).as_posix())
    assert set(begin) == {"slowwave/store/text.py", "slowwave/learning/isolation.py"}


def test_every_text_query_of_every_way_to_search_names_the_column(open_memory, taught, monkeypatch):
    """`Table.search` guesses: a text without a type and a column would search all that is indexed."""
    from lancedb.query import MatchQuery
    from lancedb.table import LanceTable

    seen, search = [], LanceTable.search

    def watched(self, query=None, *given, **more):
        seen.append((self.name, query))
        return search(self, query, *given, **more)

    monkeypatch.setattr(LanceTable, "search", watched)
    taught = open_memory(learning={"interleave": 0.0}, store={"snapshot_mb": 0})
    with_clock(taught, 10)
    taught.search("a kestrel at the pier", explain=True)
    taught.search("the gauge", as_of=NOON.date())
    taught.search("the ferry", as_of=(NOON - DAY).date())
    taught.wakeup()
    texts = [(name, query) for name, query in seen if isinstance(query, str | MatchQuery)]
    term = canary(taught.store)
    mine = [(name, query) for name, query in texts if term not in (query, getattr(query, "query", ""))]
    assert len(mine) > 3
    assert {(name, query.column) for name, query in mine} == {("chunks", "search_text")}

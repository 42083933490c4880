"""A snapshot of a namespace finds what its table finds, whatever happened to the table since."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_helpers import ACTS, MANY, assert_finds_the_same, assert_follows, happen, text

from slowwave.index import incremental_snapshot, vocabulary
from slowwave.index.incremental_snapshot import Snapshots
from slowwave.index.lancedb_channels import TableChannels
from slowwave.index.snapshot import MAX_CONDITIONS
from slowwave.index.vocabulary import Vocabulary
from slowwave.memory import Memory
from slowwave.search.filters import Filters
from slowwave.store.tenancy import within

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.slow
def test_it_finds_what_the_table_finds(open_memory):
    memory = open_memory(gate={"mode": "off"}, chunks={"min_words": 10, "max_words": 20})
    memory.save_many([{"content": text(n, 12 + n), "key": f"k{n}", "title": f"Note {n}"} for n in range(60)])
    memory.store.table("chunks").optimize()
    snapshot = Snapshots(memory.store, MANY).of("ada")
    assert snapshot is not None
    assert_finds_the_same(memory, snapshot)
    vector = memory._space.embedder.embed_query("boat")
    best = [
        set(channels.nearest(vector, Filters().where("ada"), 5).memory_ids)
        for channels in (snapshot, TableChannels(memory.store, memory.namespace))
    ]
    assert best[0] == best[1]


@pytest.mark.slow
@settings(max_examples=12)
@given(ACTS)
def test_it_follows_whatever_happens_to_the_table(make_space, acts):
    space = make_space(gate={"mode": "off"}, chunks={"min_words": 10, "max_words": 20})
    memory, other = (Memory(space.settings, namespace=name, space=space) for name in ("ada", "bob"))
    snapshots = Snapshots(space.store, MANY)
    for seed, (act, number) in enumerate(acts, start=1):
        if act in ("save", "again"):
            memory.save(text(seed, 12 + 9 * number), key=f"k{number if act == 'again' else seed}")
        elif act == "other":
            other.save(text(seed, 30), key=f"k{number}")
        elif act == "ask":
            snapshots.of("ada")
        elif act == "look":
            assert_follows(memory, snapshots)
        else:
            happen(memory, act, number)
    assert_follows(memory, snapshots)
    assert_follows(other, snapshots)


@pytest.mark.parametrize("size", [1_024, 0])
def test_another_tenants_words_change_no_score(open_memory, size):
    """LanceDB's index has one statistic for all; without snapshots that is what a search has."""
    memory = open_memory("ada", store={"snapshot_mb": size})
    other = open_memory("bob", store={"snapshot_mb": size})

    def scores() -> dict[str, float]:
        memory.store.table("chunks").optimize()
        return memory.search("boat at the pier", explain=True)[0].explanation.scores

    memory.save("The boat lies at the pier in winter, and Ruaridh looks after it.", key="a")
    memory.save("The battery of the gauge lasts eleven weeks, and Ishbel changes it.", key="b")
    before = scores()
    for number in range(5):
        other.save(f"Another boat lies at pier {number}, and somebody else looks after it.", key=f"c{number}")
    assert (scores() == before) == bool(size)


def test_what_failed_half_way_is_read_anew(open_memory, monkeypatch):
    memory = open_memory()
    saved = memory.save("The boat lies at the pier in winter, and Ruaridh looks after it.", key="a")
    assert [one.memory_id for one in memory.search("boat at the pier")] == [saved.memory_id]
    memory.save("The crane lies at the pier in summer, and Ishbel looks after it.", key="a")
    with monkeypatch.context() as patch:
        patch.setattr(incremental_snapshot.IncrementalSnapshot, "take_in", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.search("boat at the pier")
    assert [one.text for one in memory.search("crane")] == [
        "The crane lies at the pier in summer, and Ishbel looks after it."
    ]
    assert "boat" not in str(memory.search("boat at the pier").to_dict()["results"])


def test_beyond_the_bound_the_table_is_searched(open_memory):
    memory = open_memory(store={"snapshot_mb": 0})
    saved = memory.save("The boat lies at the pier in winter, and Ruaridh looks after it.", key="a")
    assert Snapshots(memory.store, 0).of("ada") is None
    assert Snapshots(memory.store, 1_000).of("ada") is None
    assert Snapshots(memory.store, MANY).of("ada") is not None
    assert [one.memory_id for one in memory.search("boat")] == [saved.memory_id]


def test_the_least_used_namespace_makes_room(open_memory):
    names = ("ada", "bob", "eve")
    for name in names:
        open_memory(name).save("The boat lies at the pier in winter, and Ruaridh looks after it.", key="a")
    store = open_memory().store
    most = 2 * (2_500 + 4 * store.identity.dimension)
    snapshots = Snapshots(store, most)
    for name in names:
        assert len(snapshots.of(name) or ()) == 1
    assert list(snapshots._followed) == ["bob", "eve"]


@pytest.mark.parametrize(
    "filters",
    [
        Filters(), Filters.of(superseded=True), Filters.of(memory_type="decision"),
        Filters.of(tier="critical"),
        Filters.of(tags=["a'b"]), Filters.of(tags=["Ä ö", "none"]), Filters.of(tags="\\"),
        Filters.of(source="k"),
        Filters.of(sensitivity=["secret"]), Filters.of(since=NOW), Filters.of(until=NOW),
        Filters.of(since=NOW, until=NOW + timedelta(microseconds=1)),
    ],
    ids=str,
)  # fmt: skip
def test_a_condition_lets_through_what_it_does_in_the_table(open_memory, filters):
    memory = open_memory(gate={"mode": "off"})
    labels = [
        {"memory_type": "decision", "tags": ["A'B", "x"]}, {"importance_tier": "critical", "tags": ["ä Ö"]},
        {"sensitivity": "secret", "tags": ["\\"]}, {"source_kind": "manual"}, {},
    ]  # fmt: skip
    notes = [
        {
            "content": text(n),
            "key": f"{'kz'[n % 2]}{n}",
            **labels[n % 5],
            "created_at": NOW + (n % 3 - 1) * DAY,
        }
        for n in range(15)
    ]
    memory.save_many(notes)
    snapshot = Snapshots(memory.store, MANY).of("ada")
    where = filters.where("ada")
    passing = snapshot.named("chunk_id", np.flatnonzero(snapshot.passing(where)))
    expected = memory.store.read("chunks", where, columns=["chunk_id"])["chunk_id"]
    assert sorted(passing) == sorted(expected)


KNOWN = st.characters(
    exclude_categories=["Cs", "Cn"]
)  # of new ones the Unicode of two libraries tells two things


@given(st.lists(st.text(KNOWN, max_size=30), max_size=8))
@settings(max_examples=60)
def test_terms_are_those_of_the_index(indexed, texts):
    """Whatever the texts are made of."""
    words = Vocabulary("text")
    terms, rows = words.of_texts(pl.Series(texts, dtype=pl.String), indexed)
    names = {number: term for term, number in words._numbers.items()}
    for row, one in enumerate(texts):
        mine = sorted(names[term] for term in terms[rows == row].tolist())
        assert mine == sorted(token.text for token in indexed.tokenize(one, column="text"))


@pytest.fixture(scope="module")
def indexed():
    import lancedb

    from slowwave.store.text import full_text_config

    table = lancedb.connect("memory://").create_table("x", pl.DataFrame({"text": ["a word"]}).to_arrow())
    table.create_index("text", config=full_text_config())
    return table


def test_words_that_are_only_asked_for_are_not_kept_for_ever(indexed, monkeypatch):
    monkeypatch.setattr(vocabulary, "MAX_QUERY_WORDS", 3)
    words = Vocabulary("text")
    words.of_texts(pl.Series(["a boat"]), indexed)
    for number in range(9):
        assert words.of_query(f"boats {number} nothing{number}", indexed)[1] == 2
    assert len(words._query_words) <= 6
    assert (
        words.of_texts(pl.Series(["nothing8"]), indexed)[0].tolist() == words.of_query("nothing8", indexed)[0]
    )


def test_a_table_that_was_made_again_is_followed(open_memory):
    memory = open_memory()
    memory.save("The boat lies at the pier in winter, and Ruaridh looks after it.", key="a")
    store, snapshots = memory.store, Snapshots(memory.store, MANY)
    before, version = snapshots.of("ada"), store.version("chunks")
    rows = store.read("chunks")
    store.db.drop_table("chunks")
    store.connect()
    store.create_table(store.specs["chunks"])
    changed = rows.with_columns(status=pl.lit("superseded"))
    while store.version("chunks") < version:
        store.upsert("chunks", changed)
    assert store.version("chunks") == version
    after = snapshots.of("ada")
    assert after is not before
    assert after.named("status", np.flatnonzero(after.alive)) == ["superseded"]


def test_conditions_that_differ_each_time_are_not_kept_for_ever(open_memory):
    memory = open_memory()
    memory.save("The boat lies at the pier in winter, and Ruaridh looks after it.")
    snapshot = Snapshots(memory.store, MANY).of(memory.namespace)
    for number in range(3 * MAX_CONDITIONS):
        assert snapshot.full_text(
            "boat", f"{within(memory.namespace)} AND memory_id != '{number}'", 3
        ).memory_ids
    assert len(snapshot.passed) <= MAX_CONDITIONS


@pytest.mark.slow
def test_titles_of_first_words_are_known_anew_after_a_change(open_memory):
    memory = open_memory(gate={"mode": "off"})

    def title_share(**named):
        memory.save("The old rowing boat lies upside down behind the shed.", key="boat", **named)
        explained = memory.search("rowing boat", explain=True).results[0].explanation
        assert memory.search("rowing boat", explain=True).results[0].explanation == explained  # known by now
        return sum(row.value for row in explained.contributions if row.source == "title")

    assert title_share() == 0
    assert title_share(title="Rowing boat") > 0
    assert title_share(title="The old rowing boat …") == 0

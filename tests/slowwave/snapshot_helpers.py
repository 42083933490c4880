"""Texts, acts and questions that snapshots of namespaces are tried on."""

from __future__ import annotations

import random
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

from slowwave.index.incremental_snapshot import Snapshots
from slowwave.index.lancedb_channels import TableChannels
from slowwave.index.snapshot import Snapshot
from slowwave.index.vocabulary import Vocabulary
from slowwave.memory import Memory
from slowwave.search.filters import Filters
from slowwave.store.tenancy import within

WORDS = (
    "Häuser und boat pier tide gauge winter battery Straße naïve snake_case 3.14 don't the 東京 ตลาด".split()  # noqa: SIM905
)
QUERIES = (
    "boat in winter",
    "naive STRASSE snake",
    "the gauge of 3.14",
    "東京 ตลาด",
    "never said",
    "boat boat",
    "das Haus und die Straßen",
)
NEAR = 1e-5
MANY = 2**30


def text(seed: int, words: int = 12) -> str:
    """Words of a few, so that they are said in many texts."""
    drawn = random.Random(seed)
    return " ".join(drawn.choices(WORDS, k=words)) + f" {seed}."


def by_score(found, names: list[str]) -> dict[str, float]:
    return dict(zip(names, found, strict=True))


def assert_finds_the_same(memory, snapshot: Snapshot) -> None:
    """By vector and by words, for a few questions."""
    store = memory._space.store
    tables, where, size = TableChannels(store, memory.namespace), Filters().where(memory.namespace), 1_000
    for query in QUERIES:
        vector = memory._space.embedder.embed_query(query)
        one, two = (
            channels.merged(
                channels.nearest(vector, where, size), channels.full_text(query, where, size), [], vector
            )
            for channels in (snapshot, tables)
        )
        for name in ("cosine", "bm25"):
            left = by_score(one.channels[name], one.channels["chunk_ids"])
            right = by_score(two.channels[name], two.channels["chunk_ids"])
            assert left.keys() == right.keys()
            assert left == pytest.approx(right, abs=NEAR, nan_ok=True), (query, name)
        assert one.channels["bm25_bound"] == pytest.approx(two.channels["bm25_bound"], rel=NEAR), query
        left_rows = one.shown.sort_by("chunk_id").to_pylist()
        assert left_rows == two.shown.sort_by("chunk_id").to_pylist()


def assert_follows(memory, snapshots: Snapshots) -> Snapshot:
    """It has the rows of the table, whole."""
    store = memory._space.store
    rows = store.read(
        "chunks", within(memory.namespace), columns=["chunk_id", "search_text", "vector", "status"]
    )
    rows = rows.sort("chunk_id")
    snapshot = snapshots.of(memory.namespace)
    assert snapshot is not None
    there = np.flatnonzero(snapshot.alive)
    shown = snapshot.columns.take(there).select(["chunk_id", "status"])
    frame = pl.from_arrow(shown).with_columns(row=pl.Series(there)).sort("chunk_id")
    assert frame.select("chunk_id", "status").rows() == rows.select("chunk_id", "status").rows()
    if rows.height:
        vectors = np.stack(rows["vector"].to_numpy())
        assert np.allclose(snapshot.vectors[frame["row"].to_numpy()], vectors, atol=1e-6)
    terms = Vocabulary()
    said, at = terms.of_texts(rows["search_text"], store.table("chunks"))
    lengths = np.bincount(at, minlength=rows.height)
    assert snapshot.words.index.lengths[frame["row"].to_numpy()].tolist() == lengths.tolist()
    assert len(said) == lengths.sum()
    return snapshot


KINDS = (
    "save", "save", "save", "again", "forget", "compact", "other", "erase", "look", "ask", "settle", "index",
)  # fmt: skip
ACTS = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 5),
    ),
    min_size=3, max_size=14,
)  # fmt: skip


def happen(memory: Memory, act: str, number: int) -> None:
    """What others do to the table."""
    store = memory.store
    if act == "settle":
        store.settle()
    elif act in ("compact", "index"):
        store.table("chunks").optimize(**({"cleanup_older_than": timedelta(0)} if act == "compact" else {}))
    else:
        key = {"forget": "memory_id", "erase": "chunk_id"}[act]
        names = store.read("chunks", within("ada"), columns=[key])[key].unique().sort()
        if len(names) and act == "forget":
            memory.forget(names[number % len(names)])
        elif len(names):
            store.delete("chunks", f"chunk_id = '{names[number % len(names)]}'")

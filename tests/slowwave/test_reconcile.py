"""Chunks follow their memories."""

from __future__ import annotations

import polars as pl
import pytest
from admission_helpers import HOUR, LONG, NOON, SHORT, assert_consistent, assert_same, take_in, whole

from slowwave.common import ids
from slowwave.lifecycle.reconcile import Reconciled, reconcile
from slowwave.store import one_of


def test_reconciling_what_is_in_order_writes_nothing(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT), act("b.md", at=NOON + HOUR))
    space.embedder.embedded.clear()
    versions = space.store.table("chunks").version, space.store.table("memories").version
    assert reconcile(space.store, space.chunker, space.embedder) == Reconciled(0, 0)
    assert (space.store.table("chunks").version, space.store.table("memories").version) == versions
    assert space.embedder.embedded == []


def test_reconciling_makes_missing_chunks_again(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    before = whole(space.store)
    lost = space.store.read("chunks", columns=["chunk_id"])["chunk_id"].sort()[1]
    space.store.delete("chunks", one_of("chunk_id", [lost]))
    assert reconcile(space.store, space.chunker, space.embedder).remade_memories == 1
    assert_same(before, whole(space.store))


def test_reconciling_removes_chunks_of_another_revision_and_of_no_memory(space, act):
    take_in(space, act("a.md", LONG))
    before = whole(space.store)
    stale = space.store.read("chunks").head(2).with_columns(
        chunk_id=pl.Series([ids.chunk_id(ids.memory_id("ada", "a.md"), 77), "nobody:00000"]),
        memory_id=pl.Series([ids.memory_id("ada", "a.md"), "nobody"]),
        revision=pl.lit("0000"),
    )  # fmt: skip
    space.store.upsert("chunks", stale)
    assert reconcile(space.store, space.chunker, space.embedder) == Reconciled(2, 0)
    assert_same(before, whole(space.store))


def test_reconciling_follows_the_memory_after_a_write_that_stopped_between_the_tables(
    space, act, monkeypatch
):
    """The memory has the new text, its chunks are still those of the old one."""
    take_in(space, act("a.md", LONG))
    upsert = space.store.upsert

    def dies_before_chunks(name, *args, **options):
        if name == "chunks":
            raise KeyboardInterrupt
        return upsert(name, *args, **options)

    monkeypatch.setattr(space.store, "upsert", dies_before_chunks)
    with pytest.raises(KeyboardInterrupt):
        take_in(space, act("a.md", SHORT, at=NOON + HOUR))
    monkeypatch.undo()
    assert space.store.read("memories")["content"].to_list() == [SHORT]
    done = reconcile(space.store, space.chunker, space.embedder)
    assert done.remade_memories == 1
    assert_consistent(space.store)


def test_reconciling_brings_chunks_to_their_memorys_status(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    row = space.store.read("memories", one_of("memory_id", [ids.memory_id("ada", "a.md")]))
    space.store.upsert("memories", row.with_columns(status=pl.lit("retired")))
    assert reconcile(space.store, space.chunker, space.embedder).remade_memories == 1
    assert_consistent(space.store)
    assert set(space.store.read("chunks", "status = 'live'")["source"]) == {"b.md"}


def test_reconciling_some_memories_leaves_the_others_alone(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    space.store.delete("chunks", "true")
    mine = ids.memory_id("ada", "b.md")
    assert reconcile(space.store, space.chunker, space.embedder, memory_ids=[mine]) == Reconciled(0, 1)
    assert set(space.store.read("chunks")["memory_id"]) == {mine}

"""A snapshot that goes on from the file that a night left is the one that was in memory all the time."""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import warm
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_helpers import KINDS, MANY, QUERIES, assert_follows, happen, text

from slowwave.index import incremental_snapshot, mmap_snapshot
from slowwave.index.incremental import fragments_of
from slowwave.index.incremental_snapshot import (
    IncrementalSnapshot,
    Snapshots,
    leave_files,
    searched_in_table,
)
from slowwave.index.mapped_file import opened
from slowwave.memory import Memory
from slowwave.scoring.ranking import bm25
from slowwave.search.filters import Filters
from slowwave.store import Store
from slowwave.store.checkpoints import create_checkpoint, restore_checkpoint
from slowwave.store.connection import Identity

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BOAT = "The boat lies at the pier in winter, and Ruaridh looks after it."


def leave(store: Store) -> incremental_snapshot.LeftFiles:
    return incremental_snapshot.leave_files(store, MANY, fewest=1)


def recalled(store: Store, namespace: str = "ada") -> bool:
    """Whether a new process would go on from a file."""
    return IncrementalSnapshot(store, namespace, MANY).recall(store.committed("chunks"))


def found(snapshot, embedder, namespace: str = "ada", *, in_order: bool = True) -> list[object]:
    """What questions find, to the last bit."""
    where, size = Filters().where(namespace), 1_000
    every = []
    for query in QUERIES:
        vector = embedder.embed_query(query)
        for hits in (snapshot.full_text(query, where, size), snapshot.nearest(vector, where, size)):
            pairs = list(zip(snapshot.named("chunk_id", hits.rows), hits.scores.tolist(), strict=True))
            every.append(pairs if in_order else sorted(pairs))
        near, said = snapshot.nearest(vector, where, 3), snapshot.full_text(query, where, 3)
        of = snapshot.of(near.memory_ids, where, 9)
        every.append([sorted(snapshot.named("chunk_id", of.rows))] if in_order else [])
        if in_order:
            merged = snapshot.merged(near, said, [of], vector)
            every.append([str(merged.channels), merged.shown.to_pylist()])
            every.append(snapshot.first_texts(near.memory_ids))
            chunks = snapshot.named("chunk_id", near.rows)
            every.append(snapshot.term_scores(query.split(), chunks, where))
    return every


ACTS = st.lists(st.tuples(st.sampled_from([*KINDS, "leave", "back"]), st.integers(0, 5)), max_size=9)


def act(memory: Memory, other: Memory, kind: str, number: int, seed: int) -> None:
    """What happens to the table; see `happen`."""
    store = memory.store
    if kind in ("save", "again"):
        memory.save(text(seed, 12 + 9 * number), key=f"k{number if kind == 'again' else seed}")
    elif kind == "other":
        other.save(text(seed, 30), key=f"k{number}")
    elif kind == "leave":
        leave(store)
    elif kind == "back":
        store.settle()
        restore_checkpoint(store, "mine", only=["chunks"])
    elif kind == "compact":
        store.table("chunks").optimize()
        dataset = lance.dataset(f"{store.uri}/chunks.lance")
        dataset.cleanup_old_versions(timedelta(0), error_if_tagged_old_versions=False)
    elif kind not in ("ask", "look"):
        happen(memory, kind, number)


@pytest.mark.slow
@settings(max_examples=15)
@given(ACTS, ACTS)
@pytest.mark.soak
def test_it_is_the_one_that_was_in_memory_whatever_happens(make_space, before, after):
    space = make_space(gate={"mode": "off"}, chunks={"min_words": 10, "max_words": 20})
    store, embedder = space.store, space.embedder
    memory, other = (Memory(space.settings, namespace=name, space=space) for name in ("ada", "bob"))
    memory.save(text(0, 30), key="first")
    other.save(text(1, 30), key="first")
    create_checkpoint(store, "mine", NOON)
    for seed, (kind, number) in enumerate(before, start=2):
        act(memory, other, kind, number, seed)
    left = leave(store)
    assert not left.failed
    in_memory = {name: IncrementalSnapshot(store, name, MANY, recalls=False) for name in left.rows}
    for one in in_memory.values():
        one.now()
    again = any(kind == "leave" for kind, _ in after)
    for seed, (kind, number) in enumerate(after, start=50):
        act(memory, other, kind, number, seed)
    for name, whole in in_memory.items():
        mine, anew = (
            Snapshots(store, MANY).of(name),
            IncrementalSnapshot(store, name, MANY, recalls=False).now(),
        )
        if not again:
            assert found(mine, embedder, name) == found(whole.now(), embedder, name)
        for one in (mine, whole.now()):
            assert found(one, embedder, name, in_order=False) == found(anew, embedder, name, in_order=False)
    for one in (memory, other):
        assert_follows(one, Snapshots(store, MANY))


@pytest.fixture
def space(make_space):
    made = make_space(gate={"mode": "off"}, chunks={"min_words": 10, "max_words": 20})
    for name in ("ada", "bob"):
        memory = Memory(made.settings, namespace=name, space=made)
        memory.save_many([{"content": text(n, 12 + n), "key": f"k{n}"} for n in range(12)])
    return made


def ada(space) -> Memory:
    return Memory(space.settings, namespace="ada", space=space)


def test_every_namespace_has_a_file_of_its_own_and_it_is_made_once(space):
    store = space.store
    assert not recalled(store)
    left = leave(store)
    assert (set(left.rows), left.failed) == ({"ada", "bob"}, {})
    files = {mmap_snapshot.path_of(store, name): name for name in ("ada", "bob")}
    assert set(mmap_snapshot.path_of(store, "ada").parent.iterdir()) == set(files)
    for path, name in files.items():
        other = "bob" if name == "ada" else "ada"
        ids = store.read("chunks", f"namespace = '{other}'", columns=["memory_id"])["memory_id"].unique()
        assert not any(one.encode() in path.read_bytes() for one in ids)
    before = [path.stat().st_ino for path in files]
    leave(store)
    assert [path.stat().st_ino for path in files] == before
    ada(space).save(BOAT)
    leave(store)
    assert mmap_snapshot.path_of(store, "ada").stat().st_ino not in before
    assert all(recalled(store, name) for name in files.values())


def test_a_namespace_that_is_small_or_too_large_has_none(space):
    store = space.store
    leave(store)
    assert incremental_snapshot.leave_files(store, MANY).rows == {}
    assert not list(mmap_snapshot.path_of(store, "ada").parent.iterdir())
    leave(store)
    assert incremental_snapshot.leave_files(store, 10, fewest=1).rows == {}
    assert not list(mmap_snapshot.path_of(store, "ada").parent.iterdir())


def test_a_file_is_made_anew_when_its_vectors_are_to_be_parted_in_another_way(space):
    store, one = space.store, mmap_snapshot.path_of(space.store, "ada")

    def inode(**way: float) -> int:
        incremental_snapshot.leave_files(store, MANY, fewest=1, **way)
        return one.stat().st_ino

    first = inode()
    assert inode() == first
    assert recalled(store)
    again = inode(parted_from=2)
    assert again != first
    assert inode(parted_from=2, wanted_recall=0.5) != again


def test_a_namespace_is_searched_in_the_table_where_it_may_have_no_snapshot(space):
    store = space.store
    sizes = dict(store.read("chunks", columns=["namespace"])["namespace"].value_counts().iter_rows())
    assert len(sizes) > 1
    one = incremental_snapshot._row_bytes(store)
    assert searched_in_table(store, MANY) == []
    assert searched_in_table(store, 0) == sorted(sizes)
    most = max(sizes.values())
    assert searched_in_table(store, most * one) == []
    assert searched_in_table(store, most * one - 1) == sorted(n for n in sizes if sizes[n] == most)


def test_what_is_in_the_file_is_not_copied_when_more_comes(space):
    leave(space.store)
    snapshots = Snapshots(space.store, MANY)
    before = snapshots.of("ada")
    (vectors,) = before.vectors._pieces
    assert not vectors.flags.owndata
    ada(space).save(BOAT, key="new")
    after = snapshots.of("ada")
    assert np.shares_memory(after.vectors._pieces[0], vectors)
    assert len(after) > len(before)
    assert after.words.index.blocks[0] is before.words.index.blocks[0]
    assert "boat" in after.named("text", np.array([len(after) - 1]))[0]


def test_the_best_rows_of_common_words_are_in_the_file_and_are_those_that_are_found_without(
    space, monkeypatch
):
    monkeypatch.setattr(bm25, "COMMON", 2)
    leave(space.store)
    snapshot = Snapshots(space.store, MANY).of("ada")
    (block,) = snapshot.words.index.blocks
    common = [int(one) for one in block.terms[np.diff(block.starts) >= 2]]
    assert sorted(block.peaks) == common != []
    lengths = snapshot.words.index.lengths
    for term in common:
        alone = replace(block, peaks={}).peak(term, block.find(term), lengths)
        assert block.peaks[term].tolist() == alone.tolist()


def test_a_search_text_is_in_the_file_as_its_hash_and_a_changed_one_is_read_anew(space):
    leave(space.store)
    mapped = opened(mmap_snapshot.path_of(space.store, "ada"))
    assert mapped.table("kept").column("search_text").type == pa.uint64()
    snapshots = Snapshots(space.store, MANY)
    where, first = Filters().where("ada"), snapshots.of("ada")
    assert first.full_text("heather", where, 9).rows.tolist() == []
    rows = space.store.read("chunks", "namespace = 'ada'").sort("chunk_id").head(1)
    space.store.upsert("chunks", rows.with_columns(search_text=pl.col("search_text") + " heather"))
    for now in (snapshots.of("ada"), Snapshots(space.store, MANY).of("ada")):  # in memory, and recalled
        assert now.named("chunk_id", now.full_text("heather", where, 9).rows) == rows["chunk_id"].to_list()


def test_rows_of_the_file_that_only_moved_are_recognised(space):
    space.store.settle()
    ada(space).save(BOAT)
    leave(space.store)
    fragments = set(fragments_of(space.store.dataset("chunks")))
    space.store.table("chunks").optimize()
    assert not fragments & set(fragments_of(space.store.dataset("chunks")))
    one = IncrementalSnapshot(space.store, "ada", MANY)
    snapshot = one.now()
    assert len(snapshot) == space.store.count("chunks", "namespace = 'ada'")
    assert one.alive.all()
    assert not snapshot.vectors._pieces[0].flags.owndata


def _cut(path):
    os.truncate(path, path.stat().st_size // 2)


def _flipped(path):
    whole = bytearray(path.read_bytes())
    whole[-60] ^= 1
    path.write_bytes(whole)


def _anothers(path):
    shutil.copy(next(one for one in path.parent.iterdir() if one != path), path)


@pytest.mark.parametrize("harm", [_cut, _flipped, _anothers, lambda path: path.write_bytes(b"")])
def test_a_file_that_is_damaged_or_anothers_is_none(space, harm):
    leave(space.store)
    harm(mmap_snapshot.path_of(space.store, "ada"))
    assert not recalled(space.store)
    assert_follows(ada(space), Snapshots(space.store, MANY))
    leave(space.store)
    assert recalled(space.store)


def test_a_file_of_which_a_part_does_not_fit_is_none(space, monkeypatch):
    """Whatever goes wrong on the way."""
    leave(space.store)
    with monkeypatch.context() as patch:
        patch.setattr(mmap_snapshot, "_parts", lambda *_: [("x", mmap_snapshot.Part(None, None))])
        assert_follows(ada(space), Snapshots(space.store, MANY))
    with monkeypatch.context() as patch:
        calls = []
        follow = IncrementalSnapshot._follow
        patch.setattr(
            IncrementalSnapshot, "_follow",
            lambda *given: 1 / 0 if not calls and calls.append(1) is None else follow(*given),
        )  # fmt: skip
        assert_follows(ada(space), Snapshots(space.store, MANY))
        assert calls


@pytest.mark.parametrize(
    "change",
    [
        {"model": "another"}, {"dimension": 9}, {"namespace": "eve"}, {"lance": "0"}, {"content": 0},
        {"words": ""}, {"columns": ""}, {"table": "chunks_2"}, {"uri": "/elsewhere"}, {"version": 10**6},
        {"manifest": [1, 2, 3]}, {"parts": []}, {"rows": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_file_of_something_else_is_none(space, monkeypatch, change):
    store = space.store
    with monkeypatch.context() as patch:
        end = mmap_snapshot.Putting.__enter__

        def telling(self):
            made = end(self)
            told = made.end
            made.end = lambda facts: told({**facts, **change})
            return made

        patch.setattr(mmap_snapshot.Putting, "__enter__", telling)
        leave(store)
    assert not recalled(store)
    assert_follows(ada(space), Snapshots(store, MANY))
    leave(store)
    assert recalled(store)


def test_a_table_that_was_made_again_has_no_file(space):
    store = space.store
    leave(store)
    rows = store.read("chunks")
    store.db.drop_table("chunks")
    store.connect()
    store.create_table(store.specs["chunks"])
    store.upsert("chunks", rows.with_columns(status=pl.lit("superseded")))
    assert not recalled(store)
    while store.version("chunks") < 60:
        store.upsert("chunks", rows)
    assert not recalled(store)
    assert_follows(ada(space), Snapshots(store, MANY))


def test_after_another_model_there_is_another_file(space):
    store = space.store
    leave(store)
    rows = store.read("chunks")
    store.create_table(store.specs["chunks"], "chunks_new")
    store.identity = Identity("hash-8b", 8, {"chunks": "chunks_new"})
    store.connect()
    store.upsert("chunks", rows)
    assert not recalled(store)
    leave(store)
    assert recalled(store)
    assert_follows(ada(space), Snapshots(store, MANY))


def test_rows_that_a_checkpoint_brings_back_are_there_again(space):
    """Also where they had gone before the file was made, in a fragment that is still there."""
    store, memory = space.store, ada(space)
    create_checkpoint(store, "mine", NOON)
    snapshots = Snapshots(store, MANY)
    snapshots.of("ada")
    (name,) = store.read("chunks", "namespace = 'ada'", columns=["memory_id"])["memory_id"].unique()[:1]
    store.delete("chunks", f"memory_id = '{name}'")
    leave(store)
    left = Snapshots(store, MANY).of("ada")
    assert not left._rows(name)
    restore_checkpoint(store, "mine")
    assert recalled(store)
    for one in (snapshots, Snapshots(store, MANY)):
        assert_follows(memory, one)
        assert one.of("ada")._rows(name)


KILLED = """
    import os, sys
    from slowwave.index.incremental_snapshot import leave_files
    from slowwave.store import Store
    moment, uri = sys.argv[1:]
    store = Store(uri, model="hash-8", dimension=8)
    if moment == "fsync":
        os.fsync = lambda _: os._exit(9)
    elif moment == "middle":
        from slowwave.index.mapped_file import Writing
        Writing.table = lambda *_: os._exit(9)
    else:
        os.replace = lambda *_: os._exit(9)
        from pathlib import Path
        Path.replace = lambda *_: os._exit(9)
    leave_files(store, 2**30, fewest=1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["middle", "fsync", "replace"])
def test_a_night_that_is_killed_leaves_the_file_before_and_nothing_half(space, moment):
    store = space.store
    leave(store)
    ada(space).save(BOAT)
    store.settle()
    path = mmap_snapshot.path_of(store, "ada")
    before = path.read_bytes()
    done = subprocess.run(warm.python("-c", textwrap.dedent(KILLED), moment, store.uri), check=False)
    assert done.returncode == 9
    assert path.read_bytes() == before
    assert len(list(path.parent.iterdir())) == 3  # with what was begun
    assert recalled(store)
    assert_follows(ada(space), Snapshots(store, MANY))
    leave(store)
    assert len(list(path.parent.iterdir())) == 2
    assert path.read_bytes() != before


def test_a_file_that_cannot_be_written_is_told_and_the_others_are(space, monkeypatch):
    write = mmap_snapshot.write

    def full(store, namespace, *given):
        if namespace == "ada":
            raise OSError(28, "No space left on device")
        write(store, namespace, *given)

    monkeypatch.setattr(mmap_snapshot, "write", full)
    left = leave(space.store)
    assert (set(left.rows), set(left.failed)) == ({"bob"}, {"ada"})
    assert "No space left" in left.failed["ada"]


def test_who_has_it_mapped_goes_on_when_it_goes(space):
    store = space.store
    leave(store)
    snapshots = Snapshots(store, MANY)
    before = found(snapshots.of("ada"), space.embedder)
    mmap_snapshot.forget(store, "ada")
    assert not mmap_snapshot.path_of(store, "ada").exists()
    assert mmap_snapshot.path_of(store, "bob").exists()
    assert found(snapshots.of("ada"), space.embedder) == before


ROUNDS = 12


def nights(store: Store) -> None:
    """Each brings a row, and a file."""
    rows = store.read("chunks", "namespace = 'ada'")[:1]
    for number in range(ROUNDS):
        one = rows.with_columns(chunk_id=pl.lit(f"new {number}"), search_text=pl.lit(f"boat {number}"))
        store.upsert("chunks", one)
        assert not leave(store).failed


def searches(store: Store, over: Callable[[], bool]) -> int:
    """New processes, one after the other; how many of the rows the last one has."""
    seen, last = 0, False
    while not last:
        last = over()
        snapshot = Snapshots(store, MANY).of("ada")
        names = snapshot.named("chunk_id", np.flatnonzero(snapshot.alive))
        assert len(names) == len(set(names))
        new = sum(name.startswith("new ") for name in names)
        assert new >= seen
        seen = new
    return seen


@pytest.mark.slow
def test_nights_and_searches_at_once(space):
    """Each has its own store, as processes have."""
    space.store.settle()
    stores = [Store(space.store.uri, model="hash-8", dimension=8) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        night = pool.submit(nights, stores[0])
        works = [pool.submit(searches, store, night.done) for store in stores[1:]]
        night.result()
        assert [one.result() for one in works] == [ROUNDS, ROUNDS]


def test_an_erasure_that_comes_while_a_file_is_made_leaves_none(open_memory):
    """It has looked for files before this one was there."""
    memory = open_memory()
    memory.save(text(0))
    counts = iter([0, 1])
    left = leave_files(memory.store, MANY, fewest=1, erasures=lambda _: next(counts))
    assert (left.rows, left.failed) == ({}, {})
    assert not mmap_snapshot.path_of(memory.store, memory.namespace).exists()
    assert leave_files(memory.store, MANY, fewest=1, erasures=lambda _: 1).rows == {memory.namespace: 1}


def test_what_a_file_has_and_the_log_still_has_is_known_once(open_memory, monkeypatch):
    """A writer that is killed between its commit and the end of its file, and a night after it."""
    memory = open_memory()
    memory.save(text(0))
    (name,) = memory.store.logged()
    kept = (memory.store.wal._folder / name).read_bytes()
    assert leave_files(memory.store, MANY, fewest=1).rows
    (memory.store.wal._folder / name).write_bytes(kept)
    snapshot = Snapshots(memory.store, MANY).of(memory.namespace)
    assert int(snapshot.alive.sum()) == 1

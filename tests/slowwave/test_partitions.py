"""Vectors in partitions: what is found, how many are visited, and that no filter and no tenant is lost."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import lance
import numpy as np
import polars as pl
import pytest
from snapshot_helpers import MANY as ROOM

import slowwave
from slowwave.index import incremental_snapshot, mmap_snapshot, partitions, snapshot
from slowwave.index.incremental_snapshot import Snapshots, leave_files
from slowwave.index.partitioned_vectors import PartitionedVectors
from slowwave.index.partitions import MIN_PROBES, Partitions, count_for, parted, probes_for
from slowwave.memory import Memory
from slowwave.search import Filters

COUNT, DIMENSION = 4_000, 16


def rows_of(seed: int, count: int = COUNT, dimension: int = DIMENSION) -> np.ndarray:
    """Unit vectors in clusters."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(40, dimension))
    rows = centres[random.integers(0, 40, count)] + 0.8 * random.normal(size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    ("rows", "count"), [(50, 1), (20_000, 400), (160_000, 3_200), (1_000_000, 16_000), (100_000_000, 160_000)]
)
def test_fifty_rows_each_until_the_centres_are_too_many(rows, count):
    assert count_for(rows) == count


def test_probes_by_hand():
    """Of twenty neighbours one is in the 31st partition and one in the 12th."""
    ranks = np.array([[0] * 10, [*[1] * 8, 11, 30]])
    assert probes_for(ranks, 1.0) == (31, 1.0)
    assert probes_for(ranks, 0.95) == (12, 0.95)  # one of twenty may be missed
    assert probes_for(ranks, 0.9) == (MIN_PROBES, 0.9)


def test_every_row_is_in_the_partition_whose_centre_is_about_nearest():
    vectors = rows_of(1)
    parts = parted(vectors, 0.99)
    assert np.array_equal(np.sort(parts.order), np.arange(COUNT))
    assert np.array_equal(parts.order[parts.place], np.arange(COUNT))
    assert len(parts.centres) == pytest.approx(count_for(COUNT), rel=0.2)
    mine = np.empty(COUNT, dtype=np.int64)
    mine[parts.order] = np.repeat(np.arange(len(parts.centres)), np.diff(parts.starts))
    nearest = np.argmax(vectors @ parts.centres.T, axis=1)
    assert np.mean(mine == nearest) > 0.9
    for number in range(len(parts.centres)):
        assert np.all(np.diff(parts.order[parts.starts[number] : parts.starts[number + 1]]) > 0)


def test_questions_nobody_measured_with_find_their_neighbours_and_few_rows_are_compared():
    vectors, questions = rows_of(1), rows_of(1)[:200] + rows_of(2)[:200]
    parts = parted(vectors, 0.95)
    there = PartitionedVectors(vectors[parts.order], partitions=parts)
    passing = np.ones(COUNT, dtype=np.bool_)
    found, seen = [], []
    for question in questions:
        rows, near = there.visited(question, passing, 10)
        assert near == pytest.approx(vectors[rows] @ question, abs=1e-5)
        seen.append(len(rows))
        best = set(rows[np.argsort(-near)[:10]].tolist())
        found.append(len(best & set(np.argsort(-(vectors @ question))[:10].tolist())) / 10)
    assert np.mean(found) >= 0.94
    assert parts.recall >= 0.95
    assert np.mean(seen) < 0.8 * COUNT


def test_questions_that_lie_between_more_rows_ask_for_more_partitions(monkeypatch):
    """Those of people lie as far from their answers as between four rows, not as between two."""
    vectors, probes = rows_of(1), []
    for between in (1, 2, partitions.BETWEEN):
        monkeypatch.setattr(partitions, "BETWEEN", between)
        probes.append(parted(vectors, 0.99).probes)
    assert probes == sorted(set(probes))


def test_how_many_are_visited_is_measured_of_what_people_asked_if_they_asked_enough():
    """Questions that are rows themselves need fewer partitions than ones between four."""
    vectors = rows_of(1)
    made_up, asked = parted(vectors, 0.99), parted(vectors, 0.99, asked=vectors[::8])
    assert len(vectors[::8]) >= partitions.QUERIES
    assert asked.probes < made_up.probes
    too_few = parted(vectors, 0.99, asked=vectors[: partitions.ASKED - 1])
    assert (too_few.probes, too_few.recall) == (made_up.probes, made_up.recall)
    enough = parted(vectors, 0.99, asked=vectors[: partitions.ASKED])
    assert enough.probes < made_up.probes
    assert np.array_equal(enough.order, made_up.order)


def test_a_sample_has_to_find_a_deviation_more_than_is_wanted():
    """Of 100 neighbours of which 90 are wanted, the deviation is three: 93."""
    assert partitions._with_margin(0.9, 100) == pytest.approx(0.93)
    vectors = rows_of(1)
    found = parted(vectors, 0.9, asked=vectors[:400])
    assert found.recall >= 0.9 + np.sqrt(0.9 * 0.1 / (partitions.QUERIES * 10)) - 1e-9
    assert partitions._with_margin(0.9999, 1_920) == 1.0
    assert parted(vectors, 0.9999, asked=vectors[: partitions.ASKED]).recall == 1.0


def test_of_many_questions_those_that_are_measured_with_are_drawn():
    vectors = rows_of(1)
    easy, hard = vectors[: partitions.QUERIES], rows_of(9, 3_000)
    asked = parted(vectors, 0.9, asked=np.concatenate([easy, hard])).probes
    assert asked > parted(vectors, 0.9, asked=easy).probes


def test_the_nearest_partitions_come_first_and_each_once():
    vectors = rows_of(1)
    parts = parted(vectors, 0.9)
    question = vectors[7]
    given = list(parts.nearest(question))
    assert [len(places) for places in given[:3]] == [parts.probes, 2 * parts.probes, 4 * parts.probes]
    assert sorted(place for places in given for place in places) == list(
        zip(parts.starts[:-1].tolist(), parts.starts[1:].tolist(), strict=True)
    )
    near = dict(zip(parts.starts[:-1].tolist(), (parts.centres @ question).tolist(), strict=True))
    for nearer, further in pairwise(given):
        assert min(near[start] for start, _ in nearer) >= max(near[start] for start, _ in further) - 1e-6


def test_vectors_in_the_order_of_partitions_are_those_they_were():
    vectors, more = rows_of(1), rows_of(5, 30)
    parts = parted(vectors, 0.9)
    there = PartitionedVectors(vectors[parts.order], more, partitions=parts)
    whole = np.concatenate([vectors, more])
    rows = np.array([3, COUNT + 4, 17, COUNT - 1, 0])
    assert np.array_equal(there[rows], whole[rows])
    assert there.times(more[0]) == pytest.approx(whole @ more[0], abs=1e-6)


def test_rows_since_then_are_compared_all_and_more_partitions_are_visited_where_few_rows_pass():
    vectors, more = rows_of(1), rows_of(5, 30)
    made = parted(vectors, 0.9)
    parts = Partitions(made.centres, made.starts, made.order, made.place, 1, 0.0)
    there = PartitionedVectors(vectors[parts.order], more, partitions=parts)
    passing = np.zeros(COUNT + 30, dtype=np.bool_)
    passing[COUNT:] = True
    rows, near = there.visited(more[3], passing, 10)
    assert set(rows[near > -np.inf].tolist()) == set(range(COUNT, COUNT + 30))
    passing[:COUNT:50] = True
    rows, near = there.visited(more[3], passing, 60)
    assert np.array_equal(passing[rows], near > -np.inf)
    rows = rows[passing[rows]]
    assert np.count_nonzero(rows < COUNT) >= 60


# -- in a home ---------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path):
    with slowwave.open(tmp_path, namespace="ada", embedding={"model": "wordllama-256"}) as memory:
        yield memory


def fill(memory: Memory, namespaces: tuple[str, ...], count: int) -> None:
    """Rows that are alike in all namespaces: only the filter tells whose they are."""
    vectors = rows_of(1, count, memory.embedder.dimension)
    for name in namespaces:
        frame = pl.DataFrame(
            {
                "chunk_id": [f"{name}{number:06}:00000" for number in range(count)],
                "memory_id": [f"{name}{number:06}" for number in range(count)],
                "search_text": [f"boat number{number} pier{number % 7}" for number in range(count)],
                "text": [f"boat {number}" for number in range(count)],
                "importance_tier": ["high" if number % 100 == 0 else "normal" for number in range(count)],
                "status": ["live"] * count, "namespace": [name] * count, "sensitivity": ["internal"] * count,
                "ordinal": pl.Series([0] * count, dtype=pl.Int32),
                "vector": pl.Series(vectors, dtype=pl.Array(pl.Float32, memory.embedder.dimension)),
            }
        )  # fmt: skip
        memory.store.upsert("chunks", frame.with_columns(memory_type=pl.lit("note")))


def searched(memory: Memory, where: str, question: np.ndarray, words: str) -> list[tuple[str, float]]:
    found = Snapshots(memory.store, ROOM).of(memory.namespace)
    near, text = found.nearest(question, where, 20), found.full_text(words, where, 20)
    names = [*found.named("chunk_id", near.rows), *found.named("chunk_id", text.rows)]
    return list(zip(names, [*near.scores, *text.scores], strict=True))


@pytest.mark.parametrize("filters", [Filters(), Filters(tier=("high",)), Filters(tier=("normal",))])
def test_a_large_namespace_finds_its_own_rows_alone_and_those_that_exact_search_finds(
    home, monkeypatch, filters
):
    fill(home, ("ada", "bob"), 1_200)
    where, question = filters.where("ada"), rows_of(7, 1, home.embedder.dimension)[0]
    exact = searched(home, where, question, "boat pier3 number300")
    monkeypatch.setattr(snapshot, "MANY", 100)
    monkeypatch.setattr(partitions, "MIN_PROBES", 1_200)  # all are visited: nothing may be missed
    leave_files(home.store, ROOM, fewest=1, parted_from=1_000, wanted_recall=1.0)
    left = mmap_snapshot.opened(mmap_snapshot.path_of(home.store, "ada"))
    assert left.facts["partitions"]["recall"] == 1.0
    found = searched(home, where, question, "boat pier3 number300")
    assert [name for name, _ in found] == [name for name, _ in exact]
    assert [score for _, score in found] == pytest.approx([score for _, score in exact], abs=1e-6)
    assert all(name.startswith("ada") for name, _ in found)
    assert len(found) > 20


def test_what_is_saved_and_erased_after_the_night_is_followed(home, monkeypatch):
    fill(home, ("ada",), 1_200)
    monkeypatch.setattr(snapshot, "MANY", 100)
    leave_files(home.store, ROOM, fewest=1, parted_from=1_000, wanted_recall=0.99)
    home.save("The gauge at the pier is read by Ruaridh every morning before the tide turns.")
    home.store.delete("chunks", "memory_id = 'ada000005'")
    where = Filters().where("ada")
    vector = home.embedder.embed_query("who reads the gauge at the pier?").astype(np.float32)
    found = Snapshots(home.store, ROOM).of("ada")
    assert found.vectors.partitions is not None
    (first,) = found.columns.take(found.nearest(vector, where, 1).rows).column("text").to_pylist()
    assert first.startswith("The gauge at the pier")
    assert "ada000005:00000" not in found.named("chunk_id", found.full_text("number5", where, 5).rows)
    assert found.named("chunk_id", found.full_text("number6", where, 5).rows)[0] == "ada000006:00000"


def test_a_night_measures_with_the_questions_of_its_namespace_alone(home, monkeypatch):
    fill(home, ("ada", "bob"), 1_200)
    monkeypatch.setattr(partitions, "MIN_PROBES", 1)
    vectors = rows_of(1, 1_200, home.embedder.dimension)

    def probes() -> dict[str, int]:
        leave_files(home.store, ROOM, fewest=1, parted_from=1_000, wanted_recall=0.9)
        left = {
            name: mmap_snapshot.opened(mmap_snapshot.path_of(home.store, name)) for name in ("ada", "bob")
        }
        return {name: one.facts["partitions"]["probes"] for name, one in left.items()}

    before = probes()
    asked = np.concatenate(
        [vectors[: partitions.ASKED], 0 * vectors[:200]]
    )  # of nothing: near to no question
    rows = pl.DataFrame(
        {
            "query_id": [f"question{at}" for at in range(len(asked))],
            "namespace": ["ada"] * len(asked),
            "query": [f"where is boat {at}?" for at in range(len(asked))],
            "vector": pl.Series(asked, dtype=pl.Array(pl.Float32, asked.shape[1])),
        }
    )
    home.store.upsert("question_vectors", rows)
    assert probes() == {
        "ada": parted(vectors, 0.9, asked=asked[: partitions.ASKED]).probes,
        "bob": before["bob"],
    }
    assert probes()["ada"] < before["ada"]


@pytest.mark.parametrize("harm", ["gone", "overwritten", "another model"])
def test_a_night_that_cannot_read_questions_leaves_its_files_all_the_same(home, harm):
    fill(home, ("ada",), 1_200)
    (table,) = Path(home.store.uri).glob("question_vectors*.lance")
    width = 8 if harm == "another model" else home.embedder.dimension
    rows = pl.DataFrame({"query_id": ["one"], "namespace": ["ada"], "query": ["where is the boat?"]})
    vector = pl.Series([[1.0] * width], dtype=pl.Array(pl.Float32, width))
    if harm == "another model":
        lance.write_dataset(rows.with_columns(vector=vector).to_arrow(), table, mode="overwrite")
    else:
        home.store.upsert("question_vectors", rows.with_columns(vector=vector))
    if harm == "gone":
        shutil.rmtree(table)
    elif harm == "overwritten":
        for one in table.rglob("*.lance"):
            one.write_bytes(b"x" * 100)
    left = leave_files(home.store, ROOM, fewest=1, parted_from=1_000)
    assert (left.rows, left.failed) == ({"ada": 1_200}, {})


def test_what_came_since_the_night_is_compared_as_what_was_there(home, monkeypatch):
    """Rows of later pieces, dead rows, rows that do not pass and equal ones; more are asked for than pass."""
    monkeypatch.setattr(partitions, "MIN_PROBES", 1_200)  # all are visited: nothing may be missed
    fill(home, ("ada",), 1_200)
    leave_files(home.store, ROOM, fewest=1, parted_from=1_000, wanted_recall=1.0)
    late = home.store.read("chunks", "memory_id < 'ada000060'").sort("chunk_id")
    again = pl.col("memory_id").str.replace("ada0", "ada9")
    late = late.with_columns(memory_id=again, chunk_id=pl.concat_str(again, pl.lit(":00000")))
    late = late.with_columns(
        status=pl.when(pl.col("chunk_id") > "ada90004").then(pl.lit("retired")).otherwise("status")
    )
    home.store.upsert("chunks", late)
    home.store.delete("chunks", "memory_id IN ('ada000003', 'ada900005')")
    where, question = Filters().where("ada"), rows_of(7, 1, home.embedder.dimension)[0]
    parted_one, whole = (
        Snapshots(home.store, ROOM).of("ada"),
        incremental_snapshot.IncrementalSnapshot(home.store, "ada", ROOM, recalls=False).now(),
    )
    assert parted_one.vectors.partitions is not None
    assert whole.vectors.partitions is None
    for size in (1, 2, 7, 50, 1_239, 5_000):
        found, wanted = (
            dict(zip(one.named("chunk_id", near.rows), near.scores.tolist(), strict=True))
            for one in (parted_one, whole)
            for near in [one.nearest(question, where, size)]
        )
        assert sorted(found.values()) == pytest.approx(sorted(wanted.values()), abs=1e-6)
        least = min(wanted.values())
        assert {name for name in found if found[name] > least + 1e-6} == {
            name for name in wanted if wanted[name] > least + 1e-6
        }
    assert len(found) == 1_200 - 1 + 40 - 1
    assert not {"ada000003:00000", "ada900005:00000", "ada900041:00000"} & set(found)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_few_rows_are_not_parted(home):
    fill(home, ("ada",), 600)
    leave_files(home.store, ROOM, fewest=1, parted_from=1_000)
    assert mmap_snapshot.opened(mmap_snapshot.path_of(home.store, "ada")).facts["partitions"] is None
    assert Snapshots(home.store, ROOM).of("ada").vectors.partitions is None


def test_the_same_vectors_are_parted_the_same_way():
    one, two = (parted(rows_of(3, 2_000), 0.9) for _ in range(2))
    assert np.array_equal(one.order, two.order)
    assert (one.probes, one.recall) == (two.probes, two.recall)
    assert partitions.QUERIES > 100

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from slowwave.common import ids
from slowwave.errors import StoreError
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry
from slowwave.journal.acts import entries_frame
from slowwave.lifecycle import stages
from slowwave.lifecycle.admission import settle
from slowwave.lifecycle.quarantine import hold
from slowwave.settings import load
from slowwave.store import Store, staging
from slowwave.store.checkpoints import interrupted_restore, list_checkpoints, restore_checkpoint
from slowwave.store.database import SCHEMA_VERSION
from slowwave.store.migrations import BEFORE, MIGRATIONS, Migration, migrate, pending

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEXT = SCHEMA_VERSION + 1  # of the steps that these tests make up


@pytest.fixture
def filled(store: Store) -> Store:
    names = [f"{number:03}" for number in range(50)]
    store.upsert("memories", pl.DataFrame({"memory_id": names, "namespace": ["ada"] * 50, "title": names}))
    vectors = pl.Series(
        [[1.0, number / 50, *[0.0] * 6] for number in range(50)], dtype=pl.Array(pl.Float32, 8)
    )
    store.upsert("chunks", pl.DataFrame({"chunk_id": names, "search_text": names, "vector": vectors}))
    return store


def add_mood(store: Store) -> None:
    table = store.db.open_table("memories")
    if "mood" not in table.schema.names:
        table.add_columns({"mood": "concat('calm ', title)"})


MOOD = Migration(NEXT, "moods", ("memories",), add_mood)


def failing(store: Store) -> None:
    add_mood(store)
    store.db.open_table("memories").delete("memory_id < '025'")
    raise RuntimeError("the disk is full")


def columns(store: Store) -> list[str]:
    return list(store.db.open_table("memories").schema.names)


def test_this_version_has_nothing_pending_on_a_new_store(store):
    assert pending(store) == []
    assert migrate(store, NOON) == []
    assert list_checkpoints(store) == []
    assert store.get_meta("schema") == {"version": SCHEMA_VERSION}
    assert [step.version for step in MIGRATIONS] == list(range(2, NEXT))


def test_a_migration_is_applied_once_with_a_checkpoint_before_it(filled):
    assert pending(filled, [MOOD]) == [MOOD]
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    rows = filled.db.open_table("memories").search().select(["memory_id", "mood"]).limit(None).to_list()
    assert sorted((row["memory_id"], row["mood"]) for row in rows)[0] == ("000", "calm 000")
    assert len(rows) == 50
    assert filled.get_meta("schema") == {"version": NEXT}
    assert [(one.name, one.created_at) for one in list_checkpoints(filled)] == [
        (f"before-migration-{NEXT}", NOON),
        (BEFORE, NOON),
    ]
    version = filled.db.open_table("memories").version
    assert migrate(filled, NOON, [MOOD]) == []
    assert filled.db.open_table("memories").version == version


def test_migrations_are_applied_in_the_order_of_their_versions(filled):
    seen = []
    steps = [
        Migration(number, str(number), ("memories",), lambda _, n=number: seen.append(n))
        for number in (NEXT + 2, NEXT, NEXT + 1)
    ]
    assert [step.version for step in migrate(filled, NOON, steps)] == [NEXT, NEXT + 1, NEXT + 2]
    assert seen == [NEXT, NEXT + 1, NEXT + 2]
    assert filled.get_meta("schema") == {"version": NEXT + 2}


def test_a_migration_that_fails_is_undone_and_the_version_stays(filled):
    before, names = filled.read("memories").sort("memory_id"), columns(filled)
    with pytest.raises(RuntimeError, match="the disk is full"):
        migrate(filled, NOON, [Migration(NEXT, "moods", ("memories",), failing)])
    assert columns(filled) == names
    assert filled.read("memories").sort("memory_id").equals(before)
    assert filled.get_meta("schema") == {"version": SCHEMA_VERSION}
    assert interrupted_restore(filled) is None


def test_a_failed_migration_may_be_run_again(filled):
    with pytest.raises(RuntimeError):
        migrate(filled, NOON, [Migration(NEXT, "moods", ("memories",), failing)])
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    assert "mood" in columns(filled)
    assert filled.count("memories") == 50
    restore_checkpoint(filled, f"before-migration-{NEXT}", only=["memories"])
    assert "mood" not in columns(filled)
    assert filled.count("memories") == 50


def test_steps_before_a_failing_one_are_kept(filled):
    with pytest.raises(RuntimeError):
        migrate(filled, NOON, [MOOD, Migration(NEXT + 1, "fails", ("memories",), failing)])
    assert filled.get_meta("schema") == {"version": NEXT}
    assert "mood" in columns(filled)
    assert filled.count("memories") == 50


def test_a_migration_killed_before_its_version_was_recorded_is_run_again(filled, monkeypatch):
    put_meta = filled.put_meta

    def dies(name, value, **options):
        if name == "schema":
            raise KeyboardInterrupt
        put_meta(name, value, **options)

    monkeypatch.setattr(filled, "put_meta", dies)
    with pytest.raises(KeyboardInterrupt):
        migrate(filled, NOON, [MOOD])
    monkeypatch.undo()
    assert migrate(filled, NOON, [MOOD]) == [MOOD]
    assert filled.get_meta("schema") == {"version": NEXT}


def test_searches_go_on_while_a_migration_runs(filled):
    reader = Store(filled.uri, model="hash-8", dimension=8)
    begun, stop, errors, sizes = threading.Event(), threading.Event(), [], []

    def search() -> None:
        while not stop.is_set():
            try:
                rows = (
                    reader.table("chunks")
                    .search([1.0] + [0.0] * 7)
                    .distance_type("cosine")
                    .limit(5)
                    .to_list()
                )
                sizes.append((len(rows), reader.count("memories")))
            except Exception as error:
                errors.append(error)
            begun.set()

    def slow(store: Store) -> None:
        assert begun.wait(30)
        for number in range(5):
            store.db.open_table("memories").add_columns({f"column_{number}": "'x'"})
            store.db.open_table("chunks").add_columns({f"column_{number}": "'x'"})

    thread = threading.Thread(target=search)
    thread.start()
    try:
        migrate(filled, NOON, [Migration(NEXT, "slow", ("memories", "chunks"), slow)])
    finally:
        stop.set()
        thread.join()
    assert errors == []
    assert set(sizes) == {(5, 50)}


def test_a_store_of_a_newer_slowwave_is_refused(store):
    store.put_meta("schema", {"version": 99})
    with pytest.raises(StoreError) as caught:
        Store(store.uri, model="hash-8", dimension=8)
    assert "schema version 99" in str(caught.value)
    assert "Install a newer Slowwave" in str(caught.value)


# -- from version 1 to 2 ---------------------------------------------------------------------------

NEW_IN_2 = {
    "memories": ["vector", "replaced_by", "absorbed", "original"],
    "decisions": ["revision", "reasons", "refused", "appended", "undone_by", "undone_why"],
    "quarantine": ["score", "parts"],
    "staged_notes": ["released"],
    "gate_verdicts": ["score", "parts"],
}
ONLY_IN_1 = {"decisions": ["before", "after"], "gate_verdicts": ["details", "duplicate_of"]}
TEXTS = {
    "long.md": "\n\n".join(
        f"Paragraph {n} tells of the harbour and of what gauge {n} says." * 9 for n in range(5)
    ),
    "short.md": "One paragraph about the lighthouse keeper and nothing else at all.",
    "gone.md": "What was known of the old crane, which was taken down in the spring of last year.",
}


NEW_IN_3 = {"chunks": ["origin"]}
LATER = {**NEW_IN_2, **NEW_IN_3}


def as_in_version_2(store: Store) -> None:
    """Take the store's tables back to what version 2 had."""
    for name, columns in NEW_IN_3.items():
        store.table(name).drop_columns(columns)
    store.db.drop_table("memory_state")
    store.put_meta("schema", {"version": 2})
    store.refresh()


def as_in_version_1(store: Store) -> None:
    """Take the store's tables back to the columns that version 1 had."""
    as_in_version_2(store)
    for name, columns in NEW_IN_2.items():
        store.table(name).drop_columns(columns)
    for name, columns in ONLY_IN_1.items():
        store.table(name).add_columns(dict.fromkeys(columns, "'old'"))
    store.put_meta("schema", {"version": 1})
    store.refresh()


def opening(home: Path, hash_embedder: type) -> Workspace:
    space = Workspace(load(home, gate={"mode": "enforce", "min_quality": 0.0}))  # as the environment has it
    space.__dict__["embedder"] = hash_embedder()
    return space


@pytest.fixture(scope="module")
def old_home(
    tmp_path_factory: pytest.TempPathFactory, act: Callable[..., Entry], hash_embedder: type
) -> Path:
    """A home whose store was left by version 1, with three memories, one of them forgotten."""
    home = tmp_path_factory.mktemp("version-1") / "home"
    space = opening(home, hash_embedder)
    acts = [act(source, text, title=source) for source, text in TEXTS.items()]
    acts.append(act("gone.md", at=NOON + timedelta(hours=1)))
    acts.append(act("never seen.md", at=NOON + timedelta(hours=1)))

    def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
        return stages.embed(
            space.store, space.embedder, stages.cut(notes, space.chunker, space.embedder.name)
        )

    space.journal.append(acts)
    for one in acts:
        settle(space, staging.stage(entries_frame([one])), chunks_of)
    staged = staging.stage(entries_frame(acts[:3]))
    store = space.store
    store.upsert("staged_notes", staged)
    store.upsert("gate_verdicts", staged.select("day", "memory_id", "revision", verdict_id="staged_id"))
    hold(store, staged[:1], staged[:1].select("memory_id", "revision", reasons=pl.lit(["x"])))
    as_in_version_1(store)
    space.close()
    return home


@pytest.fixture
def old_space(old_home: Path, home: Path, hash_embedder: type) -> Callable[[], Workspace]:
    """Opens a copy of that home."""
    shutil.copytree(old_home, home)
    return lambda: opening(home, hash_embedder)


def everything(store: Store) -> dict[str, pl.DataFrame]:
    """All rows of all tables, the facts about itself apart."""
    return {name: store.read(name).sort(spec.key) for name, spec in store.specs.items() if name != "meta"}


def untouched(store: Store) -> dict[str, pl.DataFrame]:
    """The columns that all versions have."""
    frames = {}
    for name, spec in store.specs.items():
        if name not in ("meta", "memory_state"):
            columns = [column for column in spec.schema.names if column not in LATER.get(name, ())]
            frames[name] = store.read(name, columns=columns).sort(spec.key)
    return frames


@pytest.mark.slow
def test_a_store_of_version_1_gets_a_vector_per_memory_and_loses_no_row(old_space):
    space = old_space()
    raw = Store(space.settings.store_uri, model="hash-8", dimension=8)
    for name, columns in NEW_IN_2.items():
        assert not set(columns) & set(raw.table(name).schema.names)
    assert [step.version for step in pending(raw)] == list(range(2, NEXT))
    before = untouched(raw)
    assert (before["memories"].height, before["quarantine"].height, before["staged_notes"].height) == (
        4,
        1,
        3,
    )
    assert before["chunks"].height > 4

    store = space.store  # opens it, and so migrates
    assert store.get_meta("schema") == {"version": SCHEMA_VERSION}
    for name, spec in store.specs.items():
        table = store.db.open_table(name)
        assert set(table.schema.names) == set(spec.schema.names), name
        assert {field.name: field.type for field in table.schema} == {
            field.name: field.type for field in spec.schema
        }, name
    after = untouched(store)
    for name, frame in before.items():
        assert frame.equals(after[name]), name
    assert {one.name for one in list_checkpoints(store)} == {
        BEFORE,
        *(f"before-migration-{step.version}" for step in MIGRATIONS),
    }

    memories = {row["source"]: row for row in store.read("memories").iter_rows(named=True)}
    chunks = store.read("chunks").sort("memory_id", "ordinal")
    for source in TEXTS:
        row = memories[source]
        parts = chunks.filter(memory_id=row["memory_id"])["vector"].to_numpy()
        mean = parts.astype(float).sum(axis=0)
        assert np.allclose(row["vector"], mean / np.linalg.norm(mean), atol=1e-6), source
        assert np.linalg.norm(row["vector"]) == pytest.approx(1, abs=1e-6)
        assert (row["absorbed"], row["original"]) == ([], None)
    assert memories["never seen.md"]["vector"] is None


@pytest.mark.slow
def test_a_migrated_store_is_what_the_newest_slowwave_would_have_made(old_space, act):
    space = old_space()
    known = ids.memory_id("ada", "short.md")
    row = space.store.read("memories", f"memory_id = '{known}'").row(0, named=True)
    assert space.embedder.embed_query(f"short.md\n{TEXTS['short.md']}").tolist() == row["vector"]
    # And it can be decided against: the same text under another name is refused.
    twin = staging.stage(entries_frame([act("twin.md", TEXTS["short.md"], at=NOON + timedelta(days=1))]))
    chunks = stages.embed(space.store, space.embedder, stages.cut(twin, space.chunker, "hash-8"))
    assert settle(space, twin, lambda _: chunks).refused == 1


@pytest.mark.slow
def test_the_step_to_version_2_can_be_run_twice(old_space):
    store = old_space().store
    before, versions = everything(store), {name: store.table(name).schema for name in NEW_IN_2}
    store.put_meta("schema", {"version": 1})  # as if it had been killed before its version was recorded
    store.refresh()
    assert [step.version for step in migrate(store, NOON)] == list(range(2, NEXT))
    for name, frame in everything(store).items():
        assert frame.equals(before[name]), name
    assert {name: store.table(name).schema for name in NEW_IN_2} == versions
    assert migrate(store, NOON) == []


@pytest.mark.slow
def test_a_step_to_version_2_that_is_killed_leaves_the_old_store(old_space, monkeypatch):
    module = sys.modules["slowwave.store.migrations"]
    space = old_space()
    before = untouched(Store(space.settings.store_uri, model="hash-8", dimension=8))

    def dies(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "mean_vectors", dies)
    with pytest.raises(KeyboardInterrupt):
        _ = space.store
    monkeypatch.undo()
    old = Store(space.settings.store_uri, model="hash-8", dimension=8)
    assert old.get_meta("schema") == {"version": 1}
    assert "vector" not in old.db.open_table("memories").schema.names
    for name, frame in untouched(old).items():
        assert frame.equals(before[name]), name
    assert space.store.get_meta("schema") == {"version": SCHEMA_VERSION}
    assert space.store.count("memories", "vector IS NOT NULL") == 3


@pytest.mark.slow
def test_the_step_to_version_2_leaves_chunks_of_another_revision_out_of_the_vector(old_space):
    """What a killed writer left behind is no part of what a memory says."""
    space = old_space()
    raw = Store(space.settings.store_uri, model="hash-8", dimension=8)
    known = ids.memory_id("ada", "short.md")
    columns = [name for name in raw.specs["chunks"].schema.names if name not in NEW_IN_3["chunks"]]
    chunk = raw.read("chunks", f"memory_id = '{known}'", columns=columns)
    stale = chunk.with_columns(
        chunk_id=pl.lit(ids.chunk_id(known, 7)), ordinal=pl.lit(7, pl.Int32), revision=pl.lit("0"),
        vector=pl.Series([[1.0] + [0.0] * 7], dtype=pl.Array(pl.Float32, 8)),
    )  # fmt: skip
    raw.db.open_table("chunks").add(stale.to_arrow())
    row = space.store.read("memories", f"memory_id = '{known}'").row(0, named=True)
    assert row["vector"] == chunk["vector"].to_list()[0]


# -- from version 2 to 3 ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home_of_2(
    tmp_path_factory: pytest.TempPathFactory, act: Callable[..., Entry], hash_embedder: type
) -> Path:
    """A home whose store was left by version 2: notes of two vaults, and one that was saved."""
    home = tmp_path_factory.mktemp("version-2") / "home"

    def chunks_of(notes: pl.DataFrame) -> pl.DataFrame:
        cut = stages.cut(notes, space.chunker, space.embedder.name)
        return stages.embed(space.store, space.embedder, cut)

    space = opening(home, hash_embedder)
    origins = {"long.md": "/vaults/o'clock", "short.md": "/vaults/ünïcode 🌊", "gone.md": ""}
    for source, origin in origins.items():
        one = act(source, TEXTS[source], title=source, origin=origin)
        space.journal.append([one])
        settle(space, staging.stage(entries_frame([one])), chunks_of)
    assert space.store.read("chunks").select("source", "origin").unique().height == 3
    as_in_version_2(space.store)
    space.close()
    return home


@pytest.fixture
def space_of_2(home_of_2: Path, home: Path, hash_embedder: type) -> Callable[[], Workspace]:
    """Opens a copy of that home."""
    shutil.copytree(home_of_2, home)
    return lambda: opening(home, hash_embedder)


@pytest.mark.slow
def test_a_store_of_version_2_learns_where_its_chunks_come_from(space_of_2):
    space = space_of_2()
    raw = Store(space.settings.store_uri, model="hash-8", dimension=8)
    assert "origin" not in raw.table("chunks").schema.names
    assert "memory_state" not in raw.db.list_tables().tables
    before = untouched(raw)

    store = space.store
    assert store.get_meta("schema") == {"version": SCHEMA_VERSION}
    for name in ("chunks", "memory_state"):
        assert {field.name: field.type for field in store.db.open_table(name).schema} == {
            field.name: field.type for field in store.specs[name].schema
        }
    assert store.count("memory_state") == 0
    for name, frame in untouched(store).items():
        assert frame.equals(before[name]), name
    told = store.read("chunks").select("memory_id", "origin").unique().sort("memory_id")
    assert told.filter(told["origin"].is_not_null() & (told["origin"] != "")).equals(
        store.read("memories", "origin != ''", columns=["memory_id", "origin"]).sort("memory_id")
    )
    assert told.height == 3
    key = store.db.open_table("memory_state").schema.field("state_id")
    assert not key.nullable
    assert key.metadata[b"lance-schema:unenforced-primary-key"] == b"true"


@pytest.mark.slow
def test_the_step_to_version_3_can_be_run_twice_and_keeps_what_use_has_taught(space_of_2):
    store = space_of_2().store
    row = {"state_id": "s", "day": "2026-03-01", "namespace": "ada", "memory_id": "m", "effectiveness": 0.9}
    store.upsert("memory_state", pl.DataFrame([row]))
    before = everything(store)
    store.put_meta("schema", {"version": 2})
    store.refresh()
    assert [step.version for step in migrate(store, NOON)] == list(range(3, NEXT))
    for name, frame in everything(store).items():
        assert frame.equals(before[name]), name
    assert migrate(store, NOON) == []


@pytest.mark.slow
def test_a_step_to_version_3_that_fails_leaves_version_2(space_of_2, monkeypatch):
    module = sys.modules["slowwave.store.migrations"]
    space = space_of_2()
    before = untouched(Store(space.settings.store_uri, model="hash-8", dimension=8))

    def dies(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "one_of", dies)
    with pytest.raises(KeyboardInterrupt):
        _ = space.store
    monkeypatch.undo()
    old = Store(space.settings.store_uri, model="hash-8", dimension=8)
    assert old.get_meta("schema") == {"version": 2}
    assert "origin" not in old.db.open_table("chunks").schema.names
    for name, frame in untouched(old).items():
        assert frame.equals(before[name]), name
    assert space.store.get_meta("schema") == {"version": SCHEMA_VERSION}
    assert space.store.count("chunks", "origin IS NOT NULL AND origin != ''") > 1


def test_a_store_of_version_6_learns_what_was_imported_and_folds_every_day_anew(store):
    lacking = {"usage_signals": ["imported", "behind"], "judgments": ["imported"],
               "memories": ["dated", "released"]}  # fmt: skip
    for name, columns in lacking.items():
        store.table(name).drop_columns(columns)
    store.put_metas({"fold-2026-03-01": {"seqs": [1, 1]}, "evaluated-2026-03-01": {}, "night-2026-03-01": {}})
    store.put_meta("schema", {"version": 6})
    assert [step.version for step in migrate(store, NOON)] == list(range(7, NEXT))
    for name, columns in lacking.items():
        assert set(columns) <= set(store.table(name).schema.names), name
    assert not store.list_meta("fold-")
    assert not store.list_meta("evaluated-")
    assert store.list_meta("night-")


def test_a_store_of_version_13_learns_the_questions_of_its_feedback_and_folds_every_day_anew(store):
    lacking = {"usage_signals": "query_id", "learned_effect": "rated"}
    keys = {name: store.specs[name].key for name in lacking}
    for name, key in keys.items():
        row = {key: "one", "day": "2026-03-01", "namespace": "ada", "search_id": "s"}
        store.upsert(name, pl.DataFrame([row]))
        store.table(name).drop_columns([lacking[name]])
    store.put_metas({"fold-2026-03-01": {"seqs": [1, 1]}, "evaluated-2026-03-01": {}, "night-2026-03-01": {}})
    store.put_meta("schema", {"version": 13})
    store.refresh()
    for _ in range(2):  # the second time as if it had been killed before its version was recorded
        assert [step.version for step in migrate(store, NOON)] == list(range(14, NEXT))
        assert store.get_meta("schema") == {"version": SCHEMA_VERSION}
        for name, column in lacking.items():
            (row,) = store.read(name).to_dicts()
            assert (row[keys[name]], row["search_id"], row[column]) == ("one", "s", None)
            schema = store.db.open_table(name).schema
            assert {field.name: field.type for field in schema} == {
                field.name: field.type for field in store.specs[name].schema
            }
        assert not store.list_meta("fold-")
        assert store.list_meta("evaluated-")
        assert store.list_meta("night-")
        store.put_meta("schema", {"version": 13})
        store.refresh()


@pytest.mark.slow
def test_a_store_of_version_7_learns_the_dates_that_its_nights_saw(store):
    """Of each memory what was staged of the note that it is, and nothing of what it was before."""
    told = {  # revision of the memory, revision that was staged, dated, released
        "dated": ("2", "2", True, False),
        "released": ("2", "2", False, True),
        "both": ("2", "2", True, True),
        "merged": ("2+3", "2", True, None),  # something has been added to it since
        "plain": ("2", "2", False, False),
        "newer": ("2", "1", True, True),
        "never": ("2", None, None, None),
    }
    names = list(told)
    before = pl.DataFrame({"memory_id": names, "revision": [one[0] for one in told.values()], "title": names})
    store.upsert("memories", before.with_columns(vector=pl.lit([1.0] + [0.0] * 7, pl.Array(pl.Float32, 8))))
    staged = [
        {"staged_id": f"{day}:{name}", "day": day, "memory_id": name, "revision": revision,
         "created_at": NOON, "dated": dated, "released": released}
        for name, (_, revision, dated, released) in told.items() if revision
        for day in ("2026-03-01", "2026-03-02")  # a day that was staged again
    ]  # fmt: skip
    store.upsert("staged_notes", pl.DataFrame(staged))
    store.table("memories").drop_columns(["dated", "released"])
    store.put_meta("schema", {"version": 7})
    store.refresh()

    assert [step.version for step in migrate(store, NOON)] == list(range(8, NEXT))
    columns = ["memory_id", "dated", "released"]
    rows = {name: rest for name, *rest in store.read("memories", columns=columns).iter_rows()}
    assert rows == {
        "dated": [NOON, False],
        "released": [None, True],
        "both": [NOON, True],
        "merged": [NOON, None],
        "plain": [None, None],
        "newer": [None, None],
        "never": [None, None],
    }
    kept = store.read("memories", columns=["memory_id", "revision", "title"]).sort("memory_id")
    assert kept.equals(before.sort("memory_id"))
    assert store.count("memories", "vector IS NOT NULL") == len(told)
    store.put_meta("schema", {"version": 7})  # as if it had been killed before its version was recorded
    store.refresh()
    migrate(store, NOON)
    assert {name: rest for name, *rest in store.read("memories", columns=columns).iter_rows()} == rows

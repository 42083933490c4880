"""A work on the tables that was killed is known to every command, and finished by the one that is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_past import by_night

from slowwave.errors import ModelError, NotFoundError, TakenInLaterError
from slowwave.journal.maintenance_ops import PendingOpError, maintenance_op, pending_op
from slowwave.maintenance.doctor import examine
from slowwave.maintenance.rebuild import rebuild
from slowwave.maintenance.reembed import reembed
from slowwave.maintenance.restoring import restore
from slowwave.memory import Memory
from slowwave.settings import load
from slowwave.store.checkpoints import create_checkpoint, list_checkpoints

FAST, BGE = "wordllama-256", "bge-small-en-v1.5"
RAIN = "It rains on the western islands on two hundred and fifty days of a year, mostly in winter."
SNOW = "Snow lies on the hills above the village from December until the last week of April."
WIND = "The wind blows from the south-west, and on most days it is stronger than the forecast says."


class Killed(BaseException):
    """What ends a process in the middle."""


@pytest.fixture
def guarded(open_memory) -> Memory:
    return open_memory(reconsolidation={"policy": "guarded"})


def rows(memory: Memory) -> dict[str, pl.DataFrame]:
    """Every table, by key; of the facts those that are not about checkpoints."""
    found = {name: memory.store.read(name).sort(spec.key) for name, spec in memory.store.specs.items()}
    return found | {"meta": found["meta"].filter(~pl.col("name").str.starts_with("checkpoint-"))}


def same(left: dict[str, pl.DataFrame], right: dict[str, pl.DataFrame]) -> list[str]:
    return [name for name, frame in left.items() if not frame.equals(right[name])]


def without_vectors(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Tables without what a batch of another shape may change in the last bit."""
    return {name: one.drop("vector", strict=False) for name, one in tables.items()}


@pytest.mark.slow
@pytest.mark.parametrize("step", [0, 1, 13, 28, "told"])
def test_a_restore_that_is_killed_is_finished_by_its_command(
    guarded, open_memory, monkeypatch: pytest.MonkeyPatch, step: int | str
):
    guarded.save(RAIN, key="rain")
    guarded.save(RAIN + " So bring a coat.", key="rain too")
    create_checkpoint(guarded.store, "before", guarded._space.now())
    guarded.save(SNOW, key="snow")
    then = create_checkpoint(guarded.store, "later", guarded._space.now())
    at_checkpoint = None
    guarded.forget(guarded.save(WIND, key="wind").memory_id)
    count = 0
    table_type = type(guarded.store.db.open_table("memories"))
    true_restore = table_type.restore

    def killed(self: Any, *given: Any) -> None:
        nonlocal count
        count += 1
        if step != "told" and count > step:
            raise Killed
        true_restore(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(table_type, "restore", killed)
        if step == "told":
            patched.setattr(
                "slowwave.maintenance.restoring.backfill_existing",
                lambda *_, **__: (_ for _ in ()).throw(Killed),
            )
        with pytest.raises(Killed):
            restore(guarded._space, "before")
    other = open_memory(reconsolidation={"policy": "guarded"})
    command = "slowwave checkpoint restore before"
    for act in (lambda: other.search("rain"), lambda: other.count()):
        with pytest.raises(PendingOpError, match=f"finish it: {command}$"):
            act()
    for one in (other, guarded):  # which had the tables open
        with pytest.raises(TakenInLaterError, match=rf"finish it: {command}\. The event is in the journal"):
            one.save(WIND)
    with pytest.raises(PendingOpError, match=command):
        restore(other._space, "later")
    assert command in {one.advice for one in examine(other.settings) if not one.ok}

    restore(other._space, "before")
    assert not pending_op(other.journal)
    assert {one.name for one in list_checkpoints(other.store)} >= {"before", "later"}
    assert then.tables
    assert set(other.store.read("memories")["source"]) == {"rain", "rain too"}
    at_checkpoint = rows(other)
    rebuild(other._space)
    assert same(at_checkpoint, rows(other)) == []


def test_a_restore_of_what_is_not_there_announces_nothing(memory):
    with pytest.raises(NotFoundError):
        restore(memory._space, "never")
    assert not pending_op(memory.journal)


@pytest.mark.slow
def test_who_has_the_tables_open_sees_that_others_are_in_their_place(open_memory):
    one, other = open_memory(), open_memory()
    kept = one.save(RAIN, key="rain").memory_id
    assert other.search("rain on the islands")[0].memory_id == kept
    rebuild(one._space)
    assert other.search("rain on the islands")[0].memory_id == kept
    fresh = other.save(SNOW, key="snow").memory_id
    assert one.get(fresh).content == SNOW


@pytest.mark.slow
@pytest.mark.parametrize("step", ["_move_memories", "_write_choice", "reconcile"])
def test_a_switch_of_models_that_is_killed_is_finished_by_its_command(
    open_memory, home: Path, monkeypatch: pytest.MonkeyPatch, step: str
):
    memory = open_memory()
    (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{FAST}"\n')
    memory.save(RAIN, key="rain")
    memory.close()
    module = sys.modules["slowwave.maintenance.reembed"]
    with monkeypatch.context() as patched:
        patched.setattr(module, step, lambda *_, **__: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            reembed(load(home), BGE)
    command = f"slowwave reembed --model {BGE}"
    with Memory(load(home), namespace="ada") as other, pytest.raises(PendingOpError, match=command):
        other.search("rain")
    assert command in {one.advice for one in examine(load(home)) if not one.ok}
    reembed(load(home), BGE)
    with Memory(load(home), namespace="ada") as moved:
        assert moved.settings.embedding.model == BGE
        assert moved.search("rain on the islands")[0].source == "rain"
        before = rows(moved)
        rebuild(moved._space)
        assert same(without_vectors(before), without_vectors(rows(moved))) == []
    with pytest.raises(ModelError, match="already"):
        reembed(load(home), BGE)


@pytest.mark.slow
def test_the_next_night_takes_in_again_what_came_after_a_checkpoint(guarded):
    """Decisions that were made since do not contradict those that are made anew."""
    space = guarded._space
    guarded.save(RAIN, key="rain")
    create_checkpoint(guarded.store, "before", space.now())
    guarded.save(RAIN + " So bring a coat.", key="rain too")
    guarded.save(SNOW, key="snow")
    guarded.forget(guarded.save(WIND, key="wind").memory_id)
    lived = rows(guarded)
    restore(space, "before")
    assert guarded.store.read("memories")["source"].to_list() == ["rain"]
    by_night(space, space.now().date().isoformat())
    told = ["memory_id", "status", "content", "absorbed", "replaced_by"]
    again = rows(guarded)
    live = pl.col("content") != ""  # what was saved and forgotten on one day leaves no text behind a night
    assert (
        again["memories"]
        .filter(live)
        .select(told)
        .equals(lived["memories"].filter(pl.col("source") != "wind").select(told))
    )
    assert set(again["decisions"]["decision_id"]) <= set(lived["decisions"]["decision_id"])
    rebuild(space)
    assert same(again, rows(guarded)) == ["embedded_chunks"]  # the helper keeps no verdicts


def test_who_has_the_tables_open_is_refused_until_the_work_has_ended(memory):
    memory.save(RAIN)
    work = (memory.journal, "a work", "slowwave mend", memory._space.now())
    with pytest.raises(Killed), maintenance_op(*work):
        raise Killed
    for _ in range(2):
        with pytest.raises(PendingOpError, match="slowwave mend"):
            memory.search("rain")
    with maintenance_op(*work):
        pass
    assert len(memory.search("rain")) == 1

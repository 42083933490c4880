"""What a merged memory is known by: its own labels and those of all that it absorbed."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest
from admission_helpers import assert_same, whole
from past_chunks import chunks_as_of, memories_as_of
from reconsolidation_helpers import BATTERY, CHANGED, assert_chunks_follow, found, replayed

from slowwave.maintenance.rebuild import rebuild
from slowwave.memory import Memory
from slowwave.quality.admission.labels import NAMES

DRAFT = {"importance_tier": "temporary", "state": "draft"}
KNOWN = {
    "memory_type": "constraint", "importance_tier": "important", "state": "canonical",
    "trigger_phrases": ["winter power"], "tags": ["Gauge"], "aliases": ["accu"],
}  # fmt: skip
SHOWN = ("memory_type", "importance_tier", "tags", "trigger_phrases")


def merged(memory: Memory):
    """A temporary draft that absorbed a canonical, important constraint."""
    target = memory.save(BATTERY, title="Battery", key="draft", tags=["north", "gauge"], **DRAFT)
    part = memory.save(f"{BATTERY}\n{CHANGED}", title="Battery", key="rule", **KNOWN)
    assert (part.outcome, part.other) == ("merge", target.memory_id)
    return target, part


def labels(memory: Memory, memory_id: str) -> tuple:
    record = memory.get(memory_id)
    return tuple(getattr(record, name) for name in SHOWN)


def test_every_filter_channel_and_packet_finds_what_was_merged_by_its_labels(guarded):
    target, part = merged(guarded)
    wanted = ("constraint", "important", ("north", "gauge"), ("winter power",))
    assert labels(guarded, target.memory_id) == wanted
    for filters in (
        {"tags": "gauge"},
        {"tags": "north"},
        {"tier": "important"},
        {"memory_type": "constraint"},
    ):
        (result,) = guarded.search("the battery of the gauge", **filters)
        assert (result.memory_id, result.confidence) == (target.memory_id, "high")
    assert not guarded.search("the battery of the gauge", tier="temporary")
    assert guarded.get(target.memory_id).sources == ("draft", "rule")
    (result,) = guarded.search("the battery of the gauge", source="rule")
    assert result.memory_id == target.memory_id
    (result,) = guarded.search("winter power", explain=True)
    assert "trigger" in result.explanation.channels
    (item,) = [item for section in guarded.wakeup().sections for item in section.items]
    assert (item.section, item.importance_tier, item.confidence) == ("constraint", "important", "high")
    assert labels(guarded, part.memory_id) == ("constraint", "important", ("Gauge",), ("winter power",))
    assert_chunks_follow(guarded)


def test_undo_gives_each_its_own_labels_back_exactly(guarded, open_memory, tmp_path):
    target = guarded.save(BATTERY, title="Battery", key="draft", tags=["north", "gauge"], **DRAFT)
    before = whole(guarded.store, "memories", "chunks")
    part = guarded.save(f"{BATTERY}\n{CHANGED}", title="Battery", key="rule", **KNOWN)
    guarded.undo(part.decision_id)
    after = {
        name: rows.filter(pl.col("memory_id") == target.memory_id)
        for name, rows in whole(guarded.store, "memories", "chunks").items()
    }
    assert_same(before, after)
    assert labels(guarded, part.memory_id) == ("constraint", "important", ("Gauge",), ("winter power",))
    assert found(guarded, "winter power")[:1] != [target.memory_id]
    assert_chunks_follow(guarded)


@pytest.mark.slow
def test_a_part_that_is_forgotten_takes_its_labels_along(guarded):
    target, part = merged(guarded)
    guarded.forget(part.memory_id)
    assert labels(guarded, target.memory_id) == ("note", "temporary", ("north", "gauge"), ())


@pytest.mark.slow
def test_erasing_a_part_leaves_none_of_its_words_in_the_labels(guarded):
    target, part = merged(guarded)
    guarded.erase(part.memory_id)
    assert labels(guarded, target.memory_id) == ("note", "temporary", ("north", "gauge"), ())
    for name in ("memories", "chunks"):
        assert "winter power" not in str(guarded.store.read(name).to_dicts())
        assert "accu" not in str(guarded.store.read(name)["memory_id", "tags"].to_dicts())


@pytest.mark.slow
def test_days_nights_and_tables_made_again_have_the_same_labels(guarded, open_memory, tmp_path):
    merged(guarded)
    tables = whole(guarded.store, "memories", "chunks")
    today = datetime.now(UTC).date()
    past = memories_as_of(guarded._space, "ada", today)
    live = tables["memories"].filter(status="live")
    assert past.select(NAMES).rows() == live.select(NAMES).rows()
    assert len(guarded.search("the battery of the gauge", source="rule", as_of=today)) == 1
    guarded.store.delete("chunks", "true")
    remade = chunks_as_of(guarded._space, "ada", today)
    assert remade.drop("vector").rows() == tables["chunks"].drop("vector").sort("chunk_id").rows()
    other = replayed(guarded, open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"}))
    columns = ["memory_id", "own_labels", *NAMES]
    replay = whole(other.store, "memories")["memories"].select(columns)
    assert replay.rows() == tables["memories"].select(columns).rows()
    rebuild(guarded._space, ("memories", "chunks"))
    again = whole(guarded.store, "memories")["memories"]
    assert again.drop("vector").rows() == tables["memories"].drop("vector").rows()


@pytest.mark.slow
@pytest.mark.parametrize(("text", "outcome"), [(f"{BATTERY}\n{CHANGED}", "related"), (BATTERY, "related")])
def test_a_preference_and_a_constraint_stay_two(guarded, text, outcome):
    guarded.save(BATTERY, title="Battery", memory_type="preference")
    saved = guarded.save(text, title="Battery", memory_type="constraint")
    assert (saved.status, saved.outcome) == ("live", outcome)
    (row,) = guarded.decisions(memory_id=saved.memory_id)
    assert "one is a constraint, the other a preference" in row["evidence"]
    assert guarded.count() == 2

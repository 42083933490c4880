"""What is never decided, and what every decision waits for."""

from __future__ import annotations

import sys
import threading

import pytest
from admission_helpers import assert_same, whole
from reconsolidation_helpers import BATTERY, CHANGED, ROTA, THURSDAY, TUESDAY, decision, status

from slowwave.errors import NotFoundError
from slowwave.home.tenant import Saved
from slowwave.memory import Memory
from slowwave.store.checkpoints import list_checkpoints, restore_checkpoint

# -- what is never decided -------------------------------------------------------------------------

PROTECTED = [{"importance_tier": "critical"}, {"source_of_truth": True}]


@pytest.mark.parametrize("labels", PROTECTED)
def test_a_protected_memory_is_never_superseded_or_merged_into(guarded, labels):
    saved = [
        guarded.save(TUESDAY, title="Deploy day", **labels),
        guarded.save(BATTERY, title="Battery", **labels),
    ]
    before = guarded.store.read("memories").sort("memory_id")
    new = guarded.save(THURSDAY, title="Deploy day")
    more = guarded.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    assert [(one.status, one.outcome, one.other) for one in (new, more)] == [
        ("live", "related", one.memory_id) for one in saved
    ]
    after = guarded.store.read("memories").sort("memory_id")
    assert after.join(before, on="memory_id", how="semi").equals(before)
    for one in (new, more):
        assert "a person has to decide" in decision(guarded, one)["evidence"]
    assert set(guarded.store.read("edges")["kind"]) == {"related"}


@pytest.mark.parametrize("labels", PROTECTED)
def test_a_protected_note_is_not_merged_away(guarded, labels):
    first = guarded.save(BATTERY, title="Battery")
    second = guarded.save(f"{BATTERY}\n{CHANGED}", title="Battery", **labels)
    assert (second.status, second.outcome) == ("live", "related")
    assert guarded.get(first.memory_id).content == BATTERY


def test_no_namespace_is_reconsolidated_with_another(guarded, open_memory):
    other = open_memory("bob", reconsolidation={"policy": "guarded"})
    guarded.save(TUESDAY, title="Deploy day")
    guarded.save(BATTERY, title="Battery")
    new = other.save(THURSDAY, title="Deploy day")
    more = other.save(f"{BATTERY}\n{CHANGED}", title="Battery")
    assert [(one.status, one.outcome, one.other) for one in (new, more)] == [("live", "", None)] * 2
    assert (guarded.count(), other.count()) == (2, 2)
    assert other.store.count("edges") == 0
    deploys = guarded.save(THURSDAY, title="Deploy day")
    assert deploys.outcome == "supersede"
    for call in (other.undo, other.history):
        with pytest.raises(NotFoundError):
            call(deploys.decision_id)
    assert deploys.decision_id not in {row["decision_id"] for row in other.decisions(outcome="any")}


def test_with_the_policy_off_nothing_is_merged_or_superseded(memory):
    saved = [
        memory.save(TUESDAY, title="Deploy day"), memory.save(THURSDAY, title="Deploy day"),
        memory.save(BATTERY, title="Battery"), memory.save(f"{BATTERY}\n{CHANGED}", title="Battery"),
    ]  # fmt: skip
    assert status(memory, *saved) == ["live"] * 4
    assert memory.decisions(outcome="any") == []
    twin = memory.save(ROTA), memory.save(ROTA)
    assert [row["decision_id"] for row in memory.decisions(outcome="any")] == [twin[1].decision_id]
    assert list_checkpoints(memory.store) == []


# -- literally by similarity -----------------------------------------------------------------------


@pytest.mark.slow
def test_the_literal_policy_goes_by_the_thresholds_alone(open_memory, tmp_path):
    bands = {"duplicate": 0.999, "merge": 0.99, "conflict": 0.5}
    memory = open_memory(reconsolidation={"policy": "literal", **bands})
    first = memory.save(TUESDAY, title="Deploy day")
    second = memory.save(THURSDAY, title="Deploy day")
    assert (second.outcome, second.other) == ("supersede", first.memory_id)
    similarity = decision(memory, second)["similarity"]
    for bands, outcome in (
        ({"duplicate": 0.999, "merge": similarity, "conflict": 0.5}, "merge"),
        ({"duplicate": 0.999, "merge": similarity + 1e-6, "conflict": similarity}, "supersede"),
        ({"duplicate": 0.999, "merge": 0.998, "conflict": similarity + 1e-6}, ""),
        ({"duplicate": similarity - 1e-5, "merge": 0.5, "conflict": 0.5}, "duplicate"),
    ):
        again = open_memory(path=tmp_path / outcome / "x", reconsolidation={"policy": "literal", **bands})
        again.save(TUESDAY, title="Deploy day")
        assert again.save(THURSDAY, title="Deploy day").outcome == outcome, bands


# -- warning only ----------------------------------------------------------------------------------


def test_while_the_gate_warns_everything_is_stored_with_its_reasons(open_memory):
    memory = open_memory(gate={"mode": "warn", "min_quality": 0.4})
    saved = [
        memory.save("short", title="memory"),
        memory.save(BATTERY, title="Battery"),
        memory.save(BATTERY, title="Battery"),
        memory.save(f"{BATTERY}\nSo it is.", title="Battery"),
    ]
    assert status(memory, *saved) == ["live"] * 4
    assert set(saved[0].reasons) == {"no_statement"}
    assert "exact_duplicate" in saved[2].reasons
    assert "near_duplicate" in saved[3].reasons
    assert memory.quarantine(status="") == []
    rows = {row["memory_id"]: row for row in memory.decisions(outcome="any")}
    assert rows[saved[2].memory_id]["reasons"] == ["exact_duplicate"]
    assert rows[saved[3].memory_id]["reasons"] == ["near_duplicate"]
    assert not any(row["refused"] for row in rows.values())


# -- the checkpoint before the first change --------------------------------------------------------


def test_a_checkpoint_is_made_before_the_first_note_that_is_reconsolidated(open_memory):
    memory = open_memory()
    memory.save(TUESDAY, title="Deploy day")
    assert list_checkpoints(memory.store) == []
    memory.close()
    guarded = open_memory(reconsolidation={"policy": "guarded"})
    before = whole(guarded.store, "memories", "chunks")
    new = guarded.save(THURSDAY, title="Deploy day")
    assert (new.outcome, new.warnings) == ("supersede", ())
    (checkpoint,) = list_checkpoints(guarded.store)
    assert checkpoint.name == "before-reconsolidation"
    assert set(checkpoint.tables) == set(guarded.store.specs)
    guarded.save(ROTA)
    assert list_checkpoints(guarded.store) == [checkpoint]
    restore_checkpoint(guarded.store, checkpoint.name)
    assert_same(before, whole(guarded.store, "memories", "chunks"))


def test_without_a_checkpoint_nothing_is_changed_and_the_warning_says_why(guarded, monkeypatch):
    module = sys.modules["slowwave.store.checkpoints"]

    def fails(*_args: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(module, "create_checkpoint", fails)
    old, new = guarded.save(TUESDAY, title="Deploy day"), guarded.save(THURSDAY, title="Deploy day")
    assert status(guarded, old, new) == ["live", "live"]
    assert new.outcome == ""
    (warning,) = new.warnings
    assert "no space left on device" in warning
    assert "Nothing was merged or superseded" in warning
    assert guarded.decisions(outcome="any") == []
    assert guarded.save(TUESDAY, title="Deploy day").reasons == ("exact_duplicate",)  # the gate goes on
    monkeypatch.undo()
    late = guarded.save(TUESDAY.replace("Tuesday", "Monday"), title="Deploy day")
    assert (late.outcome, late.warnings) == ("supersede", ())


# -- from several writers --------------------------------------------------------------------------


def test_of_equal_notes_that_are_saved_at_once_one_enters(open_memory):
    memories = [open_memory() for _ in range(3)]
    outcomes: list[Saved] = []

    def save(memory: Memory) -> None:
        outcomes.append(memory.save(BATTERY, title="Battery"))

    threads = [threading.Thread(target=save, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.status for one in outcomes) == ["live", "quarantined", "quarantined"]
    (live,) = [one.memory_id for one in outcomes if one.status == "live"]
    assert {one.duplicate_of for one in outcomes if one.status != "live"} == {live}
    assert memories[0].count() == 1


def test_what_is_refused_as_a_duplicate_keeps_the_scores_of_the_gate(open_memory):
    memory = open_memory(gate={"mode": "enforce"})
    text = "The white van is insured with Marlow Mutual until February; only drivers over 25 are covered."
    assert not memory.save(text, key="a").reasons
    assert memory.save(text, key="b").reasons == ("exact_duplicate",)
    (held,) = memory.quarantine()
    assert held["score"] == 1.0
    assert '"statement":1.0' in held["parts"]

"""Decisions that wait for a person: listed, accepted, declined (rule 2.5)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from admission_helpers import assert_same, everything, whole
from past_chunks import memories_as_of
from reconsolidation_helpers import (
    BATTERY,
    CHANGED,
    THURSDAY,
    TUESDAY,
    assert_chunks_follow,
    found,
    replayed,
    said,
    status,
)

from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.lifecycle.reconcile import reconcile
from slowwave.memory import Memory

KINDS = ("merge", "supersede", "duplicate", "draft")


def proposed(memory: Memory, kind: str):
    """A memory and one beside it that may not act without a person's word."""
    if kind == "merge":
        old = memory.save(BATTERY, title="Battery", importance_tier="critical", tags=["gauge"])
        new = memory.save(f"{BATTERY}\n{CHANGED}", title="Battery", tags=["north"])
    elif kind == "duplicate":
        old = memory.save(BATTERY, title="Battery", state="draft")
        new = memory.save(BATTERY, title="Battery", source_of_truth=True)
    elif kind == "supersede":
        old = memory.save(TUESDAY, title="Deploy day", source_of_truth=True)
        new = memory.save(THURSDAY, title="Deploy day")
    else:
        old = memory.save(TUESDAY, title="Deploy day", state="canonical")
        new = memory.save(THURSDAY, title="Deploy day", state="draft")
    assert (new.status, new.outcome, new.other) == ("live", "related", old.memory_id)
    assert any("waits for a person" in warning for warning in new.warnings)
    return old, new


@pytest.mark.parametrize("kind", KINDS)
def test_what_waits_says_what_would_happen_and_accepting_does_it(guarded, kind):
    old, new = proposed(guarded, kind)
    (row,) = guarded.decisions(waiting=True)
    merges = kind in ("merge", "duplicate")
    assert (row["decision_id"], row["proposed"]) == (new.decision_id, "merge" if merges else "supersede")
    assert "a person has to decide" in row["evidence"]
    assert row["accept"]
    assert row["decline"]
    done = guarded.accept(new.decision_id)
    assert (done["outcome"], done["memory_id"], done["other_memory"]) == (
        row["proposed"], new.memory_id, old.memory_id,
    )  # fmt: skip
    assert status(guarded, old, new) == (["live", "merged"] if merges else ["superseded", "live"])
    if kind == "merge":
        assert guarded.get(old.memory_id).content == f"{BATTERY}\n{CHANGED}"
        assert guarded.get(old.memory_id).tags == ("gauge", "north")
        assert done["appended"] == [CHANGED]
    kinds = guarded.store.read("edges")["kind"].to_list()
    assert kinds == ([] if merges else ["supersedes"])
    assert guarded.decisions(waiting=True) == []
    with pytest.raises(SlowwaveError, match=f"`slowwave undo {done['decision_id']}` reverses"):
        guarded.undo(new.decision_id)
    assert_chunks_follow(guarded)
    events = [event for event in guarded.history(new.memory_id) if event["by"] == "application"]
    assert "accepted" in [event["event"] for event in events]


@pytest.mark.parametrize("kind", KINDS)
def test_an_accepted_decision_is_taken_back_exactly(guarded, kind):
    _, new = proposed(guarded, kind)
    before = whole(guarded.store, "memories", "chunks")
    done = guarded.accept(new.decision_id)
    guarded.undo(done["decision_id"])
    assert_same(before, whole(guarded.store, "memories", "chunks"))
    assert guarded.decisions(waiting=True) == []  # they are kept apart
    assert guarded.store.count("edges") == 0


@pytest.mark.parametrize("kind", KINDS)
def test_declining_changes_no_memory_and_it_is_not_asked_again(guarded, kind):
    _, new = proposed(guarded, kind)
    before = whole(guarded.store, "memories", "chunks")
    row = guarded.decline(new.decision_id)
    assert row["undone_by"] == "application"
    assert_same(before, whole(guarded.store, "memories", "chunks"))
    assert guarded.decisions(waiting=True) == []
    record = guarded.get(new.memory_id)
    guarded.save(record.content, title=record.title, key=record.source, tags=["again"])
    assert guarded.decisions(waiting=True) == []
    with pytest.raises(SlowwaveError, match="ended at"):
        guarded.accept(new.decision_id)


@pytest.mark.slow
def test_what_does_not_wait_any_more_is_refused_and_changes_nothing(guarded, open_memory):
    old, new = proposed(guarded, "supersede")
    other = open_memory(namespace="other", reconsolidation={"policy": "guarded"})
    for word in ("accept", "decline"):
        with pytest.raises(NotFoundError):
            getattr(other, word)(new.decision_id)
        with pytest.raises(NotFoundError):
            getattr(guarded, word)("nothing")
    assert other.decisions(waiting=True) == []
    guarded.save(TUESDAY + " Bring cake.", title="Deploy day", key=guarded.get(old.memory_id).source,
                 source_of_truth=True)  # fmt: skip
    before = everything(guarded._space)
    for word in ("accept", "decline"):
        with pytest.raises(SlowwaveError, match="waits no longer: memory"):
            getattr(guarded, word)(new.decision_id)
    assert_same(before, everything(guarded._space))
    again = guarded.decisions(waiting=True)
    assert new.decision_id not in [row["decision_id"] for row in again]
    for name in (old.memory_id, new.memory_id):
        guarded.forget(name)
    assert guarded.decisions(waiting=True) == []
    done = guarded.save("An otter lives below the pier since the spring of last year.", title="Otter")
    assert done.outcome == ""


def test_what_was_decided_already_is_no_question(guarded):
    guarded.save(TUESDAY, title="Deploy day")
    new = guarded.save(THURSDAY, title="Deploy day")
    with pytest.raises(SlowwaveError, match="its outcome is supersede"):
        guarded.accept(new.decision_id)
    _, waits = proposed(guarded, "merge")
    guarded.accept(waits.decision_id)
    for word in ("accept", "decline"):
        with pytest.raises(SlowwaveError, match="ended at"):
            getattr(guarded, word)(waits.decision_id)


def test_a_duplicate_that_stands_higher_can_be_accepted_with_reconsolidation_off(open_memory):
    memory = open_memory()
    old = memory.save(BATTERY, title="Battery", state="draft")
    new = memory.save(BATTERY, title="Battery", importance_tier="critical")
    (row,) = memory.decisions(waiting=True)
    assert memory.accept(row["decision_id"])["outcome"] == "merge"
    assert (memory.get(old.memory_id).importance_tier, memory.get(new.memory_id).status) == (
        "critical",
        "merged",
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("back", [False, True])
def test_tables_made_again_from_the_acts_are_the_same(guarded, open_memory, tmp_path, kind, back):
    _, new = proposed(guarded, kind)
    done = guarded.accept(new.decision_id)
    if back:
        guarded.undo(done["decision_id"])
    wanted = said(guarded)
    space = guarded._space
    past = memories_as_of(space, "ada", datetime.now(UTC).date())
    now = guarded.store.read("memories", "status <> 'merged'", columns=["memory_id", "revision", "tags"])
    columns = now.columns
    assert sorted(past.select(columns).rows()) == sorted(now.rows())
    other = replayed(guarded, open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"}))
    assert said(other) == wanted
    before = everything(space)
    replayed(guarded, guarded)  # a night over what was done by day
    assert_same(before, everything(space))


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_note_does_not_overrule_what_a_person_accepted(guarded, kind):
    old, new = proposed(guarded, kind)
    guarded.accept(new.decision_id)
    before = status(guarded, old, new)
    text = guarded.get(old.memory_id).content.replace("northern", "southern").replace("nine", "ten")
    guarded.save(text, title="Something else", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert status(guarded, old, new) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stops_at", ["decisions", "memories", "chunks"])
def test_an_accept_that_is_killed_is_carried_out_by_the_night(guarded, monkeypatch, kind, stops_at):
    old, new = proposed(guarded, kind)
    store = guarded.store
    real = store.upsert

    def upsert(name, *args, **more):
        if name == stops_at:
            raise KeyboardInterrupt
        return real(name, *args, **more)

    monkeypatch.setattr(store, "upsert", upsert)
    try:
        guarded.accept(new.decision_id)
        killed = False
    except KeyboardInterrupt:
        killed = True
    monkeypatch.setattr(store, "upsert", real)
    replayed(guarded, guarded)
    reconcile(store, guarded._space.chunker, guarded.embedder)  # what a night does last
    merges = kind in ("merge", "duplicate")
    assert status(guarded, old, new) == (["live", "merged"] if merges else ["superseded", "live"])
    assert [row["outcome"] for row in guarded.decisions() if row["undone_at"] is None] == [
        "merge" if merges else "supersede"
    ]
    assert guarded.decisions(waiting=True) == []
    assert killed or stops_at == "chunks"  # without new lines no chunk is made
    assert (new.memory_id in store.read("chunks")["memory_id"].to_list()) != merges
    assert_chunks_follow(guarded)


def test_secret_memories_are_listed_without_what_they_say(guarded):
    labels = {"sensitivity": "secret"}
    guarded.save(TUESDAY, title="Deploy day", source_of_truth=True, **labels)
    guarded.save(THURSDAY, title="Deploy day", **labels)
    (row,) = guarded.decisions(waiting=True)
    assert "Thursday" not in str(row)
    assert "Deploy" not in str(row)
    assert guarded.accept(row["decision_id"])["outcome"] == "supersede"


def test_what_the_gate_only_warns_of_is_in_the_log(open_memory):
    memory = open_memory(gate={"mode": "warn"})
    first = memory.save(BATTERY, title="Battery")
    memory.save(BATTERY, title="Battery")
    (row,) = memory.decisions()
    assert (row["other_memory"], row["reasons"], row["refused"]) == (
        first.memory_id,
        ["exact_duplicate"],
        False,
    )
    assert found(memory, "battery")

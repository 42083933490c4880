"""What supersedes and absorbs, and taking it back."""

from __future__ import annotations

import polars as pl
import pytest
from admission_helpers import whole
from reconsolidation_helpers import (
    BATTERY,
    CHANGED,
    ROTA,
    TABLES,
    THURSDAY,
    TUESDAY,
    assert_chunks_follow,
    decision,
    found,
    merge,
    replayed,
    said,
    status,
    supersede,
    texts,
)

from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.journal import payload_of


def test_a_newer_fact_supersedes_the_older_one_which_stays_readable(guarded):
    old, new = supersede(guarded)
    assert status(guarded, old, new) == ["superseded", "live"]
    assert found(guarded, "on which day do we deploy?") == [new.memory_id]
    record = guarded.get(old.memory_id)
    assert (record.content, record.replaced_by) == (TUESDAY, new.memory_id)
    (edge,) = guarded.store.read("edges").to_dicts()
    assert (edge["from_memory"], edge["to_memory"], edge["kind"], edge["strength"]) == (
        new.memory_id, old.memory_id, "supersedes", 1.0,
    )  # fmt: skip
    row = decision(guarded, new)
    assert (edge["decision_id"], edge["similarity"], edge["evidence"]) == (
        row["decision_id"], row["similarity"], row["evidence"],
    )  # fmt: skip
    assert 0.75 <= row["similarity"] < 1
    assert "Thursday" in row["evidence"]
    assert_chunks_follow(guarded)


def test_a_merged_note_is_found_through_the_memory_that_absorbed_it(guarded):
    target, part = merge(guarded)
    guarded.save(ROTA, title="Rota")
    record = guarded.get(target.memory_id)
    assert record.content == f"{BATTERY}\n{CHANGED}"
    assert (record.absorbed, record.frequency) == ((part.memory_id,), 2)
    assert guarded.get(part.memory_id).replaced_by == target.memory_id
    assert decision(guarded, part)["appended"] == [CHANGED]
    assert found(guarded, "changed by Ruaridh")[0] == target.memory_id
    assert part.memory_id not in found(guarded, "changed by Ruaridh")
    assert guarded.store.count("chunks", f"memory_id = '{part.memory_id}'") == 0
    assert guarded.store.count("edges", f"from_memory = '{part.memory_id}'") == 0
    assert guarded.count() == 2
    assert_chunks_follow(guarded)


@pytest.mark.parametrize("make", [supersede, merge])
def test_undoing_brings_memories_chunks_and_edges_back_exactly(guarded, make):
    """As they were before the decision but for the note that it was about, which is as if stored alone."""
    guarded.save(ROTA, title="Rota")
    first = guarded.save(TUESDAY if make is supersede else BATTERY, title="Deploy day")
    before = whole(guarded.store, *TABLES)
    text = THURSDAY if make is supersede else f"{BATTERY}\n{CHANGED}"
    second = guarded.save(text, title="Deploy day")
    assert second.outcome == ("supersede" if make is supersede else "merge")
    decided = whole(guarded.store, *TABLES)
    others = pl.col("memory_id") != second.memory_id
    assert not before["memories"].equals(decided["memories"].filter(others))

    row = guarded.undo(second.decision_id)
    assert (row["undone_why"], row["undone_by"]) == ("undo", "application")
    assert row["undone_at"] is not None
    after = whole(guarded.store, *TABLES)
    for name in ("memories", "chunks"):
        assert after[name].filter(others).equals(before[name]), name
    assert after["edges"].equals(before["edges"])
    assert status(guarded, first, second) == ["live", "live"]
    record = guarded.get(second.memory_id)
    assert (record.content, record.replaced_by, record.absorbed, record.frequency) == (text, None, (), 1)
    own = after["memories"].filter(~others)["revision"].item()
    assert ids.note_revision(own) == own == row["revision"]
    assert_chunks_follow(guarded)
    with pytest.raises(SlowwaveError, match="ended at"):
        guarded.undo(second.decision_id)


@pytest.mark.parametrize("make", [supersede, merge])
def test_a_person_who_parted_two_memories_is_not_asked_again(guarded, make):
    _, second = make(guarded)
    guarded.undo(second.decision_id)
    text, title = (THURSDAY, "Deploy day") if make is supersede else (f"{BATTERY}\n{CHANGED}", "Battery")
    again = guarded.save(f"{text}\n", title=title, key=second.source)
    assert (again.status, again.outcome) == ("live", "")
    assert guarded.count() == 2


@pytest.mark.parametrize("make", [supersede, merge])
def test_the_undo_is_in_the_journal_and_the_history(guarded, make):
    _, second = make(guarded)
    guarded.undo(second.decision_id)
    entries = guarded.journal.read(kinds=["undo"])
    assert entries["subject"].to_list() == [second.decision_id]
    events = [event["event"] for event in guarded.history(second.memory_id)]
    assert events == ["saved", second.outcome, f"{second.outcome} undone"]


@pytest.mark.parametrize("make", [supersede, merge])
def test_a_decision_survives_a_rebuild_of_the_tables_from_the_journal(guarded, open_memory, tmp_path, make):
    make(guarded)
    other = open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"})
    assert said(replayed(guarded, other)) == said(guarded)


@pytest.mark.slow
@pytest.mark.parametrize("make", [supersede, merge])
def test_an_undo_survives_a_rebuild_of_the_tables_from_the_journal(guarded, open_memory, tmp_path, make):
    _, second = make(guarded)
    guarded.undo(second.decision_id)
    other = open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"})
    assert said(replayed(guarded, other)) == said(guarded)


@pytest.mark.slow
def test_a_released_duplicate_enters_is_journalled_and_survives_a_rebuild(guarded, open_memory, tmp_path):
    first = guarded.save(BATTERY, title="Battery", key="first")
    twin = guarded.save(BATTERY, title="Battery", key="twin")
    assert (twin.status, twin.duplicate_of, twin.reasons) == (
        "quarantined", first.memory_id, ("exact_duplicate",),
    )  # fmt: skip
    (held,) = guarded.quarantine()
    assert (held["memory_id"], held["duplicate_of"], held["content"]) == (
        twin.memory_id, first.memory_id, BATTERY,
    )  # fmt: skip
    assert decision(guarded, twin)["refused"]

    released = guarded.release(held["quarantine_id"])
    assert (released.memory_id, released.status) == (twin.memory_id, "live")
    assert status(guarded, first, twin) == ["live", "live"]
    assert guarded.quarantine() == []
    assert [row["status"] for row in guarded.quarantine(status="")] == ["resolved"]
    last = guarded.journal.read(kinds=["save"]).sort("seq").row(-1, named=True)
    assert (last["subject"], payload_of(last["payload"])["released"]) == ("twin", True)
    with pytest.raises(SlowwaveError, match="not held"):
        guarded.release(held["quarantine_id"])
    other = open_memory(path=tmp_path / "other", reconsolidation={"policy": "guarded"})
    assert said(replayed(guarded, other)) == said(guarded)


@pytest.mark.slow
def test_undoing_the_refusal_of_a_duplicate_releases_it(guarded):
    first = guarded.save(BATTERY, title="Battery")
    twin = guarded.save(BATTERY, title="Battery")
    row = guarded.undo(twin.decision_id)
    assert row["undone_why"] == "undo"
    assert status(guarded, first, twin) == ["live", "live"]


# -- what dissolves a decision ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("make", [supersede, merge])
def test_forgetting_the_note_that_acted_dissolves_its_decision(guarded, make):
    first, second = make(guarded)
    before = guarded.get(first.memory_id)
    guarded.forget(second.memory_id)
    assert status(guarded, first, second) == ["live", "retired"]
    assert decision(guarded, second)["undone_why"] == "forgotten"
    assert guarded.store.count("edges") == 0
    assert guarded.get(first.memory_id).content == (TUESDAY if make is supersede else BATTERY)
    assert before.memory_id in found(guarded, "on which day do we deploy?, how long does the battery last?")
    assert_chunks_follow(guarded)


@pytest.mark.slow
@pytest.mark.parametrize("make", [supersede, merge])
def test_forgetting_the_memory_that_was_acted_on_loses_nothing_of_the_other(guarded, make):
    first, second = make(guarded)
    guarded.forget(first.memory_id)
    assert status(guarded, first, second) == ["retired", "live"]
    assert decision(guarded, second)["undone_why"] == "forgotten"
    assert guarded.get(second.memory_id).content == (
        THURSDAY if make is supersede else f"{BATTERY}\n{CHANGED}"
    )
    assert guarded.store.count("edges") == 0
    assert found(guarded, "Thursday" if make is supersede else "changed by Ruaridh") == [second.memory_id]
    assert_chunks_follow(guarded)


@pytest.mark.slow
@pytest.mark.parametrize("make", [supersede, merge])
def test_saving_the_note_that_acted_again_dissolves_its_decision(guarded, make):
    first, second = make(guarded)
    guarded.save(ROTA, title="Rota", key=second.source)
    assert status(guarded, first, second) == ["live", "live"]
    assert decision(guarded, second)["undone_why"] == "changed"
    assert texts(guarded) == {TUESDAY if make is supersede else BATTERY, ROTA}
    assert guarded.store.count("edges") == 0
    assert_chunks_follow(guarded)


@pytest.mark.slow
def test_saving_a_superseded_memory_again_makes_it_live(guarded):
    old, new = supersede(guarded)
    guarded.save(ROTA, title="Rota", key=old.source)
    assert status(guarded, old, new) == ["live", "live"]
    assert decision(guarded, new)["undone_why"] == "changed"
    assert texts(guarded) == {THURSDAY, ROTA}
    assert_chunks_follow(guarded)


@pytest.mark.slow
def test_saving_a_memory_that_absorbed_another_again_keeps_what_it_absorbed(guarded):
    target, part = merge(guarded)
    new = f"{BATTERY}\nIt weighs as much as Ishbel."
    guarded.save(new, title="Battery", key=target.source)
    assert status(guarded, target, part) == ["live", "merged"]
    assert {*new.split("\n"), CHANGED} <= set(guarded.get(target.memory_id).content.split("\n"))
    guarded.undo(part.decision_id)
    assert guarded.get(target.memory_id).content == new
    assert guarded.get(part.memory_id).content == f"{BATTERY}\n{CHANGED}"
    assert_chunks_follow(guarded)


def test_what_a_memory_absorbed_is_on_its_own_again_when_the_new_text_contradicts_it(guarded):
    target, part = merge(guarded)
    new = BATTERY.replace("northern", "southern")
    guarded.save(new, title="Battery", key=target.source)
    assert status(guarded, target, part) == ["live", "live"]
    assert decision(guarded, part)["undone_why"] == "changed"
    assert texts(guarded) == {new, BATTERY, CHANGED}
    assert_chunks_follow(guarded)

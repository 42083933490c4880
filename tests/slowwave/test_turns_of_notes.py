"""What is newer is decided by the date that a note carries, then by the order of acts (rule 2.1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from past_chunks import chunks_as_of
from reconsolidation_helpers import BATTERY, CHANGED, TUESDAY, assert_chunks_follow, status

from slowwave.lifecycle.reconsolidate import reconsolidate

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = ("Tuesday", "Thursday", "Friday", "Monday")


def fact(number: int, *, dated: bool = True) -> dict:
    """The n-th of some facts, each of which answers the one before."""
    told = {"content": TUESDAY.replace("Tuesday", NAMES[number]), "title": "Deploy day"}
    return told | ({"created_at": MARCH + timedelta(days=number)} if dated else {})


def standing(memory) -> list[tuple]:
    rows = memory.store.read("memories", columns=["memory_id", "content", "status", "replaced_by"])
    said = dict(rows.select("memory_id", "content").iter_rows())
    return sorted((content, state, said.get(by)) for _, content, state, by in rows.iter_rows())


@pytest.mark.slow
def test_an_old_note_that_is_saved_late_is_superseded_at_once(guarded):
    new = guarded.save(**fact(1))
    old = guarded.save(**fact(0))
    assert (old.status, old.outcome, old.other) == ("superseded", "superseded", new.memory_id)
    assert status(guarded, old, new) == ["superseded", "live"]
    (edge,) = guarded.store.read("edges").to_dicts()
    assert (edge["from_memory"], edge["to_memory"], edge["kind"]) == (
        new.memory_id,
        old.memory_id,
        "supersedes",
    )
    assert [one.memory_id for one in guarded.search("on which day do we deploy?")] == [new.memory_id]
    assert_chunks_follow(guarded)
    now = guarded.store.read("chunks").sort("chunk_id")
    rebuilt = chunks_as_of(guarded._space, "ada", datetime.now(UTC).date())
    assert rebuilt.rows(named=True) == now.rows(named=True)
    guarded.undo(old.decision_id)
    assert status(guarded, old, new) == ["live", "live"]
    assert guarded.store.count("edges") == 0
    assert_chunks_follow(guarded)


def test_the_older_text_absorbs_the_newer_one_that_came_first(guarded):
    new = guarded.save(f"{BATTERY}\n{CHANGED}", title="Battery", created_at=MARCH + timedelta(days=9))
    old = guarded.save(BATTERY, title="Battery", created_at=MARCH)
    assert status(guarded, old, new) == ["live", "merged"]
    assert guarded.get(old.memory_id).content == f"{BATTERY}\n{CHANGED}"
    assert_chunks_follow(guarded)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_three_facts_are_one_chain_in_whatever_order_they_come(guarded, order):
    for number in order:
        guarded.save(**fact(number))
    tuesday, thursday, friday = (fact(number)["content"] for number in range(3))
    assert standing(guarded) == sorted([
        (tuesday, "superseded", thursday), (thursday, "superseded", friday), (friday, "live", None),
    ])  # fmt: skip
    rebuilt = chunks_as_of(guarded._space, "ada", datetime.now(UTC).date())
    assert rebuilt.rows() == guarded.store.read("chunks").sort("chunk_id").rows()


def test_undated_notes_go_by_the_order_of_acts_whatever_the_clock_says(guarded, monkeypatch):
    monkeypatch.setattr(guarded._space, "now", lambda: MARCH + timedelta(days=5))
    first = guarded.save(**fact(0, dated=False))
    monkeypatch.setattr(guarded._space, "now", lambda: MARCH)
    second = guarded.save(**fact(1, dated=False))
    assert (second.outcome, second.other) == ("supersede", first.memory_id)


def test_a_dated_note_is_older_than_what_is_said_today(guarded):
    said = guarded.save(**fact(1, dated=False))
    dated = guarded.save(**fact(2))
    assert (dated.status, dated.other) == ("superseded", said.memory_id)


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(4)), st.integers(0, 4))
@pytest.mark.soak
def test_a_batch_its_halves_single_saves_and_a_later_look_agree(open_memory, tmp_path_factory, order, split):
    home = tmp_path_factory.mktemp("home")
    ways = {name: open_memory(path=home / name, reconsolidation={"policy": "guarded"})
            for name in ("batch", "halves", "single")}  # fmt: skip
    notes = [fact(number) for number in order]
    ways["batch"].save_many(notes)
    ways["halves"].save_many(notes[:split])
    ways["halves"].save_many(notes[split:])
    for one in notes:
        ways["single"].save(**one)
    later = open_memory(path=home / "later")
    later.save_many(notes)
    reconsolidate(later.tenant, policy="guarded")
    wanted = standing(ways["batch"])
    assert [row[1] for row in wanted].count("live") == 1
    for name, memory in {**ways, "later": later}.items():
        assert standing(memory) == wanted, name

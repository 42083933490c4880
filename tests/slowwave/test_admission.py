"""Notes enter, change and retire."""

from __future__ import annotations

from itertools import permutations

import pytest
from admission_helpers import (
    CHUNKER,
    CHUNKS,
    DAY,
    HOUR,
    LONG,
    NOON,
    SHORT,
    assert_consistent,
    assert_same,
    by_night,
    counts,
    staged,
    take_in,
    whole,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.common import ids
from slowwave.lifecycle import ingest_pipeline


def test_a_new_note_becomes_a_live_memory_with_its_chunks(act, space):
    assert counts(take_in(space, act("a.md", LONG, title="Harbour"))) == {"added": 1}
    row = space.store.read("memories").row(0, named=True)
    assert row["memory_id"] == ids.memory_id("ada", "a.md")
    assert (row["status"], row["title"], row["content"], row["frequency"]) == ("live", "Harbour", LONG, 1)
    assert row["created_at"] == row["updated_at"] == NOON
    assert row["chunk_count"] == len(CHUNKER.split(LONG))
    assert_consistent(space.store)


@pytest.mark.parametrize(("before", "after"), [(LONG, SHORT), (SHORT, LONG)])
def test_a_changed_note_replaces_its_chunks_and_leaves_none_behind(act, space, before, after):
    acts = act("a.md", before), act("a.md", after, at=NOON + HOUR)
    assert counts(take_in(space, *acts)) == {"added": 1, "changed": 1}
    assert space.store.read("memories")["content"].to_list() == [after]
    assert_consistent(space.store)


def test_a_change_keeps_when_the_note_was_created(act, space):
    take_in(space, act("a.md", SHORT), act("a.md", LONG, at=NOON + DAY))
    row = space.store.read("memories").row(0, named=True)
    assert (row["created_at"], row["updated_at"]) == (NOON, NOON + DAY)
    said = NOON - 30 * DAY
    take_in(space, act("a.md", LONG, at=NOON + 2 * DAY, created_at=said))
    row = space.store.read("memories").row(0, named=True)
    assert (row["created_at"], row["updated_at"]) == (said, NOON + 2 * DAY)
    assert set(space.store.read("chunks")["created_at"]) == {said}


@pytest.mark.parametrize(("origin", "searched"), [("", NOON + DAY), ("vault", NOON)])
def test_a_search_takes_a_text_for_as_old_as_its_save_and_an_edited_one_for_as_old_as_before(
    act, space, origin, searched
):
    take_in(space, act("a.md", SHORT, origin=origin), act("a.md", LONG, at=NOON + DAY, origin=origin))
    assert space.store.read("memories")["created_at"].to_list() == [NOON]
    assert set(space.store.read("chunks")["created_at"]) == {searched}


def test_an_older_act_changes_nothing(act, space):
    take_in(space, act("a.md", LONG, at=NOON + HOUR))
    before = whole(space.store)
    assert counts(take_in(space, act("a.md", SHORT))) == {"unchanged": 1}
    assert counts(take_in(space, act("a.md"))) == {"unchanged": 1}
    assert_same(before, whole(space.store))


def test_the_same_act_twice_changes_nothing(act, space):
    take_in(space, act("a.md", LONG))
    before = whole(space.store)
    assert counts(take_in(space, act("a.md", LONG))) == {"unchanged": 1}
    assert_same(before, whole(space.store))


@pytest.mark.slow
@settings(max_examples=8)
@given(st.permutations(range(4)))
def test_the_last_revision_wins_in_any_order(make_space, act, order):
    """Saves and a forget in the middle, arriving in any order, leave the last save's memory and chunks."""
    acts = [
        act("a.md", SHORT, at=NOON),
        act("a.md", LONG, at=NOON + HOUR),
        act("a.md", at=NOON + 2 * HOUR),
        act("a.md", f"{SHORT} At last.", at=NOON + 3 * HOUR),
    ]
    space = make_space(chunks=CHUNKS)
    take_in(space, *(acts[at] for at in order))
    row = space.store.read("memories").row(0, named=True)
    assert row["revision"] == ids.revision(NOON + 3 * HOUR, acts[3].event_id)
    assert (row["status"], row["content"]) == ("live", f"{SHORT} At last.")
    assert space.store.count("memories") == 1
    assert_consistent(space.store)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_forget_of_the_last_moment_wins_in_any_order(space, act, order):
    acts = [act("a.md", SHORT), act("a.md", LONG, at=NOON + HOUR), act("a.md", at=NOON + 2 * HOUR)]
    take_in(space, *(acts[at] for at in order))
    assert space.store.read("memories")["status"].to_list() == ["retired"]
    assert set(space.store.read("chunks")["status"]) <= {"retired"}


@pytest.mark.parametrize("order", [(1, 0, 2), (1, 2, 0)])
def test_a_forget_that_arrives_first_leaves_nothing_to_a_later_save(space, act, order):
    acts = [act("a.md", SHORT), act("a.md", at=NOON + HOUR), act("a.md", LONG, at=NOON + 2 * HOUR)]
    take_in(space, *(acts[at] for at in order))
    row = space.store.read("memories").row(0, named=True)
    assert (row["status"], row["content"], row["frequency"]) == ("live", LONG, 1)


@pytest.mark.slow
def test_many_notes_at_once_equal_one_by_one(make_space, act):
    acts = [act(f"{number}.md", f"{LONG} {number}", title=f"T{number}") for number in range(12)]
    one_by_one, at_once = make_space(chunks=CHUNKS), make_space(chunks=CHUNKS)
    take_in(one_by_one, *acts)
    assert counts(by_night(at_once, *acts)) == {"added": 12}
    assert counts(by_night(at_once, *acts)) == {"unchanged": 12}
    assert_same(whole(one_by_one.store), whole(at_once.store))


def test_a_day_uses_only_chunks_of_the_notes_revision(space, act):
    old, new = act("a.md", LONG), act("a.md", SHORT, at=NOON + DAY)
    ingest_pipeline.embed_days(space.store, space.embedder, space.chunker, staged(old), ["2026-03-01"])
    by_night(space, new)
    assert_consistent(space.store)
    assert space.store.read("memories")["content"].to_list() == [SHORT]
    by_night(space, old, new)
    assert_consistent(space.store)
    assert space.store.read("memories")["content"].to_list() == [SHORT]


@pytest.mark.slow
def test_forgetting_takes_a_memory_out_of_the_search_and_erases_nothing(space, act):
    take_in(space, act("a.md", LONG), act("b.md", SHORT))
    assert counts(take_in(space, act("a.md", at=NOON + HOUR))) == {"retired": 1}
    rows = {row["source"]: row for row in space.store.read("memories").iter_rows(named=True)}
    assert (rows["a.md"]["status"], rows["a.md"]["content"]) == ("retired", LONG)
    assert rows["a.md"]["retired_at"] == rows["a.md"]["updated_at"] == NOON + HOUR
    assert (rows["b.md"]["status"], rows["b.md"]["retired_at"]) == ("live", None)
    assert set(space.store.read("chunks", "status = 'live'")["memory_id"]) == {ids.memory_id("ada", "b.md")}
    assert_consistent(space.store)


def test_forgetting_what_is_not_there_or_twice_changes_nothing(space, act):
    assert counts(take_in(space, act("b.md"))) == {}
    row = space.store.read("memories").row(0, named=True)
    assert (row["status"], row["content"], row["chunk_count"]) == ("retired", "", 0)
    take_in(space, act("a.md", LONG), act("a.md", at=NOON + HOUR))
    before = whole(space.store)
    assert counts(take_in(space, act("a.md", at=NOON + 2 * HOUR))) == {"unchanged": 1}
    assert_same(before, whole(space.store))


def test_saving_again_revives_a_forgotten_memory(space, act):
    acts = act("a.md", LONG), act("a.md", at=NOON + HOUR), act("a.md", LONG, at=NOON + 2 * HOUR)
    assert counts(take_in(space, *acts)) == {"added": 1, "changed": 1, "retired": 1}
    row = space.store.read("memories").row(0, named=True)
    assert (row["status"], row["retired_at"], row["created_at"]) == ("live", None, NOON)
    assert_consistent(space.store)

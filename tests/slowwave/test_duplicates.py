"""Duplicates are held with the memory that they repeat."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from admission_helpers import (
    CHUNKS,
    DAY,
    HOUR,
    LONG,
    NOON,
    SHORT,
    assert_same,
    by_night,
    counts,
    everything,
    take_in,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.common import ids


def test_an_exact_duplicate_is_held_with_the_one_it_equals_and_logged(space, act):
    first, twin = act("a.md", LONG), act("b.md", LONG, at=NOON + HOUR)
    assert counts(take_in(space, first, twin)) == {"added": 1, "refused": 1}
    original, other = (ids.memory_id("ada", name) for name in ("a.md", "b.md"))
    row = space.store.read("quarantine").row(0, named=True)
    assert (row["memory_id"], row["duplicate_of"], row["reasons"], row["content"]) == (
        other, original, ["exact_duplicate"], LONG,
    )  # fmt: skip
    (decision,) = space.store.read("decisions").to_dicts()
    assert (decision["memory_id"], decision["other_memory"], decision["outcome"], decision["refused"]) == (
        other, original, "duplicate", True,
    )  # fmt: skip
    assert decision["decision_id"] == ids.decision_id(other, ids.revision(NOON + HOUR, twin.event_id))
    assert (decision["decided_at"], decision["day"], decision["reasons"]) == (
        NOON + HOUR, "2026-03-01", ["exact_duplicate"],
    )  # fmt: skip
    assert space.store.read("memories")["source"].to_list() == ["a.md"]


def test_with_the_policy_off_only_duplicates_are_logged(space, act):
    take_in(space, *(act(f"{number}.md", f"{SHORT} {number}") for number in range(3)))
    assert space.store.count("decisions") == 0
    take_in(space, act("copy.md", f"{SHORT} 1", at=NOON + HOUR))
    assert space.store.read("decisions")["outcome"].to_list() == ["duplicate"]
    assert space.store.count("edges") == 0


@pytest.mark.slow
def test_namespaces_never_see_each_other(space, act):
    acts = [act("a.md", LONG, namespace=name) for name in ("ada", "bob", "ada/b")]
    assert counts(by_night(space, *acts)) == {"added": 3}
    assert counts(take_in(space, act("b.md", LONG, namespace="bob", at=NOON + HOUR))) == {"refused": 1}
    held = space.store.read("quarantine").row(0, named=True)
    assert (held["namespace"], held["duplicate_of"]) == ("bob", ids.memory_id("bob", "a.md"))


@pytest.mark.slow
def test_a_text_that_left_is_free(space, act):
    take_in(space, act("a.md", LONG), act("a.md", SHORT, at=NOON + HOUR))
    assert counts(take_in(space, act("b.md", LONG, at=NOON + 2 * HOUR))) == {"added": 1}
    take_in(space, act("b.md", at=NOON + 3 * HOUR))
    assert counts(take_in(space, act("c.md", LONG, at=NOON + 4 * HOUR))) == {"added": 1}


def test_a_text_that_leaves_with_the_batch_is_free(space, act):
    take_in(space, act("a.md", LONG), act("c.md", SHORT))
    night = [act("a.md", at=NOON + HOUR), act("b.md", LONG, at=NOON + HOUR)]
    assert counts(by_night(space, *night)) == {"added": 1, "retired": 1}


@pytest.mark.slow
def test_a_vault_changes_as_a_whole_so_a_file_that_was_renamed_is_no_duplicate(space, act):
    """What a note said before it changed counts for nobody, whatever the order of the ids."""
    for first, second in (("a.md", "b.md"), ("d.md", "c.md")):
        text = f"{SHORT} {first}"
        take_in(space, act(first, text, origin="vault"))
        swap = [
            act(first, f"{LONG} {first}", origin="vault", at=NOON + DAY),
            act(second, text, origin="vault", at=NOON + DAY),
        ]
        assert counts(by_night(space, *swap)) == {"added": 1, "changed": 1}


@pytest.mark.slow
def test_a_refused_change_keeps_the_old_text_which_then_still_counts(space, act):
    take_in(space, act("a.md", LONG, origin="vault"), act("z.md", SHORT, origin="vault"))
    night = [
        act("a.md", SHORT, origin="vault", at=NOON + DAY),  # says what z.md says already
        act("b.md", LONG, origin="vault", at=NOON + DAY),  # says what a.md goes on saying
    ]
    assert counts(by_night(space, *night)) == {"refused": 2}
    assert sorted(space.store.read("memories", columns=["source", "content"]).rows()) == [
        ("a.md", LONG), ("z.md", SHORT),
    ]  # fmt: skip
    held = dict(space.store.read("quarantine", columns=["source", "duplicate_of"]).rows())
    assert held == {"a.md": ids.memory_id("ada", "z.md"), "b.md": ids.memory_id("ada", "a.md")}


@pytest.mark.slow
def test_a_day_that_is_run_again_asks_a_refused_note_nothing_and_changes_nothing(space, act):
    acts = [act("a.md", LONG), act("b.md", LONG, at=NOON + HOUR)]
    by_night(space, *acts)
    names = ("memories", "chunks", "decisions", "quarantine", "edges")
    before, versions = everything(space), [space.store.table(name).version for name in names]
    assert counts(by_night(space, *acts)) == {"unchanged": 2}
    assert_same(before, everything(space))
    assert [space.store.table(name).version for name in names] == versions


twins = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["1", "2", "3", ""]), st.integers(0, 2)),
    min_size=1,
    max_size=8,
    unique_by=lambda one: (one[0], one[2]),
)


@pytest.mark.slow
@settings(max_examples=10)
@given(twins)
def test_a_range_of_days_at_once_equals_one_day_after_the_other(make_space, act, found):
    acts = [
        act(f"{name}.md", f"{SHORT} {text}" if text else None, at=NOON + day * DAY)
        for name, text, day in found
    ]
    at_once, by_day = make_space(chunks=CHUNKS), make_space(chunks=CHUNKS)
    by_night(at_once, *acts)
    for day in sorted({one.occurred_at for one in acts}):
        by_night(by_day, *(one for one in acts if one.occurred_at == day))
    assert_same(everything(at_once), everything(by_day))


def test_while_the_gate_warns_a_duplicate_is_stored_and_the_reason_is_in_the_log(make_space, act):
    space = make_space(chunks=CHUNKS, gate={"mode": "warn"})
    acts = [act("a.md", LONG, at=datetime.now(UTC)), act("b.md", LONG, at=datetime.now(UTC) + HOUR)]
    assert counts(take_in(space, *acts)) == {"added": 2}
    (decision,) = space.store.read("decisions").to_dicts()
    assert (decision["reasons"], decision["refused"]) == (["exact_duplicate"], False)
    assert space.store.count("quarantine") == 0


def test_with_the_gate_off_nobody_looks_for_duplicates(make_space, act):
    space = make_space(chunks=CHUNKS, gate={"mode": "off"})
    assert counts(by_night(space, *(act(f"{name}.md", LONG) for name in "abc"))) == {"added": 3}
    assert space.store.count("decisions") == 0

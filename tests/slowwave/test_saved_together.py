"""What save_many() says became of notes is what became of them, also by later notes of the same call."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from past_chunks import chunks_as_of
from reconsolidation_helpers import BATTERY, CHANGED, ROTA, THURSDAY, TUESDAY, said, status


def test_of_two_notes_with_one_key_the_earlier_one_is_reported_as_replaced(memory):
    first, other, second = memory.save_many(
        [{"content": BATTERY, "key": "k"}, {"content": TUESDAY}, {"content": ROTA, "key": "k"}]
    )
    assert (first.status, other.status, second.status) == ("replaced", "live", "live")
    assert first.memory_id == second.memory_id
    assert "Note 3 of the same call has the same key 'k'" in first.warnings[0]
    assert not second.warnings
    assert memory.get(first.memory_id).content == ROTA
    assert [event["text"] for event in memory.history(first.memory_id) if event["event"] == "saved"] == [
        BATTERY, ROTA,
    ]  # fmt: skip


def test_a_text_that_was_refused_replaces_nothing(memory):
    first, second = memory.save_many([{"content": BATTERY, "key": "k"}, {"content": "short", "key": "k"}])
    assert (first.status, second.status) == ("live", "quarantined")
    assert memory.get(first.memory_id).content == BATTERY
    rows = chunks_as_of(memory._space, "ada", datetime.now(UTC).date())
    assert rows["text"].to_list() == [BATTERY]


@pytest.mark.slow
def test_a_note_that_a_later_one_of_the_call_supersedes_or_absorbs_says_so(guarded):
    old, new = guarded.save_many([{"content": text, "title": "Deploy day"} for text in (TUESDAY, THURSDAY)])
    assert (old.status, old.outcome, old.other) == ("superseded", "superseded", new.memory_id)
    assert (new.status, new.outcome, new.other) == ("live", "supersede", old.memory_id)
    assert old.decision_id == new.decision_id
    kept, part = guarded.save_many(
        [{"content": text, "title": "Battery"} for text in (BATTERY, f"{BATTERY}\n{CHANGED}")]
    )
    assert (kept.status, part.status, part.other) == ("live", "merged", kept.memory_id)
    guarded.undo(old.decision_id)
    assert status(guarded, old, new) == ["live", "live"]


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([BATTERY, ROTA, TUESDAY, "short"])),
                min_size=1, max_size=6))  # fmt: skip
def test_every_report_is_what_is_there_and_what_single_saves_come_to(open_memory, tmp_path_factory, found):
    home = tmp_path_factory.mktemp("home")
    together, single = open_memory(path=home / "together"), open_memory(path=home / "single")
    done = together.save_many([{"content": text, "key": key} for key, text in found])
    for key, text in found:
        single.save(text, key=key)
    assert [row[:5] for row in said(together)] == [row[:5] for row in said(single)]
    for saved, (_, text) in zip(done, found, strict=True):
        if saved.status == "live":
            assert together.get(saved.memory_id).content == text
        elif saved.status == "replaced":
            assert together.get(saved.memory_id).status == "live"
        else:
            assert saved.status == "quarantined"

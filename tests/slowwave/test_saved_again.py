"""A save that is asked for again under a name of its own happens once."""

from __future__ import annotations

import pytest

from slowwave.errors import ArgumentError, JournalConflictError
from slowwave.memory import Memory

HERON = "The heron stands by the weir at dawn, all through March."
OTTER = "The otter came back to the mill pond on the ninth of April."


def test_the_same_name_saves_once_and_answers_the_same(memory):
    first = memory.save(HERON, title="Heron", idempotency_key="one")
    again = memory.save(HERON, title="Heron", idempotency_key="one")
    assert (again.memory_id, again.status, again.source) == (first.memory_id, "live", first.source)
    assert memory.journal.count("ada", "save") == 1
    assert memory.count() == 1


def test_a_save_that_was_killed_after_its_act_was_written_is_finished(memory, monkeypatch):
    def killed(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr("slowwave.lifecycle.write_path.apply", killed)
        with pytest.raises(RuntimeError, match="killed"):
            memory.save(HERON, idempotency_key="one")
    assert memory.count() == 0
    assert memory.save(HERON, idempotency_key="one").status == "live"
    assert (memory.count(), memory.journal.count("ada", "save")) == (1, 1)


def test_a_name_is_of_one_note_one_principal_and_one_namespace(memory, open_memory):
    first = memory.save(HERON, idempotency_key="one")
    for other in (
        {"content": OTTER},
        {"content": HERON, "title": "Other"},
        {"content": HERON, "key": "heron"},
    ):
        with pytest.raises(JournalConflictError, match="'one' was used before"):
            memory.save(**other, idempotency_key="one")
    assert memory.journal.count("ada", "save") == 1
    assert open_memory("bob").save(OTTER, idempotency_key="one").status == "live"
    else_one = Memory(memory.settings, namespace="ada", principal="else", space=memory.home)
    assert else_one.save(OTTER, idempotency_key="one").memory_id != first.memory_id


def test_an_older_save_that_is_sent_again_does_not_replace_a_newer_one(memory):
    first = memory.save(HERON, key="bird", idempotency_key="one")
    memory.save(OTTER, key="bird", idempotency_key="two")
    assert memory.save(HERON, key="bird", idempotency_key="one").memory_id == first.memory_id
    assert memory.get(first.memory_id).content == OTTER


def test_an_erasure_takes_the_name_with_it(memory):
    """Nothing of what was erased is kept, so who sends it again says it anew, as with any save."""
    first = memory.save(HERON, idempotency_key="one")
    memory.erase(first.memory_id)
    assert memory.count() == 0
    assert memory.save(OTTER, idempotency_key="one").status == "live"


def test_names_of_several_notes(memory):
    notes = [{"content": HERON, "idempotency_key": "one"}, {"content": OTTER, "idempotency_key": "two"}]
    first = memory.save_many(notes)
    assert [one.memory_id for one in memory.save_many(notes)] == [one.memory_id for one in first]
    with pytest.raises(ArgumentError, match="same idempotency_key"):
        memory.save_many([notes[0], notes[0]])
    with pytest.raises(ArgumentError, match="has to be text"):
        memory.save(HERON, idempotency_key=3)

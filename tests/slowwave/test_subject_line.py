"""Line in time of a subject: rule 3.12 among neighbours, supersessions, and earlier texts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from slowwave.memory import Memory
from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.updates import first_newer
from slowwave.search.subject_line import LineEntry, subject_line

MARCH, APRIL, MAY = (datetime(2026, month, 2, tzinfo=UTC) for month in (3, 4, 5))
LOW = "The rate limit is 100 requests a minute."
HIGH = "The rate limit was raised to 200 requests a minute."
HIGHER = "The rate limit was raised to 300 requests a minute."
OTHER = "The battery of the northern gauge lasts eleven weeks in winter."


def line_of(memory: Memory, memory_id: str) -> list[LineEntry]:
    return subject_line(memory.tenant, memory.get(memory_id), memory.history(memory_id))


def passage(name: str, text: str, at: datetime, sensitivity: str = "internal") -> DatedPassage:
    return DatedPassage(name, "", text, sensitivity, at, at)


def test_the_own_words_of_memories_are_the_questions_of_the_rule():
    low, high, other = passage("a", LOW, MARCH), passage("b", HIGH, APRIL), passage("c", OTHER, MAY)
    assert first_newer([low], [other, high]) is high
    assert first_newer([high], [low, other]) is None
    assert first_newer([low], [passage("b", HIGH, APRIL, "public")]) is None
    assert first_newer([low], []) is None
    assert first_newer([], [high]) is None


def test_old_and_new_values_are_one_line_from_each_of_their_pages(memory):
    low = memory.save(LOW, created_at=MARCH).memory_id
    high = memory.save(HIGH, created_at=APRIL).memory_id
    memory.save(OTHER, created_at=MAY)
    for name in (low, high):
        line = line_of(memory, name)
        assert [(one.memory_id, one.since, one.until, one.newer) for one in line] == [
            (high, APRIL, None, ""), (low, MARCH, APRIL, high)
        ]  # fmt: skip


def test_in_a_chain_each_value_holds_until_the_next_one(memory):
    low, high, higher = (
        memory.save(text, created_at=at).memory_id
        for text, at in ((LOW, MARCH), (HIGH, APRIL), (HIGHER, MAY))
    )
    line = line_of(memory, high)
    assert [(one.memory_id, one.until, one.newer) for one in line] == [
        (higher, None, ""), (high, MAY, higher), (low, APRIL, higher)
    ]  # fmt: skip


def test_earlier_texts_of_a_memory_are_on_its_line(memory):
    one = memory.save(LOW, key="limit").memory_id
    memory.save("The rate limit of the API is under review since May.", key="limit")
    new, old = line_of(memory, one)
    assert (new.memory_id, new.until, new.event) == (one, None, "")
    assert old.text == LOW
    assert old.event
    assert old.until == memory.history(one)[1]["at"]


def test_no_secret_and_no_other_namespace_is_on_a_line(memory):
    low = memory.save(LOW, created_at=MARCH).memory_id
    secret = memory.save(HIGH, created_at=APRIL, sensitivity="secret").memory_id
    other = Memory(memory.settings, namespace="bob", space=memory.home)
    other.save(HIGHER, created_at=MAY)
    assert line_of(memory, low) == []
    assert line_of(memory, secret) == []


def test_a_superseded_memory_names_the_one_that_supersedes_it(guarded):
    from page_home import THURSDAY, TUESDAY

    old = guarded.save(TUESDAY, title="Deploy day").memory_id
    saved = guarded.save(THURSDAY, title="Deploy day")
    if saved.outcome != "supersede":
        pytest.fail(f"the guard says {saved.outcome}")
    line = line_of(guarded, old)
    assert [(one.memory_id, one.newer) for one in line] == [(saved.memory_id, ""), (old, saved.memory_id)]


def test_a_forgotten_update_ends_its_part_of_the_line(memory):
    low = memory.save(LOW, created_at=MARCH).memory_id
    high = memory.save(HIGH, created_at=APRIL).memory_id
    memory.forget(high)
    assert line_of(memory, low) == []

"""What is said last counts, whatever the clocks of the machines say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from learned_rows import lessons, teach
from learning_rows import night, put_ready

from slowwave.common import ids
from slowwave.evaluation.judging.entries import drain_judgments
from slowwave.journal.projections import drain_events
from slowwave.learning.events import approved, learning_events
from slowwave.memory import Memory
from slowwave.search.signals import signals_in
from slowwave.store import staging

pytestmark = pytest.mark.usefixtures("learning_on")

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)
FERRY = "The ferry to the island leaves from pier four at ten past nine every weekday morning."
BUS = "The bus to the harbour leaves from the town hall square at nine every weekday morning."
BEHIND = [-timedelta(microseconds=1), -timedelta(hours=1), -400 * DAY]


def set_clock(memory: Memory, moment: datetime) -> None:
    """From now on the memory's clock ticks from this moment, a second each time it is looked at."""
    ticks = iter(range(10**9))
    memory._space.now = lambda: moment + timedelta(seconds=1) * next(ticks)


@pytest.mark.parametrize("back", BEHIND)
def test_the_last_save_and_the_last_forget_count_with_a_clock_that_is_behind(memory, back):
    set_clock(memory, NOON)
    first = memory.save(FERRY, key="way")
    set_clock(memory, NOON + back)
    assert memory.save(BUS, key="way").status == "live"
    assert memory.get(first.memory_id).content == BUS
    assert [one.text for one in memory.search("how do I get to the harbour?")] == [BUS]

    set_clock(memory, NOON + 2 * back)
    assert memory.forget(first.memory_id)
    assert memory.get(first.memory_id).status == "retired"
    assert not memory.forget(first.memory_id)  # and it is said that nothing changed
    set_clock(memory, NOON + 3 * back)
    assert memory.save(FERRY, key="way").status == "live"
    assert [one.text for one in memory.search("how do I get to the island?")] == [FERRY]


def test_a_night_of_another_day_does_not_put_an_old_word_back(memory):
    set_clock(memory, NOON)
    memory.save(FERRY, key="way")
    set_clock(memory, NOON - 3 * DAY)
    memory.save(BUS, key="way")
    name = ids.memory_id("ada", "way")
    kinds = ["save", "forget", "undo", "unreadable"]
    staged = staging.stage(memory.journal.read(kinds=kinds))
    assert staged["day"].to_list() == ["2026-03-07", "2026-03-10"]
    for order in (staged, staged.reverse()):
        for (_,), day in order.group_by("day", maintain_order=True):
            entries = memory.journal.read(kinds=kinds, days=day["day"].to_list())
            memory._apply([memory.journal.get(event) for event in entries["event_id"]])
        assert memory.get(name).content == BUS


@pytest.mark.parametrize("back", BEHIND)
def test_taking_a_merge_back_works_with_a_clock_that_is_behind(guarded, back):
    set_clock(guarded, NOON)
    first = guarded.save(f"{FERRY}\nIt is red.", title="Ferry")
    second = guarded.save(f"{FERRY}\nIt is red and long.", title="Ferry")
    assert second.outcome == "merge"
    set_clock(guarded, NOON + back)
    guarded.undo(second.decision_id)
    assert {guarded.get(one.memory_id).status for one in (first, second)} == {"live"}


@pytest.mark.parametrize("back", BEHIND)
def test_the_last_word_on_a_result_counts_with_a_clock_that_is_behind(memory, back):
    set_clock(memory, NOON)
    saved = memory.save(FERRY)
    search = memory.search("ferry", project="move")
    memory.feedback(search.search_id, 1, "helpful")
    memory.outcome("move", "success")
    memory.judge("ferry", saved.memory_id, 3)
    set_clock(memory, NOON + back)
    assert memory.feedback(search.search_id, 1, "unhelpful").new
    assert memory.outcome("move", "failure").new
    assert memory.judge("ferry", saved.memory_id, 0).new
    days = memory.journal.days(["feedback", "judgment"])["day"].to_list()
    said = drain_events(memory.journal, days).rows.sort("occurred_at")
    for kind, words in (("feedback", ["helpful", "unhelpful"]), ("outcome", ["success", "failure"])):
        assert said.filter(kind=kind)["verdict"].to_list() == words
    assert drain_judgments(memory.journal, days).rows["grade"].to_list()[-1:] == [0]


def test_searches_after_an_outcome_are_of_the_next_one_with_a_clock_that_is_behind(memory):
    set_clock(memory, NOON)
    memory.save(FERRY)
    memory.search("ferry", project="move")
    memory.outcome("move", "success")
    set_clock(memory, NOON - DAY)
    memory.search("when does it leave?", project="move")
    told = memory.outcome("move", "success")
    assert (told.searches, told.new) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("off", [*BEHIND, timedelta(0), DAY, 400 * DAY])
def test_a_withdrawal_and_a_rollback_hold_whatever_the_clock_says(memory, off):
    now = memory._space.now()
    put_ready(memory.store, now)
    memory.learning.approve(who="ann")
    night(memory._space)
    assert memory.learning.status().terms["live"] > 0

    set_clock(memory, now + off)
    memory.learning.withdraw(who="ann")
    assert not approved(learning_events(memory.journal, "ada"))
    for clock in (now, now - DAY, now + DAY):
        set_clock(memory, clock)
        assert memory.learning.status().terms["live"] == 0

    set_clock(memory, now + off)
    assert memory.learning.roll_back("everything", who="ann").applied.height > 0
    for clock in (now, now - DAY, now + DAY):
        set_clock(memory, clock)
        night(memory._space)
        assert memory.store.count("learned_triggers", "namespace = 'ada'") == 0
        assert memory.learning.gate().open is False


def test_what_is_said_twice_at_one_moment_is_said_twice(memory):
    now = memory._space.now()
    put_ready(memory.store, now)
    memory._space.now = lambda: now  # a clock that stands still
    memory.learning.approve(who="ann")
    memory.learning.withdraw(who="ann")
    memory.learning.approve(who="ann")
    assert approved(learning_events(memory.journal, "ada"))
    memory.learning.withdraw(who="ann")
    assert not approved(learning_events(memory.journal, "ada"))


@pytest.mark.parametrize("off", [-400 * DAY, -timedelta(hours=1), DAY])
def test_what_was_taken_back_is_not_searched_by_whatever_the_clock_says(open_memory, off):
    memory = open_memory()
    set_clock(memory, NOON)
    memory.save(FERRY, key="way")
    name = ids.memory_id("ada", "way")
    teach(memory.store, lessons(name, "kestrel", taught=NOON - DAY))
    put_ready(memory.store, NOON)
    memory.learning.approve(who="ann")
    assert signals_in(memory._space).learned("ada", "kestrel", NOON)
    set_clock(memory, NOON + off)
    memory.learning.roll_back("everything", who="ann")
    assert not signals_in(memory._space).learned("ada", "kestrel", NOON)

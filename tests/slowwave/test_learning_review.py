"""What people see of learning, and what they decide: approval, withdrawal, rollback."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Thread

import polars as pl
import pytest
from learning_rows import TERMS, night, put_effect, put_progress, put_proposals, put_ready

from slowwave.home.processing_watermarks import FEEDBACK
from slowwave.journal import payload_of
from slowwave.learning.events import REGRESSION, LearningError, approved, learning_events, write_event
from slowwave.learning.review import ApprovalRefusedError, Learning
from slowwave.memory import Memory

pytestmark = pytest.mark.usefixtures("learning_on")

DAY = timedelta(days=1)


@pytest.fixture
def now(memory: Memory) -> datetime:
    return memory._space.now()


@pytest.fixture
def ready(memory: Memory, now: datetime) -> Memory:
    """A namespace that only a person's word is missing for."""
    put_ready(memory.store, now)
    return memory


@pytest.fixture
def learned(ready: Memory) -> Memory:
    """A namespace in which eight memories have learned three terms each."""
    ready.learning.approve(who="ann")
    night(ready._space)
    return ready


def states(memory: Memory) -> dict[str, int]:
    return {name: count for name, count in memory.learning.status().terms.items() if count}


def triggers(memory: Memory) -> pl.DataFrame:
    """What was learned in the namespace."""
    return memory.store.read("learned_triggers", f"namespace = '{memory.namespace}'")


def journal(memory: Memory) -> list[tuple[str, str]]:
    return [(act.action, act.who) for act in learning_events(memory.journal, memory.namespace)]


# -- approval --------------------------------------------------------------------------------------


def test_a_new_namespace_has_learned_nothing_and_says_what_is_missing(memory):
    status = memory.learning.status()
    assert (status.gate.state, set(status.terms.values()), status.proposals) == ("insufficient", {0}, {})
    with pytest.raises(
        ApprovalRefusedError, match=r"Missing: cycles: 0/2 closed .*; isolation|; shadow week"
    ) as refused:
        memory.learning.approve(who="ann")
    assert "approval" not in str(refused.value)
    assert refused.value.decision.missing == status.gate.missing
    assert journal(memory) == []
    assert memory.learning.log().is_empty()


def test_an_approval_opens_the_gate_and_keeps_the_evidence_that_was_shown(ready):
    before = ready.learning.gate()
    act = ready.learning.approve(who=" Ann ", why="looked at the terms")
    assert ready.learning.gate().open
    assert approved(learning_events(ready.journal, "ada"))
    entry = ready.journal.get(act.event_id)
    assert (entry.principal, entry.subject, entry.payload["why"]) == ("Ann", "approve", "looked at the terms")
    assert entry.payload["through"] == "application"
    assert [(one["name"], one["value"], one["bound"], one["state"]) for one in entry.payload["evidence"]] == [
        (one.name, one.value, one.bound, one.state) for one in before.conditions
    ]
    (row,) = ready.learning.log().to_dicts()
    assert (row["action"], row["principal"], row["reason"]) == ("approve", "Ann", "looked at the terms")


def test_an_approval_by_a_clock_that_is_behind_is_refused(ready):
    """It would be from that day on, and apply all that was selected since at once."""
    tomorrow = f"{ready._space.now() + timedelta(days=1):%F}"
    FEEDBACK.finish(ready.store, {tomorrow: {"seqs": [1, 1], "after": "", "chain": ""}})
    with pytest.raises(LearningError, match=f"feedback up to {tomorrow} is processed"):
        ready.learning.approve(who="ann")
    assert journal(ready) == []


def test_an_approval_that_stands_is_not_given_twice(ready):
    first = ready.learning.approve(who="ann")
    put_effect(ready.store, ready._space.now(), relevant=False)  # now something else is missing, too
    assert ready.learning.approve(who="bob").event_id == first.event_id
    assert journal(ready) == [("approve", "ann")]


@pytest.mark.parametrize("fault", ["progress", "shadow week", "noise", "quality", "proposals"])
def test_it_is_refused_while_anything_else_is_missing(memory, now, fault):
    put_progress(memory.store, now, queries=99 if fault == "progress" else 110)
    if fault != "proposals":
        put_proposals(memory.store, now, days=6 if fault == "shadow week" else 10)
    put_effect(memory.store, now, relevant=fault != "noise", after=0.4 if fault == "quality" else 0.6)
    with pytest.raises(ApprovalRefusedError):
        memory.learning.approve(who="ann", why="I insist")
    assert journal(memory) == []


@pytest.mark.parametrize("act", ["approve", "withdraw", "roll_back"])
def test_nobody_in_particular_decides_nothing(learned, act):
    before = journal(learned)
    if act == "approve":
        learned.learning.withdraw(who="ann")
        before = journal(learned)
    with pytest.raises(LearningError, match="who decides"):
        getattr(learned.learning, act)(*(["everything"] if act == "roll_back" else []), who="  ")
    assert journal(learned) == before


def test_the_word_of_another_namespace_opens_nothing(ready, open_memory):
    put_ready(ready.store, ready._space.now(), "bob")
    open_memory("bob").learning.approve(who="bob")
    assert not ready.learning.gate().open
    assert Learning(ready._space, "bob", "ann").gate().open


@pytest.mark.slow
def test_what_is_withdrawn_has_no_effect_and_comes_back_with_a_new_approval(learned):
    assert states(learned) == {"live": 24}
    learned.learning.withdraw(who="bob", why="holiday")
    assert learned.learning.gate().state == "closed"
    assert states(learned) == {"proposed": 24}
    with pytest.raises(LearningError, match="nothing to withdraw"):
        learned.learning.withdraw(who="bob")
    learned.learning.approve(who="ann")
    assert states(learned) == {"live": 24}
    assert journal(learned) == [("approve", "ann"), ("withdraw", "bob"), ("approve", "ann")]


def test_after_a_regression_only_a_new_approval_opens_it(learned):
    write_event(
        learned.journal, "ada", REGRESSION, who="guard", why="worse", at=learned._space.now(), detail={}
    )
    assert learned.learning.gate().state == "closed"
    assert states(learned) == {"taken back": 24}
    put_proposals_again(learned)
    act = learned.learning.approve(who="ann", why="it was the new ranking")
    assert {one["name"]: one["value"] for one in act.detail["evidence"]}["regression"] == "worse"
    assert learned.learning.gate().open


def put_proposals_again(memory: Memory) -> None:
    """What was taken back is no evidence any more; here the same is found again, twenty days later."""
    later = memory._space.now() + 20 * DAY
    memory._space.now = lambda: later
    put_proposals(memory.store, later)
    put_effect(memory.store, later)


def test_an_act_whose_process_died_before_the_log_is_in_it_after_the_next(learned):
    table = learned.store.table("learning_log")
    table.delete("action = 'approve'")
    learned.store.refresh()
    assert learned.learning.log(action="approve").is_empty()
    learned.learning.withdraw(who="bob")
    assert learned.learning.log(action="approve").height == 1
    assert learned.learning.log(action="withdraw").height == 1


# -- terms and proposals ---------------------------------------------------------------------------


def test_terms_say_who_taught_them_and_what_became_of_them(ready):
    rows = ready.learning.terms()
    assert (rows.height, set(rows["state"])) == (24, {"proposed"})
    (row,) = rows.filter(term="glacier").to_dicts()
    assert (row["memory_id"], row["title"]) == ("memory-0", "About the glacier")
    assert (row["questions"], row["principals"], row["searches"]) == (2, 2, ["search-0-0", "search-0-1"])
    assert row["weight"] == pytest.approx(21 / 30, abs=0.01)  # taught again nine days ago
    assert ready.learning.terms(state="live").is_empty()
    with pytest.raises(LearningError, match="Use one of proposed, live, expired, taken back"):
        ready.learning.terms(state="dead")


def test_a_term_of_one_question_has_no_effect(learned):
    learned.store.delete("learned_triggers", "proposal_id = 'ada-0-1'")
    live = learned.learning.terms(state="live")
    assert live.height == 21
    assert set(learned.learning.terms(state="proposed")["term"]) == set(TERMS[0])


def test_expired_terms_are_shown_as_such(learned):
    later = learned._space.now() + 40 * DAY
    learned._space.now = lambda: later
    rows = learned.learning.terms()
    assert set(rows["state"]) == {"expired"}
    assert set(rows["weight"]) == {0.0}


def test_learning_that_is_switched_off_has_no_live_terms(learned, open_memory):
    off = open_memory(learning={"enabled": False})
    assert states(off) == {"proposed": 24}
    assert off.learning.gate().state == "closed"


@pytest.mark.slow
def test_proposals_say_why_they_teach_nothing(ready):
    rows = ready.learning.proposals(limit=None)
    assert rows.height == 17
    assert dict(rows["reason"].value_counts().iter_rows()) == {"gate_closed": 16, "top_3_exclusion": 1}
    night(ready._space, opened=False)
    assert rows.equals(ready.learning.proposals(limit=None))
    (row,) = ready.learning.proposals(reason="top_3_exclusion").to_dicts()
    assert (row["rank"], row["taught"], row["title"]) == (2, [], "About the glacier")
    assert ready.learning.proposals(limit=3).height == 3
    assert ready.learning.proposals()["selected_at"].is_sorted(descending=True)


@pytest.mark.slow
def test_proposals_that_were_applied_say_so(learned):
    assert dict(learned.learning.status().proposals) == {"applied": 16, "top_3_exclusion": 1}
    learned.learning.roll_back("everything", who="ann")
    assert dict(learned.learning.status().proposals) == {"taken_back": 16, "top_3_exclusion": 1}
    assert states(learned) == {"taken back": 24}


# -- rollback --------------------------------------------------------------------------------------

SCOPES = [
    ("everything", "", 48, 24), ("memory", "memory-3", 6, 3), ("search", "search-0-1", 3, 3),
    ("principal", "bob", 24, 24), ("memory", "memory-99", 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("scope", "value", "rows", "live"), SCOPES)
def test_a_rollback_takes_back_exactly_what_it_says(learned, scope, value, rows, live):
    tried = learned.learning.preview_rollback(scope, value)
    before = triggers(learned)
    assert journal(learned) == [("approve", "ann")]
    done = learned.learning.roll_back(scope, value, who="ann", why="wrong")
    assert (done.applied.height, done.live, tried.applied.height, tried.live) == (rows, live, rows, live)
    assert done.proposed.equals(tried.proposed)
    after = triggers(learned)
    gone = before.join(after, on="trigger_id", how="anti")
    assert sorted(gone["trigger_id"]) == sorted(done.applied["trigger_id"])
    assert (before.height - after.height, after.height) == (rows, 48 - rows)
    assert states(learned).get("live", 0) == 24 - live
    logged = learned.learning.log(action="rollback", limit=None)
    assert logged.filter(pl.col("term").is_not_null()).height == rows
    assert learned.learning.preview_rollback(scope, value).proposed.is_empty()


def test_a_rollback_since_a_moment(learned, now):
    since = (now - 9.5 * DAY).isoformat()  # the second questions
    assert learned.learning.roll_back("since", since, who="ann").applied.height == 24
    assert states(learned) == {"proposed": 24}
    assert set(learned.learning.terms()["questions"]) == {1}


def test_what_is_only_proposed_is_taken_back_too(ready):
    done = ready.learning.roll_back("principal", "bob", who="ann")
    assert (done.applied.height, done.proposed.height, done.live) == (0, 24, 0)
    assert set(done.proposed["principal"]) == {"bob"}
    with pytest.raises(ApprovalRefusedError, match="noise"):
        ready.learning.approve(who="ann")  # nothing is left that two questions taught


def test_a_rollback_covers_what_no_night_has_looked_at_yet(memory, now):
    memory.learning.roll_back("principal", "bob", who="ann")
    put_proposals(memory.store, now)
    assert set(memory.learning.terms()["questions"]) == {1}
    night(memory._space)
    assert set(triggers(memory)["principal"]) == {"ann"}


def test_rollback_of_one_namespace_leaves_the_others(learned, open_memory):
    put_proposals(learned.store, learned._space.now(), "bob")
    bob = open_memory("bob")
    night(bob._space, "bob")
    learned.learning.roll_back("everything", who="ann")
    assert (triggers(learned).height, triggers(bob).height) == (0, 48)
    assert states(bob) == {"proposed": 24}


@pytest.mark.parametrize(
    ("scope", "value", "said"),
    [
        ("everything", "x", "takes no value"), ("memory", "", "takes a value"),
        ("since", "yesterday", "is no date and time"), ("all", "", "Use one of everything"),
    ],
)  # fmt: skip
def test_a_rollback_that_means_nothing_changes_nothing(learned, scope, value, said):
    for act in (
        learned.learning.preview_rollback,
        lambda *words: learned.learning.roll_back(*words, who="a"),
    ):
        with pytest.raises(LearningError, match=said):
            act(scope, value)
    assert triggers(learned).height == 48
    assert journal(learned) == [("approve", "ann")]


def test_a_rollback_that_was_killed_after_its_act_is_already_in_force(
    learned: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    undo: Callable[..., object] = learned.learning.roll_back
    with monkeypatch.context() as patch:
        patch.setattr("slowwave.learning.applied_terms.rolled_back", die)
        with pytest.raises(KeyboardInterrupt):
            undo("everything", who="ann")
    assert triggers(learned).height == 48
    assert states(learned) == {"taken back": 24}
    again = learned.learning.roll_back("everything", who="ann")
    assert again.applied.height == 48


def test_what_a_night_that_had_begun_writes_after_a_rollback_does_not_stay(learned, open_memory):
    """The night read what was decided before the rollback, and writes after it."""
    night_of = open_memory()._space
    rows = triggers(learned)
    undone = Thread(target=lambda: learned.learning.roll_back("everything", who="ann"))
    with night_of.one_night():
        undone.start()
        while triggers(learned).height:
            time.sleep(0.01)
        assert states(learned) == {"taken back": 24}  # it has its effect before the night is over
        night_of.store.upsert("learned_triggers", rows)
        assert undone.is_alive()
    undone.join()
    assert triggers(learned).is_empty()


@pytest.mark.slow
def test_the_journal_names_scope_and_value(learned):
    done = learned.learning.roll_back("memory", "memory-3", who="ann", why="poisoned")
    entry = learned.journal.get(done.act.event_id)
    assert (entry.payload["scope"], entry.payload["value"], entry.payload["why"]) == (
        "memory", "memory-3", "poisoned",
    )  # fmt: skip
    rows = learned.journal.read(kinds=("learning",), namespace="ada")
    assert [dict(payload_of(data)).get("scope") for data in rows["payload"]] == [None, "memory"]

"""What a text earned belongs to the text: votes, promotions, strength, learned words and the 72 hours."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from feedback_days import HOUR, at, fold_days, name, taught
from learned_rows import decide, lessons, teach
from polars.testing import assert_frame_equal

from slowwave.common import ids
from slowwave.feedback import apply_state
from slowwave.learning.proposals import proposal_days
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.admission import admit_batch
from slowwave.memory import Memory
from slowwave.search.signals import signals_in
from slowwave.search.time_travel import searcher_as_of
from slowwave.store import staging

BAD = "We deploy on Tuesday at nine, and the release notes go to the harbour office in Kirkwall."
RIGHT = "We deploy on Thursday at fourteen, and the release notes go to the harbour office in Kirkwall."
SPELLED = "We deploy on Tuesday at nine, and the release notes go to the harbour ofice in Kirkwall."
OTHERS = {
    "ferry": "The ferry to Hoy takes bicycles free of charge in winter, but dogs pay half a fare.",
    "radar": "The radar on the eastern mast turns once in three seconds and sees forty kilometres.",
    "ledger": "Every night a copy of the ledger goes to the second machine in the library cellar.",
    "battery": "The battery of the northern gauge lasts eleven weeks in winter, nineteen in summer.",
}
MEMORY = ids.memory_id("ada", "deploy")
QUESTION = "when do we deploy, and where do the release notes go?"


def fold(space, first: int, last: int) -> list[str]:
    """What nights do with some days."""
    days = [name(day) for day in range(first, last + 1)]
    saves = space.journal.read(kinds=["save"], days=days)
    space.store.replace_partition("staged_notes", staging.stage(saves), days)
    fold_days(space, days)
    return days


class Life:
    """A memory whose clock is set by hand."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.space, self.moment = memory, memory._space, at(1, 8)
        self.space.now = self.now  # type: ignore[method-assign]

    def now(self):
        self.moment += timedelta(seconds=1)
        return self.moment

    def save(self, text: str, *, day: int | None = None) -> None:
        if day is not None:
            self.moment = at(day, 8)
        self.memory.save(text, key="deploy", title="Deploy day")

    def rated(self, word: str, count: int, *, day: int, by: str = "") -> None:
        """So many searches, each with a rating of the memory."""
        self.moment = max(self.moment, at(day, 9))
        for turn in range(count):
            self.memory.principal = by or f"p{turn}"
            found = self.memory.search(QUESTION)
            self.memory.feedback(found.search_id, MEMORY, word)

    def fold(self, first: int, last: int) -> None:
        fold(self.space, first, last)

    def state(self):
        return signals_in(self.space).states("ada", [MEMORY]).get(MEMORY)


@pytest.fixture
def life(open_memory: Callable[..., Memory]) -> Life:
    """The bad text, and what it was told on its first day by ten."""
    made = Life(open_memory())
    made.memory.save_many([{"content": text, "key": key, "title": key} for key, text in OTHERS.items()])
    made.save(BAD)
    return made


@pytest.fixture
def blamed(life: Life) -> Life:
    life.rated("unhelpful", 10, day=2)
    life.fold(1, 2)
    assert len(life.state().not_useful_at) == 10
    life.moment = at(3, 8)
    return life


@pytest.mark.slow
def test_a_corrected_text_begins_with_a_clean_slate_at_once(blamed):
    assert blamed.memory.search(QUESTION, explain=True)[0].explanation.multiplier < 0.5
    blamed.save(RIGHT)
    assert blamed.state() is None
    found = {one.memory_id: one for one in blamed.memory.search(QUESTION, explain=True)}[MEMORY]
    assert found.explanation.multiplier == 1
    assert not found.explanation.recent_feedback
    told = blamed.memory.stats(MEMORY)
    assert (told.unhelpful, told.feedback_count, told.earlier, told.effectiveness) == (0, 0, 10, 0.5)


@pytest.mark.slow
def test_a_correction_of_spelling_keeps_what_it_had(blamed):
    before = blamed.state()
    blamed.save(SPELLED)
    assert blamed.state() == before
    assert blamed.memory.stats(MEMORY).unhelpful == 10


@pytest.mark.slow
def test_the_old_text_comes_back_with_what_it_earned(blamed):
    before = blamed.state()
    blamed.save(RIGHT)
    blamed.rated("helpful", 2, day=3)
    blamed.fold(3, 3)
    assert blamed.state().feedback_count == 2
    assert not blamed.state().not_useful_at
    blamed.save(BAD, day=4)
    assert blamed.state().not_useful_at == before.not_useful_at
    assert blamed.memory.stats(MEMORY).earlier == 2
    blamed.save(RIGHT)
    assert blamed.state().feedback_count == 2


@pytest.mark.slow
def test_a_vote_is_on_the_text_that_the_search_showed(life):
    life.moment = at(2, 9)
    found = life.memory.search(QUESTION)
    life.save(RIGHT)
    life.memory.feedback(found.search_id, MEMORY, "unhelpful")
    life.fold(1, 2)
    assert life.state() is None
    assert life.space.store.read("usage_signals")["text"].to_list() == [""]
    life.save(BAD)
    assert len(life.state().not_useful_at) == 1


@pytest.mark.slow
def test_what_the_gate_refused_was_never_its_text(blamed):
    before = blamed.state()
    refused = blamed.memory.save("no", key="deploy")
    assert refused.status == "quarantined"
    assert blamed.state() == before
    blamed.rated("unhelpful", 1, day=3, by="zoe")
    blamed.fold(3, 3)
    assert blamed.space.store.read("usage_signals")["text"].unique().to_list() == [""]


@pytest.mark.slow
def test_a_tier_that_was_earned_goes_and_comes_with_its_text(life):
    life.rated("helpful", 5, day=2)
    life.fold(1, 2)
    assert life.memory.get(MEMORY).importance_tier == "important"
    life.save(RIGHT, day=3)
    assert life.memory.get(MEMORY).importance_tier == "normal"
    life.rated("helpful", 4, day=3)
    life.fold(3, 3)
    assert life.memory.get(MEMORY).importance_tier == "normal"  # four of its own, not nine
    life.save(BAD, day=4)
    assert life.memory.get(MEMORY).importance_tier == "important"


@pytest.mark.slow
def test_strength_is_of_a_text(life):
    life.moment = at(2, 9)
    for word in ("one", "two"):
        found = life.memory.search(QUESTION)
        life.memory.observe(found.search_id, f"{word}: {BAD}", cited=[MEMORY])
    life.fold(1, 2)
    firm = life.memory.stats(MEMORY)
    assert firm.used == 2
    life.save(RIGHT, day=3)
    assert (life.memory.stats(MEMORY).stability, life.memory.stats(MEMORY).used) == (None, 0)
    life.save(BAD)
    assert life.memory.stats(MEMORY).stability == firm.stability


@pytest.mark.slow
def test_days_with_other_texts_between_are_the_same_in_one_run_and_one_by_one(life, open_memory, tmp_path):
    life.rated("helpful", 4, day=2)
    life.save(RIGHT, day=3)
    life.rated("unhelpful", 3, day=3)
    life.save(BAD, day=4)
    life.rated("helpful", 2, day=4, by="zoe")
    life.save(SPELLED, day=5)
    life.rated("helpful", 3, day=5)
    for day in range(1, 6):
        life.fold(day, day)
    by_day = taught(life.space)
    life.fold(1, 5)
    assert_same(by_day, taught(life.space))
    life.fold(3, 5)
    assert_same(by_day, taught(life.space))
    assert by_day["promotions"].filter(reason="promoted").height == 1
    assert sorted(by_day["effectiveness"]["text"].unique().to_list())[0] == ""
    assert by_day["effectiveness"]["text"].n_unique() == 2


def assert_same(one, other) -> None:
    for table, rows in one.items():
        assert_frame_equal(rows, other[table], check_exact=True)


@pytest.mark.slow
def test_a_save_that_was_killed_before_it_is_healed_by_the_night(blamed, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(apply_state, "follow_texts", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            blamed.save(RIGHT)
    assert len(blamed.state().not_useful_at) == 10
    staged = staging.stage(blamed.memory.journal.read(kinds=["save"], days=[name(3)]))
    for _ in range(2):
        admit_batch(
            blamed.space, staged, lambda notes: ingest_pipeline.no_chunks(blamed.space.embedder), again=True
        )
        assert blamed.state() is None


def test_what_it_absorbs_and_gives_back_changes_nothing(open_memory):
    life = Life(open_memory(reconsolidation={"policy": "literal", "duplicate": 1.0}))
    life.save(BAD)
    life.rated("helpful", 3, day=2)
    life.fold(1, 2)
    before = life.state()
    merged = life.memory.save(f"{BAD}\nBring a coat.", key="again", title="Deploy day")
    assert (merged.outcome, life.memory.get(MEMORY).status) == ("merge", "live")
    assert "Bring a coat." in life.memory.get(MEMORY).content
    assert life.state() == before
    life.memory.undo(merged.decision_id)
    assert "Bring a coat." not in life.memory.get(MEMORY).content
    assert life.state() == before


@pytest.mark.slow
def test_a_past_day_has_the_text_of_that_day(blamed):
    blamed.save(RIGHT, day=4)
    past = searcher_as_of(blamed.space, at(2).date())
    assert len(past._knowledge.states("ada", [MEMORY])[MEMORY].not_useful_at) == 10
    assert not searcher_as_of(blamed.space, at(4).date())._knowledge.states("ada", [MEMORY])


# -- learned words ---------------------------------------------------------------------------------


def test_what_a_text_was_taught_another_one_does_not_know(open_memory, learning_on):
    life = Life(open_memory())
    life.save(BAD)
    teach(life.memory.store, lessons(MEMORY, "glacier", taught=at(2)))
    decide(life.memory, "approve", at=at(3))
    life.moment = at(4)

    def known() -> list[str]:
        return list(signals_in(life.space).learned("ada", "glacier", life.now()))

    assert known() == [MEMORY]
    life.save(SPELLED)
    assert known() == [MEMORY]
    life.save(RIGHT)
    assert known() == []
    life.save(BAD)
    assert known() == [MEMORY]


def selected(life: Life, day: int, question: str) -> None:
    """Somebody finds the memory at rank 4 and says that it helped."""
    from feedback_days import rating, search

    shown = [*(ids.memory_id("ada", key) for key in list(OTHERS)[:3]), MEMORY]
    when = max(at(day, 9), life.moment + HOUR / 60)
    life.moment = when + HOUR
    life.memory.journal.append(
        [search(question, when, shown, query=question), rating(question, when + HOUR / 60, MEMORY, "helpful")]
    )


@pytest.mark.slow
def test_the_72_hours_begin_anew_with_another_text(open_memory, learning_on):
    life = Life(open_memory())
    life.memory.save_many([{"content": text, "key": key, "title": key} for key, text in OTHERS.items()])
    life.save(BAD)
    selected(life, 5, "glacier pump mooring")
    life.save(RIGHT, day=6)
    selected(life, 7, "mooring valve glacier")
    selected(life, 9, "anchor valve glacier")
    life.save(BAD, day=10)
    selected(life, 10, "winch valve glacier")
    life.save(SPELLED, day=11)
    selected(life, 11, "rudder valve glacier")
    days = fold(life.space, 1, 11)
    rows = proposal_days(life.space, days).sort("selected_at")
    assert rows.select("refusal").to_series().to_list() == [None, "memory_too_new", None, None, None]
    assert rows["text"].n_unique() == 2
    assert [text == "" for text in rows["text"]] == [True, False, False, True, True]

"""Tests of `never_used`: it is what a copy of the home without any feedback shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import bench_data as made
import numpy as np
import pytest
from polars.testing import assert_frame_equal
from prepared import kept

from slowwave.common import ids
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.scoring.evaluation.replay import Batch, replay
from slowwave.scoring.ranking import Candidates, MemoryState
from slowwave.settings import load as load_settings

FAST_MODEL = "wordllama-256"
TEXTS = [text.format(thing) for thing in made.THINGS for text in made.QUESTIONS]
RATED = TEXTS[:6]


@pytest.fixture
def tried(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("_tried")


@pytest.fixture
def home(load: Callable[[str], ModuleType], tmp_path: Path) -> Any:
    """A home about a harbour, before its first day: its nights are run once, and each test has a copy."""
    homes, folder = load("_home"), tmp_path / "home"
    data = load("_data").labelled(made.harbour(tmp_path / "harbour"), "default")
    kept("harbour before its first day", folder, lambda: homes.born(folder, data, "default", FAST_MODEL))
    keys = [one["key"] for one in homes.notes_of(data.documents)["default"]]
    return homes.Home(load_settings(folder), "default", {key: ids.memory_id("default", key) for key in keys})


def rated(home: Any, load: Callable[[str], ModuleType], names: list[str]) -> Workspace:
    """A day on which users rate the second result helpful and the first one unhelpful, and its fold."""
    first = load("_home").FIRST
    clock = load("_user").Clock(datetime.combine(first, datetime.min.time(), UTC) + timedelta(hours=6))
    space = Workspace(home.settings, clock=clock)
    for name in names:
        memory = Memory(home.settings, namespace=home.namespace, principal=name, space=space)
        for text in RATED:
            shown = memory.search(text)
            memory.feedback(shown.search_id, shown[1].memory_id, "helpful")
            memory.feedback(shown.search_id, shown[0].memory_id, "unhelpful")
    clock.moment = datetime.combine(first, datetime.min.time(), UTC) + timedelta(days=1)
    load("_home").run(home, "feedback", first, first, clock.moment)
    return space


def batch(found: Sequence[Candidates], moment: datetime) -> Batch:
    """The searches of some candidates."""
    return Batch.of((one, moment, 20) for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["question", "memory"])
def test_never_used_is_what_was_shown_before_anybody_gave_feedback(
    scope: str, home: Any, tried: ModuleType, load: Callable[[str], ModuleType]
) -> None:
    fresh = Workspace(home.settings)
    variant = tried.without_any(replace(fresh.policy, feedback_scope=scope))
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    found = tried.found_for(home, fresh, TEXTS)
    before = replay(batch(found, moment), [variant])
    lists = tried.ranked(found, moment, variant)
    fresh.close()

    space = rated(home, load, ["person-0", "person-1", "person-2"])
    found = tried.found_for(home, space, TEXTS)
    space.close()

    assert tried.ranked(found, moment, variant, used=False) == lists
    unrated = tried.unrated(batch(found, moment))
    assert_frame_equal(replay(unrated, [tried.never_used(variant)]), before)
    rated_scores = replay(batch(found, moment), [variant])["score"].to_list()
    assert rated_scores != before["score"].to_list(), "the ratings had no effect"


@pytest.mark.slow
def test_feedback_of_everybody_is_what_a_search_knows(home: Any, load: Callable[[str], ModuleType]) -> None:
    attack, sinking = load("attack"), load("_sinking")
    space = rated(home, load, ["person-0", "person-1", "attacker-0"])
    feedback = sinking.served(space, home.namespace, attack.ON, attack.ATTACKER)
    asked = attack.found_for(home, space, [], [load("_needs").Question(text, frozenset()) for text in TEXTS])

    def known(states: dict[str, MemoryState]) -> dict[str, list[float]]:
        return {
            name: [one.effectiveness, one.question_effectiveness, one.question_count, len(one.not_useful_at),
                   *(near for _, near in one.question_not_useful)]
            for name, one in states.items()
        }  # fmt: skip

    for one in asked:
        expected, ours = known(one.candidates.states), known(feedback.states(one))
        assert ours.keys() == expected.keys()
        for name, values in expected.items():
            assert ours[name] == pytest.approx(values, abs=1e-5), one.text
    assert any(one.question_count for ask in asked for one in feedback.states(ask).values())
    space.close()


@pytest.mark.slow
def test_one_user_moves_only_questions_near_to_his(home: Any, load: Callable[[str], ModuleType]) -> None:
    attack, sinking = load("attack"), load("_sinking")
    space = rated(home, load, ["person-0", "person-1", "person-2", sinking.SINKER])
    questions = [load("_needs").Question(text, frozenset()) for text in TEXTS]
    asked = attack.found_for(home, space, [], questions)
    readings = {name: attack.CAPS[name] for name in ("on", "of memories")}
    rows = sinking.spillover(asked, space, home.namespace, readings)
    space.close()

    assert [row["scope"] for row in rows] == ["question"] * 3 + ["memory"] * 3
    unlike, _, like = rows[:3]
    assert unlike["n"] > 0
    assert unlike["greatest move"] == 0.0
    assert unlike["never_used"] is not None
    assert like["greatest move"] > 0.0
    assert rows[3]["greatest move"] > 0.0, "with scope memory also those unlike his move"


def test_a_change_beside_never_used_has_an_interval_by_question(tried: ModuleType) -> None:
    never, value = np.zeros(40), np.repeat([0.0, 0.5], 20)
    row = tried.beside(never, value)

    assert row["never_used"] == 0.0
    assert row["change"] == pytest.approx(0.25)
    assert 0.1 < row["low"] < 0.25 < row["high"] < 0.4
    assert set(tried.beside([], []).values()) == {None}

"""Tests of the figures that the bench of one person makes by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from types import ModuleType

import polars as pl
import pytest

from bench._needs import Needs, Question

FIRST = date(2026, 1, 1)


@pytest.fixture
def script(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("one_person")


def on(day: int) -> str:
    return (FIRST + timedelta(days=day - 1)).isoformat()


def test_the_way_of_before_counts_a_question_once_in_each_cycle(script: ModuleType) -> None:
    """Sixty questions on day 1 and again on day 2, forty more on day 20, of which one is known on day 22."""
    rows = [(f"q{at}", on(day), on(day)) for day in (1, 2, 23) for at in range(60)]
    rows += [(f"q{at}", on(20), on(22 if at == 99 else 20)) for at in range(60, 100)]
    rows.append(("never", on(3), None))
    found = pl.DataFrame(rows, schema=["query_id", "day", "since"], orient="row")
    told = script.once_each(found, [FIRST + timedelta(days=at) for at in range(24)])
    assert [told[date.fromisoformat(on(day))] for day in (1, 2, 19, 20, 21)] == [
        ("1", 60), ("1", 60), ("1", 60), ("1", 99), ("1", 99),
    ]  # fmt: skip
    assert [told[date.fromisoformat(on(day))] for day in (22, 23, 24)] == [
        ("1 closed", 100), ("2", 60), ("2", 60),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_of_few_questions_the_rest_is_never_asked(script: ModuleType, seed: int) -> None:
    made = [Question(f"question {at} of {at % 5}", frozenset({f"d{at % 5}"})) for at in range(20)]
    needs = Needs(made[:10], made[10:15], [Question("else", frozenset({"d9"}))])
    kept = script.few(needs, 3, seed)
    parts = [*kept.asked, *kept.held, *kept.others]
    assert len(kept.asked) == 3
    assert sorted(one.text for one in parts) == sorted(
        one.text for one in (*needs.asked, *needs.held, *needs.others)
    )
    known = {one for question in kept.asked for one in question.answers}
    assert all(question.answers <= known for question in kept.held)
    assert not any(question.answers & known for question in kept.others)


def test_groups_follow_what_was_asked_so_far(script: ModuleType) -> None:
    first, second = (Question(f"question of {name}", frozenset({name})) for name in ("d1", "d2"))
    held = [Question(f"other question of {name}", frozenset({name})) for name in ("d1", "d2")]
    same_words = Question(first.text, frozenset({"d1"}))
    other = Question("question of d3", frozenset({"d3"}))
    needs = Needs([first, second], [*held, same_words], [other])

    assert script.parts_at(needs, {first.text}) == {
        "asked again": [(first.text, first)],
        "taught": [(held[0].text, held[0])],
        "never asked": [(other.text, other)],
    }
    assert script.parts_at(needs, set()) == {"never asked": [(other.text, other)]}

"""`slowwave learning ratings`: whether ratings make searches better, and who switched them off."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from click.testing import Result
from question_life import put_effect

from slowwave.learning.guard import GUARD, close_where_worse
from slowwave.memory import Memory
from slowwave.scoring.feedback.learned import RATINGS, USE


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """The namespace that commands mean when none is given."""
    return open_memory("default")


@pytest.fixture
def yesterday(memory: Memory) -> str:
    return f"{memory._space.now() - timedelta(days=1):%F}"


@pytest.fixture
def ratings(run: Callable[..., Result]) -> Callable[..., Result]:
    return lambda *words, **options: run("learning", "ratings", *words, **options)


@pytest.fixture
def harmed(memory: Memory, yesterday: str) -> str:
    """Ratings made 30 searches of yesterday worse; why the guard has switched them off."""
    for kind in (RATINGS, USE):
        put_effect(memory.store, yesterday, "default", kind=kind)
    return close_where_worse(memory._space, yesterday)["default"].removeprefix("ratings: ")


def test_of_a_home_without_judged_searches_it_says_that_they_count(ratings):
    done = ratings()
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "Ratings are on: they count for similar questions.", "Ratings have not changed a judged search yet.",
    ]  # fmt: skip
    assert json.loads(ratings("--json").stdout) == {"on": True, "why_off": "", "beside_never_used": []}


def test_it_shows_searches_beside_a_memory_that_nobody_used(ratings, memory, yesterday):
    for kind in (RATINGS, USE):
        put_effect(memory.store, yesterday, "default", kind=kind, after=0.8)
        put_effect(memory.store, yesterday, "default", kind=kind, after=1.0, rated=True)
    done = ratings()
    assert "Ratings are on: they count for similar questions." in done.stdout
    assert (
        "Searches are better than if nobody had ever rated: a right memory came earlier for " in done.stdout
    )
    assert (
        "Searches of answers without earlier feedback are better than if nobody had ever rated" in done.stdout
    )
    rows = json.loads(ratings("--json").stdout)["beside_never_used"]
    assert {(row["kind"], row["answers"]) for row in rows} == {
        (kind, answers) for kind in (RATINGS, USE) for answers in {row["answers"] for row in rows}
    }
    assert len(rows) == 6
    assert {row["verdict"] for row in rows} == {"better"}
    assert json.loads(ratings("-n", "young", "--json").stdout)["beside_never_used"] == []


def test_it_says_that_the_guard_has_switched_them_off_and_why(ratings, harmed):
    done = ratings()
    assert done.exit_code == 0
    assert f"Ratings are switched off: {harmed}" in done.stdout
    assert (
        "Searches are worse than if nobody had ever rated: a right memory came earlier for 0 of "
        in done.stdout
    )
    assert "nan" not in done.stdout
    told = json.loads(ratings("--json").stdout)
    assert (told["on"], told["why_off"]) == (False, harmed)
    assert {row["verdict"] for row in told["beside_never_used"] if row["questions"]} == {"worse"}


def test_a_person_switches_them_on_and_off(ratings, memory, harmed):
    done = ratings("on", "--who", "ida", "--why", "the judge was wrong")
    assert done.exit_code == 0
    assert "Ratings are on: they count for similar questions." in done.stdout
    told = json.loads(ratings("off", "--who", "ida", "--json").stdout)
    assert (told["on"], told["why_off"]) == (False, "ida switched them off")
    acts = [(act.action, act.who, act.why) for act in memory.learning._acts()]
    assert acts == [
        ("regression", GUARD, harmed), ("approve", "ida", "the judge was wrong"), ("withdraw", "ida", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("on", "--who", "ida"), "on in default already"),
        (("off",), "--who NAME"),
        (("maybe", "--who", "ida"), "neither on nor off"),
    ],
)
def test_what_changes_nothing_or_names_nobody_is_refused(ratings, memory, words, message):
    done = ratings(*words)
    assert done.exit_code != 0
    assert message in done.output
    assert memory.learning._acts() == []


def test_doctor_names_the_command(run, harmed):
    done = run("doctor", "--json")
    (found,) = [one for one in json.loads(done.stdout)["findings"] if one["subject"] == "ratings"]
    assert not found["ok"]
    assert found["message"].endswith(harmed)
    assert run(*found["advice"].split()[1:]).exit_code == 0

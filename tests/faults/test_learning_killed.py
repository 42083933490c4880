"""Learning, the guard and a rollback, killed (SIGKILL) at any write and done again, come to the same.

What was taken back has no effect from the moment on at which the journal knows of it, whatever of it is left.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from evaluation_nights import Life
from faults_helpers import Driver, assert_same_tables, copy_home, make_home, tables, with_dagster
from feedback_week import at, day
from learning_rows import NEWS, put_open
from warehouse_rows import put

from slowwave.common import ids
from slowwave.learning.events import REGRESSION, ROLLBACK, learning_events
from slowwave.settings import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.soak]

NOW = at(0, 12)
LAMP = ids.memory_id("ada", "lamp")
WHERE = {"first": day(1), "last": day(1), "now": NOW.isoformat()}
LEARN: dict[str, Any] = {"do": "learning", **WHERE}
GUARD: dict[str, Any] = {"do": "learning_gate", **WHERE}
BACK: dict[str, Any] = {"do": "roll_back", "namespace": "ada", "now": NOW.isoformat()}
ROLLBACKS = {
    "everything": {**BACK, "scope": "everything", "value": ""},
    "memory": {**BACK, "scope": "memory", "value": LAMP},
    "principal": {**BACK, "scope": "principal", "value": "bob"},
}
"""Each of them leaves no term that two questions taught."""


@dataclass(frozen=True)
class Done:
    """A home before something is done, and what doing it makes of it."""

    home: Path
    name: str
    job: dict[str, Any]
    writes: list[list[str]]  # [asset, table, operation]
    after: dict[str, pl.DataFrame]
    decided: list[tuple[str, str]]


def decided(home: Path, embedder: Any) -> list[tuple[str, str]]:
    """Acts on learning: what and by whom."""
    with Life(load(home), embedder) as life:
        return [(act.action, act.event_id) for act in learning_events(life.space.journal)]


def uses_what_was_learned(home: Path, embedder: Any) -> bool:
    """Whether a search finds the memory by words that only questions taught it."""
    with Life(load(home, journal={"log_searches": False}), embedder) as life:
        life.clock.moment = NOW
        found = life.memory.search(" ".join(NEWS), explain=True)
        return any(part.source == "learned" for one in found for part in one.explanation.contributions)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Path:
    """A home whose gate is open at the end of yesterday, of which something is to be learned."""
    plain = {"ranking": {"abstention_floor": 0.0}, "learning": {"enabled": True, "interleave": 0.0}}
    home = with_dagster(make_home(tmp_path_factory.mktemp("open") / "home", **plain))
    with Life(load(home), fast_embedder) as life:
        life.learn({"lamp": "On the western rock a lamp burns from dusk on, seen by every ship."}, at(20))
        life.clock.moment = NOW
        put_open(life.space, NOW, memory=LAMP)
    return home


@pytest.fixture(scope="module")
def learned(driver: Driver, opened: Path, fast_embedder: Any) -> Path:
    """The home after it."""
    home = copy_home(opened, opened.with_name("learned"))
    ran = driver.run(home=home, **LEARN)
    assert ran["code"] == 0, ran["errors"]
    assert not uses_what_was_learned(opened, fast_embedder)
    assert uses_what_was_learned(home, fast_embedder)
    return home


@pytest.fixture(scope="module")
def worse(learned: Path, fast_embedder: Any) -> Path:
    """The home in which searches that learning changed were the worse for it."""
    home = copy_home(learned, learned.with_name("worse"))
    with Life(load(home), fast_embedder) as life:
        put(life.space.store, "learned_effect", [
            {"effect_id": f"worse:{number}", "day": day(1), "namespace": "ada", "search_id": f"w{number}",
             "query_id": f"worse {number}", "moved": True, "live": True, "mrr_5": 0.8 - number / 200,
             "mrr_5_learned": 0.1, "ndcg_10": 0.8, "ndcg_10_learned": 0.2}
            for number in range(40)
        ])  # fmt: skip
    return home


def do(driver: Driver, home: Path, job: dict[str, Any], embedder: Any) -> Done:
    """What is done when nothing goes wrong."""
    name = f"{home.name} {job['do']} {job.get('scope', '')}"
    control = copy_home(home, home.with_name(name))
    ran = driver.run(home=control, **job)
    assert ran["code"] == 0, ran["errors"]
    return Done(home, name, job, ran["writes"], tables(control), decided(control, embedder))


def kill_everywhere(driver: Driver, done: Done, embedder: Any, *, takes: str = "") -> None:
    """Kill it before and after each of its writes, look, and do it again.

    Args:
        driver: does it.
        done: without any fault.
        embedder: of the home.
        takes: the act that takes back what was learned.
    """

    def kill_and_do_again(point: tuple[int, str]) -> bool:
        what = f"killed {point[1]} write {point[0]} ({done.writes[point[0]]})"
        home = copy_home(done.home, done.home.with_name(f"{done.name} {point}"))
        killed = driver.run(home=home, kill=point, **done.job)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        told = takes in {action for action, _ in decided(home, embedder)}
        left = tables(home)["learned_triggers"].filter(pl.col("memory_id") == LAMP).height
        if told:
            assert not uses_what_was_learned(home, embedder), what
        again = driver.run(home=home, **done.job)
        assert again["code"] == 0, f"{what}: {again['errors']}"
        assert_same_tables(tables(home), done.after, what)
        assert decided(home, embedder) == done.decided, what
        return told and left > 0

    caught = driver.each(kill_and_do_again, points(done.writes))
    assert any(caught) or not takes, "nowhere was it killed between its act and the deletion"


def points(writes: Sequence[object]) -> list[tuple[int, str]]:
    """After every write, and before the first: after one is before the next."""
    return [(0, "before"), *((number, "after") for number in range(len(writes)))]


def test_learning_killed_at_a_write(driver: Driver, opened: Path, fast_embedder: Any) -> None:
    done = do(driver, opened, LEARN, fast_embedder)
    assert [table for _, table, _ in done.writes] == ["learning_log", "learned_triggers"]
    assert done.after["learned_triggers"].filter(pl.col("memory_id") == LAMP).height == 2 * len(NEWS)
    kill_everywhere(driver, done, fast_embedder)


def test_the_guard_killed_at_a_write(driver: Driver, worse: Path, fast_embedder: Any) -> None:
    done = do(driver, worse, GUARD, fast_embedder)
    assert {table for _, table, _ in done.writes} >= {"journal", "learning_log", "learned_triggers"}
    assert [action for action, _ in done.decided] == ["approve", "regression"]
    assert done.after["learned_triggers"]["namespace"].to_list() == ["~canary"]
    log = done.after["learning_log"]
    assert log["action"].value_counts().filter(action="regression")["count"].to_list() == [1]
    assert set(log.filter(action="rollback")["reason"]) == {REGRESSION}
    kill_everywhere(driver, done, fast_embedder, takes=REGRESSION)


@pytest.mark.parametrize("scope", ROLLBACKS)
def test_a_rollback_killed_at_a_write(driver: Driver, learned: Path, fast_embedder: Any, scope: str) -> None:
    done = do(driver, learned, ROLLBACKS[scope], fast_embedder)
    assert done.writes[0][1] == "journal"
    assert done.after["learned_triggers"].filter(pl.col("memory_id") == LAMP).height == (
        len(NEWS) if scope == "principal" else 0
    )
    kill_everywhere(driver, done, fast_embedder, takes=ROLLBACK)


def test_the_next_night_finishes_what_a_killed_rollback_began(
    driver: Driver, learned: Path, fast_embedder: Any
) -> None:
    home = copy_home(learned, learned.with_name("half"))
    killed = driver.run(home=home, kill=(0, "after"), **ROLLBACKS["memory"])
    assert killed["code"] == -signal.SIGKILL
    assert tables(home)["learned_triggers"].filter(pl.col("memory_id") == LAMP).height == 2 * len(NEWS)
    ran = driver.run(home=home, **GUARD)
    assert ran["code"] == 0, ran["errors"]
    after = tables(home)
    assert after["learned_triggers"].filter(pl.col("memory_id") == LAMP).is_empty()
    log = after["learning_log"].filter(pl.col("action").is_in(["rollback"]))
    assert set(log["reason"]) >= {"memory"}
    assert log.filter(memory_id=LAMP).height == 2 * len(NEWS)
    ran = driver.run(home=home, **LEARN)
    assert not uses_what_was_learned(home, fast_embedder)

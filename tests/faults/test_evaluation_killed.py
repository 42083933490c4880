"""An evaluation that closes a cycle, is killed (SIGKILL) at any write and run again, has told the same."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from evaluation_nights import Life, label
from faults_helpers import Driver, assert_same_tables, copy_home, make_home, tables, with_dagster
from feedback_days import NOTES, rating, search
from feedback_week import DEPLOY, at, day, journalled

from slowwave.evaluation.stale_days import due_days
from slowwave.home.workspace import Workspace
from slowwave.settings import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.soak]

EVERY_POINT = bool(os.environ.get("SLOWWAVE_TEST_EVERY_FAULT"))
FIRST, LAST = 16, 1  # days ago
QUESTIONS = 160
CLOSING = ("cycle_judgments", "cycle_scores", "evaluation_cycles")
# By default: the asset, the table, which of its writes.
SOME = [
    ("judgments", "judgments", -1, "after"),
    ("evaluation_scores", "evaluation_scores", 1, "before"),
    ("evaluation_cycles", "cycle_judgments", 0, "after"),
    ("evaluation_cycles", "cycle_scores", 0, "after"),
    ("evaluation_cycles", "evaluation_cycles", 0, "after"),
    ("learning_gate", "meta", 0, "after"),
]


@dataclass(frozen=True)
class Evaluation:
    """A home before an evaluation, and what the evaluation makes of it."""

    home: Path
    before: dict[str, pl.DataFrame]
    writes: list[list[str]]  # [asset, table, operation]
    after: dict[str, pl.DataFrame]
    page: str


def evaluate(driver: Driver, home: Path, first: int = FIRST, **more: Any) -> dict[str, Any]:
    """Evaluate from a day (so many ago) to the last one; the clock stands."""
    return driver.run("evaluation", home, first=day(first), last=day(LAST), now=at(0, 1).isoformat(), **more)


def pages(home: Path) -> str:
    """The pages of closed cycles."""
    return "".join(path.read_text() for path in sorted((home / "reports").glob("*")))


@pytest.fixture(scope="module")
def evaluation(driver: Driver, tmp_path_factory: pytest.TempPathFactory, fast_embedder: Any) -> Evaluation:
    """Sixteen days, the first of which were evaluated before some labels of them came late."""
    place = tmp_path_factory.mktemp("evaluation")
    home = with_dagster(make_home(place / "home", judge={"kind": "off"}))
    settings, who = load(home), {"namespace": "default", "principal": "ada"}
    with Life(settings, fast_embedder, namespace="default") as life:
        life.learn(NOTES, at(FIRST + 1))
        for ago in range(FIRST, FIRST - 6, -1):
            life.ask(f"deploy day {ago % 3}", at(ago), DEPLOY.__eq__)
    asked = [(number, FIRST - number % 15) for number in range(QUESTIONS)]
    journalled(home, *[
        search(f"s{number}", at(ago, 9), [DEPLOY], query=f"question {number}", **who) for number, ago in asked
    ])  # fmt: skip
    journalled(home, *[rating(f"s{n}", at(ago, 10), DEPLOY, "helpful", **who) for n, ago in asked if n % 2])
    ran = driver.run("night", home, first=day(FIRST))
    assert ran["code"] == 0, ran["errors"]
    ran = driver.run("evaluation", home, first=day(FIRST), last=day(FIRST - 4), now=at(0, 1).isoformat())
    assert ran["code"] == 0, ran["errors"]
    said = [(f"question {number}", DEPLOY, 2, at(ago, 11)) for number, ago in asked if number % 3]
    label(settings, said, namespace="default")
    before, done = tables(home), copy_home(home, place / "control")
    ran = evaluate(driver, done)
    assert ran["code"] == 0, ran["errors"]
    return Evaluation(home, before, ran["writes"], tables(done), pages(done))


def test_the_control_has_what_the_faults_are_to_be_tried_on(evaluation: Evaluation) -> None:
    assert [write[1] for write in evaluation.writes if write[0] == "evaluation_cycles"][:3] == [*CLOSING]
    assert evaluation.before["evaluation_cycles"]["status"].to_list() == ["open"]
    assert evaluation.after["evaluation_cycles"].sort("number")["status"].to_list() == ["closed", "open"]
    assert evaluation.before["evaluation_scores"].height < evaluation.after["evaluation_scores"].height
    assert evaluation.after["cycle_scores"]["variant"].n_unique() > 5
    assert evaluation.after["cycle_judgments"].height >= 100
    assert "cycle 1" in evaluation.page


def points(evaluation: Evaluation) -> list[tuple[int, str]]:
    """Where the evaluation is killed: about every write, or some of them."""
    if EVERY_POINT:
        return [(number, when) for number in range(len(evaluation.writes)) for when in ("before", "after")]
    return [
        ([at for at, write in enumerate(evaluation.writes) if write[:2] == [asset, table]][place], when)
        for asset, table, place, when in SOME
    ]


def test_an_evaluation_killed_at_a_write_and_run_again(driver: Driver, evaluation: Evaluation) -> None:
    def kill_and_run_again(point: tuple[int, str]) -> None:
        what = f"killed {point[1]} write {point[0]} ({evaluation.writes[point[0]]})"
        home = copy_home(evaluation.home, evaluation.home.with_name(f"home {point}"))
        killed = evaluate(driver, home, kill=point)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        again = evaluate(driver, home)
        assert again["code"] == 0, f"{what}: {again['errors']}"
        assert_same_tables(tables(home), evaluation.after, what)
        assert pages(home) == evaluation.page, what
        space = Workspace(load(home))
        assert due_days(space.journal, space.store) == [], what
        space.close()

    driver.each(kill_and_run_again, points(evaluation))

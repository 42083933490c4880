"""A night that learns from feedback, is killed (SIGKILL) at any write and run again, has learned the same."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from faults_helpers import (
    Driver,
    assert_same_tables,
    copy_home,
    make_home,
    spread,
    tables,
    with_dagster,
)
from feedback_week import (
    DEPLOY,
    FEEDBACK,
    FERRY,
    LEDGER,
    ROTA,
    day,
    due,
    early,
    journalled,
    late,
    notes,
    records,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EVERY_POINT = bool(os.environ.get("SLOWWAVE_TEST_EVERY_FAULT"))


@dataclass(frozen=True)
class Night:
    """A home before a night, and what the night makes of it."""

    home: Path
    before: dict[str, pl.DataFrame]
    writes: list[list[str]]  # [asset, table, operation]
    done: Path
    after: dict[str, pl.DataFrame]


@pytest.fixture(scope="module")
def night(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Night:
    """A night over late feedback, new feedback, and days that another night has folded before."""
    place = tmp_path_factory.mktemp("feedback")
    home = with_dagster(make_home(place / "home"))
    journalled(home, *notes(), *early())
    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    assert due(home) == []
    journalled(home, *late())
    before = tables(home)
    done = copy_home(home, place / "control")
    ran = driver.run("night", done)
    assert ran["code"] == 0, ran["errors"]
    return Night(home, before, ran["writes"], done, tables(done))


def test_the_control_has_what_the_faults_are_to_be_tried_on(night: Night) -> None:
    assert {asset for asset, *_ in night.writes} >= set(FEEDBACK)
    assert ["memory_state", "memory_state", "delete"] in night.writes
    assert due(night.done) == []
    before, after = records(night.before), records(night.after)
    assert sorted(after) == [f"fold-{day(ago)}" for ago in range(6, 0, -1)]
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {f"fold-{day(ago)}" for ago in (5, 4)}  # folded again
    for table, column in (("usage_signals", "signal_id"), ("effectiveness", "effectiveness_id")):
        assert set(night.before[table][column]) - set(night.after[table][column]), f"no row of {table} went"
    assert LEDGER in set(night.before["memory_state"]["memory_id"])
    assert {DEPLOY, ROTA, FERRY} <= set(night.after["memory_state"]["memory_id"])
    assert LEDGER not in set(night.after["memory_state"]["memory_id"])
    promoted = night.after["promotions"].filter(pl.col("reason") == "promoted")
    assert promoted["memory_id"].to_list() == [FERRY]


def points(night: Night) -> list[tuple[int, str]]:
    """Where the night is killed: all writes of feedback, or one of each asset, before or after it."""
    found = []
    for place, asset in enumerate(FEEDBACK):
        mine = [number for number, write in enumerate(night.writes) if write[0] == asset]
        every = [(number, when) for number in mine for when in ("before", "after")]
        few = spread(mine, 2)[place % 2 :] if asset != "memory_state" else mine
        found += every if EVERY_POINT else [(number, ("after", "before")[place % 2]) for number in few[:1]]
    return found


def test_a_night_of_feedback_killed_at_a_write_and_run_again(driver: Driver, night: Night) -> None:
    def kill_and_run_again(point: tuple[int, str]) -> None:
        number, when = point
        what = f"killed {when} write {number} ({night.writes[number]})"
        home = copy_home(night.home, night.home.with_name(f"home {number} {when}"))
        killed = driver.run("night", home, kill=point)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        again = driver.run("night", home)
        assert again["code"] == 0, f"{what}: {again['errors']}"
        assert_same_tables(tables(home), night.after, what)
        assert due(home) == [], what

    driver.each(kill_and_run_again, points(night))

"""A night that learns from feedback, is killed (SIGKILL) at any write and run again, has learned the same."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from faults_helpers import Driver, assert_same_tables, copy_home, make_home, tables, with_dagster
from feedback_days import observed, rating, search
from feedback_week import (
    ADA,
    BOB,
    DEPLOY,
    FEEDBACK,
    FERRY,
    LEDGER,
    ROTA,
    at,
    day,
    due,
    early,
    journalled,
    late,
    notes,
    records,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.soak]

EVERY_POINT = bool(os.environ.get("SLOWWAVE_TEST_EVERY_FAULT"))
# By default: which write of an asset.
SOME = {
    "events": (0, "before"),
    "usage_signals": (-2, "after"),  # of the first part of the days
    "promotions": (-1, "before"),
    "memory_state": (-1, "before"),  # the days are recorded
}


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
    assert sorted(after) == [f"fold-{day(ago)}" for ago in range(4, 0, -1)]
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {f"fold-{day(ago)}" for ago in (3, 2)}  # folded again
    for table, column in (("usage_signals", "signal_id"), ("effectiveness", "effectiveness_id")):
        assert set(night.before[table][column]) - set(night.after[table][column]), f"no row of {table} went"
    assert LEDGER in set(night.before["memory_state"]["memory_id"])
    assert {DEPLOY, ROTA, FERRY} <= set(night.after["memory_state"]["memory_id"])
    assert LEDGER not in set(night.after["memory_state"]["memory_id"])
    promoted = night.after["promotions"].filter(pl.col("reason") == "promoted")
    assert promoted["memory_id"].to_list() == [FERRY]


def points(night: Night) -> list[tuple[int, str]]:
    """Where the night is killed: about every write of feedback, or some of them."""
    found = []
    for asset in FEEDBACK:
        mine = [number for number, write in enumerate(night.writes) if write[0] == asset]
        place, when = SOME.get(asset, (0, ""))
        every = [(number, when) for number in mine for when in ("before", "after")]
        found += every if EVERY_POINT else [(mine[place], when)] if when else []
    return found


def kill(driver: Driver, home: Path, point: tuple[int | str, str]) -> None:
    """Kill the home's night before or after a write, or the first write of an asset."""
    killed = driver.run("night", home, kill=point)
    assert killed["code"] == -signal.SIGKILL, f"{point}: was not killed: {killed['errors']}"


def test_a_night_of_feedback_killed_at_a_write_and_run_again(driver: Driver, night: Night) -> None:
    def kill_and_run_again(point: tuple[int, str]) -> None:
        what = f"killed {point[1]} write {point[0]} ({night.writes[point[0]]})"
        home = copy_home(night.home, night.home.with_name(f"home {point}"))
        kill(driver, home, point)
        again = driver.run("night", home)
        assert again["code"] == 0, f"{what}: {again['errors']}"
        assert_same_tables(tables(home), night.after, what)
        assert due(home) == [], what

    driver.each(kill_and_run_again, points(night))


def test_a_night_killed_twice_while_more_feedback_comes(driver: Driver, night: Night, tmp_path: Path) -> None:
    more = [
        rating("s1", at(3, 7), DEPLOY, "helpful", **BOB),
        search("s6", at(1, 3), [FERRY, LEDGER], project="x", **ADA),
        observed("s6", at(1, 4), {FERRY: "ignored", LEDGER: "used"}, **ADA),
    ]
    control, home = copy_home(night.done, tmp_path / "control"), copy_home(night.home, tmp_path / "home")
    journalled(control, *more)
    ran = driver.run("night", control)
    assert ran["code"] == 0, ran["errors"]
    kill(driver, home, ("strength", "after"))
    journalled(home, *more)
    kill(driver, home, ("memory_state", "before"))
    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    assert due(home) == []
    # The nights of the one wrote their records between the acts: places in the journal differ, nothing else.
    assert_same_tables(without_places(tables(home)), without_places(tables(control)), "killed twice")


def without_places(found: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Tables without places in the journal: the seqs of rows, and what the records of days say of them."""
    about_days = pl.col("name").str.contains(r"^(fold|night)-")
    meta = found["meta"].with_columns(
        pl.when(about_days).then(pl.lit("{}")).otherwise(pl.col("value")).alias("value")
    )
    return {name: rows.drop("seq", strict=False) for name, rows in found.items()} | {"meta": meta}

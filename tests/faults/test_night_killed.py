"""A night that is killed (SIGKILL) at any write and run again leaves the tables of one that was not."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from faults_helpers import (
    MODEL,
    Driver,
    assert_same_tables,
    chunk_faults,
    command,
    copy_home,
    end_group,
    environment,
    first_vault,
    scan,
    slowwave,
    spread,
    tables,
    text,
    with_dagster,
    write_vault,
)

import slowwave as package

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ASSETS = ("staged_notes", "gate_verdicts", "embedded_chunks", "memories", "search_index")
# By default some points per asset are tried, evenly over its writes; all of them take some ten minutes.
EVERY_POINT = bool(os.environ.get("SLOWWAVE_TEST_EVERY_FAULT"))


@dataclass(frozen=True)
class Night:
    """A home before a night, and what the night makes of it."""

    home: Path
    writes: list[list[str]]  # [asset, table, operation]
    after: dict[str, pl.DataFrame]


def uninterrupted(driver: Driver, home: Path) -> Night:
    done = driver.run("night", copy_home(home, home.with_name(home.name + " control")))
    assert done["code"] == 0, done["errors"]
    return Night(home, done["writes"], tables(home.with_name(home.name + " control")))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nights")


@pytest.fixture(scope="module")
def first(driver: Driver, place: Path) -> Night:
    """The night after a vault was watched and some notes were saved directly."""
    write_vault(place / "vault", first_vault())
    home = place / "first"
    with package.open(home, namespace="default", embedding={"model": MODEL}) as memory:
        memory.save_many([{"content": text(f"saved {n}", 4 + n * 8), "key": f"saved {n}"} for n in range(4)])
    scan(home, place / "vault", days_ago=2)
    return uninterrupted(driver, with_dagster(home))


@pytest.fixture(scope="module")
def second(driver: Driver, first: Night, place: Path) -> Night:
    """The night after notes were changed, deleted, added, mended, saved again and forgotten."""
    folder = place / "second vault"
    home = copy_home(first.home.with_name("first control"), place / "second")
    before = first_vault()
    write_vault(folder, before)
    with package.open(home, namespace="default", embedding={"model": MODEL}) as memory:
        memory.journal.remove_source("default", "vault")
        memory.save(text("saved 3 again", 6), key="saved 3")  # fewer chunks than before
        memory.forget(
            next(row for row in first.after["memories"].rows(named=True) if row["source"] == "saved 1")[
                "memory_id"
            ]
        )
    copies = ("area 1/note 05.md", "copies/of note 5.md")
    live = [name for name in copies if f"vault/{name}" in first.after["memories"]["source"]]
    assert len(live) == 1  # when it goes, the other one comes in
    for name in ("area 0/note 00.md", *live, "area 2/note 18.md", "area 3/note 47.md"):
        (folder / name).unlink()
    changes: dict[str, str | bytes] = {
        f"area {number % 4}/note {number:02}.md": text(f"changed {number}", 40 - number)
        for number in range(20, 34)
    }
    changes["broken.md"] = text("mended")
    changes["new.md"] = text("new", 30)
    changes["facts.jsonl"] = "\n".join(str(before["facts.jsonl"]).splitlines()[2:])
    write_vault(folder, changes)
    found = scan(home, folder, days_ago=1)
    # Sentences of the texts repeat, so some files seem to have changed places: they count as moved.
    assert (found.new, found.changed + found.moved, found.deleted) == (4, 12, 8)
    return uninterrupted(driver, home)


def points(night: Night, per_asset: int) -> list[tuple[int, str]]:
    found = []
    for asset in ASSETS:
        mine = [number for number, write in enumerate(night.writes) if write[0] == asset]
        every = [(number, when) for number in mine for when in ("before", "after")]
        found += every if EVERY_POINT else spread(every, per_asset)
    return found


def assert_points_heal(driver: Driver, night: Night, per_asset: int) -> None:
    def kill_and_run_again(point: tuple[int, str]) -> tuple[str, str]:
        number, when = point
        asset, table, operation = night.writes[number]
        what = f"killed {when} write {number} ({operation} {table}, by {asset})"
        home = copy_home(night.home, night.home.with_name(f"{night.home.name} {number} {when}"))
        killed = driver.run("night", home, kill=point)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        again = driver.run("night", home)
        assert again["code"] == 0, f"{what}: {again['errors']}"
        assert_same_tables(tables(home), night.after, what)
        assert runs(home) == {dg.DagsterRunStatus.FAILURE: 1, dg.DagsterRunStatus.SUCCESS: 1 + earlier}, what
        return asset, when

    earlier = runs(night.home).get(dg.DagsterRunStatus.SUCCESS, 0)
    tried = points(night, per_asset)
    covered = set(driver.each(kill_and_run_again, tried))
    assert {asset for asset, _ in covered} == set(ASSETS), covered
    assert {when for _, when in covered} == {"before", "after"}, covered
    assert len(covered) >= min(per_asset, 2) * len(ASSETS), covered


def runs(home: Path) -> dict[dg.DagsterRunStatus, int]:
    """How many of the home's runs ended how."""
    if not (home / "dagster").is_dir():
        return {}
    counts: dict[dg.DagsterRunStatus, int] = {}
    with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
        for run in instance.get_runs():
            counts[run.status] = counts.get(run.status, 0) + 1
    return counts


def test_the_control_has_what_the_faults_are_to_be_tried_on(first: Night, second: Night) -> None:
    memories = first.after["memories"]
    assert memories.height == 48 + 8 + 4
    assert memories["chunk_count"].max() > 2
    assert set(first.after["quarantine"]["reasons"].explode()) >= {"exact_duplicate"}
    assert first.after["quarantine"].height == 4  # two copies, one too short, one unreadable
    assert second.after["memories"].filter(pl.col("status") == "retired").height == 10
    for night in (first, second):
        # Nobody said anything: of the feedback only what was looked at and the folded day are recorded.
        looked = {"searches", "events", "usage_signals", "memory_state"}
        assert {asset for asset, *_ in night.writes} == {*ASSETS, *looked}
        assert sum(table == "embedded_chunks" for _, table, _ in night.writes) > 1


def test_how_large_the_commits_are_makes_no_difference(first: Night, tmp_path: Path) -> None:
    home = copy_home(first.home, tmp_path / "home")
    done = slowwave(home, "night")
    assert done.returncode == 0, done.stderr
    assert_same_tables(tables(home), first.after, "the command, with its own commit sizes")


@pytest.mark.parametrize("per_asset", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_first_night_killed_at_a_write_and_run_again(driver: Driver, first: Night, per_asset: int) -> None:
    """After the last write of an asset all is as before the first of the next: its middle says most."""
    assert_points_heal(driver, first, per_asset)


@pytest.mark.soak
def test_second_night_killed_at_a_write_and_run_again(driver: Driver, second: Night) -> None:
    assert_points_heal(driver, second, 2)


@pytest.mark.soak
def test_night_killed_again_and_again_before_it_is_let_through(
    driver: Driver, first: Night, tmp_path: Path
) -> None:
    home = copy_home(first.home, tmp_path / "home")
    for number in spread(range(len(first.writes)), 3):
        driver.run("night", home, kill=(number, "after"))
    again = driver.run("night", home)
    assert again["code"] == 0, again["errors"]
    assert_same_tables(tables(home), first.after, "killed three times")


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_night_killed_from_outside_at_any_moment(
    driver: Driver, first: Night, tmp_path: Path, seed: int
) -> None:
    home = copy_home(first.home, tmp_path / "home")
    night = subprocess.Popen(
        command("night"), env=environment(SLOWWAVE_HOME=str(home)), cwd=tmp_path, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for_first_commit(home, night)
        time.sleep(random.Random(seed).uniform(0, 1.5))
    finally:
        end_group(night)
    done = driver.run("night", home)
    assert done["code"] == 0, done["errors"]
    assert_same_tables(tables(home), first.after, f"killed from outside, seed {seed}")
    assert chunk_faults(home) == []


def wait_for_first_commit(home: Path, night: subprocess.Popen[bytes]) -> None:
    versions = home / "lance" / "staged_notes.lance" / "_versions"
    before = len(list(versions.iterdir()))
    limit = time.monotonic() + 60
    while len(list(versions.iterdir())) == before and night.poll() is None:
        assert time.monotonic() < limit, "the night has not written anything for a minute"
        time.sleep(0.01)

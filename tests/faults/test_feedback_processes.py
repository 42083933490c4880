"""Processes that search and give feedback while nights run lose and double nothing, and teach the same."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from faults_helpers import Driver, copy_home, make_home, with_dagster
from feedback_days import fold_days
from feedback_week import (
    NOTES,
    assert_same_lesson,
    day,
    due,
    early,
    journalled,
    late,
    notes,
    taught,
    taught_in,
)

import slowwave as package
from slowwave.feedback import MemoryStats
from slowwave.home.workspace import Workspace
from slowwave.journal import FEEDBACK_KINDS, Entry, Journal
from slowwave.settings import load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EVERY_POINT = bool(os.environ.get("SLOWWAVE_TEST_EVERY_FAULT"))
KINDS = ("search", *FEEDBACK_KINDS)
QUESTIONS = [f"{key}: {text.split()[1]}?" for key, text in NOTES.items()]
WHO = ("ada", "ada", "bob", "cyd")  # two of them are one principal
USERS = len(WHO)


@pytest.fixture(scope="module")
def base(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with some notes, which a night has taken in."""
    home = with_dagster(make_home(tmp_path_factory.mktemp("processes") / "home"))
    journalled(home, *notes())
    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    return home


def acts_of(home: Path) -> list[Entry]:
    """Every search and act of feedback in the journal, in the order in which it got them."""
    with Journal.open_path(home / "journal.db") as journal:
        assert journal.check() == []
        found = [journal.get(name) for name in journal.read(kinds=KINDS)["event_id"]]
    return [entry for entry in found if entry is not None]


def folded_once(base: Path, place: Path, acts: Iterable[Entry]) -> dict[str, pl.DataFrame]:
    """What a home learns that is given these acts at once, in another order, and folds their days once."""
    home = copy_home(base, place)
    space = Workspace(load(home))
    space.journal.append(list(acts)[::-1])
    with Journal.open_path(home / "journal.db") as journal:
        fold_days(space, journal.days(KINDS)["day"].unique().sort())
    found = taught_in(space)
    space.close()
    return found


def assert_whole(found: dict[str, pl.DataFrame], acts: list[Entry]) -> None:
    """Each act is there once, with all that it says."""
    for table, rows in found.items():
        assert not rows[rows.columns[0]].is_duplicated().any(), table
    searches = [act.event_id for act in acts if act.kind == "search"]
    events = [act for act in acts if act.kind != "search"]
    assert found["searches"]["search_id"].to_list() == sorted(searches)
    assert found["events"]["event_id"].to_list() == sorted(act.event_id for act in events)
    wanted = [act.event_id for act in events if act.kind == "feedback"] + [
        f"{act.event_id}:{row['memory_id']}"
        for act in events
        if act.kind == "observation"
        for row in act.payload["verdicts"]
    ]
    signals = found["usage_signals"].filter(pl.col("tier") != "detailed")
    assert signals["signal_id"].to_list() == sorted(wanted)


# -- four at once, and nights ----------------------------------------------------------------------


def said_in(*files: Path) -> list[list[Any]]:
    """What processes were told that was taken: kind, id and more, each act once."""
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return list({(kind, name): [kind, name, *more] for kind, name, *more in lines}.values())


def counted(said: list[list[Any]]) -> dict[str, Counter[str]]:
    """Count the ratings and uses of each memory; of one's ratings of a search only the last counts."""
    counts: dict[str, Counter[str]] = {}
    rated: dict[tuple[str, ...], str] = {}
    for kind, _, *more in said:
        if kind == "feedback":
            memory, word, by = more
            rated[memory, *by] = word
        elif kind == "observation":
            for memory, verdict, evidence in more[0]:
                counts.setdefault(memory, Counter())[verdict] += evidence != "none"
    for (memory, *_), word in rated.items():
        counts.setdefault(memory, Counter())[word] += 1
    return counts


def stats(home: Path) -> dict[str, MemoryStats]:
    with package.open(home, namespace="default") as memory:
        return {name: memory.stats(name) for name in memory.store.read("memories")["memory_id"]}


def words_of(told: MemoryStats) -> Counter[str]:
    words = ("used", "ignored", "helpful", "neutral", "unhelpful")
    return +Counter({word: getattr(told, word) for word in words})


@pytest.mark.soak
def test_four_that_search_and_rate_while_nights_run(driver: Driver, base: Path, tmp_path: Path) -> None:
    home, over = copy_home(base, tmp_path / "home"), tmp_path / "over"
    told = [tmp_path / f"told {number}" for number in range(USERS)]
    with package.open(home, namespace="default") as memory:  # what all of them rate
        shared = [memory.search(question, limit=2).search_id for question in QUESTIONS]
    with ThreadPoolExecutor(USERS) as pool:
        users = [
            pool.submit(
                driver.run, "use", home, principal=who, told=str(file), until=str(over), turns=8,
                questions=QUESTIONS[number:] + QUESTIONS[:number], shared=shared,
            )
            for number, (who, file) in enumerate(zip(WHO, told, strict=True))
        ]  # fmt: skip
        try:
            nights = [driver.run("night", home) for _ in range(2)]
        finally:
            over.touch()
        for done in [*nights, *(user.result() for user in users)]:
            assert done["code"] == 0, done["errors"]

    said, acts = said_in(*told), acts_of(home)
    taken = {act.event_id for act in acts} - set(shared)
    assert taken == {name for _, name, *_ in said}
    assert min(Counter(act.kind for act in acts).values()) >= USERS
    now = stats(home)
    counts = counted(said)
    assert {name: words_of(one) for name, one in now.items() if words_of(one)} == counts

    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    assert due(home) == []
    found = taught(home)
    assert_whole(found, acts)
    later = stats(home)
    assert {name: words_of(one) for name, one in later.items() if words_of(one)} == counts
    assert {one.waiting for one in later.values()} == {0}
    outcomes = found["usage_signals"].filter(tier="detailed").sort("occurred_at", "signal_id")
    last = outcomes.unique(["memory_id", "principal", "search_id"], keep="last")  # it replaces earlier ones
    votes = last.group_by("memory_id", "verdict").len()
    assert votes.height
    for name, verdict, count in votes.iter_rows():
        assert {"success": later[name].successes, "failure": later[name].failures}[verdict] == count
    assert_same_lesson(found, folded_once(base, tmp_path / "once", acts), "beside one fold")


# -- two nights at once ----------------------------------------------------------------------------


def wait_for(*any_of: Any) -> None:
    """Until one of these files is there, or one of these jobs is done."""
    while not any(one.exists() if isinstance(one, Path) else one.done() for one in any_of):
        time.sleep(0.01)


@pytest.fixture(scope="module")
def week(driver: Driver, base: Path) -> Path:
    """A home in which a night has folded some days of feedback."""
    home = copy_home(base, base.with_name("week"))
    journalled(home, *early())
    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    return home


@pytest.mark.parametrize(
    "asset", ["usage_signals", *(["effectiveness", "memory_state"] if EVERY_POINT else [])]
)
def test_two_nights_over_days_that_they_share(
    driver: Driver, base: Path, week: Path, tmp_path: Path, asset: str
) -> None:
    """The first one stands before a write, more feedback comes, another one runs; then the first goes on."""
    home = copy_home(week, tmp_path / "home")
    some, more = late()[::2], late()[1::2]
    journalled(home, *some)
    files = {name: tmp_path / name for name in ("met 1", "go 1", "met 2", "go 2", "queued 2")}
    paths = {name: str(path) for name, path in files.items()}
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        for name in ("go 1", "go 2"):
            stack.callback(files[name].touch)
        one = pool.submit(driver.run, "night", home, stop=asset, met=paths["met 1"], go=paths["go 1"])
        wait_for(files["met 1"], one)
        journalled(home, *more)
        other = pool.submit(
            driver.run, "night", home, first=day(3), stop="strength", met=paths["met 2"],
            go=paths["go 2"], queued=paths["queued 2"],
        )  # fmt: skip
        wait_for(files["met 2"], files["queued 2"], other)
        files["go 1"].touch()
        first = one.result()
        files["go 2"].touch()
        second = other.result()
    assert (first["code"], second["code"]) == (0, 0), first["errors"] + second["errors"]
    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    assert due(home) == []
    acts = acts_of(home)
    found = taught(home)
    assert_whole(found, acts)
    assert_same_lesson(found, folded_once(base, tmp_path / "once", acts), "beside one fold")


# -- who is killed ---------------------------------------------------------------------------------


def test_who_is_killed_while_writing_loses_nothing_that_was_taken(
    driver: Driver, base: Path, tmp_path: Path
) -> None:
    home, told = copy_home(base, tmp_path / "home"), tmp_path / "told"
    job: dict[str, Any] = {"principal": "ada", "told": str(told), "turns": 2, "questions": QUESTIONS}
    whole = driver.run("use", copy_home(base, tmp_path / "control"), **job | {"told": str(tmp_path / "x")})
    assert whole["code"] == 0, whole["errors"]
    first = len(said_in(tmp_path / "x")) // 2
    assert len(whole["writes"]) >= 3
    kept = 0
    for number in range(first):
        for when in ("before", "within", "after"):
            killed = driver.run("use", home, kill=(number, when), **job)
            assert killed["code"] == -signal.SIGKILL, killed["errors"]
            kept += when == "after"  # durable, though nobody was told
    acts, said = acts_of(home), said_in(told)
    assert {name for _, name, *_ in said} <= {act.event_id for act in acts}
    assert len(acts) == len(said) + kept
    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    assert due(home) == []
    found = taught(home)
    assert_whole(found, acts)
    assert_same_lesson(found, folded_once(base, tmp_path / "once", acts), "beside one fold")

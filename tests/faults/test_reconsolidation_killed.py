"""What merges, supersedes, parts or releases memories and is killed (SIGKILL) is finished by the night."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from faults_helpers import (
    Driver,
    assert_same_tables,
    chunk_faults,
    copy_home,
    make_home,
    scan,
    spread,
    tables,
    with_dagster,
    write_vault,
)

import slowwave as package
from slowwave.common import ids
from slowwave.journal import Entry
from slowwave.journal.entry_builders import KEYLESS, forget_entry, save_entry, word_entry
from slowwave.notes.reading import plain_note

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.soak]

EVERY_POINT = bool(os.environ.get("SLOWWAVE_TEST_EVERY_FAULT"))
NOON = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)

DEPLOY = "We deploy the tide service on Tuesday after the morning tide has turned."
BATTERY = "The battery of the harbour gauge lasts nine weeks before it has to be charged again."
FERRY = "The ferry company pays 2,000 euros a month for the departure boards at the pier."
ROTA = "Ishbel answers the night phone in odd weeks and Ruaridh takes it in even weeks."
RADAR = "The radar on the northern mast turns once in 3 seconds and sees ships up to 40 km."
BACKUP = "Every night a copy of the ledger goes to the second machine in the cellar of the library."
LAMP = "The lamp at the end of the breakwater is green and burns until dawn."
BOOKS = "Printed tide books are kept in the blue cupboard beside the door of the pilots' kitchen."

# key: title, text. A key that is an application's own would say that two notes are two things.
FIRST = {
    "deploy": ("Deploy day", DEPLOY),
    "deploy 2": ("Deploy day", DEPLOY.replace("Tuesday", "Thursday")),  # supersedes
    "battery": ("Gauge battery", BATTERY),
    "battery 2": ("Gauge battery", f"{BATTERY}\nRuaridh changes it."),  # is merged
    "ferry": ("Ferry money", FERRY),
    "ferry 2": ("Ferry money", FERRY.replace("2,000", "2,400")),  # supersedes
    "rota": ("Phone rota", ROTA),
    "rota 2": ("Phone rota", f"{ROTA}\nBoth phones ring."),  # is merged
    "radar": ("Radar mast", RADAR),
    "backup": ("Backup copy", BACKUP),
}
SECOND = {
    "deploy 3": ("Deploy day", DEPLOY.replace("Tuesday", "Friday")),  # supersedes, a chain of three
    "battery 3": ("Gauge battery", f"{BATTERY}\nA spare one is in the shed."),  # is merged
    "radar 2": ("The eastern radar", RADAR.replace("40 km", "60 km")),  # related
    "radar 3": ("Radar", f"{RADAR} "),  # an exact duplicate
    "books": ("Tide books", BOOKS),
    "books 2": ("Tide books", f"{BOOKS}\nIshbel has the key."),  # is merged into what comes with it
    "books 3": ("Tide books", f" {BOOKS}"),  # an exact duplicate of what comes with it
    "ferry": ("Ferry money", f"{FERRY}\nIt pays on the first."),  # what was superseded is saved again
}
THIRD = {
    "backup 2": ("Backup copy", BACKUP.replace("Every night", "Each night")),  # as good as the same
    "deploy 4": ("Deploy day", DEPLOY.replace("Tuesday", "Monday")),  # supersedes, a chain of four
}
OUTCOMES = {"merge", "supersede", "related", "duplicate", "complement"}


@dataclass(frozen=True)
class Night:
    """A home before a night, and what the night makes of it."""

    home: Path
    writes: list[list[str]]  # [asset, table, operation]
    done: Path
    after: dict[str, pl.DataFrame]


def save_acts(notes: dict[str, tuple[str, str]], days_ago: int) -> list[Entry]:
    found = []
    for number, (name, (title, text)) in enumerate(notes.items()):
        key = KEYLESS + name
        at = NOON - timedelta(days=days_ago) + timedelta(seconds=number)
        found.append(
            save_entry(
                replace(plain_note(text, source=key), title=title), namespace="default", source=key,
                origin="", occurred_at=at, principal="test", event_id=ids.digest(key, text),
            )
        )  # fmt: skip
    return found


def journalled(home: Path, acts: list[Entry]) -> None:
    """These acts are in the journal, and nothing else has happened."""
    with package.open(home, namespace="default") as memory:
        memory.journal.append(acts)


def decision_of(found: dict[str, pl.DataFrame], key: str, outcome: str) -> dict[str, Any]:
    name = ids.memory_id("default", KEYLESS + key)
    rows = found["decisions"].filter((pl.col("memory_id") == name) & (pl.col("outcome") == outcome))
    return rows.row(0, named=True)


@pytest.fixture(scope="module")
def night(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Night:
    """A night over two days of notes, beside what another night had merged and superseded."""
    place = tmp_path_factory.mktemp("reconsolidation")
    home = with_dagster(make_home(place / "home", reconsolidation={"policy": "guarded"}))
    journalled(home, save_acts(FIRST, 3))
    ran = driver.run("night", home)
    assert ran["code"] == 0, ran["errors"]
    first = tables(home)
    assert set(first["decisions"]["outcome"]) == {"merge", "supersede", "complement"}

    soon = NOON - timedelta(days=1) + timedelta(hours=1)
    parted = decision_of(first, "rota 2", "merge")["decision_id"]
    common: dict[str, Any] = {"namespace": "default", "occurred_at": soon, "principal": "test"}
    journalled(
        home,
        [
            *save_acts(SECOND, 2),
            *save_acts(THIRD, 1),
            forget_entry(source=KEYLESS + "battery", origin="", event_id="forgets the battery", **common),
            word_entry("undo", parted, **common),
        ],
    )
    folder = place / "vault"
    write_vault(
        folder,
        {
            "books.md": f"# Tide books\n\n{BOOKS}\n",
            "radar.md": f"# Radar mast\n\n{RADAR}\n\nIt was painted in spring.\n",
            "lamp.md": f"# Lamp\n\n{LAMP}\n",
            "lamp again.md": f"# Lamp\n\n{LAMP}\n",
        },
    )
    scan(home, folder, days_ago=1)
    done = copy_home(home, place / "control")
    ran = driver.run("night", done)
    assert ran["code"] == 0, ran["errors"]
    return Night(home, ran["writes"], done, tables(done))


def test_the_control_has_what_the_faults_are_to_be_tried_on(night: Night) -> None:
    decisions = night.after["decisions"]
    assert set(decisions["outcome"]) == OUTCOMES
    assert set(decisions["undone_why"].drop_nulls()) >= {"undo", "forgotten"}
    memories = night.after["memories"]
    assert set(memories["status"]) == {"live", "merged", "superseded", "retired"}
    assert set(night.after["edges"]["kind"]) == {"supersedes", "related"}
    assert night.after["quarantine"].filter(pl.col("status") == "held").height >= 2
    written = {table for asset, table, _ in night.writes if asset == "memories"}
    assert written >= {"decisions", "edges", "quarantine", "memories", "chunks"}
    assert chunk_faults(night.done) == []


def test_the_memories_killed_at_a_write_and_run_again(driver: Driver, night: Night) -> None:
    mine = [number for number, write in enumerate(night.writes) if write[0] == "memories"]
    every = [(number, when) for number in mine for when in ("before", "after")]

    def kill_and_run_again(point: tuple[int, str]) -> None:
        number, when = point
        what = f"killed {when} write {number} ({night.writes[number]})"
        home = copy_home(night.home, night.home.with_name(f"home {number} {when}"))
        killed = driver.run("night", home, kill=point)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        again = driver.run("night", home)
        assert again["code"] == 0, f"{what}: {again['errors']}"
        assert_same_tables(tables(home), night.after, what)

    driver.each(kill_and_run_again, every if EVERY_POINT else spread(every, 4))


def test_a_night_more_changes_nothing(driver: Driver, night: Night, tmp_path: Path) -> None:
    home = copy_home(night.done, tmp_path / "home")
    again = driver.run("night", home)
    assert again["code"] == 0, again["errors"]
    assert_same_tables(tables(home), night.after, "a night more")


@pytest.mark.parametrize(
    ("do", "key", "outcome"),
    [
        ("undo", "books 2", "merge"),
        ("release", "radar 3", "duplicate"),
        *([("undo", "deploy 3", "supersede"), ("undo", "radar 2", "related")] if EVERY_POINT else []),
    ],
)
def test_what_a_person_did_killed_after_the_journal_is_finished_by_the_night(
    driver: Driver, night: Night, tmp_path: Path, do: str, key: str, outcome: str
) -> None:
    row = decision_of(night.after, key, outcome)
    name = row["decision_id"] if do == "undo" else f"{row['memory_id']}:{row['revision']}"
    job = {"id": name, "now": datetime.now(UTC).isoformat()}
    control = copy_home(night.done, tmp_path / "control")
    done = driver.run(do, control, **job)
    assert done["code"] == 0, done["errors"]
    writes = done["writes"]
    assert writes[0][1] == "journal"
    by_hand = tables(control)
    assert driver.run("night", control)["code"] == 0
    wanted = tables(control)
    settled = ("memories", "chunks", "decisions", "edges", "quarantine")
    assert_same_tables({n: wanted[n] for n in settled}, {n: by_hand[n] for n in settled}, "the night after")
    every = [(number, when) for number in range(len(writes)) for when in ("before", "after")][1:]

    def kill_and_heal(point: tuple[int, str]) -> None:
        number, when = point
        what = f"{do} killed {when} write {number} ({writes[number]})"
        torn = copy_home(night.done, tmp_path / f"home {number} {when}")
        killed = driver.run(do, torn, kill=point, **job)
        assert killed["code"] == -signal.SIGKILL, f"{what}: was not killed: {killed['errors']}"
        healed = driver.run("night", torn)
        assert healed["code"] == 0, f"{what}: {healed['errors']}"
        assert_same_tables(tables(torn), wanted, what)

    driver.each(kill_and_heal, every if EVERY_POINT else spread(every, 2))

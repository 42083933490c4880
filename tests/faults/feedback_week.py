"""Some days of notes, searches and feedback for the tests of faults, half of it late."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
from feedback_days import NOTES, TABLES, observed, outcome, rating, search
from polars.testing import assert_frame_equal

import slowwave as package
from slowwave.common import ids
from slowwave.feedback.stale_days import stale_days
from slowwave.home.processing_watermarks import FEEDBACK as FOLDS
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry
from slowwave.journal.entry_builders import save_entry
from slowwave.notes.reading import plain_note

FEEDBACK = (
    "searches", "events", "usage_signals", "effectiveness", "strength", "promotions", "memory_state",
)  # fmt: skip
MIDNIGHT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
DEPLOY, BATTERY, ROTA, RADAR, LEDGER, FERRY = (ids.memory_id("default", key) for key in NOTES)
ADA, BOB = {"namespace": "default", "principal": "ada"}, {"namespace": "default", "principal": "bob"}


def at(days_ago: int, hour: float = 12) -> datetime:
    """A moment of a day before today (UTC)."""
    return MIDNIGHT - timedelta(days=days_ago) + timedelta(hours=hour)


def day(days_ago: int) -> str:
    """A day before today as a partition."""
    return at(days_ago).date().isoformat()


def note(key: str, text: str, when: datetime) -> Entry:
    """A note that was saved then."""
    return save_entry(
        replace(plain_note(text, source=key), title=key), namespace="default", source=key, origin="",
        occurred_at=when, principal="writer", event_id=ids.digest("saved", key),
    )  # fmt: skip


def notes() -> list[Entry]:
    """The notes, saved before all that."""
    return [note(key, text, at(5)) for key, text in NOTES.items()]


def praise(voter: str, days_ago: int, memory: str) -> list[Entry]:
    """A search that showed a memory, which was helpful."""
    who = {"namespace": "default", "principal": voter}
    name = f"{voter} asks"
    return [
        search(name, at(days_ago, 1), [memory], **who),
        rating(name, at(days_ago, 2), memory, "helpful", **who),
    ]


def early() -> list[Entry]:
    """Three days of feedback, from four days ago."""
    return [
        search("s1", at(4, 9), [DEPLOY, BATTERY, ROTA], project="x", **ADA),
        rating("s1", at(4, 10), DEPLOY, "helpful", **ADA),
        observed("s1", at(4, 11), {DEPLOY: "used", BATTERY: "ignored", ROTA: "ignored"}, **ADA),
        search("s2", at(3, 9), [RADAR, LEDGER], project="y", **BOB),
        *[act for number in range(4) for act in praise(f"p{number}", 4 - number % 2, FERRY)],
        observed("s1", at(2, 8), {DEPLOY: "ignored", BATTERY: "used", ROTA: "ignored"}, **ADA),
        outcome("y", at(2, 9), "success", **BOB),  # nobody knows what helped: both memories
        outcome("x", at(2, 10), "failure", **ADA),
    ]


def late() -> list[Entry]:
    """More of these days, and one day more.

    The ledger loses its only evidence (it was the radar that helped), the ferry gets the vote that promotes
    it, and a search is found that an outcome was about. A note is late as well, so that a night is one run.
    """
    eve = {"namespace": "eve", "principal": "eve"}
    hers = ids.memory_id("eve", "hers")
    return [
        note("lamp", "The lamp at the end of the breakwater is green and burns until dawn.", at(3)),
        rating("s2", at(3, 10), RADAR, "helpful", **BOB),
        *praise("p4", 3, FERRY),
        search("s3", at(3, 11), [ROTA], project="x", **BOB),
        rating("s1", at(2, 7), DEPLOY, "unhelpful", **ADA),
        search("s4", at(1, 6), [DEPLOY, ROTA], project="x", **ADA),
        observed("s4", at(1, 7), {DEPLOY: "used", ROTA: "ignored"}, **ADA),
        rating("s4", at(1, 8), ROTA, "neutral", **ADA),
        outcome("x", at(1, 9), "success", **ADA),
        search("s5", at(1, 10), [hers], **eve),
        rating("s5", at(1, 11), hers, "unhelpful", **eve),
    ]


def journalled(home: Path, *acts: Entry) -> None:
    """These acts are in the journal, and no night has seen them."""
    with package.open(home, namespace="default") as memory:
        memory.journal.append(acts)


def due(home: Path) -> list[str]:
    """Days that a night still has to fold."""
    with package.open(home, namespace="default") as memory:
        return stale_days(memory.journal, memory.store)


def taught(home: Path) -> dict[str, pl.DataFrame]:
    """The tables of feedback, by key."""
    with package.open(home, namespace="default") as memory:
        return taught_in(memory._space)


def taught_in(space: Workspace) -> dict[str, pl.DataFrame]:
    """The tables of feedback of an opened home, by key."""
    return {table: space.store.read(table).sort(space.store.specs[table].key) for table in TABLES}


def records(found: dict[str, pl.DataFrame]) -> dict[str, str]:
    """What ``meta`` says of the days that were folded."""
    rows = found["meta"].filter(pl.col("name").str.starts_with(FOLDS.record))
    return dict(rows.rows())


def assert_same_lesson(left: dict[str, pl.DataFrame], right: dict[str, pl.DataFrame], what: object) -> None:
    """The same tables, whatever the order in which the journal got the acts."""
    for table in TABLES:
        one, other = (frame[table].drop("seq", strict=False) for frame in (left, right))
        try:
            assert_frame_equal(one, other, check_exact=True)
        except AssertionError as error:
            raise AssertionError(f"{what}: table {table} differs: {error}") from None

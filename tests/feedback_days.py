"""Days of feedback made by hand: acts at any moment, and what the night's assets do with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from slowwave.common import ids
from slowwave.feedback import aggregation, apply_state
from slowwave.feedback.carry_over_state import CarryOverState
from slowwave.feedback.questions import remember_of
from slowwave.feedback.stale_days import begin, finish, last_of
from slowwave.feedback.text_attribution import texts_in
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry, projections

START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
OWNED = ("searches", "events", "usage_signals", "effectiveness", "strength", "promotions")
TABLES = (*OWNED, "memory_state")
NOTES = {
    "deploy": "We deploy on Thursday since March; Friday is reserved for repairs and nothing else.",
    "battery": "The battery of the northern gauge lasts eleven weeks in winter and nineteen in summer.",
    "rota": "Ishbel answers the night telephone in odd weeks, Ruaridh takes it in even ones.",
    "radar": "The radar on the eastern mast turns once in three seconds and sees forty kilometres.",
    "ledger": "Every night a copy of the ledger goes to the second machine in the library cellar.",
    "ferry": "The ferry company pays two thousand euros a month for the departure boards.",
}


def at(day: int, hour: float = 12) -> datetime:
    """A moment of the n-th of March."""
    return START + (day - 1) * DAY + hour * HOUR


def name(day: int) -> str:
    """The n-th of March as a partition."""
    return at(day).date().isoformat()


def act(kind: str, subject: str, when: datetime, payload: dict[str, Any], **more: Any) -> Entry:
    """An entry of the journal; it is named by what it says."""
    given = {"namespace": "ada", "principal": "ann", "origin": "", **more}
    event = given.pop("event_id", "") or ids.digest(kind, subject, when.isoformat(), str(payload), str(given))
    return Entry(event_id=event, kind=kind, subject=subject, occurred_at=when, payload=payload, **given)


def search(
    search_id: str, when: datetime, shown: Sequence[str], *, project: str = "",
    query: str = "when do we deploy?", **more: Any,
) -> Entry:  # fmt: skip
    """A search that showed these memories; of what else it considered nothing is known."""
    rows = [
        {"memory_id": one, "rank": rank, "score": 0.5, "channels": ["vector"], "best": f"{one}:00000",
         "chunks": [f"{one}:00000"]}
        for rank, one in enumerate(shown, start=1)
    ]  # fmt: skip
    payload = {"query": query, "limit": 5, "shown": rows, "policy_version": "p", "signal": 0.5}
    return act("search", search_id, when, payload, origin=project, event_id=search_id, **more)


def rating(search_id: str, when: datetime, memory: str, said: str, **more: Any) -> Entry:
    payload = {"memory_id": memory, "chunk_id": f"{memory}:00000", "rating": said}
    return act("feedback", search_id, when, payload, **more)


def observed(search_id: str, when: datetime, verdicts: dict[str, str], **more: Any) -> Entry:
    """An answer that used or ignored these memories, by words beyond the query's."""
    rows = [
        {"memory_id": memory, "chunk_id": f"{memory}:00000", "verdict": verdict, "evidence": "words",
         "keywords": 9, "ratio": 0.6 if verdict == "used" else 0.1,
         "ratio_beyond_query": 0.5 if verdict == "used" else 0.1, "similarity": None}
        for memory, verdict in verdicts.items()
    ]  # fmt: skip
    return act("observation", search_id, when, {"response": ids.digest(str(when)), "verdicts": rows}, **more)


def outcome(project: str, when: datetime, said: str, **more: Any) -> Entry:
    return act("outcome", project, when, {"outcome": said}, **more)


def fold_days(
    space: Workspace,
    days: Iterable[str],
    *,
    looks: Sequence[str] = ("searches", "events"),
    carried: Mapping[str, CarryOverState | None] | None = None,
) -> None:
    """What the assets do with some days that follow one another, as one run."""
    days = list(days)
    store, policy = space.store, space.feedback_policy
    made = {table: getattr(projections, f"drain_{table}")(space.journal, days).rows for table in looks}
    for table, rows in made.items():
        store.replace_partition(table, rows, days)
    begin(store, "test", last_of(made["searches"], made["events"]), days[0])
    signals = aggregation.signals(store, made["events"], policy, 0.3, texts_in(space))
    remember_of(store, space.embedder, signals)
    store.replace_partition("usage_signals", signals, days)
    for table in ("effectiveness", "strength", "promotions"):
        more = {"carried": carried[table]} if carried and table in carried else {}
        store.replace_partition(
            table, getattr(aggregation, table)(store, signals, days[0], policy, **more), days
        )
    apply_state.apply_state(store, days, policy, texts_in(space))
    finish(store, "test")


def taught(space: Workspace) -> dict[str, pl.DataFrame]:
    """The tables of feedback, by key."""
    return {table: space.store.read(table).sort(space.store.specs[table].key) for table in TABLES}

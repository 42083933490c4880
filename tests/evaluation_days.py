"""Days whose searches are judged: a memory with a clock of its own, and what the night writes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NoReturn

import polars as pl
from feedback_days import at, fold_days
from warehouse_rows import put

from slowwave.common import ids
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.store import Store, staging

NOTES = {
    "deploy": "The deploy day of the harbour is Thursday, and Friday where the tide is low for the crane.",
    "battery": "The battery of the northern gauge lasts two winters; the southern one lasts a single winter.",
    "rota": "Who is awake in the night shift stands on the rota beside the door of the harbour office.",
    "gauge": "The gauge of the pier is read at noon, and again in the evening when the tide was unusual.",
    "ferry": "The ferry to the island leaves at seven in the morning and comes back before the dark.",
    "ledger": "The ledger of the harbour is closed on the last day of a month and signed by two people.",
    "mast": "The mast of the radar was painted in autumn; the paint holds for about six winters at sea.",
    "survey": "A survey of the sea floor near the pier is due in spring, when the ferry does not run.",
}
QUERIES = (
    "when is the deploy day?", "battery of the gauge in winter", "who is awake at night",
    "the gauge of the pier", "when does the ferry leave?", "harbour tide crane", "how long does paint hold",
    "sea floor survey",
)  # fmt: skip


class Clock:
    """The present moment of a home, which a test sets."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment


def with_clock(memory: Memory, day: int = 1) -> Clock:
    """A clock for a memory that was just opened; it stands at noon of that day of March."""
    clock = Clock(at(day))
    memory._space.now = clock
    return clock


def memory_of(key: str, namespace: str = "ada") -> str:
    return ids.memory_id(namespace, key)


def fill(memory: Memory, keys: Iterable[str] = NOTES) -> None:
    """Save some of the notes; one of them says what it is found by."""
    memory.save_many(
        [
            {"content": NOTES[key], "key": key, "title": key.capitalize(),
             "trigger_phrases": ["who is awake"] if key == "rota" else []}
            for key in keys
        ]
    )  # fmt: skip


def stage_days(space: Workspace, days: Sequence[str]) -> None:
    """What the asset ``staged_notes`` does."""
    entries = space.journal.read(kinds=("save", "forget", "undo", "unreadable"), days=days)
    space.store.replace_partition("staged_notes", staging.stage(entries), days)


def take_in(space: Workspace, days: Sequence[str]) -> None:
    """What the night does with notes and feedback before it evaluates."""
    stage_days(space, days)
    fold_days(space, days)


def said(
    day: str, query: str, memory: str, grade: float | None, *, source: str = "manual", who: str = "ann",
    namespace: str = "ada", state: str = "", made_at: datetime | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A row of ``judgments``."""
    judge = who if source == "judge" else None
    query_id = ids.query_id(namespace, query)
    return {
        "judgment_id": ids.digest(day, source, who, query_id, memory, str(grade), str(made_at)), "day": day,
        "namespace": namespace, "query_id": query_id, "query": query, "memory_id": memory, "source": source,
        "grade": grade, "state": state or ("graded" if grade is not None else "unrateable"), "judge": judge,
        "principal": who, "made_at": made_at or datetime.fromisoformat(f"{day}T12:00:00+00:00"),
    }  # fmt: skip


def judge(store: Store, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows of ``judgments``."""
    put(store, "judgments", rows)


def frame(store: Store, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Judgments as `judgments_until` reads them, by way of a real table."""
    from slowwave.evaluation.judgments import judgments_until

    judge(store, rows)
    return judgments_until(store, "9999")


def strict_json(text: str) -> Any:
    """What JSON says; NaN and Infinity, which are none, are refused."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)

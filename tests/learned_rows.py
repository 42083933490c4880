"""Rows of ``learned_triggers`` made by hand, and the acts that let them have an effect."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from slowwave.learning import events
from slowwave.memory import Memory
from slowwave.scoring.feedback.policy import LearningPolicy
from slowwave.store import Store

TTL = LearningPolicy().ttl
HOUR = timedelta(hours=1)


def lessons(
    memory_id: str, *terms: str, taught: datetime, questions: Iterable[str] = ("first", "second"), **more: Any
) -> list[dict[str, Any]]:
    """That selections taught a memory these terms: each term by each question, an hour after the other."""
    return [
        {
            "namespace": "ada", "memory_id": memory_id, "term": term, "question": question,
            "added_at": taught + turn * HOUR, "expires_at": taught + turn * HOUR + TTL, "weight": 1.0,
            "principal": "ann", "search_id": f"search-{question}", "proposal_id": f"{memory_id}-{question}",
            **more,
        }
        for term in terms for turn, question in enumerate(questions)
    ]  # fmt: skip


def teach(store: Store, rows: Iterable[dict[str, Any]]) -> None:
    """Make these all that was learned, as the night's asset writes it: a partition a day."""
    frame = pl.DataFrame(list(rows))
    if frame.is_empty():
        store.delete("learned_triggers", "day < '~'")
        return
    key = pl.concat_str("proposal_id", "namespace", "term", separator=":")
    frame = frame.with_columns(trigger_id=key, day=pl.col("added_at").dt.strftime("%Y-%m-%d"))
    store.replace_partition("learned_triggers", frame, frame["day"].unique().to_list())


def decide(
    memory: Memory, action: str, *, at: datetime | None = None, why: str = "a test", **detail: str
) -> None:
    """Write an act on learning in the memory's namespace."""
    moment = at or memory._space.now()
    events.write_event(
        memory.journal, memory.namespace, action, who="ida", why=why, at=moment, detail=detail,
    )  # fmt: skip

"""Ratings of questions, written by hand as the night writes them."""

from __future__ import annotations

from datetime import datetime

import polars as pl
from warehouse_rows import put

from slowwave.common import ids
from slowwave.feedback.questions import remember
from slowwave.memory import Memory


def put_rating(
    memory: Memory, query: str, memory_id: str, verdict: str, at: datetime, *, by: str = "ann", turn: int = 0
) -> None:
    """Write one rating of one result of a question, and the vector of the question."""
    question = ids.query_id(memory.namespace, query)
    signal = f"{query}-{memory_id}-{verdict}-{by}-{turn}"
    put(memory.store, "usage_signals", [
        {"signal_id": signal, "day": at.date().isoformat(), "namespace": memory.namespace,
         "memory_id": memory_id, "chunk_id": f"{memory_id}:00000", "occurred_at": at, "principal": by,
         "search_id": signal, "tier": "quick", "verdict": verdict,
         "value": {"helpful": 1.0, "neutral": 0.5, "unhelpful": 0.0}[verdict], "weight": 1.0,
         "evidence": "rating", "text": "", "query_id": question}
    ])  # fmt: skip
    asked = {"namespace": memory.namespace, "query_id": question, "query": query}
    remember(memory.store, memory._space.embedder, pl.DataFrame([asked]))

"""Outdated values among the best candidates of a search (rule 3.12)."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa

from slowwave.quality.admission.types import SUPERSEDED
from slowwave.quality.outdated.statements import statements_of
from slowwave.quality.outdated.updates import (
    DatedPassage,
    Outdated,
    asked_keys,
    outdated_memories,
    written_date,
)  # fmt: skip

COMPARED = 10  # best chunks of each channel compared with each other (count)


def outdated_candidates(
    query: str, vector_rank: np.ndarray, bm25_rank: np.ndarray, shown: pa.Table, now: datetime | None
) -> dict[str, Outdated]:
    """Return the newest memory of each candidate with an outdated value.

    All candidates have passed the filters of the search, so none is secret to its caller.

    Args:
        query: Text of the query.
        vector_rank: (n,) rank of each candidate in the vector channel, 0 where it did not find it.
        bm25_rank: (n,) the same for the full-text channel.
        shown: Their columns, one row a candidate.
        now: Moment of the search; a value of a later day replaces none yet. None: all count.
    """
    ranks = (
        np.where(vector_rank > 0, vector_rank, COMPARED + 1),
        np.where(bm25_rank > 0, bm25_rank, COMPARED + 1),
    )
    best = np.flatnonzero(np.minimum(*ranks) <= COMPARED)
    asked = asked_keys(query)
    texts = shown.column("text").take(pa.array(best)).to_pylist()
    # A text without a value about the question is in no pair.
    best = best[[bool(asked and statements_of(text, asked).values) for text in texts]]
    if len(best) < 2:
        return {}
    columns = ["memory_id", "title", "text", "sensitivity", "status", "created_at", "updated_at"]
    rows = shown.select(columns).take(pa.array(best)).to_pylist()
    passages = [
        DatedPassage(
            memory_id=row["memory_id"],
            title=row["title"] or "",
            text=row["text"],
            sensitivity=row["sensitivity"] or "",
            created_at=row["created_at"],
            updated_at=row["updated_at"],
        )
        for row in rows
        if row["status"] != SUPERSEDED and not (now and (written_date(row["text"]) or now) > now)
    ]
    return outdated_memories(query, passages)

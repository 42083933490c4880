"""Outdated values among the candidates of a search (rule 3.12)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import numpy as np
import pyarrow as pa

from slowwave.quality.admission.types import SUPERSEDED
from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.statements import may_tell_more
from slowwave.quality.outdated.updates import DatedPassage, Outdated, outdated_memories, written_date
from slowwave.store.frames import column_values

COMPARED = 10  # best chunks of each channel compared with each other (count)
FURTHER = 50  # best chunks of each channel that may say that a value changed (count)
_COLUMNS = ("memory_id", "title", "text", "sensitivity", "status", "created_at", "updated_at")


def outdated_candidates(
    query: str, vector_rank: np.ndarray, bm25_rank: np.ndarray, shown: pa.Table, now: datetime | None
) -> dict[str, Outdated]:
    """Return the newer memories of each candidate with an outdated value.

    All candidates have passed the filters of the search, so none is secret to its caller.

    Args:
        query: Text of the query.
        vector_rank: (n,) rank of each candidate in the vector channel, 0 where it did not find it.
        bm25_rank: (n,) the same for the full-text channel.
        shown: Their columns, one row a candidate.
        now: Moment of the search; a value of a later day replaces none yet. None: all count.
    """
    question = Question.of(query)
    if not question.kinds and (question.asked.is_past or not question.asked.is_of_state):
        return {}
    unranked = FURTHER + 1
    rank = np.minimum(
        np.where(vector_rank > 0, vector_rank, unranked), np.where(bm25_rank > 0, bm25_rank, unranked)
    )
    best = np.flatnonzero(rank <= COMPARED)
    further = np.flatnonzero((rank > COMPARED) & (rank <= FURTHER))
    telling: list[int] = []
    if question.kinds:
        texts = shown.column("text").take(pa.array(further)).to_pylist()
        may_tell = may_tell_more(texts, question.keys, counts=bool(question.counted))
        telling = further[may_tell].tolist()
    return outdated_memories(
        question, list(_passages(shown, best.tolist(), now)), list(_passages(shown, telling, now))
    )


def _passages(shown: pa.Table, rows: list[int], now: datetime | None) -> Iterator[DatedPassage]:
    taken = shown.select(_COLUMNS).take(pa.array(rows, pa.int64()))
    for memory_id, title, text, sensitivity, status, created, updated in zip(
        *map(column_values, taken), strict=True
    ):
        if status == SUPERSEDED or (now and (written_date(text) or now) > now):
            continue
        yield DatedPassage(
            memory_id=memory_id,
            title=title or "",
            text=text,
            sensitivity=sensitivity or "",
            created_at=created,
            updated_at=updated,
        )

"""Time of a query in one search: the text without it, and how well memories answer it (rule 3.13)."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa

from slowwave.index.channels import DIGITS
from slowwave.scoring.ranking.text_times import time_shares
from slowwave.scoring.ranking.time_spans import TimeWords
from slowwave.scoring.ranking.time_words import is_dated, without_expression
from slowwave.scoring.ranking.words import stems
from slowwave.store.frames import column_values


def without_time(query: str, asked: TimeWords | None) -> str:
    """Return a query without the words of its window, if others are left.

    Texts have few of these words, so a query with them is less near to each text.

    Args:
        query: Text of the query.
        asked: Its time; None without one.
    """
    if asked is None or asked.since is None:
        return query
    rest = without_expression(query, asked)
    return rest if stems(rest) else query


def for_full_text(query: str, asked: TimeWords | None) -> str:
    """Return a query as it is compared by words: without a window that texts name otherwise (*last week*).

    Args:
        query: Text of the query.
        asked: Its time; None without one.
    """
    return query if asked is not None and is_dated(asked) else without_time(query, asked)


def end_of_past(asked: TimeWords | None, now: datetime | None) -> datetime | None:
    """Return the end of the window that a question asks about; None without one that is over."""
    if now is None or asked is None or asked.until is None or asked.until >= now.date():
        return None
    return datetime.combine(asked.until, datetime.max.time(), now.tzinfo)


def shares_by_memory(asked: TimeWords, rows: pa.Table, read: np.ndarray) -> dict[str, float]:
    """Return how well each memory answers the time that was asked for; without those that do not.

    Args:
        asked: Time of the question.
        rows: Candidates.
        read: Rows whose texts are read for dates; of the others only their own day counts.
    """
    days = [moment.date() for moment in column_values(rows.column("created_at"))]
    best: dict[str, float] = {}
    texts = [""] * len(days)
    for at, text in zip(read.tolist(), rows.column("text").take(pa.array(read)).to_pylist(), strict=True):
        texts[at] = text
    shares = time_shares(asked, texts, days).round(DIGITS).tolist()
    for memory, share in zip(rows.column("memory_id").to_pylist(), shares, strict=True):
        if share > best.get(memory, 0.0):
            best[memory] = share
    return best

"""Time of a query in one search: the text without it, and how well memories answer it (rule 3.13)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa

from slowwave.index.channels import DIGITS
from slowwave.scoring.ranking.text_times import time_shares
from slowwave.scoring.ranking.time_spans import TimeWords
from slowwave.scoring.ranking.time_words import is_dated, without_expression
from slowwave.scoring.ranking.words import stems, without_function_words
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
    rest = without_expression(query, asked.words)
    return rest if any(len(stem) > 1 for stem in stems(rest)) else query  # "what's" leaves an s


def for_full_text(query: str, asked: TimeWords | None) -> str:
    """Return a query as it is compared by words.

    It is without function words, and without a window that texts name otherwise (*last week*).

    Args:
        query: Text of the query.
        asked: Its time; None without one.
    """
    timeless = query if asked is not None and is_dated(asked) else without_time(query, asked)
    return without_function_words(timeless)


def of_asked_time(ids: Sequence[str], times: Mapping[str, float], held: Collection[str]) -> np.ndarray:
    """Return which candidates are of the window that is asked for, (n,).

    Args:
        ids: Memories of the candidates.
        times: As of `shares_by_memory`.
        held: Memories that are known to have held then.
    """
    return np.array([times.get(memory, 0.0) >= 1.0 or memory in held for memory in ids], dtype=bool)


def with_rest(
    channels: Mapping[str, np.ndarray], of_time: np.ndarray, whole: np.ndarray, rest: np.ndarray, wider: float
) -> dict[str, np.ndarray]:
    """Return the channels of a question with a window: of its other words for what is of that time.

    Args:
        channels: Of the candidates; the cosine is that to the question without its window.
        of_time: (n,) whether a candidate is compared with the rest of the question alone.
        whole: (n,) cosine to all of the question.
        rest: (n,) coverage of the question without its window.
        wider: Bound of BM25 of all words by that of the rest (ratio).
    """
    cosine, coverage, bm25 = (channels[name] for name in ("cosine", "coverage", "bm25"))
    scale = 1.0 + (wider - 1.0) * rest  # "in October" alone answers no question about the rent
    return {
        "cosine": np.where(of_time, np.fmax(cosine, whole), whole),
        "coverage": np.where(of_time, np.fmax(coverage, rest), coverage),
        "bm25": np.round(np.where(of_time, bm25 * scale, bm25), DIGITS),
    }


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

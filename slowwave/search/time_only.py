"""Memories for a question that holds only a time, in their order (rule 3.13)."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from slowwave.common import ids
from slowwave.feedback.tiers import with_tiers
from slowwave.index.channels import SHOWN
from slowwave.scoring.days import DAY, day_start
from slowwave.scoring.ranking import Candidates, Ranking
from slowwave.scoring.ranking.time_only import time_only
from slowwave.search.searcher import SearchCandidates
from slowwave.search.signals import condition, confidence_of, signals_in
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.ranking.time_spans import TimeWords
    from slowwave.search.filters import Filters

_LEAST: Final = 0.9
"""Strength towards which those of the memories fall, so that the newest is first."""
_NEWEST: Final = ("created_at", "updated_at", "memory_id")


def days_asked(query: str, moment: datetime, *, past: bool) -> TimeWords | None:
    """Return the days of a question that holds only a time; None for another, and on a past day."""
    return None if past else time_only(query, moment)


def of_days(filters: Filters, asked: TimeWords) -> Filters:
    """Return the filters, narrowed to the days of the question."""
    first = None if asked.since in (None, date.min) else day_start(str(asked.since))
    last = None if asked.until in (None, date.max) else day_start(str(asked.until)) + DAY
    starts = [bound.astimezone(UTC) for bound in (filters.since, first) if bound is not None]
    ends = [bound.astimezone(UTC) for bound in (filters.until, last) if bound is not None]
    return replace(filters, since=max(starts, default=None), until=min(ends, default=None))


def newest_of_days(
    space: Workspace, namespace: str, filters: Filters, asked: TimeWords, limit: int
) -> SearchCandidates:
    """Return the newest or oldest memories that pass the filters, each with its first passage.

    The log holds their order as strengths of a phrase, so a replay needs no clock.

    Args:
        space: Workspace of the home.
        namespace: The tenant.
        filters: As of `of_days`.
        asked: Days of the question.
        limit: Maximum memories (count).
    """
    start = time.perf_counter()
    signals = signals_in(space)
    rows = space.store.scan("memories", condition(signals, namespace, filters), columns=list(_NEWEST))
    newest_first = asked.order != "oldest"
    newest = rows.sort(_NEWEST, descending=[newest_first, newest_first, False])
    newest = newest.head(min(limit, asked.most or limit))
    order = newest.select(chunk_id=pl.col("memory_id").map_elements(_first_chunk, pl.String))
    chunks = space.store.read_by(
        "chunks", "chunk_id", order["chunk_id"].to_list(), columns=list(SHOWN), also=within(namespace)
    )
    chunks = order.join(chunks, on="chunk_id", maintain_order="left")
    shown = with_tiers(chunks, signals.promoted(namespace)).select(SHOWN).to_arrow()
    names, size = chunks["memory_id"].to_list(), chunks.height
    strengths = [1.0 - (1.0 - _LEAST) * place / max(size, 1) for place in range(size)]
    nothing, unranked = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    candidates = Candidates(
        chunk_ids=chunks["chunk_id"].to_list(), memory_ids=names, cosine=nothing, bm25=nothing,
        vector_rank=unranked, bm25_rank=unranked, ordinal=unranked,
        chunk_count=chunks["chunk_count"].cast(pl.Int64).to_numpy(),
        triggers={name: (asked.words, share) for name, share in zip(names, strengths, strict=True)},
        time_words=asked.words,
    )  # fmt: skip
    took = (time.perf_counter() - start) * 1e3
    return SearchCandidates(candidates, shown, 0.0, took, pairs=signals.pairs(namespace))


def with_confidence(ranking: Ranking, found: SearchCandidates) -> Ranking:
    """Return the ranking with each memory's confidence, which does not change the order by date."""
    confidence = confidence_of(found.shown)
    results = tuple(replace(result, confidence=confidence[result.memory_id]) for result in ranking.results)
    return replace(ranking, results=results)


def _first_chunk(memory: str) -> str:
    return ids.chunk_id(memory, 0)

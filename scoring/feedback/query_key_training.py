"""Which selections make a search a key (rule 7.5), and what of searches stands at a moment.

`slowwave.scoring.feedback.learned.refusal` looks at every selection by itself. `decide_views` goes through
them in their order, because only so many keys are taught to a memory in some hours. What a refused selection
says counts neither for nor against the memory.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import polars as pl

from slowwave.scoring.feedback.learned import PROPOSED, RATE_LIMITED
from slowwave.scoring.feedback.policy import KeyTeaching

SEEN: Final[dict[str, pl.DataType]] = {
    **dict.fromkeys(("view_id", "namespace", "query_id", "memory_id", "search_id", "principal"), pl.String()),
    "at": pl.Datetime("us", "UTC"),
    "selected": pl.Boolean(),
    **dict.fromkeys(("taken", "examined"), pl.Float64()),
    **dict.fromkeys(("refusal", "text"), pl.String()),
}
"""Columns of what is looked at: a row a search and result. refusal: a reason that needs no look at others."""


@dataclass(frozen=True, slots=True)
class DecidedViews:
    """What became of what was seen.

    Attributes:
        reasons: ``view_id`` and ``reason`` (a refusal, or `PROPOSED`), a row a selection.
        views: what counts, for or against: the rows of `SEEN` with ``taught_at`` and ``expires_at``.
    """

    reasons: pl.DataFrame
    views: pl.DataFrame


def decide_views(seen: pl.DataFrame, policy: KeyTeaching) -> DecidedViews:
    """Go through selections in their order; it is a loop over those that nothing refused.

    Args:
        seen: all up to a moment, of any namespaces, rows as in `SEEN`.
        policy: bounds.
    """
    selected = seen.filter("selected")
    eligible = selected.filter(pl.col("refusal").is_null()).sort("at", "view_id")
    window, recent = timedelta(hours=policy.window_hours), dict[tuple[str, str], deque[object]]()
    found = []
    for namespace, memory, at in eligible.select("namespace", "memory_id", "at").iter_rows():
        events = recent.setdefault((namespace, memory), deque())
        while events and events[0] <= at - window:
            events.popleft()
        if len(events) < policy.events:
            events.append(at)
            found.append(PROPOSED)
        else:
            found.append(RATE_LIMITED)
    became = eligible.select("view_id", found=pl.Series(found, dtype=pl.String))
    reasons = selected.join(became, on="view_id", how="left", maintain_order="left").select(
        "view_id", reason=pl.coalesce("refusal", "found")
    )
    refused = reasons.filter(pl.col("reason") != PROPOSED)
    views = seen.join(refused, on="view_id", how="anti", maintain_order="left").with_columns(
        taught_at="at", expires_at=pl.col("at") + policy.ttl
    )
    return DecidedViews(reasons, views)

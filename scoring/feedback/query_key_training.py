"""Selections that teach search keys, within the rate cap (rule 7.5).

`slowwave.scoring.feedback.learned.refusal` checks every selection on its own. `decide_views` processes them
in time order, because of the rate cap. A refused selection counts neither for nor against the memory.
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
"""Columns of the input: one row a search and result. refusal: a reason that needs no other selection."""


@dataclass(frozen=True, slots=True)
class DecidedViews:
    """Decisions on selections, and the views that count.

    Attributes:
        reasons: ``view_id`` and ``reason`` (a refusal, or `PROPOSED`), one row a selection.
        views: views that count for or against a memory: rows of `SEEN` with ``taught_at`` and ``expires_at``.
    """

    reasons: pl.DataFrame
    views: pl.DataFrame


def decide_views(seen: pl.DataFrame, policy: KeyTeaching) -> DecidedViews:
    """Apply the rate cap to eligible selections, in time order.

    Args:
        seen: all up to a moment, rows as in `SEEN`.
        policy: bounds.
    """
    selected = seen.filter("selected")
    eligible = selected.filter(pl.col("refusal").is_null()).sort("at", "view_id")
    window, recent = timedelta(hours=policy.window_hours), dict[tuple[str, str], deque[object]]()
    outcomes = []
    for namespace, memory, at in eligible.select("namespace", "memory_id", "at").iter_rows():
        events = recent.setdefault((namespace, memory), deque())
        while events and events[0] <= at - window:
            events.popleft()
        if len(events) < policy.max_events_per_window:
            events.append(at)
            outcomes.append(PROPOSED)
        else:
            outcomes.append(RATE_LIMITED)
    decided = eligible.select("view_id", found=pl.Series(outcomes, dtype=pl.String))
    reasons = selected.join(decided, on="view_id", how="left", maintain_order="left").select(
        "view_id", reason=pl.coalesce("refusal", "found")
    )
    refused = reasons.filter(pl.col("reason") != PROPOSED)
    views = seen.join(refused, on="view_id", how="anti", maintain_order="left").with_columns(
        taught_at="at", expires_at=pl.col("at") + policy.ttl
    )
    return DecidedViews(reasons, views)

"""Which selections make a search a key (rule 7.5), and what of searches stands at a moment.

`refusals` looks at every selection by itself; `decide_views` goes through them in their order, because only
so many keys are taught to a memory in some hours. What a refused selection says counts neither for nor
against the memory.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import polars as pl

from slowwave.scoring.feedback.learned import (
    FEATURE_DISABLED,
    NO_PROVENANCE,
    NOT_FOUND,
    PROPOSED,
    RATE_LIMITED,
    TOO_NEW,
    TOP_3,
)
from slowwave.scoring.feedback.policy import KeyTeaching

ORDER: Final = "order_to_assistant"
"""Of a selection whose query is no question but an order to an assistant (rule 7.5, safeguard 1)."""

SEEN: Final[dict[str, pl.DataType]] = {
    "view_id": pl.String(),
    "namespace": pl.String(),
    "query_id": pl.String(),
    "memory_id": pl.String(),
    "search_id": pl.String(),
    "principal": pl.String(),
    "at": pl.Datetime("us", "UTC"),
    "selected": pl.Boolean(),
    "taken": pl.Float64(),
    "examined": pl.Float64(),
    "refusal": pl.String(),
    "text": pl.String(),
}
"""Columns of what is looked at: a row a search and result. refusal: a reason that needs no look at others."""


def refusal(policy: KeyTeaching, *, enabled: bool = True) -> pl.Expr:
    """Why a selection teaches nothing, as far as it says itself; null where it may.

    Of ``rank`` (null where nobody knows it), ``at``, ``born_at`` and ``gone_at`` (of the text that was
    selected; see `slowwave.scoring.feedback.learned.propose`) and ``order`` (whether the query is one).

    Args:
        policy: bounds.
        enabled: whether anything may be learned at all.
    """
    gone = pl.col("gone_at").is_not_null() & (pl.col("gone_at") <= pl.col("at"))
    young = pl.col("at") - pl.col("born_at") < timedelta(hours=policy.eligible_hours)
    return (
        pl.when(pl.lit(not enabled)).then(pl.lit(FEATURE_DISABLED))
        .when(pl.col("rank").is_null()).then(pl.lit(NO_PROVENANCE))
        .when(pl.col("rank") <= policy.excluded_ranks).then(pl.lit(TOP_3))
        .when(pl.col("order")).then(pl.lit(ORDER))
        .when(pl.col("born_at").is_null() | gone).then(pl.lit(NOT_FOUND))
        .when(young).then(pl.lit(TOO_NEW))
    )  # fmt: skip


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

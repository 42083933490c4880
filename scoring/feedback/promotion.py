"""What useful votes promote a memory to (rule 4.4): normal, important, critical; a few at a time.

Only explicit useful votes count, never those of the memory's authors, and of one principal only so many.
Nothing is ever demoted by a vote. It is decided at the end of each day that brings a useful vote; who has to
wait because others were promoted is asked again the next day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import polars as pl

from scoring.feedback.coded import codes
from scoring.feedback.policy import FeedbackPolicy
from scoring.feedback.votes import VOICE

TIERS = ("normal", "important", "critical")
PROMOTED, RATE_LIMITED = "promoted", "rate_limited"
BELOW_THRESHOLD, NOT_PROMOTABLE = "below_threshold", "tier_not_promotable"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be promoted.

    Attributes:
        tier: that it has: one of `TIERS`; anything else, and what is superseded or not there, is never
            promoted.
        useful: votes (count), the authors' left out and each principal's capped.
        voters: principals that they are of (count).
    """

    memory_id: str
    tier: str
    useful: int
    voters: int = 0


@dataclass(frozen=True, slots=True)
class Promotion:
    """What was decided about a candidate, and why."""

    memory_id: str
    from_tier: str
    to_tier: str
    reason: str
    useful: int
    voters: int
    decided_at: datetime


def effective_tier(own: str, promoted: str | None) -> str:
    """The higher one of the tier that a note gives itself and the one that it was promoted to.

    A note that calls itself temporary is temporary.
    """
    if promoted is None or own not in TIERS:
        return own
    return max(own, promoted, key=TIERS.index)


def promote(
    candidates: Iterable[Candidate], earlier: Sequence[datetime], as_of: datetime, policy: FeedbackPolicy
) -> list[Promotion]:
    """Decide about the candidates of one namespace, the most useful first.

    Args:
        candidates: of one namespace.
        earlier: moments of its promotions.
        as_of: the moment of the decision.
        policy: thresholds, and how many promotions a window of hours may have.
    """
    window = timedelta(hours=policy.promotion_hours)
    free = policy.promotions - sum(as_of - window < moment <= as_of for moment in earlier)
    wanted = {"normal": policy.important_at, "important": policy.critical_at}
    decided = []
    for one in sorted(candidates, key=lambda one: (-one.useful, one.memory_id)):
        if one.tier not in wanted:
            reason = NOT_PROMOTABLE
        elif one.useful < wanted[one.tier]:
            reason = BELOW_THRESHOLD
        elif free <= 0:
            reason = RATE_LIMITED
        else:
            reason, free = PROMOTED, free - 1
        to = TIERS[TIERS.index(one.tier) + 1] if reason in (PROMOTED, RATE_LIMITED) else one.tier
        decided.append(Promotion(one.memory_id, one.tier, to, reason, one.useful, one.voters, as_of))
    return decided


def useful_votes(votes: pl.DataFrame, authors: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """How many useful votes each memory has after each day that brings it one.

    Args:
        votes: every rating so far: memory_id, namespace, `WHO`, search_id, verdict, day,
            occurred_at, signal_id. The last word of a principal on a search counts; all that was imported is
            of one.
        authors: memory_id and principal of those who wrote a memory, and the day (`since`) on which they
            first did.
        policy: how many votes of one principal count.

    Returns:
        namespace, memory_id, day, useful, voters (counts), sorted by day and memory; no day without a useful
        vote.
    """
    helpful = (pl.col("verdict") == "helpful").cast(pl.Int32)
    capped = pl.col("all").clip(0, policy.principal_votes)
    before = pl.col("all").shift(fill_value=0).over("mine")
    rows = (
        votes.join(authors, on=["memory_id", "principal"], how="left")
        .filter((pl.col("day") < pl.col("since")).fill_null(value=True))
        .with_columns(voice=VOICE)
        .sort("occurred_at", "signal_id")
    )
    coded = {
        "memory": codes(rows, "memory_id"),
        "mine": codes(rows, "memory_id", "voice"),
        "search": codes(rows, "memory_id", "voice", "search_id"),
    }
    rows = (
        rows.with_columns(pl.Series(name, values) for name, values in coded.items())
        .with_columns(now=helpful, change=helpful - helpful.shift(fill_value=0).over("search"))
        .with_columns(all=pl.col("change").cum_sum().over("mine"))
        .with_columns(
            useful=capped - before.clip(0, policy.principal_votes),
            voters=(pl.col("all") > 0).cast(pl.Int32) - (before > 0).cast(pl.Int32),
        )
        .with_columns(pl.col("useful", "voters").cum_sum().over("memory"))
    )
    last = rows.group_by("memory", "day", maintain_order=True).agg(
        pl.col("namespace", "memory_id").first(),
        pl.col("useful", "voters").last(),
        praised=pl.col("now").max() > 0,
    )
    wanted = last.filter("praised").select("namespace", "memory_id", "day", "useful", "voters")
    return wanted.sort("day", "memory_id")


def fold_promotions(
    counts: pl.DataFrame, own_tier: Callable[[str, str], str], before: pl.DataFrame, policy: FeedbackPolicy
) -> list[Promotion]:
    """What is decided at the end of each day of one namespace that brings useful votes.

    Args:
        counts: rows of `useful_votes`, of one namespace.
        own_tier: tier of a memory as of the end of a day (YYYY-MM-DD), without promotions; what is no tier is
            never promoted.
        before: rows of ``promotions`` of that namespace before these days.
        policy: thresholds and limits.
    """
    promoted = before.filter(pl.col("reason") == PROMOTED).sort("decided_at")
    given = dict(promoted.select("memory_id", "to_tier").iter_rows())
    moments = promoted["decided_at"].to_list()
    last_day = before.filter((pl.col("day") == pl.col("day").max()) & (pl.col("reason") == RATE_LIMITED))
    waiting = {name: (useful, voters) for name, useful, voters in last_day.select(_VOTES).iter_rows()}
    decided: list[Promotion] = []
    for (day,), rows in counts.sort("day").group_by("day", maintain_order=True):
        today = waiting | {name: (useful, voters) for name, useful, voters in rows.select(_VOTES).iter_rows()}
        candidates = [
            Candidate(name, effective_tier(own_tier(name, str(day)), given.get(name)), *votes)
            for name, votes in today.items()
        ]
        news = promote(candidates, moments, end_of(str(day)), policy)
        given |= {one.memory_id: one.to_tier for one in news if one.reason == PROMOTED}
        moments += [one.decided_at for one in news if one.reason == PROMOTED]
        waiting = {one.memory_id: (one.useful, one.voters) for one in news if one.reason == RATE_LIMITED}
        decided += news
    return decided


_VOTES = ("memory_id", "useful", "voters")


def end_of(day: str) -> datetime:
    """24:00 UTC of a day."""
    return datetime.combine(date.fromisoformat(day), time(), UTC) + timedelta(days=1)

"""Promotion of memories by helpful ratings: normal, important, critical (rule 4.4).

Only explicit helpful ratings count, at most a few of one user and none of the memory's authors. In a
namespace with one user, all of that user's ratings count, and the decision has the detail `SOLE`. Once there
is a second user, the author's ratings no longer count; promotions stay. No rating demotes a memory. Decisions
are made at the end of each day with a helpful rating. A memory that the rate limit stops is decided again the
next day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import polars as pl

from slowwave.scoring.days import day_end
from slowwave.scoring.feedback.columns import codes
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import VOICE

TIERS = ("normal", "important", "critical")
PROMOTED, RATE_LIMITED = "promoted", "rate_limited"
BELOW_THRESHOLD, NOT_PROMOTABLE = "below_threshold", "tier_not_promotable"
SOLE = "sole_principal"
"""Detail of a decision that counts the ratings of the only user of the namespace, the author's included."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Memory that may be promoted.

    Attributes:
        tier: current tier. Outside `TIERS`, superseded or absent, it is never promoted.
        useful: helpful ratings (count), without the authors' and capped per user.
        voters: users who gave them (count).
        detail: `SOLE`, or empty.
    """

    memory_id: str
    tier: str
    useful: int
    voters: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Promotion:
    """Decision on a candidate, with its reason."""

    memory_id: str
    from_tier: str
    to_tier: str
    reason: str
    useful: int
    voters: int
    decided_at: datetime
    detail: str = ""


def effective_tier(own: str, promoted: str | None) -> str:
    """Return the higher of a note's own tier and its promoted tier.

    A temporary note stays temporary.
    """
    if promoted is None or own not in TIERS:
        return own
    return max(own, promoted, key=TIERS.index)


def promote(
    candidates: Iterable[Candidate], earlier: Sequence[datetime], as_of: datetime, policy: FeedbackPolicy
) -> list[Promotion]:
    """Decide on the candidates of one namespace, the most useful first.

    Args:
        candidates: of one namespace.
        earlier: moments of earlier promotions.
        as_of: moment of the decision.
        policy: thresholds, and the rate limit.
    """
    window = timedelta(hours=policy.promotion_hours)
    free = policy.promotions - sum(as_of - window < moment <= as_of for moment in earlier)
    wanted = {"normal": policy.important_at, "important": policy.critical_at}
    decided = []
    for candidate in sorted(candidates, key=lambda candidate: (-candidate.useful, candidate.memory_id)):
        if candidate.tier not in wanted:
            reason = NOT_PROMOTABLE
        elif candidate.useful < wanted[candidate.tier]:
            reason = BELOW_THRESHOLD
        elif free <= 0:
            reason = RATE_LIMITED
        else:
            reason, free = PROMOTED, free - 1
        to = TIERS[TIERS.index(candidate.tier) + 1] if reason in (PROMOTED, RATE_LIMITED) else candidate.tier
        decided.append(
            Promotion(
                candidate.memory_id,
                candidate.tier,
                to,
                reason,
                candidate.useful,
                candidate.voters,
                as_of,
                candidate.detail,
            )
        )
    return decided


def principals(seen: pl.DataFrame) -> pl.DataFrame:
    """Return the day from which each namespace had a second user.

    Args:
        seen: namespace, principal, day of every save, search and rating that was not imported.

    Returns:
        namespace, and shared_from: first day of a second user; null if there is none.
    """
    first = seen.filter(pl.col("principal") != "").group_by("namespace", "principal").agg(pl.col("day").min())
    days = pl.col("day").sort()
    return first.group_by("namespace").agg(shared_from=days.get(1, null_on_oob=True)).sort("namespace")


def useful_votes(
    votes: pl.DataFrame, authors: pl.DataFrame, principals: pl.DataFrame, policy: FeedbackPolicy
) -> pl.DataFrame:
    """Count the helpful ratings of each memory after each day with one.

    Args:
        votes: every rating so far: memory_id, namespace, `WHO`, search_id, verdict, day, occurred_at,
            signal_id. The last rating of a user on a search counts; all imported ratings are one user's.
        authors: memory_id and principal of the authors, and the day (`since`) of their first version.
        principals: result of `principals`. While a namespace has one user, the author's ratings count without
            a cap.
        policy: maximum ratings of one user.

    Returns:
        namespace, memory_id, day, useful, voters (counts), detail (`SOLE` or empty), sorted by day and
        memory; no day without a helpful rating.
    """
    shared = pl.col("shared_from")
    rows = votes.join(principals, on="namespace", how="left")
    by_others = (
        rows.join(authors, on=["memory_id", "principal"], how="left")
        .filter((pl.col("day") < pl.col("since")).fill_null(value=True))
        .drop("since")
    )
    alone = principals.filter(shared.is_null() | (shared > votes["day"].min()))
    rows = rows.join(alone, on="namespace", how="semi")
    own = pl.col("imported").fill_null(value=False).not_()
    sole = _counted(rows, pl.when(own).then(pl.len()).otherwise(policy.principal_votes)).filter(
        shared.is_null() | (pl.col("day") < shared)
    )
    others = _counted(by_others, pl.lit(policy.principal_votes))
    others = others.join(sole, on=["namespace", "day"], how="anti")
    both = pl.concat([others.with_columns(detail=pl.lit("")), sole.with_columns(detail=pl.lit(SOLE))])
    return both.drop("shared_from").sort("day", "memory_id")


def _counted(rows: pl.DataFrame, most: pl.Expr) -> pl.DataFrame:
    """Count helpful ratings after each day with one, at most `most` per user."""
    helpful = (pl.col("verdict") == "helpful").cast(pl.Int32)
    before = pl.col("all").shift(fill_value=0).over("mine")
    rows = rows.with_columns(user=VOICE, most=most).sort("occurred_at", "signal_id")
    coded = {
        "memory": codes(rows, "memory_id"),
        "mine": codes(rows, "memory_id", "user"),
        "search": codes(rows, "memory_id", "user", "search_id"),
    }
    rows = (
        rows.with_columns(pl.Series(name, values) for name, values in coded.items())
        .with_columns(now=helpful, change=helpful - helpful.shift(fill_value=0).over("search"))
        .with_columns(all=pl.col("change").cum_sum().over("mine"))
        .with_columns(
            useful=pl.min_horizontal("all", "most") - pl.min_horizontal(before, "most"),
            voters=(pl.col("all") > 0).cast(pl.Int32) - (before > 0).cast(pl.Int32),
        )
        .with_columns(pl.col("useful", "voters").cum_sum().over("memory").cast(pl.Int32))
    )
    last = rows.group_by("memory", "day", maintain_order=True).agg(
        pl.col("namespace", "memory_id", "shared_from").first(),
        pl.col("useful", "voters").last(),
        praised=pl.col("now").max() > 0,
    )
    return last.filter("praised").select("namespace", "memory_id", "day", "useful", "voters", "shared_from")


def fold_promotions(
    counts: pl.DataFrame, own_tier: Callable[[str, str], str], before: pl.DataFrame, policy: FeedbackPolicy
) -> list[Promotion]:
    """Decide promotions at the end of each day with helpful ratings, for one namespace.

    Args:
        counts: rows of `useful_votes` of the namespace.
        own_tier: function of memory and day (YYYY-MM-DD): tier at the day's end without promotions; any other
            value is never promoted.
        before: earlier rows of ``promotions`` of the namespace.
        policy: thresholds and limits.
    """
    promoted = before.filter(pl.col("reason") == PROMOTED).sort("decided_at")
    promoted_tiers = dict(promoted.select("memory_id", "to_tier").iter_rows())
    moments = promoted["decided_at"].to_list()
    last_day = before.filter((pl.col("day") == pl.col("day").max()) & (pl.col("reason") == RATE_LIMITED))
    waiting = _by_name(last_day)
    decided: list[Promotion] = []
    for (day,), rows in counts.sort("day").group_by("day", maintain_order=True):
        rated_today = _by_name(rows)
        if not any(detail for *_, detail in rated_today.values()):  # the author is no longer the only user
            waiting = {name: votes for name, votes in waiting.items() if not votes[-1]}
        today = waiting | rated_today
        candidates = [
            Candidate(name, effective_tier(own_tier(name, str(day)), promoted_tiers.get(name)), *votes)
            for name, votes in today.items()
        ]
        news = promote(candidates, moments, day_end(str(day)), policy)
        promoted_tiers |= {
            promotion.memory_id: promotion.to_tier for promotion in news if promotion.reason == PROMOTED
        }
        moments += [promotion.decided_at for promotion in news if promotion.reason == PROMOTED]
        waiting = {
            promotion.memory_id: (promotion.useful, promotion.voters, promotion.detail)
            for promotion in news
            if promotion.reason == RATE_LIMITED
        }
        decided += news
    return decided


_VOTES = ("memory_id", "useful", "voters", "detail")


def _by_name(rows: pl.DataFrame) -> dict[str, tuple[int, int, str]]:
    """Return helpful ratings, voters and detail by memory."""
    filled = rows.select(_VOTES).with_columns(pl.col("detail").fill_null(""))
    return {name: (useful, voters, detail) for name, useful, voters, detail in filled.iter_rows()}

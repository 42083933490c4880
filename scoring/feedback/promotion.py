"""What useful votes promote a memory to (rule 4.4): normal, important, critical; a few at a time.

Only explicit useful votes count, not those of the memory's authors, and of one principal only so many. In a
namespace that has one principal only nobody else could ever vote: there each of its votes counts, and the
decision says so (`SOLE`). Once a second one is seen, the author's votes count no more; what was promoted
stays. Nothing is ever demoted by a vote. It is decided at the end of each day that brings a useful vote; who
has to wait because others were promoted is asked again the next day.
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
"""Detail of a decision that counts the votes of the only principal of its namespace, the author's too."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be promoted.

    Attributes:
        tier: that it has: one of `TIERS`; anything else, and what is superseded or not there, is never
            promoted.
        useful: votes (count), the authors' left out and each principal's capped.
        voters: principals that they are of (count).
        detail: `SOLE`, or nothing.
    """

    memory_id: str
    tier: str
    useful: int
    voters: int = 0
    detail: str = ""


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
    detail: str = ""


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
        decided.append(
            Promotion(one.memory_id, one.tier, to, reason, one.useful, one.voters, as_of, one.detail)
        )
    return decided


def principals(seen: pl.DataFrame) -> pl.DataFrame:
    """How long each namespace had one principal only.

    Args:
        seen: namespace, principal, day: who saved, searched or gave feedback there, and was not imported.

    Returns:
        namespace, and shared_from: the day on which a second principal was first seen; null while there is
        one.
    """
    first = seen.filter(pl.col("principal") != "").group_by("namespace", "principal").agg(pl.col("day").min())
    days = pl.col("day").sort()
    return first.group_by("namespace").agg(shared_from=days.get(1, null_on_oob=True)).sort("namespace")


def useful_votes(
    votes: pl.DataFrame, authors: pl.DataFrame, principals: pl.DataFrame, policy: FeedbackPolicy
) -> pl.DataFrame:
    """How many useful votes each memory has after each day that brings it one.

    Args:
        votes: every rating so far: memory_id, namespace, `WHO`, search_id, verdict, day,
            occurred_at, signal_id. The last word of a principal on a search counts; all that was imported is
            of one.
        authors: memory_id and principal of those who wrote a memory, and the day (`since`) on which they
            first did.
        principals: of the function of that name. By the end of a day on which a namespace has one, the
            author's votes count and no number of them is too many.
        policy: how many votes of one principal count.

    Returns:
        namespace, memory_id, day, useful, voters (counts), detail (`SOLE` or nothing), sorted by day and
        memory; no day without a useful vote.
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
    """Useful votes after each day that brings one, of a voice at most so many."""
    helpful = (pl.col("verdict") == "helpful").cast(pl.Int32)
    before = pl.col("all").shift(fill_value=0).over("mine")
    rows = rows.with_columns(voice=VOICE, most=most).sort("occurred_at", "signal_id")
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
    waiting = _by_name(last_day)
    decided: list[Promotion] = []
    for (day,), rows in counts.sort("day").group_by("day", maintain_order=True):
        asked = _by_name(rows)
        if not any(detail for *_, detail in asked.values()):  # its author is not the only one any more
            waiting = {name: votes for name, votes in waiting.items() if not votes[-1]}
        today = waiting | asked
        candidates = [
            Candidate(name, effective_tier(own_tier(name, str(day)), given.get(name)), *votes)
            for name, votes in today.items()
        ]
        news = promote(candidates, moments, day_end(str(day)), policy)
        given |= {one.memory_id: one.to_tier for one in news if one.reason == PROMOTED}
        moments += [one.decided_at for one in news if one.reason == PROMOTED]
        waiting = {
            one.memory_id: (one.useful, one.voters, one.detail) for one in news if one.reason == RATE_LIMITED
        }
        decided += news
    return decided


_VOTES = ("memory_id", "useful", "voters", "detail")


def _by_name(rows: pl.DataFrame) -> dict[str, tuple[int, int, str]]:
    """Useful votes, voters and detail of each memory."""
    told = rows.select(_VOTES).with_columns(pl.col("detail").fill_null(""))
    return {name: (useful, voters, detail) for name, useful, voters, detail in told.iter_rows()}

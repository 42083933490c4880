"""Influence limits: how far one user moves a memory (rules 3.4, 3.7, 4.3).

A user is a principal; all imported feedback is one user, whatever names it has. With one or two users in a
namespace, every vote counts. From `MIN_USERS` on, each is **one vote**. All feedback of a user on a memory
weighs one vote at most, is one data point, and takes one step of the negative multiplier. Further:

- What only one user finds helpful is neutral until a second user agrees.
- The strongest opponent of a memory weighs at most as much as its strongest supporter, the second at most as
  much as the second, and so on. As many not-useful votes, the newest, do not count for the multiplier.

So one of these users moves no memory that two others found helpful below one that only this user did, and
none further than `MAX_USER_IMPACT`. Imported ratings are one vote as soon as the namespace has ratings of its
own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.arrays import Flags, Floats, Integers, places
from slowwave.scoring.feedback.effectiveness import SUMS, growth
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import VOICE, in_force
from slowwave.scoring.validation import MIN_USERS

MAX_USER_IMPACT = 0.2
"""Maximum decrease of a score by one of three or more users, with the default policies: a tenth by
effectiveness (0.3 of a third), a tenth by the negative multiplier."""
MAX_USER_GAIN = 0.25
"""Maximum increase of a score by one of these users: a second supporter balances two opponents at once."""
USER_COLUMNS = ("namespace", "user", "since")
ROUGH = 1e-9  # float sums are inexact; within this a balance of votes is neutral


def count_first_seen_users(signals: pl.DataFrame) -> pl.DataFrame:
    """Return the first day of feedback of each user in each namespace, imports excluded.

    The columns are namespace, user and since.

    Args:
        signals: namespace, day and `WHO` of ``usage_signals``.
    """
    own = signals.filter(~pl.col("imported").fill_null(value=False))
    return own.group_by("namespace", user=VOICE).agg(since=pl.col("day").min()).select(USER_COLUMNS)


def users_by(company: pl.DataFrame, day: str) -> dict[str, int]:
    """Count the users of each namespace by the end of a day, up to `MIN_USERS`."""
    counts = company.filter(pl.col("since") <= day).group_by("namespace").len()
    return {str(namespace): min(count, MIN_USERS) for namespace, count in counts.iter_rows()}


def is_one_vote_per_user(imported: pl.Expr, num_users: pl.Expr | int) -> pl.Expr:
    """Whether all feedback of a user on a memory is one vote.

    Args:
        imported: whether the feedback is imported.
        num_users: users of the namespace, imports excluded (count).
    """
    users = pl.lit(num_users) if isinstance(num_users, int) else num_users
    return pl.when(imported.fill_null(value=False)).then(users > 0).otherwise(users >= MIN_USERS)


def capped_votes(
    votes: pl.DataFrame,
    uses: pl.DataFrame,
    implicit: pl.DataFrame,
    num_users: Mapping[str, int],
    policy: FeedbackPolicy,
) -> pl.DataFrame:
    """Sum the feedback on each memory for ranking, with the influence limits.

    Args:
        votes: explicit rows of ``usage_signals`` about the memories, all up to a moment.
        uses: implicit rows with verdict used and a weight: namespace, memory_id, `WHO`; optional ``times``,
            the number of uses of a row.
        implicit: memory_id, implicit_value, implicit_weight: sums of all implicit evidence.
        num_users: users of each namespace (`users_by`).
        policy: vote limits and half-life.

    Returns:
        memory_id, the sums `SUMS` (as of `FIXED_MOMENT`), feedback_count (data points) and not_useful_at
        (moments of the votes that count for the negative multiplier, ascending); one row a memory.
    """
    each = _each(votes, uses, num_users, policy)
    names = pl.concat([each["memory_id"], implicit["memory_id"]]).unique().sort()
    rows = names.to_frame().join(implicit, on="memory_id", how="left", maintain_order="left")
    of = names.to_frame().with_row_index("at").join(each, on="memory_id", how="right", maintain_order="right")
    value, weight = (rows[name].fill_null(0.0).to_numpy() for name in SUMS[2:])
    user_feedback = UserVotes(
        of["at"].to_numpy().astype(np.int64),
        *(of[field.name].to_numpy() for field in fields(UserVotes)[1:]),
    )
    sums = limit_influence(user_feedback, value, weight, policy.implicit_cap)
    sums_by_memory = names.to_frame().with_columns(
        **{name: pl.Series(sums[name], dtype=pl.Float64) for name in SUMS},
        feedback_count=pl.Series(sums["points"]).cast(pl.Int32),
        praise=pl.Series(sums["praise"]).cast(pl.Int64),
    )
    against = of.group_by("memory_id").agg(
        whole=pl.col("against").explode().drop_nulls(),
        single=pl.col("against_last").filter(pl.col("deviation") < 0).drop_nulls().sort(descending=True),
    )
    whole = pl.col("whole").fill_null([])  # empty for a memory that was only used or ignored
    counted = pl.concat_list(whole, pl.col("single").fill_null([]).list.slice(pl.col("praise")))
    return (
        sums_by_memory.join(against, on="memory_id", how="left", maintain_order="left")
        .with_columns(not_useful_at=counted.list.sort())
        .select("memory_id", *SUMS, "feedback_count", "not_useful_at")
    )


def with_user_growth(signals: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """Add the columns ``user`` (user), ``grown`` and ``w``, the weight as of `FIXED_MOMENT`."""
    grown = growth(signals["occurred_at"].dt.epoch("us").to_numpy(), policy.half_life_days)
    rows = signals.with_columns(user=VOICE, grown=pl.Series(grown, dtype=pl.Float64))
    return rows.with_columns(w=pl.col("weight") * pl.col("grown"))


def user_votes(votes: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Sum votes in force by a key that contains the user; sorted by time.

    Args:
        votes: rows of `with_user_growth`.
        key: columns to group by.

    Returns:
        The key; imported; weight; deviation: Σ weight · (value − 0.5); newest: growth at the last vote; votes
        (count); against: moments of the not-useful ones; voted_last.
    """
    ordered = votes.sort("occurred_at", "signal_id")
    return ordered.group_by(key, maintain_order=True).agg(
        pl.col("imported").first(),
        weight=pl.col("w").sum(),
        deviation=(pl.col("w") * (pl.col("value") - 0.5)).sum(),
        newest=pl.col("grown").max(),
        votes=pl.len(),
        against=pl.col("occurred_at").filter(pl.col("verdict") == "unhelpful"),
        voted_last=pl.col("occurred_at").max(),
    )


def _each(
    votes: pl.DataFrame, uses: pl.DataFrame, num_users: Mapping[str, int], policy: FeedbackPolicy
) -> pl.DataFrame:
    """Sum the feedback of each user on each memory, sorted by both.

    Returns:
        memory_id, user; one: whether the user is one vote; weight: of the votes as of
        `FIXED_MOMENT`; deviation: Σ weight · (value − 0.5); newest: growth at the last vote; points: data
        points; uses (count); likes: whether the user finds the memory helpful; against: not-useful votes, if
        the user is not one vote; against_last: the last of them, if the user is.
    """
    key = ["namespace", "memory_id", "user"]
    user_feedback = user_votes(with_user_growth(in_force(votes, policy.principal_votes), policy), key)
    times = pl.col("times").sum() if "times" in uses.columns else pl.len()
    used = uses.with_columns(user=VOICE).group_by(key).agg(here=pl.col("imported").first(), uses=times)
    users = pl.col("namespace").replace_strict(dict(num_users), default=0, return_dtype=pl.Int64)
    both = (
        user_feedback.join(used, on=key, how="full", coalesce=True)
        .sort("memory_id", "user")
        .with_columns(
            pl.col("weight", "deviation", "newest").fill_null(0.0),
            pl.col("votes", "uses").fill_null(0).cast(pl.Int64),
            one=is_one_vote_per_user(pl.coalesce("imported", "here"), users),
        )
    )
    # All feedback of the user weighs one vote at most, as of the last vote; from then on it fades together.
    share = (pl.col("newest") / pl.col("weight")).clip(0, 1)
    fits = pl.when("one", pl.col("weight") > 0).then(share).otherwise(1.0)
    sure = pl.when(pl.col("deviation").abs() > ROUGH * pl.col("weight")).then("deviation").otherwise(0.0)
    points = pl.col("votes") + pl.col("uses")
    return both.select(
        "memory_id", "user", "one", "newest", "uses",
        weight=pl.col("weight") * fits,
        deviation=pl.when("one").then(sure).otherwise("deviation") * fits,
        points=pl.when("one").then(points.clip(0, 1)).otherwise(points),
        likes=(sure > 0) | ((pl.col("uses") > 0) & (sure == 0)),
        against=pl.when(~pl.col("one")).then("against"),
        against_last=pl.when("one").then(pl.col("against").list.max()),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class UserVotes:
    """Feedback of users on n memories, one of k rows for each pair.

    Attributes:
        at: place of the memory, (k,).
        one: whether all feedback of the user is one vote, (k,).
        likes: whether the user finds the memory helpful, (k,).
        weight: of the votes, (k,).
        deviation: Σ weight · (value − 0.5), (k,).
        newest: weight of a vote at the moment of the last one, (k,).
        uses: used results of the memory (count), (k,).
        points: data points, (k,).
    """

    at: Integers
    one: Flags
    likes: Flags
    weight: Floats
    deviation: Floats
    newest: Floats
    uses: Integers
    points: Floats


def limit_influence(
    votes: UserVotes, value: Floats, weight: Floats, implicit_cap: float
) -> dict[str, Floats]:
    """Sum the feedback on each memory, with each user limited by the others.

    Args:
        votes: feedback of the users.
        value: (n,) implicit_value of each memory.
        weight: (n,) implicit_weight.
        implicit_cap: maximum weight of implicit evidence, in votes.

    Returns:
        (n,) each: `SUMS`, points, and praise: number of users who find the memory helpful, 0 where one alone
        does.
    """
    n, at, likes, dev = len(value), votes.at, votes.likes, votes.deviation.copy()

    def total(rows: npt.NDArray[np.generic]) -> Floats:
        return np.bincount(at, rows.astype(np.float64), minlength=n).astype(np.float64)

    free, liked = total(likes & ~votes.one) > 0, total(likes)
    praise = np.where(free | (liked > 1), liked, 0.0)
    dev[votes.one & (dev > 0) & (praise[at] == 0)] = 0.0
    # Implicit evidence is shared equally among the supporters who only used the memory.
    last = np.zeros(n)
    np.maximum.at(last, at, votes.newest)
    share = np.minimum(1.0, np.divide(implicit_cap * last, weight, out=np.zeros(n), where=weight > 0))
    silent = likes & (dev <= 0)
    used = np.maximum(value - 0.5 * weight, 0.0) * share / np.maximum(total(silent), 1.0)
    spoken_for = np.where(silent, used[at], np.maximum(dev, 0.0))
    opposed = votes.one & (dev < 0)
    shares = _remaining_shares(at, np.where(opposed, -dev, 0.0), np.where(likes, spoken_for, 0.0), praise)
    shares = np.where(opposed, shares, 1.0)
    heard_by_use = (praise > 0) | (total((votes.uses > 0) & ~votes.one) > 0)
    return {
        "explicit_value": total((dev + 0.5 * votes.weight) * shares),
        "explicit_weight": total(votes.weight * shares),
        "implicit_value": np.where(heard_by_use, value, np.minimum(value, 0.5 * weight)),
        "implicit_weight": weight,
        "points": total(votes.points),
        "praise": praise,
    }


def _remaining_shares(at: Integers, against: Floats, for_it: Floats, praise: Floats) -> Floats:
    """Return the remaining share of each opponent beside the supporter of the same rank, (k,).

    Args:
        at: (k,) memory of each row.
        against: (k,) strength of the opposition; 0 for none.
        for_it: (k,) strength of the support.
        praise: (n,) supporters of each memory.
    """
    order, other = np.lexsort((-against, at)), np.lexsort((-for_it, at))
    place = places(at[order])
    shares = np.ones(len(at))
    # Both orders have the same memories in the same places, so the r-th opponent meets the r-th supporter.
    strong, answer = against[order], for_it[other]
    meets = (place < praise[at[order]]) & (strong > 0)
    shares[order[meets]] = np.minimum(1.0, answer[meets] / strong[meets])
    return shares

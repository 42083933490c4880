"""Contextual effectiveness: effectiveness of a memory for a question (rule 8.1).

A rating counts for its question. For a new question it counts by the nearness of the two, and for a far one
not at all. A user counts once for near questions, with the nearness of the nearest.
`influence_limits.limit_influence` weighs users against each other, as in global effectiveness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.arrays import Flags, Floats, Integers, places, ranges
from slowwave.scoring.feedback.effectiveness import IMPLICIT, growth, posterior_mean
from slowwave.scoring.feedback.influence_limits import (
    ROUGH,
    UserVotes,
    is_one_vote_per_user,
    limit_influence,
    user_votes,
    with_user_growth,
)
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import IMPORTED, in_force

SIGNAL: Final = (
    "signal_id", "memory_id", "occurred_at", "principal", "behind", "imported", "search_id", "tier",
    "verdict", "value", "weight",
)  # fmt: skip
"""Columns of ``usage_signals`` that are read, besides ``query_id``."""
_PAIR: Final = ["query_id", "memory_id", "user"]
_SUMS: Final = ("weight", "deviation", "newest", "implicit_weight", "implicit_value")


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Feedback on past questions: p rows, one for each question, memory and user.

    Weights are as of `FIXED_MOMENT`, so the weight at a moment is one multiplication away.

    Attributes:
        starts: first row of each of n questions, and p at the end, (n + 1,).
        memory: number of the memory, (p,).
        user: number of the user, (p,).
        one: whether all feedback of the user is one vote, (p,).
        imported: whether the row is all imported feedback, (p,).
        weight: sum of the votes' weights, (p,).
        deviation: Σ weight · (value − 0.5) of the votes, (p,).
        newest: weight of a vote at the moment of the last one, (p,).
        implicit_weight: weight of results that the user used or ignored, (p,).
        implicit_value: Σ weight · value of these, (p,).
        uses: used results (count), (p,).
        points: votes and uses (count), (p,).
        last: moment of the last of them, in microseconds since 1970, (p,).
        against: first unhelpful vote of each row, and v at the end, (p + 1,).
        against_at: moments of the unhelpful votes, in seconds since 1970, (v,).
    """

    starts: Integers
    memory: Integers
    user: Integers
    one: Flags
    imported: Flags
    weight: Floats
    deviation: Floats
    newest: Floats
    implicit_weight: Floats
    implicit_value: Floats
    uses: Integers
    points: Integers
    last: Integers
    against: Integers
    against_at: Floats

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Contextual:
    """Effectiveness of m memories for one question.

    Attributes:
        memory: numbers of the memories, ascending, (m,).
        effectiveness: in [0, 1], 0.5 is neutral, (m,).
        count: votes and uses on near questions (count), (m,).
        nearest: place of the nearest of these questions in the ratings, (m,).
        last: moment of the last feedback on it, in microseconds since 1970, (m,).
        doubted: place in `memory` of each counted unhelpful vote, (v,).
        doubted_at: its moment, in seconds since 1970, (v,).
        doubted_near: nearness of its question, in (0, 1], (v,).
    """

    memory: Integers
    effectiveness: Floats
    count: Integers
    nearest: Integers
    last: Integers
    doubted: Integers
    doubted_at: Floats
    doubted_near: Floats


def fold_ratings(signals: pl.DataFrame, num_users: int, policy: FeedbackPolicy) -> pl.DataFrame:
    """Aggregate the feedback of one namespace into one row per question, memory and user; sorted.

    Args:
        signals: `SIGNAL` and ``query_id``, of searches whose question has a vector.
        num_users: users of the namespace, imports excluded (count).
        policy: half-life and vote limits.

    Returns:
        ``query_id``, ``memory_id``, ``user``, and the columns of `Ratings` from ``one`` to ``last`` by their
        names, with ``against`` as a list of moments.
    """
    # Sorted by time, so that no order of days changes a sum.
    ordered = signals.filter(pl.col("weight") > 0).sort("occurred_at", "signal_id")
    counted = with_user_growth(ordered, policy)
    implicit = counted.filter(pl.col("tier") == IMPLICIT)
    used = implicit.group_by(_PAIR).agg(
        here=pl.col("imported").first(),
        implicit_weight=pl.col("w").sum(),
        implicit_value=(pl.col("w") * pl.col("value")).sum(),
        uses=(pl.col("verdict") == "used").sum(),
        used_last=pl.col("occurred_at").max(),
    )
    pair = pl.concat_str("query_id", "memory_id", separator="\n")
    votes = counted.filter(pl.col("tier") != IMPLICIT).with_columns(memory_id=pair, memory="memory_id")
    standing = in_force(votes, policy.principal_votes).drop("memory_id").rename({"memory": "memory_id"})
    return (
        user_votes(standing, _PAIR)
        .join(used, on=_PAIR, how="full", coalesce=True)
        .with_columns(
            pl.col(_SUMS).fill_null(0.0),
            pl.col("votes", "uses").fill_null(0).cast(pl.Int64),
            pl.col("against").fill_null([]),
            one=is_one_vote_per_user(pl.coalesce("imported", "here"), num_users),
            last=pl.max_horizontal("used_last", "voted_last"),
        )
        .select(
            *_PAIR, "one", *_SUMS, "uses", points=pl.col("votes") + pl.col("uses"), last="last",
            against="against",
        )
        .sort(_PAIR)
    )  # fmt: skip


def ratings_of(folded: pl.DataFrame, number: Mapping[str, int], memory: Mapping[str, int]) -> Ratings:
    """Convert aggregated feedback to arrays, by question.

    Args:
        folded: rows of `fold_ratings`.
        number: place of each question; a question without rows has a place, too.
        memory: number of each memory.
    """
    places = folded.select(
        at=pl.col("query_id").replace_strict(dict(number), return_dtype=pl.Int64),
        of=pl.col("memory_id").replace_strict(dict(memory), return_dtype=pl.Int64),
        who=pl.col("user").rank("dense").cast(pl.Int64) - 1,
    )
    # Without rows, polars keeps the type of a column that an empty mapping replaces.
    places = places.cast(pl.Int64)
    order = np.lexsort((places["who"].to_numpy(), places["of"].to_numpy(), places["at"].to_numpy()))
    rows = folded[order]
    counts = np.bincount(places["at"].to_numpy(), minlength=len(number))
    moments = rows["against"].explode().drop_nulls().dt.epoch("us").to_numpy() / 1e6
    columns = {name: rows[name].to_numpy() for name in (*_SUMS, "one", "uses", "points")}
    return Ratings(
        starts=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        memory=places["of"].to_numpy()[order],
        user=places["who"].to_numpy()[order],
        imported=(rows["user"] == IMPORTED).to_numpy(),
        **columns,
        last=rows["last"].dt.epoch("us").to_numpy(),
        against=np.concatenate([[0], np.cumsum(rows["against"].list.len().to_numpy(), dtype=np.int64)]),
        against_at=moments.astype(np.float64),
    )


def contextual(
    ratings: Ratings, question: Integers, near: Floats, as_of_us: int, policy: FeedbackPolicy
) -> Contextual:
    """Compute the effectiveness of each memory for a question (rule 8.1).

    ``(prior · weight + Σ w·k·v) ÷ (weight + Σ w·k)``, k the nearness of the question. One user's feedback on
    near questions weighs at most the nearest vote. All implicit evidence weighs at most one vote.

    Args:
        ratings: feedback on past questions.
        question: places of the near ones, the nearest first, (k,).
        near: their nearness, in (0, 1], (k,).
        as_of_us: moment to which weights fade, in microseconds since 1970.
        policy: prior, caps and half-life.

    Raises:
        ValueError: `question` and `near` differ in length.
    """
    if len(question) != len(near):
        raise ValueError(f"{len(question)} questions, but {len(near)} nearness values")
    counts = ratings.starts[question + 1] - ratings.starts[question]
    rows = ranges(ratings.starts[question], counts)
    turn = np.repeat(np.arange(len(question)), counts)
    k = near[turn]
    memory, at = np.unique(ratings.memory[rows], return_inverse=True)
    n = len(memory)
    by_user, pair = _votes_by_user(ratings, rows, at, k)
    implicit_weights = np.bincount(at, k * ratings.implicit_weight[rows], minlength=n).astype(np.float64)
    implicit_values = np.bincount(at, k * ratings.implicit_value[rows], minlength=n).astype(np.float64)
    sums = limit_influence(
        _seconded(by_user, ratings.imported[rows], pair),
        implicit_values,
        implicit_weights,
        policy.implicit_cap,
    )
    decay = 1.0 / growth(np.array([as_of_us]), policy.half_life_days)[0]
    four = [sums[name] for name in ("explicit_value", "explicit_weight", "implicit_value", "implicit_weight")]
    nearest = np.full(n, len(question), dtype=np.int64)
    np.minimum.at(nearest, at, turn)
    last = np.zeros(n, dtype=np.int64)
    first = turn == nearest[at]
    np.maximum.at(last, at[first], ratings.last[rows[first]])
    return Contextual(
        memory,
        posterior_mean(four, decay, policy.question_prior_weight, policy),
        np.bincount(at, ratings.points[rows], minlength=n).astype(np.int64),
        question[nearest] if n else nearest,
        last,
        *_doubts(ratings, rows, at, k, by_user, pair, sums["praise"]),
    )


def _votes_by_user(ratings: Ratings, rows: Integers, at: Integers, k: Floats) -> tuple[UserVotes, Integers]:
    """Sum the feedback of each user and memory over all near questions.

    Also returns the pair of each row.
    """
    num_users = int(ratings.user[rows].max(initial=0)) + 1
    pairs, pair = np.unique(at * num_users + ratings.user[rows], return_inverse=True)
    size = len(pairs)

    def total(values: npt.NDArray[np.generic]) -> Floats:
        return np.bincount(pair, values.astype(np.float64), minlength=size).astype(np.float64)

    weight, deviation = total(k * ratings.weight[rows]), total(k * ratings.deviation[rows])
    newest = np.zeros(size)
    np.maximum.at(newest, pair, k * ratings.newest[rows])
    share = np.minimum(np.divide(newest, weight, out=np.ones(size), where=weight > 0), 1.0)
    sure = np.where(np.abs(deviation) > ROUGH * weight, deviation, 0.0)
    is_one_vote = np.zeros(size, dtype=np.bool_)
    is_one_vote[pair] = ratings.one[rows]
    uses, points = total(ratings.uses[rows]), total(ratings.points[rows])
    likes = (sure > 0) | ((uses > 0) & (sure == 0))
    by_user = UserVotes(
        pairs // num_users,
        is_one_vote,
        likes,
        weight * share,
        sure * share,
        newest,
        uses.astype(np.int64),
        points,
    )
    return by_user, pair


def _seconded(by_user: UserVotes, imported: Flags, pair: Integers) -> UserVotes:
    """Remove what only one user holds against a memory (rules 3.7 and 8.5).

    It holds from three users on. Few users give feedback on one question, so one user would count there as
    one of few. A single unhelpful user takes one step of the multiplier, and lowers effectiveness once a
    second one agrees. Imported feedback does not count as a second user: the same user may have imported it.

    Args:
        by_user: feedback of each user and memory.
        imported: whether each row is imported, (r,).
        pair: place in `spoken` of each row, (r,).
    """
    against = by_user.one & (by_user.deviation < 0)
    if not against.any():
        return by_user
    brought = np.zeros(len(against), dtype=np.bool_)
    brought[pair] = imported
    num_users = np.bincount(by_user.at, weights=against & ~brought)
    alone = against & (num_users[by_user.at] < 2)
    return replace(by_user, deviation=np.where(alone, 0.0, by_user.deviation))


def _doubts(
    ratings: Ratings,
    rows: Integers,
    at: Integers,
    k: Floats,
    by_user: UserVotes,
    pair: Integers,
    praise: Floats,
) -> tuple[Integers, Floats, Floats]:
    """Return the unhelpful votes that count for the multiplier (rule 3.7): memory, moment and nearness, (v,).

    Without the limit of one vote per user, each vote counts. With it, a user against the memory counts once:
    the moment of the last vote, the nearness of the nearest. Of these the newest are dropped, as many as
    users find the memory helpful.
    """
    counts = ratings.against[rows + 1] - ratings.against[rows]
    if not counts.any():
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    moment = ratings.against_at[ranges(ratings.against[rows], counts)]
    row = np.repeat(np.arange(len(rows)), counts)
    whole = ~by_user.one[pair[row]]
    last, most = np.full(len(by_user.at), -np.inf), np.zeros(len(by_user.at))
    np.maximum.at(last, pair[row], moment)
    np.maximum.at(most, pair[row], k[row])
    single = np.flatnonzero(by_user.one & (by_user.deviation < 0) & np.isfinite(last))
    newest = single[np.lexsort((-last[single], by_user.at[single]))]
    among = by_user.at[newest]
    kept = newest[places(among) >= praise[among]]
    return (
        np.concatenate([at[row[whole]], by_user.at[kept]]),
        np.concatenate([moment[whole], last[kept]]),
        np.concatenate([k[row[whole]], most[kept]]),
    )

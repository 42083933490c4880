"""Whose word is whose, and how far one of them moves a memory (rules 3.4, 3.7, 4.3, 4.4).

A *voice* is a principal; all that was imported is one voice, whatever names it gives itself. Who is alone in
a namespace, or with one other, is heard as the rules are written: every vote counts. From `CROWD` voices on
each is **one vote**: all that it says of a memory weighs one vote at most together, is one data point, and
takes one step of the negative multiplier. Beside that

- one voice lifts nothing alone: what only one finds helpful is neutral until a second one does;
- nobody is louder than who answers him: the strongest voice against a memory weighs no more than the
  strongest one for it, the second no more than the second, and so on; and so many not-useful votes, the
  newest, do not count for the multiplier.

So one principal of many moves no memory that two others found helpful below one that only he did, and none
further than `MAX_USER_IMPACT`. Imported ratings are one vote as soon as the namespace has ratings of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.arrays import Flags, Floats, Integers
from slowwave.scoring.feedback.columns import turns
from slowwave.scoring.feedback.effectiveness import SUMS, growth
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import VOICE, in_force
from slowwave.scoring.validation import CROWD

MAX_USER_IMPACT = 0.2
"""Most that one voice of a crowd lowers the score of a memory, whatever it says, with the default policies: a
tenth by effectiveness (three parts in ten of a third), a tenth by the negative multiplier."""
MAX_USER_GAIN = 0.25
"""Most that it raises one: the second who likes a memory answers two who do not at once."""
MIN_USERS_FOR_CAP = ("namespace", "voice", "since")
_ROUGH = 1e-9  # sums of fractions are not exact: as often helpful as not is neutral


def count_first_seen_users(signals: pl.DataFrame) -> pl.DataFrame:
    """Who has spoken in each namespace, and since when: namespace, voice, since; imports are no company.

    Args:
        signals: namespace, day and `WHO` of ``usage_signals``.
    """
    own = signals.filter(~pl.col("imported").fill_null(value=False))
    return own.group_by("namespace", voice=VOICE).agg(since=pl.col("day").min()).select(MIN_USERS_FOR_CAP)


def users_by(company: pl.DataFrame, day: str) -> dict[str, int]:
    """How many voices each namespace has by the end of a day; those beyond `CROWD` are not counted."""
    found = company.filter(pl.col("since") <= day).group_by("namespace").len()
    return {str(namespace): min(count, CROWD) for namespace, count in found.iter_rows()}


def is_one_vote_per_user(imported: pl.Expr, voices: pl.Expr | int) -> pl.Expr:
    """Whether all that a voice says of a memory is one vote.

    Args:
        imported: whether it is what was imported.
        voices: of the namespace, imports left out (count).
    """
    here = pl.lit(voices) if isinstance(voices, int) else voices
    return pl.when(imported.fill_null(value=False)).then(here > 0).otherwise(here >= CROWD)


def capped_votes(
    votes: pl.DataFrame,
    uses: pl.DataFrame,
    implicit: pl.DataFrame,
    voices: Mapping[str, int],
    policy: FeedbackPolicy,
) -> pl.DataFrame:
    """What all that was said of each memory comes to for a ranking.

    Args:
        votes: explicit rows of ``usage_signals`` about the memories, all of them up to a moment.
        uses: of the implicit ones that found a memory used and have a weight: namespace, memory_id, `WHO`;
            ``times`` where a row stands for so many.
        implicit: memory_id, implicit_value, implicit_weight: sums of all implicit evidence.
        voices: of each namespace (`users_by`).
        policy: what votes weigh.

    Returns:
        memory_id, the sums `SUMS` (as of `FIXED_MOMENT`), feedback_count (data points) and not_useful_at
        (moments of the votes that count for the negative multiplier, the first first); a row a memory.
    """
    each = _each(votes, uses, voices, policy)
    names = pl.concat([each["memory_id"], implicit["memory_id"]]).unique().sort()
    rows = names.to_frame().join(implicit, on="memory_id", how="left", maintain_order="left")
    of = names.to_frame().with_row_index("at").join(each, on="memory_id", how="right", maintain_order="right")
    value, weight = (rows[name].fill_null(0.0).to_numpy() for name in SUMS[2:])
    spoken = UserVotes(
        of["at"].to_numpy().astype(np.int64),
        *(of[field.name].to_numpy() for field in fields(UserVotes)[1:]),
    )
    sums = limit_influence(spoken, value, weight, policy.implicit_cap)
    made = names.to_frame().with_columns(
        **{name: pl.Series(sums[name], dtype=pl.Float64) for name in SUMS},
        feedback_count=pl.Series(sums["points"]).cast(pl.Int32),
        praise=pl.Series(sums["praise"]).cast(pl.Int64),
    )
    against = of.group_by("memory_id").agg(
        whole=pl.col("against").explode().drop_nulls(),
        single=pl.col("against_last").filter(pl.col("deviation") < 0).drop_nulls().sort(descending=True),
    )
    whole = pl.col("whole").fill_null([])  # of a memory that was used or ignored only, nobody voted on it
    counted = pl.concat_list(whole, pl.col("single").fill_null([]).list.slice(pl.col("praise")))
    return (
        made.join(against, on="memory_id", how="left", maintain_order="left")
        .with_columns(not_useful_at=counted.list.sort())
        .select("memory_id", *SUMS, "feedback_count", "not_useful_at")
    )


def with_user_growth(signals: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """Signals with their ``voice``, their ``grown``, and their weight as of `FIXED_MOMENT` (``w``)."""
    grown = growth(signals["occurred_at"].dt.epoch("us").to_numpy(), policy.half_life_days)
    rows = signals.with_columns(voice=VOICE, grown=pl.Series(grown, dtype=pl.Float64))
    return rows.with_columns(w=pl.col("weight") * pl.col("grown"))


def user_votes(votes: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Sums of votes in force by a key that has the voice; in the order in which they were given.

    Args:
        votes: rows of `with_user_growth`.
        key: columns of a row.

    Returns:
        The key; imported; weight; deviation: how far they are from neutral, times their weight; newest:
        growth at the last of them; votes (count); against: moments of the not-useful ones; voted_last.
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
    votes: pl.DataFrame, uses: pl.DataFrame, voices: Mapping[str, int], policy: FeedbackPolicy
) -> pl.DataFrame:
    """What each voice says of each memory, sorted by both.

    Returns:
        memory_id, voice; one: whether it is one vote; weight: of its votes as of `FIXED_MOMENT`; deviation:
        how far they are from neutral, times that; newest: growth at the last of them; points: data points;
        uses (count); likes: whether it finds the memory helpful; against: its not-useful votes, if it is not
        one vote; against_last: the last of them, if it is.
    """
    key = ["namespace", "memory_id", "voice"]
    spoken = user_votes(with_user_growth(in_force(votes, policy.principal_votes), policy), key)
    times = pl.col("times").sum() if "times" in uses.columns else pl.len()
    used = uses.with_columns(voice=VOICE).group_by(key).agg(here=pl.col("imported").first(), uses=times)
    known = pl.col("namespace").replace_strict(dict(voices), default=0, return_dtype=pl.Int64)
    both = (
        spoken.join(used, on=key, how="full", coalesce=True)
        .sort("memory_id", "voice")
        .with_columns(
            pl.col("weight", "deviation", "newest").fill_null(0.0),
            pl.col("votes", "uses").fill_null(0).cast(pl.Int64),
            one=is_one_vote_per_user(pl.coalesce("imported", "here"), known),
        )
    )
    # All that it says weighs one vote at most, as of its last word; from then on all of it fades alike.
    share = (pl.col("newest") / pl.col("weight")).clip(0, 1)
    fits = pl.when("one", pl.col("weight") > 0).then(share).otherwise(1.0)
    sure = pl.when(pl.col("deviation").abs() > _ROUGH * pl.col("weight")).then("deviation").otherwise(0.0)
    points = pl.col("votes") + pl.col("uses")
    return both.select(
        "memory_id", "voice", "one", "newest", "uses",
        weight=pl.col("weight") * fits,
        deviation=pl.when("one").then(sure).otherwise("deviation") * fits,
        points=pl.when("one").then(points.clip(0, 1)).otherwise(points),
        likes=(sure > 0) | ((pl.col("uses") > 0) & (sure == 0)),
        against=pl.when(~pl.col("one")).then("against"),
        against_last=pl.when("one").then(pl.col("against").list.max()),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class UserVotes:
    """What k voices say of n memories, a row for each pair of them.

    Attributes:
        at: place of the memory, (k,).
        one: whether all that the voice says is one vote, (k,).
        likes: whether it finds the memory helpful, (k,).
        weight: of its votes, (k,).
        deviation: how far they are from neutral, times their weight, (k,).
        newest: weight of a vote given with its last one, (k,).
        uses: results of the memory that it used (count), (k,).
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
    spoken: UserVotes, value: Floats, weight: Floats, implicit_cap: float
) -> dict[str, Floats]:
    """Sum what the voices say of each memory, as far as each is heard beside the others.

    Args:
        spoken: what they say.
        value: (n,) implicit_value of each memory.
        weight: (n,) implicit_weight.
        implicit_cap: votes that it is worth at most.

    Returns:
        (n,) each: `SUMS`, points, and praise: how many find the memory helpful, where that counts, else 0.
    """
    n, at = len(value), spoken.at
    one, likes, mine, newest, uses = spoken.one, spoken.likes, spoken.weight, spoken.newest, spoken.uses
    dev = spoken.deviation.copy()

    def total(rows: npt.NDArray[np.generic]) -> Floats:
        return np.bincount(at, rows.astype(np.float64), minlength=n).astype(np.float64)

    free, liked = total(likes & ~one) > 0, total(likes)
    praise = np.where(free | (liked > 1), liked, 0.0)
    dev[one & (dev > 0) & (praise[at] == 0)] = 0.0
    # What is said by use alone is a common good of those who use: an equal part of it speaks for each.
    last = np.zeros(n)
    np.maximum.at(last, at, newest)
    share = np.minimum(1.0, np.divide(implicit_cap * last, weight, out=np.zeros(n), where=weight > 0))
    silent = likes & (dev <= 0)
    used = np.maximum(value - 0.5 * weight, 0.0) * share / np.maximum(total(silent), 1.0)
    spoken_for = np.where(silent, used[at], np.maximum(dev, 0.0))
    opposed = one & (dev < 0)
    left = _mean_of_votes(at, np.where(opposed, -dev, 0.0), np.where(likes, spoken_for, 0.0), praise)
    left = np.where(opposed, left, 1.0)
    heard_by_use = (praise > 0) | (total((uses > 0) & ~one) > 0)
    return {
        "explicit_value": total((dev + 0.5 * mine) * left),
        "explicit_weight": total(mine * left),
        "implicit_value": np.where(heard_by_use, value, np.minimum(value, 0.5 * weight)),
        "implicit_weight": weight,
        "points": total(spoken.points),
        "praise": praise,
    }


def _mean_of_votes(at: Integers, against: Floats, for_it: Floats, praise: Floats) -> Floats:
    """What is left of each voice against a memory, beside the one of the same strength for it, (k,).

    Args:
        at: (k,) memory of each voice.
        against: (k,) how far it is against the memory; 0 where it is not.
        for_it: (k,) how far it is for it.
        praise: (n,) how many are for each memory.
    """
    order, other = np.lexsort((-against, at)), np.lexsort((-for_it, at))
    place = turns(at[order])
    left = np.ones(len(at))
    # Both orders have the same memories in the same places: the r-th against stands beside the r-th for it.
    strong, answer = against[order], for_it[other]
    meets = (place < praise[at[order]]) & (strong > 0)
    left[order[meets]] = np.minimum(1.0, answer[meets] / strong[meets])
    return left

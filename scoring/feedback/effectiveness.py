"""Effectiveness: weighted mean of feedback that returns to neutral (rule 4.3).

Evidence loses half of its weight every `half_life_days`. Sums are stored as of one fixed moment (forward
decay: Cormode, Shkapenyuk, Srivastava, Xu, ICDE 2009). So a day only adds to them, and their value at a
moment is one multiplication away. Within a day, weights are added as integers of a tiny unit, so the order of
additions does not change a sum.

Rows here have all feedback. `slowwave.scoring.feedback.influence_limits` decides how much of it ranking uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.arrays import Floats, Integers
from slowwave.scoring.days import DAY_US
from slowwave.scoring.feedback.columns import codes, day_ends, day_names, day_number, in_step
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import VOICE, WHO, with_displaced

FIXED_MOMENT = datetime(2020, 1, 1, tzinfo=UTC)
SUMS = ("explicit_value", "explicit_weight", "implicit_value", "implicit_weight")
IMPLICIT = "implicit"
_FIXED_US = int(FIXED_MOMENT.timestamp()) * 1_000_000
_UNIT = 2.0**-40  # of a vote; a day may have eight million votes on one memory
_COUNTED = ("feedback_count", *SUMS)
_DAYS = 2**21  # more than there are, so that a code and a day are one number


def growth(moments_us: npt.NDArray[np.int64], half_life_days: float) -> Floats:
    """Return ``2^(t / half-life)`` of each moment t, counted from `FIXED_MOMENT`, (n,)."""
    return np.exp2((moments_us - _FIXED_US) / (half_life_days * DAY_US))


def effectiveness(
    sums: pl.DataFrame, as_of: npt.NDArray[np.int64] | datetime, policy: FeedbackPolicy
) -> pl.Series:
    """Return the `posterior_mean` of each row as of a moment, in [0, 1].

    Args:
        sums: the columns `SUMS`, as of `FIXED_MOMENT`.
        as_of: a moment, or one for each row (microseconds since 1970).
        policy: prior, half-life, and the cap on all implicit evidence together.
    """
    moments = np.array([as_of.timestamp() * 1e6], np.int64) if isinstance(as_of, datetime) else as_of
    decay = 1.0 / growth(moments, policy.half_life_days)
    columns = [sums[name].to_numpy() for name in SUMS]
    return pl.Series(
        "effectiveness", posterior_mean(columns, decay, policy.prior_weight, policy), dtype=pl.Float64
    )


def posterior_mean(
    sums: Sequence[Floats], decay: Floats | float, prior_weight: float, policy: FeedbackPolicy
) -> Floats:
    """Return the mean of values with a prior, in [0, 1], (n,) (rule 4.3).

    ``(prior · weight + Σ w v) / (weight + Σ w)``.

    Args:
        sums: the four of `SUMS`, as of `FIXED_MOMENT`, (n,) each.
        decay: share of a weight as of `FIXED_MOMENT` that remains at the moment, (n,) or one number.
        prior_weight: weight of the prior, in votes.
        policy: prior, and the cap on all implicit evidence together.
    """
    value, weight, implicit_values, implicit_weights = sums
    has_implicit = implicit_weights > 0
    implicit = np.where(has_implicit, np.minimum(policy.implicit_cap, implicit_weights * decay), 0.0)
    mean = np.divide(
        implicit_values, implicit_weights, out=np.zeros(len(implicit_values)), where=has_implicit
    )
    total = policy.prior * prior_weight + value * decay + mean * implicit
    mean_of_all: Floats = total / (prior_weight + weight * decay + implicit)
    return mean_of_all


def fold_effectiveness(
    signals: pl.DataFrame, before: pl.DataFrame, votes_before: pl.DataFrame, policy: FeedbackPolicy
) -> pl.DataFrame:
    """Aggregate the signals of some days into effectiveness as of each day's end.

    Args:
        signals: rows of ``usage_signals`` of these days.
        before: latest earlier rows of ``effectiveness`` of the same memories, one per chunk and one per
            memory.
        votes_before: every earlier explicit signal of the same memories.
        policy: half-life, prior and vote limits.

    Returns:
        Rows of ``effectiveness``, in no order: one for each changed memory and one for each of its changed
        chunks.
    """
    added = pl.concat([_implicit(signals, policy), _explicit(signals, votes_before, policy)])
    chunks = _folded(added, before.filter(pl.col("chunk_id").is_not_null()), "chunk_id", policy)
    nothing = pl.lit(None, pl.String)
    whole = _folded(
        added.with_columns(chunk_id=nothing), before.filter(pl.col("chunk_id").is_null()), "memory_id", policy
    )
    return pl.concat([chunks, whole])


_NAMES = ("namespace", "memory_id", "chunk_id")
_ADDED = (*_NAMES, "number", *_COUNTED)


def _added(
    rows: pl.DataFrame, policy: FeedbackPolicy, kind: str, count: pl.Expr, *, sign: int = 1
) -> pl.DataFrame:
    """Return the additions of each row to the sums of its day.

    They are in whole units as of the end of the day `number`.

    Args:
        rows: evidence, with ``number``.
        policy: half-life.
        kind: ``explicit`` or ``implicit``.
        count: data points of each row.
        sign: -1 to subtract the rows.
    """
    age = day_ends(rows["number"]) - rows["occurred_at"].dt.epoch("us").to_numpy()
    weight = rows["weight"].to_numpy() * np.exp2(-age / (policy.half_life_days * DAY_US)) / _UNIT
    whole = {"weight": np.rint(weight), "value": np.rint(weight * rows["value"].to_numpy())}
    sums = {f"{kind}_{name}": pl.Series((sign * units).astype(np.int64)) for name, units in whole.items()}
    zeros = rows.with_columns(pl.lit(0, pl.Int64).alias(name) for name in SUMS)
    return zeros.with_columns(feedback_count=count, **sums).select(_ADDED)


def _implicit(signals: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """Return the additions of each used or ignored result."""
    seen = (
        signals.lazy()
        .filter((pl.col("tier") == IMPLICIT) & (pl.col("weight") > 0))
        .select(*_NAMES, "occurred_at", "verdict", "value", "weight", number=day_number())
        .collect()
    )
    return _added(seen, policy, "implicit", (pl.col("verdict") == "used").cast(pl.Int64))


_VOTE = (
    *_NAMES, "occurred_at", "signal_id", *WHO, "search_id", "tier", "value", "weight",
)  # fmt: skip


def _explicit(signals: pl.DataFrame, votes_before: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """Return the additions of each vote, less the votes that they displace."""
    new = signals.lazy().filter(pl.col("tier") != IMPLICIT).select(_VOTE).collect()
    # Votes of others displace nothing. They are most of a long history, and sorting them its greatest cost.
    pairs = new.select("memory_id", user=VOICE).unique()
    old = votes_before.select(_VOTE).with_columns(user=VOICE)
    old = old.join(pairs, on=["memory_id", "user"], how="semi").drop("user")
    new = new.with_columns(new=pl.lit(value=True))
    old = old.with_columns(new=pl.lit(value=False))
    votes = with_displaced(pl.concat([old, new]), policy.principal_votes)
    added_votes = votes.filter("new").with_columns(number=day_number())
    displaced_votes = votes.join(
        added_votes.filter(pl.col("displaces") >= 0).select("number", row="displaces"), on="row", how="inner"
    )
    parts = (
        _added(rows, policy, "explicit", pl.lit(sign, pl.Int64), sign=sign)
        for rows, sign in ((added_votes, 1), (displaced_votes, -1))
    )
    return pl.concat(parts)


def _folded(added: pl.DataFrame, before: pl.DataFrame, key: str, policy: FeedbackPolicy) -> pl.DataFrame:
    """Return the running sums of each chunk or memory after each of its days.

    Args:
        added: additions in whole units (columns `_ADDED`).
        before: latest rows of the same chunks or memories.
        key: chunk_id or memory_id.
        policy: half-life and prior.
    """
    rows = pl.concat([before.select(*_NAMES), added.select(*_NAMES)])
    code = codes(rows, key)
    owners_before, owners_added = code[: before.height], code[before.height :]
    place, first, sums = _of_days(owners_added * _DAYS + added["number"].to_numpy(), added)
    owner, number = place // _DAYS, pl.Series("number", place % _DAYS, dtype=pl.Int32)
    sums[:, 1:] *= _UNIT * growth(day_ends(number), policy.half_life_days)[:, None]
    running(sums, owner, owners_before, before.select(_COUNTED).to_numpy().astype(np.float64))
    sums_of_days = added.select(*_NAMES)[first].with_columns(
        number=number, **{name: pl.Series(sums[:, at]) for at, name in enumerate(_COUNTED)}
    )
    return sums_of_days.with_columns(
        effectiveness(sums_of_days, day_ends(number), policy), pl.col("feedback_count").cast(pl.Int32),
        day=day_names(number),
    ).select(
        *_NAMES, "day", "effectiveness", *_COUNTED,
        effectiveness_id=pl.concat_str("day", pl.lit(":"), pl.coalesce("chunk_id", "memory_id")),
    )  # fmt: skip


def _of_days(places: Integers, added: pl.DataFrame) -> tuple[Integers, Integers, Floats]:
    """Sum the rows of each owner and day: places, a row of each, their sums (integers)."""
    order = np.argsort(places)
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    sums = np.zeros((len(starts), len(_COUNTED)))
    for at, name in enumerate(_COUNTED):
        if len(starts):
            sums[:, at] = np.add.reduceat(added[name].to_numpy()[order], starts)
    first = order[starts]
    return places[first], first, sums


def running(rows: Floats, owner: Integers, owners: Integers, start: Floats) -> None:
    """Replace rows by their running sums, in place.

    Args:
        rows: (n, k), by owner and in order.
        owner: (n,) ascending numbers from 0 on.
        owners: (m,) distinct owners with initial sums; some may have no rows.
        start: (m, k) initial sums.
    """
    begin = np.zeros((max(owner.max(initial=-1), owners.max(initial=-1)) + 1, rows.shape[1]))
    begin[owners] = start
    first, steps = in_step(owner)
    sums = begin[owner[first]]
    for at in steps:
        sums[: len(at)] += rows[at]
        rows[at] = sums[: len(at)]

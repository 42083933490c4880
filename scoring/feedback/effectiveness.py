"""How well a memory served: a weighted mean of what was said of it, that drifts back to neutral (rule 4.3).

Evidence loses half of its weight every `half_life_days`. The sums are kept as of one fixed moment (forward
decay: Cormode, Shkapenyuk, Srivastava, Xu, ICDE 2009), so that a day only adds to them, and what they are
worth at a moment is one multiplication away. Within a day weights are added as whole numbers of a tiny unit:
then no order of adding changes the sum.

What a day leaves here is what was said. How much of it a ranking hears depends on who else has spoken:
`slowwave.scoring.feedback.influence_limits`.
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
from slowwave.scoring.feedback.votes import WHO, with_displaced

FIXED_MOMENT = datetime(2020, 1, 1, tzinfo=UTC)
SUMS = ("explicit_value", "explicit_weight", "implicit_value", "implicit_weight")
IMPLICIT = "implicit"
_FIXED_US = int(FIXED_MOMENT.timestamp()) * 1_000_000
_UNIT = 2.0**-40  # of a vote; a day may have eight million votes on one memory
_COUNTED = ("feedback_count", *SUMS)
_DAYS = 2**21  # more than there are, so that a code and a day are one number


def growth(moments_us: npt.NDArray[np.int64], half_life_days: float) -> Floats:
    """``2^(t / half-life)`` of each moment t (microseconds since 1970) counted from `FIXED_MOMENT`, (n,)."""
    return np.exp2((moments_us - _FIXED_US) / (half_life_days * DAY_US))


def effectiveness(
    sums: pl.DataFrame, as_of: npt.NDArray[np.int64] | datetime, policy: FeedbackPolicy
) -> pl.Series:
    """``(prior · weight + Σ w v) / (weight + Σ w)`` with all weights as of a moment, in [0, 1].

    Args:
        sums: the columns `SUMS`, as of `FIXED_MOMENT`.
        as_of: a moment, or one for each row (microseconds since 1970).
        policy: prior, half-life, and the cap on all implicit evidence together.
    """
    moments = np.array([as_of.timestamp() * 1e6], np.int64) if isinstance(as_of, datetime) else as_of
    left = 1.0 / growth(moments, policy.half_life_days)
    columns = [sums[name].to_numpy() for name in SUMS]
    return pl.Series(
        "effectiveness", posterior_mean(columns, left, policy.prior_weight, policy), dtype=pl.Float64
    )


def posterior_mean(
    sums: Sequence[Floats], left: Floats | float, prior_weight: float, policy: FeedbackPolicy
) -> Floats:
    """``(prior · weight + Σ w v) / (weight + Σ w)``, in [0, 1], (n,) (rule 4.3).

    Args:
        sums: the four of `SUMS`, as of `FIXED_MOMENT`, (n,) each.
        left: share of a weight of `FIXED_MOMENT` that is left at the moment, (n,) or one number.
        prior_weight: votes that the prior is worth.
        policy: prior, and the cap on all implicit evidence together.
    """
    value, weight, used, use = sums
    known = use > 0
    implicit = np.where(known, np.minimum(policy.implicit_cap, use * left), 0.0)
    mean = np.divide(used, use, out=np.zeros(len(used)), where=known)
    said = policy.prior * prior_weight + value * left + mean * implicit
    found: Floats = said / (prior_weight + weight * left + implicit)
    return found


def fold_effectiveness(
    signals: pl.DataFrame, before: pl.DataFrame, votes_before: pl.DataFrame, policy: FeedbackPolicy
) -> pl.DataFrame:
    """What the signals of some days come to, as of the end of each day that has one.

    Args:
        signals: rows of ``usage_signals`` of these days.
        before: of the same memories the newest rows of ``effectiveness`` before them, one per chunk and one
            per memory.
        votes_before: of the same memories every explicit signal before them.
        policy: what counts.

    Returns:
        Rows of ``effectiveness``: for each memory, and for each of its chunks, that a day changed. In no
        order.
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
    """What each row adds to the sums of its day `number`, in whole units as of the end of that day.

    Args:
        rows: evidence, with ``number``.
        policy: how weights fade.
        kind: ``explicit`` or ``implicit``.
        count: data points that each row is.
        sign: -1 where the rows are taken away.
    """
    age = day_ends(rows["number"]) - rows["occurred_at"].dt.epoch("us").to_numpy()
    weight = rows["weight"].to_numpy() * np.exp2(-age / (policy.half_life_days * DAY_US)) / _UNIT
    whole = {"weight": np.rint(weight), "value": np.rint(weight * rows["value"].to_numpy())}
    sums = {f"{kind}_{name}": pl.Series((sign * units).astype(np.int64)) for name, units in whole.items()}
    zeros = rows.with_columns(pl.lit(0, pl.Int64).alias(name) for name in SUMS)
    return zeros.with_columns(feedback_count=count, **sums).select(_ADDED)


def _implicit(signals: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """What each used or ignored result adds."""
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
    """What each vote adds, and what the one that it displaces takes away."""
    new = signals.lazy().filter(pl.col("tier") != IMPLICIT).select(_VOTE).collect()
    new = new.with_columns(new=pl.lit(value=True))
    old = votes_before.select(_VOTE).with_columns(new=pl.lit(value=False))
    votes = with_displaced(pl.concat([old, new]), policy.principal_votes)
    comes = votes.filter("new").with_columns(number=day_number())
    goes = votes.join(
        comes.filter(pl.col("displaces") >= 0).select("number", row="displaces"), on="row", how="inner"
    )
    parts = (
        _added(rows, policy, "explicit", pl.lit(sign, pl.Int64), sign=sign)
        for rows, sign in ((comes, 1), (goes, -1))
    )
    return pl.concat(parts)


def _folded(added: pl.DataFrame, before: pl.DataFrame, key: str, policy: FeedbackPolicy) -> pl.DataFrame:
    """Rows of each chunk or memory after each of its days.

    Args:
        added: what signals add, in whole units (columns `_ADDED`).
        before: newest rows of the same chunks or memories.
        key: chunk_id or memory_id.
        policy: how weights fade.
    """
    rows = pl.concat([before.select(*_NAMES), added.select(*_NAMES)])
    code = codes(rows, key)
    known, news = code[: before.height], code[before.height :]
    place, first, sums = _of_days(news * _DAYS + added["number"].to_numpy(), added)
    owner, number = place // _DAYS, pl.Series("number", place % _DAYS, dtype=pl.Int32)
    sums[:, 1:] *= _UNIT * growth(day_ends(number), policy.half_life_days)[:, None]
    running(sums, owner, known, before.select(_COUNTED).to_numpy().astype(np.float64))
    made = added.select(*_NAMES)[first].with_columns(
        number=number, **{name: pl.Series(sums[:, at]) for at, name in enumerate(_COUNTED)}
    )
    return made.with_columns(
        effectiveness(made, day_ends(number), policy), pl.col("feedback_count").cast(pl.Int32),
        day=day_names(number),
    ).select(
        *_NAMES, "day", "effectiveness", *_COUNTED,
        effectiveness_id=pl.concat_str("day", pl.lit(":"), pl.coalesce("chunk_id", "memory_id")),
    )  # fmt: skip


def _of_days(places: Integers, added: pl.DataFrame) -> tuple[Integers, Integers, Floats]:
    """The rows of one owner and day as one: places, a row of each, their sums (of whole numbers)."""
    order = np.argsort(places)
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    sums = np.zeros((len(starts), len(_COUNTED)))
    for at, name in enumerate(_COUNTED):
        if len(starts):
            sums[:, at] = np.add.reduceat(added[name].to_numpy()[order], starts)
    first = order[starts]
    return places[first], first, sums


def running(rows: Floats, owner: Integers, known: Integers, start: Floats) -> None:
    """Turn rows into running sums, in place, one row after the other.

    Args:
        rows: (n, k), by owner and in order.
        owner: (n,) rising numbers from 0 on.
        known: (m,) distinct owners that begin with something; some may have no rows.
        start: (m, k) what they begin with.
    """
    begin = np.zeros((max(owner.max(initial=-1), known.max(initial=-1)) + 1, rows.shape[1]))
    begin[known] = start
    first, steps = in_step(owner)
    sums = begin[owner[first]]
    for at in steps:
        sums[: len(at)] += rows[at]
        rows[at] = sums[: len(at)]

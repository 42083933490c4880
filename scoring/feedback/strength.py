"""Strength of a memory: slower decay after use, faster after being ignored (rule 4.2).

After a time t, ``strength · exp(-t / stability)`` remains (Ebbinghaus' forgetting curve). A memory's strength
begins with the first verdict on it. It is reported and has no weight in ranking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.arrays import Floats, Integers
from slowwave.scoring.days import DAY_S
from slowwave.scoring.feedback.columns import by_time, codes, day_ends, day_names, day_number, in_step, turns
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.votes import VOICE

MIN_STABILITY_S = 60.0
MAX_DAYS = 36_525.0  # a century: without a limit, doubling would leave the floats
USED = "used"
STATE = ("strength", "stability", "interval", "used", "ignored", "last_at")
_KEYS = ("namespace", "memory_id", "occurred_at", "signal_id", "verdict")


def current(strength: Floats | float, stability_s: Floats | float, elapsed_s: Floats | float) -> Floats:
    """Return the remaining strength: ``strength · exp(-elapsed / stability)``, shapes as given."""
    remaining: Floats = np.asarray(strength) * np.exp(-np.maximum(elapsed_s, 0.0) / np.asarray(stability_s))
    return remaining


def reinforcement(remaining: Floats | float, uses: Floats | float) -> Floats:
    """Return the stability factor of a use.

    ``max(1, (1.5 + 2 · max(0.1, 1 - remaining)) / (1 + 0.1 · uses))``.

    Args:
        remaining: current strength at that moment.
        uses: earlier uses (count).
    """
    grown: Floats = (1.5 + 2.0 * np.maximum(0.1, 1.0 - np.asarray(remaining))) / (
        1.0 + 0.1 * np.asarray(uses)
    )
    return np.maximum(1.0, grown)


@dataclass(slots=True)
class Strengths:
    """Strength states of n memories: strength, stability (seconds), interval (days), (n,) each.

    A fresh memory has strength 1, a stability of one day and an interval of one day.
    """

    strength: Floats
    stability: Floats
    interval: Floats
    used: Floats
    ignored: Floats
    last_us: Integers

    @classmethod
    def fresh(cls, moments_us: Integers) -> Strengths:
        """Return the states of memories without an earlier verdict, at moments in microseconds."""
        n = len(moments_us)
        return cls(
            np.ones(n), np.full(n, DAY_S), np.ones(n), np.zeros(n), np.zeros(n), moments_us.astype(np.int64)
        )

    def meet(self, n: int, moments_us: Integers, used: npt.NDArray[np.bool_]) -> None:
        """Update the first n memories with one verdict each, used or ignored."""
        stability, uses = self.stability[:n], self.used[:n]
        remaining = current(self.strength[:n], stability, (moments_us - self.last_us[:n]) / 1e6)
        self.strength[:n] = np.where(used, np.minimum(1.0, self.strength[:n] + 0.1), 0.9 * remaining)
        grown = np.minimum(stability * reinforcement(remaining, uses), MAX_DAYS * DAY_S)
        self.stability[:n] = np.where(used, grown, np.maximum(0.5 * stability, MIN_STABILITY_S))
        self.interval[:n] = np.where(used, np.minimum(2.0 * self.interval[:n], MAX_DAYS), self.interval[:n])
        self.used[:n] += used
        self.ignored[:n] += ~used
        self.last_us[:n] = moments_us


def fold_strength(signals: pl.DataFrame, before: pl.DataFrame, policy: FeedbackPolicy) -> pl.DataFrame:
    """Compute the strength of each memory after its last verdict of each day.

    Args:
        signals: rows of ``usage_signals``. Only used or ignored with evidence counts, and only the first few
            of one user on one memory and day.
        before: latest earlier rows of ``strength``, one per memory.
        policy: maximum verdicts of a user per day.

    Returns:
        Rows of ``strength``, in no order.
    """
    seen = (pl.col("tier") == "implicit") & (pl.col("evidence") != "none")
    verdicts = signals.filter(seen).select(*_KEYS, number=day_number(), user=VOICE)
    verdicts = by_time(verdicts.with_columns(memory=codes(verdicts, "memory_id")), "memory")
    user_turns = turns((codes(verdicts, "memory_id", "user") << 21) + verdicts["number"].to_numpy())
    verdicts = verdicts.filter(pl.Series(user_turns < policy.verdicts_per_day))
    after = _after_each(verdicts, before)
    last = (pl.col("memory") != pl.col("memory").shift(-1)) | (pl.col("number") != pl.col("number").shift(-1))
    rows = (
        verdicts.select("namespace", "memory_id", "number")
        .with_columns(after)
        .filter(verdicts.select(last.fill_null(value=True)).to_series())
    )
    ends = day_ends(rows["number"])
    elapsed = (ends - rows["last_at"].dt.epoch("us").to_numpy()) / 1e6
    remaining = current(rows["strength"].to_numpy(), rows["stability"].to_numpy(), elapsed)
    return rows.with_columns(
        current=pl.Series(remaining, dtype=pl.Float64), day=day_names(rows["number"])
    ).select(
        "namespace", "memory_id", "day", "current", *STATE,
        strength_id=pl.concat_str("day", pl.lit(":"), "memory_id"),
    )  # fmt: skip


def _after_each(verdicts: pl.DataFrame, before: pl.DataFrame) -> list[pl.Series]:
    """Return the state after each verdict, sorted by memory and time.

    The k-th verdicts of all memories are one array step. So there are as many steps as verdicts on the most
    used memory.
    """
    moments = verdicts["occurred_at"].dt.epoch("us").to_numpy()
    used = (verdicts["verdict"] == USED).to_numpy()
    first, steps = in_step(verdicts["memory"].to_numpy())
    state = _states(verdicts["memory_id"].gather(first), before, moments[first])
    states = Strengths.fresh(moments)
    for rows in steps:
        n = len(rows)
        state.meet(n, moments[rows], used[rows])
        for name in Strengths.__slots__:
            getattr(states, name)[rows] = getattr(state, name)[:n]
    floats = [pl.Series(name, getattr(states, name)) for name in ("strength", "stability", "interval")]
    whole = [pl.Series(name, getattr(states, name)).cast(pl.Int32) for name in ("used", "ignored")]
    return [*floats, *whole, pl.Series("last_at", states.last_us).cast(pl.Datetime("us", "UTC"))]


def _states(memories: pl.Series, before: pl.DataFrame, first_us: Integers) -> Strengths:
    """Return the state of each memory before its first verdict."""
    joined = memories.to_frame("memory_id").join(before, on="memory_id", how="left", maintain_order="left")
    fresh = Strengths.fresh(first_us)
    has_state = joined["strength"].is_not_null().to_numpy()
    for name in ("strength", "stability", "interval", "used", "ignored"):
        getattr(fresh, name)[has_state] = joined[name].cast(pl.Float64).to_numpy()[has_state]
    fresh.last_us[has_state] = joined["last_at"].dt.epoch("us").fill_null(0).to_numpy()[has_state]
    return fresh

"""Paired comparison of two policies over queries (rule 6.6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, isfinite
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats
from slowwave.scoring.evaluation.resampling import LEVEL, blocks, mean, percentiles

Verdict = Literal["better", "worse", "equivalent", "insufficient evidence"]

DRAWS = 10_000
LEAST_QUERIES = 20
POWER = 0.80
TIE = 1e-9  # the accuracy of a metric (rule 6.3)


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """Mean over `n` queries with its bootstrap interval; all NaN where n = 0."""

    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of a candidate with a baseline over n queries.

    `margin`, `level` and `least_queries` only affect the verdict: change them with ``dataclasses.replace``
    (the interval does not change).

    Attributes:
        n: queries.
        baseline: mean of the baseline.
        candidate: mean of the candidate.
        difference: candidate minus baseline.
        low: lower end of the bootstrap interval of the difference.
        high: upper end.
        p_value: of the randomisation test: probability of a difference this large by chance.
        wins: queries on which the candidate is better.
        ties: queries on which the two are within 1e-9.
        losses: queries on which the candidate is worse.
        margin: difference that does not matter, in units of the measure.
        level: level of the interval, and 1 − the p-value that better and worse need.
        least_queries: minimum queries for a verdict.
        deviation: standard deviation of the differences, NaN with fewer than two queries; not compared by
            ``==``.
    """

    n: int
    baseline: float
    candidate: float
    difference: float
    low: float
    high: float
    p_value: float
    wins: int
    ties: int
    losses: int
    margin: float
    level: float = LEVEL
    least_queries: int = LEAST_QUERIES
    deviation: float = field(default=float("nan"), compare=False)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the candidate.

        *equivalent*: the whole interval is inside ± `margin`, even if it excludes 0, because the difference
        is too small to matter. *better* and *worse*: the interval excludes 0 and the test agrees. Else
        *insufficient evidence*. Fewer than `least_queries` queries are always insufficient: a few equal ones
        give an interval of width 0.
        """
        if self.n < self.least_queries:
            return "insufficient evidence"
        if -self.margin - TIE <= self.low and self.high <= self.margin + TIE:
            return "equivalent"
        significant = self.p_value <= 1 - self.level
        if significant and self.low > 0:
            return "better"
        if significant and self.high < 0:
            return "worse"
        return "insufficient evidence"

    @property
    def queries_needed(self) -> int | None:
        """Estimate the additional queries that a verdict needs; 0 with a verdict.

        The estimate has a power of 80 % by the normal approximation, if future queries vary as the past ones:
        n = ((z of the level + z of the power) · deviation ÷ distance)². The distance is the larger one: from
        the difference to 0 (better or worse), or from the difference to the margin if it is inside
        (equivalent). None if no number of queries would help (no difference and no margin), or with fewer
        than two queries. It is for planning only: stopping as soon as a test succeeds invalidates it.

        Source: Lachin, "Introduction to sample size determination and power analysis for clinical trials"
        (1981).
        """
        if self.verdict != "insufficient evidence":
            return 0
        distance = max(abs(self.difference), self.margin - abs(self.difference))
        if not isfinite(self.deviation) or distance <= TIE:
            return None
        normal = NormalDist()
        spread = normal.inv_cdf((1 + self.level) / 2) + normal.inv_cdf(POWER)
        whole = ceil((spread * self.deviation / distance) ** 2)
        return max(whole - self.n, self.least_queries - self.n, 1)

    def describe(self) -> str:
        """Describe the result in a sentence."""
        if not self.n:
            return "insufficient evidence: no query was compared"
        within = f" within {self.margin:g}" if self.verdict == "equivalent" else ""
        text = (
            f"{self.verdict}{within}: {self.difference:+.4f} ({self.level:.0%} interval {self.low:+.4f} to "
            f"{self.high:+.4f}, p = {self.p_value:.3g}) over {self.n:,} queries, "
            f"{self.wins:,} won, {self.ties:,} tied, {self.losses:,} lost"
        )
        more = self.queries_needed
        return f"{text}; about {more:,} more queries may settle it" if more else text


def mean_interval(
    values: npt.ArrayLike, *, level: float = LEVEL, n_draws: int = DRAWS, seed: int = 0
) -> MeanInterval:
    """Return the mean of one value a query, with its percentile bootstrap interval.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.

    Raises:
        ValueError: a value is not finite, or `level` or `n_draws` is out of range.
    """
    checked = _checked("values", values, level, n_draws)
    low, high = _bootstrap(checked, level, n_draws, np.random.default_rng(seed))
    return MeanInterval(len(checked), mean(checked), low, high)


def compare(
    baseline: npt.ArrayLike,
    candidate: npt.ArrayLike,
    *,
    margin: float,
    n_draws: int = DRAWS,
    seed: int = 0,
) -> Comparison:
    """Compare two policies on the same queries.

    The interval is a percentile bootstrap over queries, the p-value that of a two-sided paired randomisation
    test: the signs of the differences are drawn at random. Source: Smucker, Allan and Carterette, "A
    Comparison of Statistical Significance Tests for Information Retrieval Evaluation" (2007).

    Args:
        baseline: (n,) one value a query.
        candidate: (n,) values of the same queries in the same order.
        margin: difference that does not matter, 0 or more, in units of the measure.
        n_draws: draws of the bootstrap, and again of the test.
        seed: seed of the bootstrap and of the test.

    Raises:
        ValueError: the arrays differ in length, a value is not finite, or a number is out of range.
    """
    before = _checked("baseline", baseline, LEVEL, n_draws)
    after = _checked("candidate", candidate, LEVEL, n_draws)
    if len(before) != len(after):
        raise ValueError(
            f"baseline has {len(before)} queries and candidate {len(after)}: compare the same queries"
        )
    if not margin >= 0:
        raise ValueError(f"margin = {margin} is not 0 or more")
    difference = after - before
    difference[np.abs(difference) <= TIE] = 0.0
    rng = np.random.default_rng(seed)
    low, high = _bootstrap(difference, LEVEL, n_draws, rng)
    return Comparison(
        n=len(difference),
        baseline=mean(before),
        candidate=mean(after),
        difference=mean(difference),
        low=low,
        high=high,
        p_value=_randomisation(difference, n_draws, rng),
        wins=int((difference > 0).sum()),
        ties=int((difference == 0).sum()),
        losses=int((difference < 0).sum()),
        margin=margin,
        deviation=float(difference.std(ddof=1)) if len(difference) > 1 else float("nan"),
    )


def _checked(name: str, values: npt.ArrayLike, level: float, n_draws: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: give one value a query")
    if not np.isfinite(array).all():
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{at}] = {array[at]} is not a number to average; a failed query counts as 0")
    if not 0 < level < 1:
        raise ValueError(f"level = {level} is not between 0 and 1")
    if n_draws < 1:
        raise ValueError(f"n_draws = {n_draws}: draw at least once")
    return array


def _bootstrap(values: Floats, level: float, n_draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of the mean; NaN without values."""
    n = len(values)
    if n == 0:
        return float("nan"), float("nan")
    means = [
        values[rng.integers(0, n, (rows, n), dtype=np.int32)].mean(axis=1) for rows in blocks(n_draws, n)
    ]
    return percentiles(np.concatenate(means), level)


def _randomisation(difference: Floats, n_draws: int, rng: np.random.Generator) -> float:
    """Return the share of sign patterns with a sum at least this far from 0.

    The observed pattern is counted, so it is never 0: Phipson and Smyth, "Permutation P-values Should Never
    Be Zero" (2010).
    """
    moved = difference[difference != 0]  # a tie has no sign
    n = len(moved)
    if n == 0:
        return 1.0
    observed, rounding = abs(moved.sum()), 1e-12 * np.abs(moved).sum()
    extreme = 0
    for rows in blocks(n_draws, n):
        bits = rng.integers(0, 256, (rows, -(-n // 8)), dtype=np.uint8)
        flipped = np.unpackbits(bits, axis=1, count=n).astype(np.float64)
        sums = moved.sum() - 2 * (flipped @ moved)
        extreme += int((np.abs(sums) >= observed - rounding).sum())
    return (1 + extreme) / (1 + n_draws)

"""Bootstrap resampling of totals and ratios."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats

DRAWS = 2_000
LEVEL = 0.95
BLOCK = 1 << 22  # numbers drawn at a time


def resampled_totals(rows: npt.ArrayLike, *, n_draws: int = DRAWS, seed: int = 0) -> Floats:
    """Return the totals of n rows drawn with replacement, for each draw, (n_draws, m).

    Dependent observations have to be one row: draw searches, not their results. Equal rows are drawn as one
    kind, so many rows of small counts cost little, and the order of rows does not matter.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 6.

    Args:
        rows: (n, m) counts or sums, at least one row.
        n_draws: draws.
        seed: seed of the draws.
    """
    kinds, counts = np.unique(np.asarray(rows, dtype=np.float64), axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    n, shares = int(counts.sum()), counts / counts.sum()
    drawn = [rng.multinomial(n, shares, size) @ kinds for size in blocks(n_draws, len(kinds))]
    return np.concatenate(drawn)


def percentiles(draws: npt.ArrayLike, level: float = LEVEL) -> tuple[float, float]:
    """Return the percentile interval of draws; undefined ones (NaN) are ignored.

    NaN if all are undefined.
    """
    values = np.asarray(draws, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def mean(values: npt.ArrayLike) -> float:
    """Return the mean of values; NaN of none."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()) if len(array) else float("nan")


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Return quotients; NaN where the divisor is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(above, np.float64), np.asarray(below, np.float64))
    quotients = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=quotients, where=bottom != 0)
    return quotients


def blocks(n_draws: int, n: int) -> Iterator[int]:
    """Yield block sizes of draws of n numbers each, so that memory stays bounded."""
    size = max(1, BLOCK // n)
    for start in range(0, n_draws, size):
        yield min(size, n_draws - start)

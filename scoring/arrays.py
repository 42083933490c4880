"""Array types and helper operations, faster than NumPy's own on short arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def finite(values: npt.ArrayLike, missing: float = 0.0) -> Floats:
    """Replace NaN and infinite values by `missing`."""
    return np.where(np.isfinite(values), values, missing)


def bounded(values: npt.ArrayLike, low: float, high: float) -> Floats:
    """Clamp values to [`low`, `high`]."""
    return np.minimum(np.maximum(values, low), high)


def places(labels: Integers) -> Integers:
    """Return the place of each element in its label's run, from 0, (n,).

    The labels are sorted.
    """
    return np.arange(len(labels)) - np.searchsorted(labels, labels)


def ranges(starts: Integers, counts: Integers) -> Integers:
    """Count up from each start, and concatenate the ranges, (sum of counts,)."""
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())

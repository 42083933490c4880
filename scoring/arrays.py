"""Types of arrays and steps that many rules take, cheaper than NumPy's own on the arrays of a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def finite(values: npt.ArrayLike, missing: float = 0.0) -> Floats:
    """The values, with `missing` for every one that is NaN or infinite."""
    return np.where(np.isfinite(values), values, missing)


def bounded(values: npt.ArrayLike, low: float, high: float) -> Floats:
    """The values, none below `low` and none above `high`."""
    return np.minimum(np.maximum(values, low), high)


def places(labels: Integers) -> Integers:
    """Place of each element among those of its label, from 0, (n,); the labels are sorted."""
    return np.arange(len(labels)) - np.searchsorted(labels, labels)


def ranges(starts: Integers, counts: Integers) -> Integers:
    """Count up from each start so many times, one after the other, (sum of counts,)."""
    return np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())

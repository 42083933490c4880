"""Two steps that every rule takes, without the cost that NumPy's own have on the short arrays of a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def finite(values: npt.ArrayLike, missing: float = 0.0) -> Floats:
    """The values, with `missing` for every one that is NaN or infinite."""
    found: Floats = np.where(np.isfinite(values), values, missing)
    return found


def bounded(values: npt.ArrayLike, low: float, high: float) -> Floats:
    """The values, none below `low` and none above `high`."""
    found: Floats = np.minimum(np.maximum(values, low), high)
    return found

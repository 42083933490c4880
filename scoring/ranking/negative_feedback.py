"""Negative multiplier of a score from not-useful votes (rule 3.7)."""

from __future__ import annotations

import numpy as np

from slowwave.scoring.arrays import Floats


def multiplier(weight: Floats | float, *, step: float = 0.1, floor: float = 0.3) -> Floats:
    """Return ``max(floor, 1 - step · weight)``; `weight` is the sum of vote weights."""
    return np.maximum(floor, 1.0 - step * np.asarray(weight, dtype=np.float64))


def vote_weight(age_days: Floats, half_life_days: float = 30.0) -> Floats:
    """Return the weight of each vote at its age: ``2^(-age / half-life)``.

    The shape is that of `age_days`. A vote after the moment of the search counts 0.
    """
    age = np.asarray(age_days, dtype=np.float64)
    return np.where(age < 0, 0.0, np.exp2(-np.maximum(age, 0.0) / half_life_days))

"""What not-useful votes take from a score (rule 3.7)."""

from __future__ import annotations

import numpy as np

from slowwave.scoring.arrays import Floats


def multiplier(weight: Floats | float, *, step: float = 0.1, floor: float = 0.3) -> Floats:
    """``max(floor, 1 - step · weight)``; weight is what votes count today, fresh ones 1 each."""
    return np.maximum(floor, 1.0 - step * np.asarray(weight, dtype=np.float64))


def vote_weight(age_days: Floats, half_life_days: float = 30.0) -> Floats:
    """What each vote counts today: ``2^(-age / half-life)``; each ages by itself. Shape as `age_days`.

    A vote of the future (a search of the past does not know it yet) counts nothing.
    """
    age = np.asarray(age_days, dtype=np.float64)
    return np.where(age < 0, 0.0, np.exp2(-np.maximum(age, 0.0) / half_life_days))

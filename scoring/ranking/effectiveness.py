"""What feedback adds to a score: seven parts what it says, three parts how it served (rule 3.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scoring.ranking.arrays import bounded

Floats = npt.NDArray[np.float64]
NEUTRAL = 0.5


def counted(effectiveness: Floats, feedback_count: npt.NDArray[np.int64], minimum: int = 3) -> Floats:
    """Effectiveness (m,) where there are enough data points, else neutral: the formula stays the same."""
    known = (feedback_count >= minimum) & np.isfinite(effectiveness)
    used: Floats = np.where(known, bounded(effectiveness, 0.0, 1.0), NEUTRAL)
    return used


def combined(semantic: Floats | float, effectiveness: Floats | float, weight: float = 0.3) -> Floats:
    """``(1 - weight) · semantic + weight · effectiveness``."""
    both: Floats = (1 - weight) * np.asarray(semantic) + weight * np.asarray(effectiveness)
    return both

"""What feedback adds to a score: seven parts what it says, three parts how it served (rule 3.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats, bounded

NEUTRAL = 0.5
SHOWN_DECIMALS = 2
"""Decimals with which effectiveness is shown, and compared with the bound of the flag."""


def counted(effectiveness: Floats, feedback_count: npt.NDArray[np.int64], minimum: int = 3) -> Floats:
    """Effectiveness (m,) where there are enough data points, else neutral: the formula stays the same."""
    known = (feedback_count >= minimum) & np.isfinite(effectiveness)
    return np.where(known, bounded(effectiveness, 0.0, 1.0), NEUTRAL)


def combined(semantic: Floats | float, effectiveness: Floats | float, weight: float = 0.3) -> Floats:
    """``(1 - weight) · semantic + weight · effectiveness``."""
    return (1 - weight) * np.asarray(semantic) + weight * np.asarray(effectiveness)


def are_highly_effective(
    effectiveness: Sequence[float], feedback_count: Sequence[int], *, bound: float = 0.8, minimum: int = 3
) -> list[bool]:
    """Whether each memory is flagged: enough data points, and effectiveness at the bound or above it.

    Compared at the two decimals that are shown: three helpful votes of three are (.5 · 2 + 3) / 5 = .8, and
    a vote weighs a little less from the moment after it was given. Without rounding the flag would never be
    seen on what it is meant for; with it, it lasts five days without another vote (down to .795).

    Args:
        effectiveness: of each memory as of the moment, in [0, 1].
        feedback_count: data points of each.
        bound: from which it is high.
        minimum: data points from which effectiveness counts.
    """
    return [
        count >= minimum and round(value, SHOWN_DECIMALS) >= bound
        for value, count in zip(effectiveness, feedback_count, strict=True)
    ]

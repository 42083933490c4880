"""Effectiveness in the score: 0.7 text score plus 0.3 effectiveness (rule 3.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats, bounded

NEUTRAL = 0.5
SHOWN_DECIMALS = 2
"""Decimals of effectiveness on display and in the comparison with the flag's bound."""


def counted(effectiveness: Floats, feedback_count: npt.NDArray[np.int64], minimum: int = 3) -> Floats:
    """Return effectiveness (m,) where there are enough data points, else neutral."""
    enough = (feedback_count >= minimum) & np.isfinite(effectiveness)
    return np.where(enough, bounded(effectiveness, 0.0, 1.0), NEUTRAL)


def combined(semantic: Floats | float, effectiveness: Floats | float, weight: float = 0.3) -> Floats:
    """Return ``(1 - weight) · semantic + weight · effectiveness``."""
    return (1 - weight) * np.asarray(semantic) + weight * np.asarray(effectiveness)


def are_highly_effective(
    effectiveness: Sequence[float], feedback_count: Sequence[int], *, bound: float = 0.8, minimum: int = 3
) -> list[bool]:
    """Return whether each memory gets the flag *highly effective*.

    It needs enough data points and effectiveness at or above the bound, both compared at two decimals. Three
    helpful votes of three give (0.5 · 2 + 3) / 5 = 0.8, and a vote weighs a little less from the next moment
    on. Without rounding no such memory would ever get the flag. With it, the flag lasts five days without
    another vote (down to 0.795).

    Args:
        effectiveness: of each memory at the moment, in [0, 1].
        feedback_count: data points of each.
        bound: minimum effectiveness.
        minimum: data points from which effectiveness counts.
    """
    return [
        count >= minimum and round(value, SHOWN_DECIMALS) >= bound
        for value, count in zip(effectiveness, feedback_count, strict=True)
    ]

"""Multi-part aggregation bonus: from the scores of chunks to the score of their memory (rule 3.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from slowwave.scoring.ranking.arrays import bounded, finite

Floats = npt.NDArray[np.float64]


def mpab(scores: Sequence[float] | Floats, coefficient: float = 0.3, cap: float = math.inf) -> float:
    """Best score, and a bonus for the others: ``max + min(cap, coefficient · Σ others / √N)``.

    The seeds' formula has no cap, and 100 chunks of .5 come to 1.985: a long mediocre memory would beat a
    short perfect one. Ranking uses it bounded.

    Args:
        scores: of the N chunks, in any order; a score that is not finite counts as 0.
        coefficient: of the bonus.
        cap: most that the bonus may be.
    """
    clean = finite(np.asarray(scores, dtype=np.float64))
    if len(clean) == 0:
        return 0.0
    best = float(clean.max())
    return best + float(bonus(np.array([clean.sum() - best]), np.array([len(clean)]), coefficient, cap)[0])


def bonus(others: Floats, count: npt.NDArray[Any], coefficient: float, cap: float) -> Floats:
    """Bonus of each of m memories.

    Args:
        others: (m,) sum of the scores of a memory's chunks but its best.
        count: (m,) chunks of the memory among the candidates, the best included.
        coefficient: of the bonus.
        cap: most that it may be.
    """
    raw = coefficient * others / np.sqrt(np.maximum(count, 1))
    earned: Floats = np.where(count > 1, bounded(raw, 0.0, cap), 0.0)
    return earned

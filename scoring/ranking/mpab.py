"""Multi-part aggregation bonus: from the scores of chunks to the score of their memory (rule 3.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats, bounded


def bonus(others: Floats, count: npt.NDArray[Any], coefficient: float, cap: float) -> Floats:
    """Bonus of each of m memories for its other chunks: ``min(cap, coefficient · Σ others / √N)``.

    The seeds' formula has no cap, and 100 chunks of .5 come to 1.985: a long mediocre memory would beat a
    short perfect one. Ranking uses it bounded.

    Args:
        others: (m,) sum of the scores of a memory's chunks but its best.
        count: (m,) chunks of the memory among the candidates, the best included.
        coefficient: of the bonus.
        cap: most that it may be.
    """
    raw = coefficient * others / np.sqrt(np.maximum(count, 1))
    return np.where(count > 1, bounded(raw, 0.0, cap), 0.0)

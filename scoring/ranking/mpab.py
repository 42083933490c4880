"""Multi-part aggregation bonus (MPAB): chunk scores to memory scores (rule 3.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats, bounded


def bonus(others: Floats, count: npt.NDArray[Any], coefficient: float, cap: float) -> Floats:
    """Return each memory's bonus for its other chunks: ``min(cap, coefficient · Σ others / √N)``, (m,).

    The seeds' formula has no cap, and 100 chunks of 0.5 give 1.985: a long mediocre memory would beat a short
    perfect one. The default policy caps it.

    Args:
        others: (m,) sum of the scores of a memory's chunks without its best.
        count: (m,) chunks of the memory among the candidates, the best included.
        coefficient: factor of the bonus.
        cap: maximum bonus.
    """
    raw = coefficient * others / np.sqrt(np.maximum(count, 1))
    return np.where(count > 1, bounded(raw, 0.0, cap), 0.0)

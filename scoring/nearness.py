"""Nearness of two questions, for ratings and search keys alike (rules 7.2 and 8.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def question_nearness(cosine: npt.NDArray[np.floating], low: float, high: float) -> npt.NDArray[np.float64]:
    """Return the nearness of two questions, in [0, 1]; shape of `cosine` (rule 7.2).

    It rises linearly from 0 at `low` to 1 at `high`. Both bounds belong to the embedding model and are the
    same in every namespace. A line from a quantile of the namespace's cosines to 1 lost more on questions
    that nobody had asked (decision 45).

    Args:
        cosine: of the two questions.
        low: cosine up to which it does not count.
        high: cosine from which it counts in full, above `low`.

    Raises:
        ValueError: `low` is not below `high`.
    """
    if not low < high:
        raise ValueError(f"low = {low} is not below high = {high}")
    return np.clip((np.asarray(cosine, dtype=np.float64) - low) / (high - low), 0.0, 1.0)

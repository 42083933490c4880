"""Nearness of two questions, for ratings and search keys alike (rules 7.2 and 8.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def question_nearness(cosine: npt.NDArray[np.floating], low: float, high: float) -> npt.NDArray[np.float64]:
    """Weight of feedback by the similarity of two questions, in [0, 1]; shape of `cosine`.

    Rises in a line from 0 at `low` to 1 at `high`. Rules 7.2 and 8.1 have a line from a threshold to 1, the
    threshold being a quantile of the cosines between the questions of the namespace. This one is steeper and
    the same in every namespace: it lost less on questions that nobody asked (decision 45).

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

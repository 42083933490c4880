"""Position prior: click rate by rank (rule 6.1 B)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats

_BLOCK = 1_000  # rows at a time, each with ranks² numbers


def position_prior(
    shown: npt.ArrayLike, clicked: npt.ArrayLike, *, weight: float, first_guess: float, guess_weight: float
) -> Floats:
    """Return the click rate by rank, shrunken and never rising with the rank.

    The rate of all ranks shrinks to `first_guess`, which weighs `guess_weight` impressions. The rate of each
    rank shrinks to that of all ranks, which weighs `weight` impressions. Then ranks with a rising rate are
    pooled, weighted by their impressions (isotonic regression by the min-max formula), so a rare rank does
    not distort its neighbours. A rank without impressions is between its neighbours.

    Args:
        shown: (n, k) impressions at ranks 1 to k; each row gives its own prior.
        clicked: (n, k) clicks on them.
        weight: weight of the rate of all ranks, in impressions, above 0.
        first_guess: prior click rate, in [0, 1].
        guess_weight: weight of `first_guess`, in impressions, above 0.

    Returns:
        (n, k) expected clicks of one impression.
    """
    seen, hits = np.asarray(shown, dtype=np.float64), np.asarray(clicked, dtype=np.float64)
    overall = (hits.sum(axis=1) + guess_weight * first_guess) / (seen.sum(axis=1) + guess_weight)
    rates = (hits + weight * overall[:, None]) / (seen + weight)
    parts = [
        _falling(rates[at : at + _BLOCK], seen[at : at + _BLOCK], overall[at : at + _BLOCK])
        for at in range(0, len(seen), _BLOCK)
    ]
    return np.concatenate(parts) if parts else np.zeros(seen.shape)


def _falling(rates: Floats, weights: Floats, empty: Floats) -> Floats:
    """Return the weighted least-squares fit that never rises; `empty` without weights."""
    ahead = np.zeros((len(rates), 1))
    heavy = np.hstack([ahead, np.cumsum(weights, axis=1)])
    total = np.hstack([ahead, np.cumsum(weights * rates, axis=1)])
    weight = heavy[:, None, 1:] - heavy[:, :-1, None]  # from rank s (axis 1) to rank t (axis 2)
    means = np.full(weight.shape, -np.inf)
    np.divide(total[:, None, 1:] - total[:, :-1, None], weight, out=means, where=weight > 0)
    above = np.maximum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
    above[above == -np.inf] = np.inf  # no impressions from s on
    least = np.minimum.accumulate(above, axis=1)
    falling: Floats = np.diagonal(least, axis1=1, axis2=2).copy()
    return np.where(np.isinf(falling), empty[:, None], falling)

"""Confidence intervals of measured rates."""

from __future__ import annotations

from math import sqrt

Z_95 = 1.959963984540054


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Return Wilson's score interval of a rate, 95 % by default; (0, 1) without trials.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    if trials == 0:
        return 0.0, 1.0
    rate, square = successes / trials, z * z
    middle = (rate + square / (2 * trials)) / (1 + square / trials)
    half = z * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials)) / (1 + square / trials)
    return max(0.0, middle - half), min(1.0, middle + half)

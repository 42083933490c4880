"""Calibration of cosine thresholds to error rates on labelled pairs (rule 2.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.scoring.intervals import wilson
from slowwave.scoring.validation import require_ascending

MIN_PAIRS = 20
"""Minimum pairs at or above a threshold for its error rate (count)."""


@dataclass(frozen=True, slots=True)
class ErrorTargets:
    """Target error rates: share of different pairs at or above a threshold.

    The defaults are the rates of the rules' thresholds (0.92, 0.88, 0.80 and 0.75) with bge-small-en-v1.5 on
    the sentence pairs of STS-B. A pair of less than 4 of 5 points counts as different.
    """

    duplicate: float = 0.211
    merge: float = 0.345
    recall: float = 0.545
    conflict: float = 0.624


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted cosines; the distance of `recall` is 1 - recall.

    Raises:
        ValueError: they are out of order, because the targets are.
    """

    duplicate: float
    merge: float
    recall: float
    conflict: float

    def __post_init__(self) -> None:
        require_ascending(conflict=self.conflict, merge=self.merge, duplicate=self.duplicate)


def fit_threshold(
    similarity: npt.NDArray[np.floating], different: npt.NDArray[np.bool_], target: float
) -> float:
    """Return the lowest cosine at or above which at most `target` of the pairs differ.

    It has 2 decimals. Every higher cosine with enough pairs meets the target, too.

    Args:
        similarity: cosine of each pair (n,).
        different: whether the pair differs in meaning (n,).
        target: share in [0, 1].

    Raises:
        ValueError: no threshold meets the target, or there are too few pairs.
    """
    if len(similarity) < MIN_PAIRS:
        raise ValueError(f"{len(similarity)} pairs are too few; give at least {MIN_PAIRS}")
    grid = np.round(np.arange(1.0, -0.005, -0.01), 2)
    ordered = np.sort(similarity)
    wrong = np.sort(similarity[different])
    # Rounded as similarities are in decisions.
    pairs = len(ordered) - np.searchsorted(np.round(ordered, 6), grid, side="left")
    errors = len(wrong) - np.searchsorted(np.round(wrong, 6), grid, side="left")
    enough_pairs = pairs >= MIN_PAIRS
    keeps = ~enough_pairs | (errors <= target * np.maximum(pairs, 1))
    first_break = int(np.argmin(keeps)) if not keeps.all() else len(grid)
    usable = np.flatnonzero(enough_pairs[:first_break])
    if not len(usable):
        raise ValueError(f"no cosine keeps the different pairs at or below {target:.0%}; give other pairs")
    return float(grid[usable[-1]])


def fit(
    similarity: npt.NDArray[np.floating], different: npt.NDArray[np.bool_], targets: ErrorTargets
) -> Calibration:
    """Fit all four thresholds.

    Raises:
        ValueError: as `fit_threshold`, or the thresholds are out of order.
    """
    names = ("duplicate", "merge", "recall", "conflict")
    return Calibration(
        **{name: fit_threshold(similarity, different, getattr(targets, name)) for name in names}
    )


def report(
    similarity: npt.NDArray[np.floating],
    different: npt.NDArray[np.bool_],
    fitted: Calibration,
    targets: ErrorTargets,
) -> pl.DataFrame:
    """Report each threshold on these pairs, one row each, with 95 % intervals.

    Returns:
        threshold, cosine, target, pairs (at or above), different, rate, low, high, found (share of the equal
        pairs that are at or above).
    """
    rows = []
    for name in ("duplicate", "merge", "recall", "conflict"):
        cosine = getattr(fitted, name)
        above = np.round(similarity, 6) >= cosine
        pairs, wrong = int(above.sum()), int((above & different).sum())
        low, high = wilson(wrong, pairs)
        rows.append(
            {
                "threshold": name, "cosine": cosine, "target": getattr(targets, name), "pairs": pairs,
                "different": wrong, "rate": wrong / max(pairs, 1), "low": low, "high": high,
                "found": float((above & ~different).sum() / max((~different).sum(), 1)),
            }
        )  # fmt: skip
    return pl.DataFrame(rows)

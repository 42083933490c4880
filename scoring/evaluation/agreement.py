"""Do two who grade the same pairs agree (rule 6.2): a judge with labels by hand, or with itself later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats
from slowwave.scoring.evaluation.resampling import DRAWS, LEVEL, percentiles, ratio, resampled_totals
from slowwave.scoring.intervals import wilson

GRADES = 4  # 0 to 3
BAR = 0.80
_DISTANCE = np.abs(np.arange(GRADES)[:, None] - np.arange(GRADES))


class Figure(NamedTuple):
    """A measured value and its interval; NaN where it is not defined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two columns of grades agree.

    The shares have Wilson's intervals, the coefficients those of a bootstrap. The coefficients take off what
    chance alone would give. Kappa is low, and not defined at all where both only ever give one same grade,
    when nearly all pairs have one grade; AC1 does not suffer from that, so both are given.

    Attributes:
        n: pairs.
        agreed: of them with the same grade (count).
        exact: share with the same grade.
        tolerant: share with grades at most 1 apart.
        binary: share on which both say relevant (above 0) or both say not.
        kappa: Cohen's, unweighted.
        weighted_kappa: Cohen's, weighted by the square of the distance.
        ac1: Gwet's.
        table: counts, a row for each grade of the first, a column for each of the second.
    """

    n: int
    agreed: int
    exact: Figure
    tolerant: Figure
    binary: Figure
    kappa: Figure
    weighted_kappa: Figure
    ac1: Figure
    table: tuple[tuple[int, ...], ...]

    def meets(self, bar: float = BAR) -> bool:
        """Whether the exact agreement is at least `bar`; without any pair it is not."""
        return self.n > 0 and self.agreed >= bar * self.n - 1e-9


def agreement(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    level: float = LEVEL,
    n_draws: int = DRAWS,
    seed: int = 0,
) -> Agreement:
    """Compare two columns of grades of the same pairs.

    Args:
        first: (n,) grades from 0 to 3; a fraction, as the mean of several labels has, counts as the nearest
            whole grade, a half as the higher one.
        second: (n,) grades of the same pairs.
        groups: (n,) what pairs are drawn together for the coefficients' intervals, such as their queries;
            each pair by itself if left out.
        level: level of the bootstrap intervals; that of Wilson's is .95.
        n_draws: draws of the bootstrap.
        seed: the same seed gives the same intervals.

    Raises:
        ValueError: the columns differ in length, or a grade is not in [0, 3].
    """
    one, other = _whole("first", first), _whole("second", second)
    if len(one) != len(other):
        raise ValueError(f"first has {len(one)} grades and second {len(other)}: give the same pairs")
    n = len(one)
    if n == 0:
        undefined, unknown = Figure(np.nan, np.nan, np.nan), Figure(np.nan, 0.0, 1.0)
        return Agreement(
            0, 0, unknown, unknown, unknown, undefined, undefined, undefined, ((0,) * GRADES,) * GRADES
        )
    cells = np.zeros((n, GRADES * GRADES))
    cells[np.arange(n), one * GRADES + other] = 1
    if groups is not None:
        cells = _by_group(cells, groups)
    table = cells.sum(axis=0).reshape(GRADES, GRADES)
    drawn = resampled_totals(cells, n_draws=n_draws, seed=seed).reshape(-1, GRADES, GRADES)
    squares = _DISTANCE.astype(np.float64) ** 2
    return Agreement(
        n=n,
        agreed=int((one == other).sum()),
        exact=_share(one == other),
        tolerant=_share(np.abs(one - other) <= 1),
        binary=_share((one > 0) == (other > 0)),
        kappa=_figure(cohens_kappa(table), cohens_kappa(drawn), level),
        weighted_kappa=_figure(cohens_kappa(table, squares), cohens_kappa(drawn, squares), level),
        ac1=_figure(gwets_ac1(table), gwets_ac1(drawn), level),
        table=tuple(tuple(int(count) for count in row) for row in table),
    )


def cohens_kappa(table: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
    """1 − disagreement ÷ the disagreement that the two would have by chance.

    Sources: Cohen, "A Coefficient of Agreement for Nominal Scales" (1960), and "Weighted Kappa" (1968).

    Args:
        table: (..., q, q) counts by grade of the first and of the second.
        weights: (q, q) how bad each disagreement is, 0 on the diagonal; every one is as bad if left out.

    Returns:
        (...,) at most 1; NaN where chance alone cannot disagree.
    """
    counts = np.asarray(table, dtype=np.float64)
    bad = 1.0 - np.eye(counts.shape[-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    rows, columns, total = counts.sum(axis=-1), counts.sum(axis=-2), counts.sum(axis=(-2, -1))
    seen = total * (counts * bad).sum(axis=(-2, -1))
    by_chance = np.einsum("...i,ij,...j->...", rows, bad, columns)
    return 1.0 - ratio(seen, by_chance)


def gwets_ac1(table: npt.ArrayLike) -> Floats:
    """Gwet's AC1: agreement beyond chance, where chance can agree only on what is hard to grade.

    Source: Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement"
    (2008).

    Args:
        table: (..., q, q) counts by grade of the first and of the second.

    Returns:
        (...,) at most 1; NaN where nothing was graded.
    """
    counts = np.asarray(table, dtype=np.float64)
    grades, total = counts.shape[-1], counts.sum(axis=(-2, -1))
    agreed = ratio(np.trace(counts, axis1=-2, axis2=-1), total)
    share = ratio(counts.sum(axis=-1) + counts.sum(axis=-2), 2 * total[..., None])
    by_chance = (share * (1 - share)).sum(axis=-1) / (grades - 1)
    beyond: Floats = (agreed - by_chance) / (1 - by_chance)
    return beyond


def _whole(name: str, grades: npt.ArrayLike) -> npt.NDArray[np.int64]:
    values = np.asarray(grades, dtype=np.float64).ravel()
    wrong = np.flatnonzero(~((values >= 0) & (values <= GRADES - 1)))
    if len(wrong):
        raise ValueError(f"{name}[{wrong[0]}] = {values[wrong[0]]} is not a grade from 0 to {GRADES - 1}")
    return np.floor(values + 0.5).astype(np.int64)


def _by_group(cells: Floats, groups: npt.ArrayLike) -> Floats:
    """Counts of each group, (groups, cells)."""
    names, places = np.unique(np.asarray(groups), return_inverse=True)
    if len(places) != len(cells):
        raise ValueError(f"{len(places)} groups of {len(cells)} pairs: give every pair its group")
    counts = np.zeros((len(names), cells.shape[1]))
    np.add.at(counts, places, cells)
    return counts


def _share(holds: npt.NDArray[np.bool_]) -> Figure:
    count = int(holds.sum())
    return Figure(count / len(holds), *wilson(count, len(holds)))


def _figure(value: Floats, draws: Floats, level: float) -> Figure:
    return Figure(float(value), *percentiles(draws, level))

"""Agreement of two graders on the same pairs (rule 6.2).

The graders are a judge and labels by hand, or a judge and the same judge later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Floats
from slowwave.scoring.evaluation.resampling import DRAWS, percentiles, ratio, resampled_totals
from slowwave.scoring.intervals import wilson

GRADES = 4  # 0 to 3
BAR = 0.80
_DISTANCE = np.abs(np.arange(GRADES)[:, None] - np.arange(GRADES))


class Figure(NamedTuple):
    """Measured value with its interval; NaN where undefined."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two columns of grades.

    The shares have Wilson intervals, the coefficients bootstrap intervals. The coefficients correct for
    chance. When nearly all pairs have one grade, kappa is low, and it is undefined if both columns have one
    grade only. AC1 does not have that defect, so both are reported.

    Attributes:
        n: pairs (count).
        agreed: pairs with the same grade (count).
        exact: share with the same grade.
        tolerant: share with grades at most 1 apart.
        binary: share on which both are relevant (above 0) or both are not.
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
        """Whether the exact agreement is at least `bar`; false without pairs."""
        return self.n > 0 and self.agreed >= bar * self.n - 1e-9


def agreement(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    n_draws: int = DRAWS,
    seed: int = 0,
) -> Agreement:
    """Compare two columns of grades of the same pairs.

    Args:
        first: (n,) grades from 0 to 3. A fraction, such as a mean of labels, is rounded; a half is rounded
            up.
        second: (n,) grades of the same pairs.
        groups: (n,) group of each pair, such as its query, for the coefficients' bootstrap; each pair alone
            if omitted.
        n_draws: draws of the bootstrap.
        seed: seed of the bootstrap.

    Raises:
        ValueError: the columns differ in length, or a grade is not in [0, 3].
    """
    first_grades, second_grades = _whole("first", first), _whole("second", second)
    if len(first_grades) != len(second_grades):
        raise ValueError(
            f"first has {len(first_grades)} grades and second {len(second_grades)}: give the same pairs"
        )
    n = len(first_grades)
    if n == 0:
        undefined, unknown = Figure(np.nan, np.nan, np.nan), Figure(np.nan, 0.0, 1.0)
        return Agreement(
            0, 0, unknown, unknown, unknown, undefined, undefined, undefined, ((0,) * GRADES,) * GRADES
        )
    cells = np.zeros((n, GRADES * GRADES))
    cells[np.arange(n), first_grades * GRADES + second_grades] = 1
    if groups is not None:
        cells = _by_group(cells, groups)
    table = cells.sum(axis=0).reshape(GRADES, GRADES)
    drawn = resampled_totals(cells, n_draws=n_draws, seed=seed).reshape(-1, GRADES, GRADES)
    squares = _DISTANCE.astype(np.float64) ** 2
    return Agreement(
        n=n,
        agreed=int((first_grades == second_grades).sum()),
        exact=_share(first_grades == second_grades),
        tolerant=_share(np.abs(first_grades - second_grades) <= 1),
        binary=_share((first_grades > 0) == (second_grades > 0)),
        kappa=_figure(cohens_kappa(table), cohens_kappa(drawn)),
        weighted_kappa=_figure(cohens_kappa(table, squares), cohens_kappa(drawn, squares)),
        ac1=_figure(gwets_ac1(table), gwets_ac1(drawn)),
        table=tuple(tuple(int(count) for count in row) for row in table),
    )


def cohens_kappa(table: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
    """Return 1 − disagreement ÷ disagreement by chance.

    Sources: Cohen, "A Coefficient of Agreement for Nominal Scales" (1960), and "Weighted Kappa" (1968).

    Args:
        table: (..., q, q) counts by first and second grade.
        weights: (q, q) weight of each disagreement, 0 on the diagonal; all 1 if omitted.

    Returns:
        (...,) at most 1; NaN where disagreement by chance is 0.
    """
    counts = np.asarray(table, dtype=np.float64)
    bad = 1.0 - np.eye(counts.shape[-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    rows, columns, total = counts.sum(axis=-1), counts.sum(axis=-2), counts.sum(axis=(-2, -1))
    seen = total * (counts * bad).sum(axis=(-2, -1))
    by_chance = np.einsum("...i,ij,...j->...", rows, bad, columns)
    return 1.0 - ratio(seen, by_chance)


def gwets_ac1(table: npt.ArrayLike) -> Floats:
    """Return Gwet's AC1: agreement corrected for chance.

    Chance agreement is possible only on pairs that are hard to grade.

    Source: Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement"
    (2008).

    Args:
        table: (..., q, q) counts by first and second grade.

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
    """Sum the counts of each group, (groups, cells)."""
    names, places = np.unique(np.asarray(groups), return_inverse=True)
    if len(places) != len(cells):
        raise ValueError(f"{len(places)} groups of {len(cells)} pairs: give every pair its group")
    counts = np.zeros((len(names), cells.shape[1]))
    np.add.at(counts, places, cells)
    return counts


def _share(holds: npt.NDArray[np.bool_]) -> Figure:
    count = int(holds.sum())
    return Figure(count / len(holds), *wilson(count, len(holds)))


def _figure(value: Floats, draws: Floats) -> Figure:
    return Figure(float(value), *percentiles(draws))

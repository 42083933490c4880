"""Agreement of judges with people on the pairs that both graded (rule 6.2)."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.evaluation.judging.entries import drain_judgments
from slowwave.journal.entry import JUDGMENT
from slowwave.scoring.evaluation import Agreement, agreement, resolve
from slowwave.scoring.evaluation.comparison import DRAWS
from slowwave.scoring.evaluation.judgments import JUDGE, MANUAL, PAIR

if TYPE_CHECKING:
    from slowwave.journal import Journal


def agreements(judgments: pl.DataFrame, *, n_draws: int = DRAWS) -> dict[tuple[str, str], Agreement]:
    """Compute each judge's agreement with people, by namespace and judge.

    Labels of several people are averaged and rounded, halves up. A judge without a common pair has n = 0.

    Args:
        judgments: Rows of ``judgments`` up to a moment.
        n_draws: Bootstrap draws of the coefficients' intervals.
    """
    people = resolve(judgments.filter(pl.col("source") == MANUAL)).grades
    results = {}
    for (namespace, judge), rows in judgments.filter(pl.col("source") == JUDGE).group_by(
        "namespace", "judge"
    ):
        common = resolve(rows, admitted=[str(judge)]).grades.join(people, on=PAIR, suffix="_people")
        results[str(namespace), str(judge)] = agreement(
            common["grade_people"], common["grade"], n_draws=n_draws
        )
    return results


def agreement_now(journal: Journal, namespace: str) -> dict[str, Agreement]:
    """Compute each judge's current agreement from the journal, without the nightly job."""
    days = journal.days([JUDGMENT]).filter(pl.col("namespace") == namespace)["day"].to_list()
    judgments = drain_judgments(journal, days).rows.filter(pl.col("namespace") == namespace)
    return {judge: result for (_, judge), result in sorted(agreements(judgments).items())}


def as_row(judge: str, result: Agreement, bar: float) -> dict[str, Any]:
    """Return the agreement of one judge as a row of plain figures.

    Returns:
        ``judge``; ``pairs`` graded by both (count); ``exact`` and ``tolerant``: shares as in `Agreement`;
        ``low`` and ``high``: 95 % interval of the exact share; all 0 without a pair; ``kappa``: Cohen's, None
        if undefined; ``met``: whether the exact share reaches the bar.
    """
    exact, low, high, tolerant = (*result.exact, result.tolerant.value) if result.n else (0.0,) * 4
    return {
        "judge": judge, "pairs": result.n, "exact": exact, "low": low, "high": high, "tolerant": tolerant,
        "kappa": None if isnan(result.kappa.value) else result.kappa.value, "met": result.meets(bar),
    }  # fmt: skip


def as_summary(result: Agreement, bar: float) -> dict[str, Any]:
    """Return a judge's figures with their intervals for a cycle summary; none without a pair."""
    figures = {name: list(getattr(result, name)) for name in ("exact", "tolerant", "binary", "kappa")}
    return {"pairs": result.n, "meets": result.meets(bar), **(figures if result.n else {})}

"""How far judges agree with people, on the pairs that both have graded (rule 6.2)."""

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


def agreements(said: pl.DataFrame, *, n_draws: int = DRAWS) -> dict[tuple[str, str], Agreement]:
    """How far each judge agrees with people on the pairs that both graded, by namespace and judge.

    Labels of several people are averaged and rounded, a half up. A judge without such a pair is there, with
    n = 0.

    Args:
        said: rows of ``judgments`` up to a moment.
        n_draws: of the intervals of the coefficients.
    """
    people = resolve(said.filter(pl.col("source") == MANUAL)).grades
    found = {}
    for (namespace, judge), rows in said.filter(pl.col("source") == JUDGE).group_by("namespace", "judge"):
        theirs = resolve(rows, admitted=[str(judge)]).grades.join(people, on=PAIR, suffix="_people")
        found[str(namespace), str(judge)] = agreement(
            theirs["grade_people"], theirs["grade"], n_draws=n_draws
        )
    return found


def agreement_now(journal: Journal, namespace: str) -> dict[str, Agreement]:
    """That of each judge that has graded, by its name, by all that the journal has; no night is needed."""
    days = journal.days([JUDGMENT]).filter(pl.col("namespace") == namespace)["day"].to_list()
    said = drain_judgments(journal, days).rows.filter(pl.col("namespace") == namespace)
    return {judge: found for (_, judge), found in sorted(agreements(said).items())}


def as_row(judge: str, found: Agreement, bar: float) -> dict[str, Any]:
    """One judge beside the labels by hand, as a row of plain figures.

    Returns:
        ``judge``; ``pairs`` graded by both (count); ``exact`` and ``tolerant``: shares as of `Agreement`;
        ``low`` and ``high``: the 95 % interval of the exact one; all 0 without a pair; ``kappa``: Cohen's,
        None where it is not defined; ``met``: whether the exact agreement reaches the bar.
    """
    exact, low, high, tolerant = (*found.exact, found.tolerant.value) if found.n else (0.0,) * 4
    return {
        "judge": judge, "pairs": found.n, "exact": exact, "low": low, "high": high, "tolerant": tolerant,
        "kappa": None if isnan(found.kappa.value) else found.kappa.value, "met": found.meets(bar),
    }  # fmt: skip


def as_summary(found: Agreement, bar: float) -> dict[str, Any]:
    """What a cycle says of a judge: each figure with the ends of its interval; none without a pair."""
    figures = {name: list(getattr(found, name)) for name in ("exact", "tolerant", "binary", "kappa")}
    return {"pairs": found.n, "meets": found.meets(bar), **(figures if found.n else {})}

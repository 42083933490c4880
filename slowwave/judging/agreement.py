"""How far judges agree with people, on the pairs that both have graded (rule 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import polars as pl

from scoring.evaluation import agreement as measured
from slowwave.judging.model import JUDGE, MANUAL
from slowwave.judging.worth import last_words

if TYPE_CHECKING:
    from slowwave.journal import Journal


@dataclass(frozen=True, slots=True)
class Agreement:
    """One judge beside the labels by hand.

    Attributes:
        judge: name, model, version and prompt.
        pairs: graded by both (count).
        exact: share of them with the same grade; `low` and `high` are its 95 % interval.
        tolerant: share of them whose grades are at most one apart.
        kappa: Cohen's, of the grades; None where it is not defined.
        met: whether the exact agreement reaches the bar; never without an overlap.
    """

    judge: str
    pairs: int
    exact: float
    low: float
    high: float
    tolerant: float
    kappa: float | None
    met: bool


def agreement(journal: Journal, namespace: str, bar: float) -> list[Agreement]:
    """Each judge that has graded, by name; several people's grades of a pair are one, their rounded mean."""
    rows = last_words(journal, namespace).filter(pl.col("state") == "graded")
    people = (
        rows.filter(pl.col("source") == MANUAL)
        .group_by("query_id", "memory_id")
        .agg(by_hand=(pl.col("grade").mean() + 0.5).floor())
    )
    judges = rows.filter(pl.col("source") == JUDGE).join(people, on=["query_id", "memory_id"], how="left")
    found = []
    for (name,), of_judge in sorted(judges.group_by("judge")):
        both = of_judge.drop_nulls("by_hand")
        found.append(_agreement(name, both["grade"].to_list(), both["by_hand"].to_list(), bar))
    return found


def _agreement(name: str, judged: Sequence[float], by_hand: Sequence[float], bar: float) -> Agreement:
    if not judged:
        return Agreement(name, 0, 0.0, 0.0, 0.0, 0.0, None, met=False)
    found = measured(by_hand, judged)
    kappa = None if isnan(found.kappa.value) else found.kappa.value
    return Agreement(
        name, found.n, found.exact.value, found.exact.low, found.exact.high, found.tolerant.value, kappa,
        found.meets(bar),
    )  # fmt: skip

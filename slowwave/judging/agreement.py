"""How far judges agree with people, on the pairs that both have graded (rule 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from scoring.intervals import wilson
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
        found.append(_agreement(name, both["grade"].round().to_list(), both["by_hand"].to_list(), bar))
    return found


def _agreement(name: str, judged: Sequence[float], by_hand: Sequence[float], bar: float) -> Agreement:
    # Call site of the measures of agreement.
    pairs = len(judged)
    same = sum(one == other for one, other in zip(judged, by_hand, strict=True))
    near = sum(abs(one - other) <= 1 for one, other in zip(judged, by_hand, strict=True))
    share = same / pairs if pairs else 0.0
    low, high = wilson(same, pairs)
    return Agreement(
        name, pairs, share, low, high, near / pairs if pairs else 0.0, kappa(judged, by_hand),
        bool(pairs) and same >= bar * pairs - 1e-9,
    )  # fmt: skip


def kappa(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Cohen's kappa of two lists of grades: agreement beyond what their distributions give by chance.

    None without grades, or where both give one and the same grade only.

    Source: Cohen (1960), A coefficient of agreement for nominal scales.
    """
    n = len(one)
    expected = sum(one.count(grade) * other.count(grade) for grade in set(one)) / (n * n) if n else 1.0
    if expected == 1:
        return None
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    return (observed - expected) / (1 - expected)

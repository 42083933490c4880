"""How far judges agree with people, on the pairs that both have graded (rule 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import polars as pl

from slowwave.evaluation.judging.entries import drain_judgments
from slowwave.evaluation.known import agreements
from slowwave.journal.entry import JUDGMENT
from slowwave.scoring.evaluation import Agreement as Measured

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
    """Each judge that has graded, by name, by all that the journal has; no night is needed."""
    days = journal.days([JUDGMENT]).filter(pl.col("namespace") == namespace)["day"].to_list()
    said = drain_judgments(journal, days).rows.filter(pl.col("namespace") == namespace)
    return [_told(judge, found, bar) for (_, judge), found in sorted(agreements(said).items())]


def _told(judge: str, found: Measured, bar: float) -> Agreement:
    if not found.n:
        return Agreement(judge, 0, 0.0, 0.0, 0.0, 0.0, None, met=False)
    kappa = None if isnan(found.kappa.value) else found.kappa.value
    return Agreement(
        judge, found.n, found.exact.value, found.exact.low, found.exact.high, found.tolerant.value, kappa,
        found.meets(bar),
    )  # fmt: skip

"""Bounds of the learning gate (rule 6.7); each one is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from slowwave.scoring.parameters import Parameter, check


@dataclass(frozen=True, slots=True)
class GateBounds:
    """Bounds of the learning gate's conditions; settings may only be stricter.

    Raises:
        ValueError: a bound is less strict than the rule's.
    """

    # fmt: off
    min_closed_cycles: Annotated[int, Parameter(
        "Minimum closed evaluation cycles before the learning gate opens", 2, unit="count", rule="6.7",
    )] = 2
    cycle_queries: Annotated[int, Parameter(
        "Minimum evaluated queries in these cycles. Each counts once a day and three times a cycle at most",
        200, unit="count", rule="6.7",
    )] = 200
    cycle_days: Annotated[int, Parameter(
        "Minimum days that these cycles cover", 28, rule="6.7",
    )] = 28
    shadow_days: Annotated[float, Parameter(
        "Days from the first proposal in which proposals are measured and not applied", 7, rule="5.8",
    )] = 7.0
    max_noise_rate: Annotated[float, Parameter(
        "Share of noisy terms or keys from which the learning gate is closed", above=0, max=0.05, rule="5",
    )] = 0.05
    min_noise_samples: Annotated[int, Parameter(
        "Minimum terms or keys with a verdict before the noise rate counts. With 20 or fewer, one noisy "
        "term closes the gate", 5, unit="count", rule="5",
    )] = 5
    max_mrr_loss: Annotated[float, Parameter(
        "Maximum relative loss of MRR@5 with the proposals. A larger loss closes the gate",
        0, 0.02, rule="6.7",
    )] = 0.02
    quality_queries: Annotated[int, Parameter(
        "Minimum queries before the effect of the proposals counts. With fewer the gate stays shut",
        20, unit="count", rule="6.7",
    )] = 20
    # fmt: on

    def __post_init__(self) -> None:
        check(self)

"""What the learning gate asks for (rule 6.7); each bound is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from slowwave.scoring.parameters import Parameter, check


@dataclass(frozen=True, slots=True)
class GateBounds:
    """What the conditions ask for; the defaults are the rule's, and settings may only be stricter.

    Raises:
        ValueError: a bound is less strict than the rule's.
    """

    # fmt: off
    cycles: Annotated[int, Parameter(
        "Closed cycles before the gate opens", 2, unit="count", rule="6.7",
    )] = 2
    cycle_queries: Annotated[int, Parameter(
        "Distinct evaluated queries of these, as cycles count them", 200, unit="count", rule="6.7",
    )] = 200
    cycle_days: Annotated[int, Parameter("Days of these cycles", 28, rule="6.7")] = 28
    shadow_days: Annotated[float, Parameter("Days of proposals before any is applied", 7, rule="5.8")] = 7.0
    noise: Annotated[float, Parameter(
        "Share of noisy terms that closes the gate", above=0, max=0.05, rule="5",
    )] = 0.05
    noise_terms: Annotated[int, Parameter(
        "Terms with a verdict below which the share says nothing; of fewer than 20 a single noisy one closes "
        "the gate", 5, unit="count", rule="5",
    )] = 5
    loss: Annotated[float, Parameter(
        "Relative loss of MRR@5 that closes the gate", 0, 0.02, rule="6.7",
    )] = 0.02
    quality_queries: Annotated[int, Parameter(
        "Queries below which the would-be effect says nothing", 20, unit="count", rule="6.7",
    )] = 20
    # fmt: on

    def __post_init__(self) -> None:
        check(self)

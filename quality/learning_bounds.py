"""What the learning gate asks for (rule 6.7); each bound is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from slowwave.scoring.promised import require_within


@dataclass(frozen=True, slots=True)
class GateBounds:
    """What the conditions ask for; the defaults are the rule's, and settings may only be stricter.

    Attributes:
        cycles: closed cycles (count).
        cycle_queries: evaluated queries of these, as they count (rule 7.7; count).
        cycle_days: calendar days of these.
        shadow_days: from the first proposal on.
        noise: noise rate that is too high.
        noise_terms: learned terms with a verdict below which a rate says nothing (count); of fewer than 20
            a single noisy one closes the gate.
        loss: relative loss of MRR@5 that is too much.
        quality_queries: on which the would-be effect was measured, at least (count).

    Raises:
        ValueError: a bound is less strict than the rule's.
    """

    cycles: int = 2
    cycle_queries: int = 200
    cycle_days: int = 28
    shadow_days: float = 7.0
    noise: float = 0.05
    noise_terms: int = 5
    loss: float = 0.02
    quality_queries: int = 20

    def __post_init__(self) -> None:
        require_within(self, _PROMISED)


_PROMISED = {
    "cycles": (2, inf), "cycle_queries": (200, inf), "cycle_days": (28, inf), "shadow_days": (7.0, inf),
    "noise": (0.0, 0.05), "noise_terms": (5, inf), "loss": (0.0, 0.02), "quality_queries": (20, inf),
}  # fmt: skip

"""The constants of rule 4; each one is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from slowwave.scoring.promised import require_rising, require_within


@dataclass(frozen=True, slots=True)
class FeedbackPolicy:
    """How much feedback counts.

    Attributes:
        prior: effectiveness of what nobody has judged (rule 4.3).
        prior_weight: votes that the prior is worth.
        half_life_days: after which a vote counts half.
        implicit_weight: of one used or ignored result, in votes.
        implicit_cap: votes that all implicit evidence on a memory is worth together, at most.
        principal_votes: of one principal on one memory, the newest so many count (count).
        verdicts_per_day: of one principal on one memory and day, the first so many move its strength (count).
        important_at: useful votes from which a normal memory becomes important (rule 4.4).
        critical_at: useful votes from which an important memory becomes critical.
        promotions: at most so many in a window, per namespace (count).
        promotion_hours: length of that window.

    Raises:
        ValueError: it goes beyond what the rules promise, or its thresholds are out of order.
    """

    prior: float = 0.5
    prior_weight: float = 2.0
    half_life_days: float = 90.0
    implicit_weight: float = 0.25
    implicit_cap: float = 1.0
    principal_votes: int = 5
    verdicts_per_day: int = 5
    important_at: int = 5
    critical_at: int = 10
    promotions: int = 3
    promotion_hours: float = 8.0

    def __post_init__(self) -> None:
        require_within(self, _PROMISED)
        require_rising(important_at=self.important_at, critical_at=self.critical_at)


_PROMISED = {
    "prior": (0.0, 1.0), "prior_weight": (1.0, inf), "implicit_weight": (0.0, 1.0),
    "implicit_cap": (0.0, 1.0), "principal_votes": (1, 100),
    "promotions": (0, 3), "promotion_hours": (8.0, inf),
}  # fmt: skip

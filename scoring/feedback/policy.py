"""The constants of rules 4 and 5; each one is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from math import inf
from typing import Literal

from slowwave.scoring.promised import COEFFICIENT, require_rising, require_within


@dataclass(frozen=True, slots=True)
class FeedbackPolicy:
    """How much feedback counts.

    Attributes:
        prior: effectiveness of what nobody has judged (rule 4.3).
        prior_weight: votes that the prior is worth.
        question_prior_weight: votes that the prior is worth for one question (rule 8.1).
        half_life_days: after which a vote counts half.
        implicit_weight: of one used or ignored result, in votes.
        implicit_cap: votes that all implicit evidence on a memory is worth together, at most.
        principal_votes: of one principal on one memory, the newest so many count (count); for one question,
            the newest so many on the pair of them.
        nearest_questions: past questions that a new one is compared with, the nearest (count; rule 8.1).
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
    question_prior_weight: float = 1.0
    half_life_days: float = 90.0
    implicit_weight: float = 0.25
    implicit_cap: float = 1.0
    principal_votes: int = 5
    nearest_questions: int = 50
    verdicts_per_day: int = 5
    important_at: int = 5
    critical_at: int = 10
    promotions: int = 3
    promotion_hours: float = 8.0

    def __post_init__(self) -> None:
        require_within(self, _PROMISED)
        require_rising(important_at=self.important_at, critical_at=self.critical_at)


_PROMISED = {
    "prior": (0.0, 1.0), "prior_weight": (1.0, inf), "question_prior_weight": (1.0, inf),
    "implicit_weight": (0.0, 1.0),
    "implicit_cap": (0.0, 1.0), "principal_votes": (1, 100), "nearest_questions": (1, 10_000),
    "promotions": (0, 3), "promotion_hours": (8.0, inf),
}  # fmt: skip

Preference = Literal["question", "rare"]


@dataclass(frozen=True, slots=True)
class LearningPolicy:
    """The constants of rule 5.

    Attributes:
        coefficient: share of the cap that a full match is worth.
        excluded_ranks: best ranks that teach nothing (safeguard 5).
        events: learning events of a memory in any `window_hours` (safeguard 2, count).
        window_hours: of that limit.
        terms_per_selection: that one selection teaches, at most (count).
        terms_per_memory: that a memory holds, at most (count).
        ttl_days: life of a term; teaching it again begins a new one (safeguard 3).
        eligible_hours: age from which a memory may learn (safeguard 9).
        least_queries: distinct questions that must have taught a term before it has an effect (count).
        least_principals: distinct people who must have (count).
        frequent_share: share of a namespace's memories with a word, above which it is no term (safeguard 1).
        frequent_from: memories that must have it for that (count).
        preference: which terms a selection teaches first: in the order of the ``question``, or ``rare`` ones.
        known_first: whether terms that the memory is already learning come before new ones.
    """

    coefficient: float = COEFFICIENT
    excluded_ranks: int = 3
    events: int = 3
    window_hours: float = 8.0
    terms_per_selection: int = 3
    terms_per_memory: int = 8
    ttl_days: float = 30.0
    eligible_hours: float = 72.0
    least_queries: int = 2
    least_principals: int = 1
    frequent_share: float = 0.1
    frequent_from: int = 5
    preference: Preference = "rare"
    known_first: bool = True

    @property
    def ttl(self) -> timedelta:
        """Life of a term."""
        return timedelta(days=self.ttl_days)


SEEDS = LearningPolicy(preference="question", known_first=False)
"""The constants of the seed documents, which do not say which three terms of a question are taught."""


@dataclass(frozen=True, slots=True)
class KeyTeaching:
    """What a search teaches as a key to what was taken from it: the constants of rule 7.

    Attributes:
        used: evidence of a result that was used; that of one that was cited or rated helpful is 1.
        power: of the share of the first result's score which a result must have to count in full.
        excluded_ranks: best ranks that teach nothing.
        ttl_days: life of a key, over which it loses its weight in a line; asking again begins a new one.
        per_memory: keys of a memory, the newest (count).
        events: keys that a memory is taught in any `window_hours` (count).
        window_hours: of that limit.
        eligible_hours: age from which a text may be taught.
        bias: a result at rank r is looked at with probability r^-bias.
    """

    used: float = 0.7
    power: float = 1.0
    excluded_ranks: int = 0
    ttl_days: float = 180.0
    per_memory: int = 32
    events: int = 3
    window_hours: float = 8.0
    eligible_hours: float = 72.0
    bias: float = 0.5

    @property
    def ttl(self) -> timedelta:
        """Life of a key."""
        return timedelta(days=self.ttl_days)

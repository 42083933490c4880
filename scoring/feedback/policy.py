"""Constants of rules 4, 5, 7 and 8; each one is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from slowwave.scoring.parameters import Parameter, check
from slowwave.scoring.validation import COEFFICIENT

_FITTED = "fitted to labelled answers; it counts only if a program passes its own similarity function"


@dataclass(frozen=True, slots=True)
class UsagePolicy:
    """Thresholds of use (rule 4.1); every number is a share in [0, 1].

    The grey band and the similarity are fitted to labelled answers with bge-small-en-v1.5; cosines of another
    model differ (docs/benchmarks/usage-detection.md).
    """

    # fmt: off
    used_ratio: Annotated[float, Parameter(
        "Share of a memory's keywords in the answer above which the memory was used", 0, 1, rule="4.1",
    )] = 0.30
    grey_ratio: Annotated[float, Parameter(
        "Lower end of the band in which a program's similarity decides, as a share of the keywords without "
        "query words. The upper end is `used_ratio`; both ends belong to the band",
        0, 1, rule="4.1", fixed=_FITTED,
    )] = 0.10
    similarity: Annotated[float, Parameter(
        "Minimum similarity of memory and answer that counts as use", 0, 1, rule="4.1", fixed=_FITTED,
    )] = 0.80
    # fmt: on
    RISING: ClassVar = ("grey_ratio", "used_ratio")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class FeedbackPolicy:
    """Constants of feedback (rules 4.2 to 4.4 and 8.1).

    Raises:
        ValueError: a value is out of its range, or thresholds are out of order.
    """

    # fmt: off
    prior: Annotated[float, Parameter(
        "Effectiveness without any feedback", 0, 1, rule="4.3", fixed="the neutral value of rule 3.4",
    )] = 0.5
    half_life_days: Annotated[float, Parameter(
        "Days after which feedback counts half", above=0, rule="4.3",
    )] = 90.0
    prior_weight: Annotated[float, Parameter(
        "Weight of the neutral prior in global effectiveness, in ratings", 1, rule="4.3",
    )] = 2.0
    question_prior_weight: Annotated[float, Parameter(
        "Weight of the neutral prior in effectiveness for a question, in ratings", 1, rule="8.1",
    )] = 1.0
    nearest_questions: Annotated[int, Parameter(
        "Rated queries that a query is compared with, nearest first. Others do not count",
        1, 10_000, unit="count", rule="8.1",
    )] = 50
    implicit_weight: Annotated[float, Parameter(
        "Weight of one used or ignored result, in ratings. 0: implicit events do not count", 0, 1, rule="4.3",
    )] = 0.25
    implicit_cap: Annotated[float, Parameter(
        "Maximum weight of all implicit events of a memory together, in ratings", 0, 1, rule="4.3",
    )] = 1.0
    principal_votes: Annotated[int, Parameter(
        "Maximum ratings of one user on one memory that count. Older ones do not. For a question: on the "
        "pair of query and memory", 1, 100, unit="count", rule="4.3",
    )] = 5
    verdicts_per_day: Annotated[int, Parameter(
        "Maximum verdicts of one user on a memory and day that change its strength. Later ones do not",
        1, unit="count", rule="4.2",
    )] = 5
    important_at: Annotated[int, Parameter(
        "Helpful ratings that make a normal memory important", 1, unit="count", rule="4.4",
    )] = 5
    critical_at: Annotated[int, Parameter(
        "Helpful ratings that make an important memory critical", 1, unit="count", rule="4.4",
    )] = 10
    promotions: Annotated[int, Parameter(
        "Maximum promotions per namespace in `promotion_hours`. More wait for the next day. 0: none",
        0, 3, unit="count", rule="4.4",
    )] = 3
    promotion_hours: Annotated[float, Parameter(
        "Window in hours of the limit `promotions`", 8, rule="4.4",
    )] = 8.0
    # fmt: on
    RISING: ClassVar = ("important_at", "critical_at")

    def __post_init__(self) -> None:
        check(self)


Preference = Literal["question", "rare"]


@dataclass(frozen=True, slots=True)
class LearningPolicy:
    """Constants of learned terms (rule 5)."""

    # fmt: off
    excluded_ranks: Annotated[int, Parameter(
        "First ranks whose selections teach no term", 3, unit="count", rule="5.5",
    )] = 3
    max_events_per_window: Annotated[int, Parameter(
        "Maximum selections that teach a memory in `window_hours`. More are refused as `rate_limited`. 0: "
        "none", 0, 3, unit="count", rule="5.2",
    )] = 3
    window_hours: Annotated[float, Parameter(
        "Window in hours of the limit `max_events_per_window`", 8, 8_784, rule="5.2",
    )] = 8.0
    coefficient: Annotated[float, Parameter(
        "Share of `ranking.learned_cap` that a full match adds to a score. 0: none",
        0, COEFFICIENT, rule="3.8",
    )] = COEFFICIENT
    terms_per_selection: Annotated[int, Parameter(
        "Maximum terms that one selection teaches", 1, 3, unit="count", rule="5.2",
    )] = 3
    terms_per_memory: Annotated[int, Parameter(
        "Maximum learned terms of a memory. With that many, it learns no new one until one expires",
        1, 8, unit="count", rule="5.2",
    )] = 8
    ttl_days: Annotated[float, Parameter(
        "Days until the weight of a term has fallen linearly to 0. Learning it again restarts the fading",
        above=0, max=30, rule="5.3",
    )] = 30.0
    eligible_hours: Annotated[float, Parameter(
        "Minimum age of a memory's text before it can learn", 72, 87_600, unit="hours", rule="5.9",
    )] = 72.0
    min_queries: Annotated[int, Parameter(
        "Minimum different queries that must teach a term before it is used", 2, unit="count", rule="5",
    )] = 2
    min_users: Annotated[int, Parameter(
        "Minimum different users that must teach a term before it is used. Set 2 or more where users do not"
        " trust each other", 1, unit="count", rule="5",
    )] = 1
    frequent_share: Annotated[float, Parameter(
        "Maximum share of memories that may contain a learned term. More frequent words teach nothing",
        above=0, max=0.1, rule="5.1",
    )] = 0.1
    common_term_min_memories: Annotated[int, Parameter(
        "Minimum memories that must contain a word before `frequent_share` applies",
        1, 5, unit="count", rule="5.1",
    )] = 5
    preference: Annotated[Preference, Parameter(
        "Order in which words of a query are learned: rare words first, or the order of the query, as in "
        "the seeds", rule="5",
    )] = "rare"
    known_first: Annotated[bool, Parameter(
        "Learn words that the memory is learning already before new ones", rule="5",
    )] = True
    # fmt: on

    @property
    def ttl(self) -> timedelta:
        """Return the life of a term."""
        return timedelta(days=self.ttl_days)


SEEDS = LearningPolicy(preference="question", known_first=False)
"""Constants of the seeds, which teach the first terms of the question."""


@dataclass(frozen=True, slots=True)
class KeyTeaching:
    """Constants of teaching search keys (rule 7)."""

    # fmt: off
    usage_weight: Annotated[float, Parameter(
        "Evidence of a result that was used. Cited or rated helpful counts 1", 0, 1, rule="7.3",
    )] = 0.7
    score_exponent: Annotated[float, Parameter(
        "Exponent p of the factor (score / best score)^p on the evidence. 0: the score does not matter",
        0, 16, rule="7.3",
    )] = 1.0
    position_bias_exponent: Annotated[float, Parameter(
        "Exponent b of the chance r^(−b) that the result at rank r was examined. 0: every rank is examined "
        "alike", 0, 4, rule="7.3",
    )] = 0.5
    excluded_ranks: Annotated[int, Parameter(
        "First ranks whose selections teach no key. 0: every rank teaches", 0, unit="count", rule="7.4",
    )] = 0
    ttl_days: Annotated[float, Parameter(
        "Days until a key has faded linearly to 0. Asking again restarts the fading",
        above=0, max=365, rule="7.4",
    )] = 180.0
    max_per_memory: Annotated[int, Parameter(
        "Maximum keys of a memory, the newest of each user in turn", 1, 256, unit="count", rule="7.3",
    )] = 32
    max_events_per_window: Annotated[int, Parameter(
        "Maximum keys that a memory is taught in `window_hours`. More are refused as `rate_limited`. 0: "
        "none", 0, 3, unit="count", rule="7.5",
    )] = 3
    window_hours: Annotated[float, Parameter(
        "Window in hours of the limit `max_events_per_window`", 8, 8_784, rule="7.5",
    )] = 8.0
    eligible_hours: Annotated[float, Parameter(
        "Minimum age of a memory's text before it can be taught a key",
        72, 87_600, unit="hours", rule="7.5",
    )] = 72.0
    # fmt: on

    @property
    def ttl(self) -> timedelta:
        """Return the life of a key."""
        return timedelta(days=self.ttl_days)

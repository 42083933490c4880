"""Constants of rules 4, 5 and 7; each one is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from slowwave.scoring.parameters import Parameter, check
from slowwave.scoring.validation import COEFFICIENT

_FITTED = "fitted to labelled answers; only where a program brings a similarity of its own"


@dataclass(frozen=True, slots=True)
class UsagePolicy:
    """Thresholds of use (rule 4.1); every number is a share in [0, 1].

    The grey band and the similarity are read off labelled answers with bge-small-en-v1.5; the cosines of
    another model mean other things (docs/benchmarks/evaluation-validity.md).
    """

    # fmt: off
    used_ratio: Annotated[float, Parameter(
        "Share of a memory's words in an answer above which it was used", 0, 1, rule="4.1",
    )] = 0.30
    grey_ratio: Annotated[float, Parameter(
        "Share of its words beyond the query from which, up to `used_ratio`, a similarity decides where one "
        "is given; both ends belong to the band", 0, 1, rule="4.1", fixed=_FITTED,
    )] = 0.10
    similarity: Annotated[float, Parameter(
        "Least similarity of memory and answer that is use", 0, 1, rule="4.1", fixed=_FITTED,
    )] = 0.80
    # fmt: on
    RISING: ClassVar = ("grey_ratio", "used_ratio")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class FeedbackPolicy:
    """How much feedback counts.

    Raises:
        ValueError: it goes beyond what the rules promise, or its thresholds are out of order.
    """

    # fmt: off
    prior: Annotated[float, Parameter(
        "Effectiveness of what nobody has judged", 0, 1, rule="4.3", fixed="neutral, as in 3.4",
    )] = 0.5
    half_life_days: Annotated[float, Parameter(
        "Days after which a vote counts half", above=0, rule="4.3",
    )] = 90.0
    prior_weight: Annotated[float, Parameter(
        "Votes that the neutral beginning is worth", 1, rule="4.3",
    )] = 2.0
    question_prior_weight: Annotated[float, Parameter(
        "Votes that the neutral prior is worth for one question", 1, rule="8.1",
    )] = 1.0
    nearest_questions: Annotated[int, Parameter(
        "Rated questions that a new one is compared with, the nearest", 1, 10_000, unit="count", rule="8.1",
    )] = 50
    implicit_weight: Annotated[float, Parameter(
        "Votes that one used or ignored result is worth", 0, 1, rule="4.3",
    )] = 0.25
    implicit_cap: Annotated[float, Parameter(
        "Votes that all implicit evidence on a memory is worth, at most", 0, 1, rule="4.3",
    )] = 1.0
    principal_votes: Annotated[int, Parameter(
        "Votes of one principal on one memory that count, the newest; for one question, on the pair of them",
        1, 100, unit="count", rule="4.3",
    )] = 5
    verdicts_per_day: Annotated[int, Parameter(
        "Verdicts of one principal on a memory and day that move its strength, the first ones", 1,
        unit="count", rule="4.2",
    )] = 5
    important_at: Annotated[int, Parameter(
        "Useful votes from which a normal memory becomes important", 1, unit="count", rule="4.4",
    )] = 5
    critical_at: Annotated[int, Parameter(
        "Useful votes from which an important memory becomes critical", 1, unit="count", rule="4.4",
    )] = 10
    promotions: Annotated[int, Parameter(
        "Promotions that a namespace may have in `promotion_hours`", 0, 3, unit="count", rule="4.4",
    )] = 3
    promotion_hours: Annotated[float, Parameter("Hours that this limit is about", 8, rule="4.4")] = 8.0
    # fmt: on
    RISING: ClassVar = ("important_at", "critical_at")

    def __post_init__(self) -> None:
        check(self)


Preference = Literal["question", "rare"]


@dataclass(frozen=True, slots=True)
class LearningPolicy:
    """The constants of rule 5."""

    # fmt: off
    excluded_ranks: Annotated[int, Parameter(
        "Best ranks of which a selection teaches nothing", 3, unit="count", rule="5.5",
    )] = 3
    events: Annotated[int, Parameter(
        "Learning events of a memory in `window_hours`", 0, 3, unit="count", rule="5.2",
    )] = 3
    window_hours: Annotated[float, Parameter(
        "Hours that this limit is about", 8, 8_784, rule="5.2",
    )] = 8.0
    coefficient: Annotated[float, Parameter(
        "Share of `ranking.learned_cap` that a full match is worth", 0, COEFFICIENT, rule="3.8",
    )] = COEFFICIENT
    terms_per_selection: Annotated[int, Parameter(
        "Terms that one selection teaches", 1, 3, unit="count", rule="5.2",
    )] = 3
    terms_per_memory: Annotated[int, Parameter(
        "Learned terms of a memory", 1, 8, unit="count", rule="5.2",
    )] = 8
    ttl_days: Annotated[float, Parameter(
        "Days until a term has faded to nothing; teaching it again begins anew", above=0, max=30, rule="5.3",
    )] = 30.0
    eligible_hours: Annotated[float, Parameter(
        "Age from which a memory may learn", 72, 87_600, unit="hours", rule="5.9",
    )] = 72.0
    least_queries: Annotated[int, Parameter(
        "Distinct questions that must have taught a term before it counts", 2, unit="count", rule="5",
    )] = 2
    least_principals: Annotated[int, Parameter(
        "Distinct people who must have; 2 or more where people do not trust each other", 1, unit="count",
        rule="5",
    )] = 1
    frequent_share: Annotated[float, Parameter(
        "Share of the memories that have a word, above which it is no term", above=0, max=0.1, rule="5.1",
    )] = 0.1
    frequent_from: Annotated[int, Parameter(
        "Memories that must have a word before that share counts", 1, 5, unit="count", rule="5.1",
    )] = 5
    preference: Annotated[Preference, Parameter(
        "Which words of a question are taught first: in its order, as in the seeds, or rare ones", rule="5",
    )] = "rare"
    known_first: Annotated[bool, Parameter(
        "Whether words that the memory is already learning come before new ones", rule="5",
    )] = True
    # fmt: on

    @property
    def ttl(self) -> timedelta:
        """Life of a term."""
        return timedelta(days=self.ttl_days)


SEEDS = LearningPolicy(preference="question", known_first=False)
"""The constants of the seed documents, which do not say which three terms of a question are taught."""


@dataclass(frozen=True, slots=True)
class KeyTeaching:
    """Constants by which a search teaches a search key (rule 7)."""

    # fmt: off
    used: Annotated[float, Parameter(
        "Evidence of a result that was used; that of one that was cited or rated helpful is 1", 0, 1,
        rule="7.3",
    )] = 0.7
    power: Annotated[float, Parameter(
        "Evidence is multiplied by (score ÷ best score) to this power", 0, 16, rule="7.3",
    )] = 1.0
    bias: Annotated[float, Parameter(
        "The result at rank r is looked at with the chance r to the power of minus this", 0, 4, rule="7.3",
    )] = 0.5
    excluded_ranks: Annotated[int, Parameter(
        "Best ranks of which a selection teaches nothing", 0, unit="count", rule="7.4",
    )] = 0
    ttl_days: Annotated[float, Parameter(
        "Days until a key has faded to nothing, in a line; asking again begins anew", above=0, max=365,
        rule="7.4",
    )] = 180.0
    per_memory: Annotated[int, Parameter(
        "Keys of a memory, the newest", 1, 256, unit="count", rule="7.3",
    )] = 32
    events: Annotated[int, Parameter(
        "Keys that a memory is taught in `window_hours`", 0, 3, unit="count", rule="7.5",
    )] = 3
    window_hours: Annotated[float, Parameter(
        "Hours that this limit is about", 8, 8_784, rule="7.5",
    )] = 8.0
    eligible_hours: Annotated[float, Parameter(
        "Age from which a text may be taught", 72, 87_600, unit="hours", rule="7.5",
    )] = 72.0
    # fmt: on

    @property
    def ttl(self) -> timedelta:
        """Life of a key."""
        return timedelta(days=self.ttl_days)

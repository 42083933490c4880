"""Settings of what use teaches, and of the gate before it; their defaults are those of their policies."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from slowwave.quality.learning_bounds import GateBounds
from slowwave.scoring.feedback.policy import KeyTeaching, LearningPolicy
from slowwave.scoring.key_policy import KeyPolicy
from slowwave.settings.groups import Group

_LEARNING, _GATE = LearningPolicy(), GateBounds()
_TEACHING, _LIFTING = KeyTeaching(), KeyPolicy()


class LearningSettings(Group):
    """What selections teach (rule 5), and the gate before it (rule 6.7)."""

    enabled: bool = Field(
        False, description="Propose what could be learned; applied is nothing before the gate is open"
    )
    words: bool = Field(
        True, description="Whether words of questions are proposed and used, where learning is enabled"
    )
    keys: bool = Field(
        True, description="Whether past questions are search keys, where learning is enabled (rule 7)"
    )
    excluded_ranks: int = Field(
        _LEARNING.excluded_ranks, ge=3, description="Best ranks of which a selection teaches nothing"
    )
    events: int = Field(
        _LEARNING.events, ge=0, le=3, description="Learning events of a memory in `window_hours` (count)"
    )
    window_hours: float = Field(
        _LEARNING.window_hours, ge=8, le=8_784, description="Hours that this limit is about"
    )
    coefficient: float = Field(
        _LEARNING.coefficient,
        ge=0,
        le=0.7,
        description="Share of `ranking.learned_cap` that a full match is worth",
    )
    terms_per_selection: int = Field(
        _LEARNING.terms_per_selection, ge=1, le=3, description="Terms that one selection teaches (count)"
    )
    terms_per_memory: int = Field(
        _LEARNING.terms_per_memory, ge=1, le=8, description="Learned terms of a memory (count)"
    )
    ttl_days: float = Field(
        _LEARNING.ttl_days, gt=0, le=30, description="Days until a term has faded to nothing"
    )
    eligible_hours: float = Field(
        _LEARNING.eligible_hours, ge=72, le=87_600, description="Age from which a memory may learn (hours)"
    )
    least_queries: int = Field(
        _LEARNING.least_queries,
        ge=2,
        description="Distinct questions that must have taught a term before it counts (count)",
    )
    least_principals: int = Field(
        _LEARNING.least_principals,
        ge=1,
        description="Distinct people who must have; 2 or more where people do not trust each other",
    )
    frequent_share: float = Field(
        _LEARNING.frequent_share,
        gt=0,
        le=0.1,
        description="Share of the memories that have a word, above which it is no term",
    )
    frequent_from: int = Field(
        _LEARNING.frequent_from,
        ge=1,
        le=5,
        description="Memories that must have a word before that share counts (count)",
    )
    preference: Literal["question", "rare"] = Field(
        _LEARNING.preference,
        description="Which words of a question are taught first: in its order, or rare ones",
    )
    known_first: bool = Field(
        _LEARNING.known_first,
        description="Whether words that the memory is already learning come before new ones",
    )
    cycles: int = Field(_GATE.cycles, ge=2, description="Closed cycles before the gate opens (count)")
    cycle_queries: int = Field(
        _GATE.cycle_queries, ge=200, description="Distinct evaluated queries of these (count)"
    )
    cycle_days: int = Field(_GATE.cycle_days, ge=28, description="Days of these cycles")
    shadow_days: float = Field(_GATE.shadow_days, ge=7, description="Days of proposals before any is applied")
    noise: float = Field(_GATE.noise, gt=0, le=0.05, description="Share of noisy terms that closes the gate")
    noise_terms: int = Field(
        _GATE.noise_terms, ge=5, description="Terms with a verdict below which the share says nothing (count)"
    )
    loss: float = Field(_GATE.loss, ge=0, le=0.02, description="Relative loss of MRR@5 that closes the gate")
    quality_queries: int = Field(
        _GATE.quality_queries,
        ge=20,
        description="Queries below which the would-be effect says nothing (count)",
    )
    interleave: float = Field(
        0.25, ge=0, le=1,
        description="Share of the searches that learning changes which show both rankings in turn",
    )  # fmt: skip


class SearchKeySettings(Group):
    """Past questions as keys to what they led to (rule 7)."""

    used: float = Field(
        _TEACHING.used, ge=0, le=1,
        description="Evidence of a result that was used; that of one that was cited or rated helpful is 1",
    )  # fmt: skip
    power: float = Field(
        _TEACHING.power, ge=0, le=16,
        description="Evidence is multiplied by (score ÷ best score) to this power",
    )  # fmt: skip
    bias: float = Field(
        _TEACHING.bias, ge=0, le=4,
        description="The result at rank r is looked at with the chance r to the power of minus this",
    )  # fmt: skip
    excluded_ranks: int = Field(
        _TEACHING.excluded_ranks, ge=0, description="Best ranks of which a selection teaches nothing"
    )
    ttl_days: float = Field(
        _TEACHING.ttl_days, gt=0, le=365, description="Days until a key has faded to nothing"
    )
    per_memory: int = Field(_TEACHING.per_memory, ge=1, le=256, description="Keys of a memory (count)")
    events: int = Field(
        _TEACHING.events, ge=0, le=3, description="Keys that a memory is taught in `window_hours` (count)"
    )
    window_hours: float = Field(
        _TEACHING.window_hours, ge=8, le=8_784, description="Hours that this limit is about"
    )
    eligible_hours: float = Field(
        _TEACHING.eligible_hours, ge=72, le=87_600, description="Age from which a text may be taught (hours)"
    )
    prior: float = Field(
        _LIFTING.prior, gt=0, le=100, description="Looks without taking that every memory starts with"
    )
    nearest: int = Field(
        _LIFTING.nearest, ge=1, le=1_000, description="Past questions that one is compared with (count)"
    )
    reach: float = Field(
        _LIFTING.reach, ge=0, le=0.4,
        description="Most that one of three people adds to a score by what they took; of more, so much less",
    )  # fmt: skip
    minority: float = Field(
        _LIFTING.minority, ge=0, lt=1,
        description="Share of the people of three or more that are bounded so together; at least one is",
    )  # fmt: skip

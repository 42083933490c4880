"""Settings of the rules: the gate, reconsolidation, ranking, feedback, learning, evaluation, judges.

Those of a policy's parameters stand where the policy declares them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from slowwave.quality.gate_policy import GatePolicy
from slowwave.quality.learning_bounds import GateBounds
from slowwave.quality.reconsolidation import Thresholds
from slowwave.scoring.feedback.policy import FeedbackPolicy, KeyTeaching, LearningPolicy, UsagePolicy
from slowwave.scoring.key_policy import KeyPolicy
from slowwave.scoring.ranking_policy import RankingPolicy
from slowwave.settings.groups import Group
from slowwave.settings.policies import PolicyGroup, with_parameters


@with_parameters(GatePolicy)
class GateSettings(PolicyGroup):
    """The save gate (rule 1)."""

    mode: Literal["off", "warn", "enforce"] = Field(
        "warn",
        description="off: everything readable enters; warn: for `warn_days` the gate only records what it "
        "would refuse, then it enforces; enforce: at once",
    )
    echo_hours: float = Field(
        24.0, ge=0, le=8_760, description="Hours in which repeating what a search showed is an echo; 0: never"
    )


@with_parameters(Thresholds, unset=True)
class ReconsolidationSettings(PolicyGroup):
    """What becomes of notes that say again, or say otherwise, what is known (rule 2)."""

    policy: Literal["off", "guarded", "literal"] = Field(
        "off",
        description="off: stored as they are; guarded: merged only if nothing differs, superseded only on "
        "the same subject; literal: by similarity alone",
    )
    neighbours: int = Field(3, ge=1, le=20, description="Most similar memories that are looked at (count)")


@with_parameters(RankingPolicy, unset=True)
class RankingSettings(PolicyGroup):
    """Candidates and ranking of one search (rule 3). What is unset is the policy file's, else the default."""

    candidates: int = Field(100, ge=1, le=10_000, description="Chunks fetched per channel (count)")
    policy_file: Path | None = Field(
        None,
        description="A policy that `slowwave tune` wrote, relative to the home; what it leaves out, and "
        "all where this is unset: the defaults and the model's own",
    )


@with_parameters(UsagePolicy, FeedbackPolicy)
class FeedbackSettings(PolicyGroup):
    """What use teaches (rule 4)."""


@with_parameters(LearningPolicy, GateBounds)
class LearningSettings(PolicyGroup):
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
    interleave: float = Field(
        0.25, ge=0, le=1,
        description="Share of the searches that learning changes which show both rankings in turn",
    )  # fmt: skip


@with_parameters(KeyTeaching, KeyPolicy)
class SearchKeySettings(PolicyGroup):
    """Past questions as keys to what they led to (rule 7)."""


class EvaluationSettings(Group):
    """How good the memory is (rule 6)."""

    shadow: bool = Field(
        True, description="Try other rankings on what searches considered; off: only what was shown counts"
    )
    shadow_policies: dict[str, Path] = Field(
        default_factory=dict,
        description="Your own among them: name = file that `slowwave tune` wrote, relative to the home",
    )
    ablations: bool = Field(
        True, description="Also try the ranking in force without each channel and stage, and baselines"
    )
    margin: float = Field(
        0.02, ge=0, le=1, description="Difference of a metric (0 to 1) that does not matter"
    )
    cycle_searches: int = Field(
        100,
        ge=100,
        description="Queries with a relevant judgment that a cycle needs (count); each counts once a day, "
        "and three times at most",
    )
    cycle_days: int = Field(14, ge=14, description="Days that a cycle takes at least")
    interleave: Path | None = Field(
        None,
        description="A policy whose results searches show in turn with those of the one in force; a file, "
        "relative to the home",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_it_was_called(cls, given: Any) -> Any:  # noqa: ANN401 - not validated yet
        """`shadow` was the mapping of one's own policies, before it was the switch."""
        if isinstance(given, dict) and isinstance(given.get("shadow"), dict):
            both = {**given["shadow"], **given.get("shadow_policies", {})}
            return {**given, "shadow": True, "shadow_policies": both}
        return given


class JudgeSettings(Group):
    """Who grades results, beside people and use (rule 6.2)."""

    kind: Literal["off", "default", "openai"] = Field(
        "default",
        description="off; default: words and the bundled cross-encoder; openai: a model behind base_url",
    )
    pairs: int = Field(
        25, ge=0, le=100_000, description="Pairs of query and memory that are judged of a day and namespace"
    )
    anchors: int = Field(
        20, ge=0, le=1_000, description="Pairs that are judged again in every cycle, to see the judge drift"
    )
    model: str = Field("", description="Of kind openai: the model's name")
    base_url: str = Field(
        "", description="Of kind openai: address of the API; empty: the client's own default"
    )
    credential_variable: str = Field(
        "OPENAI_API_KEY", description="Environment variable that holds the key of the API"
    )
    timeout_seconds: float = Field(60.0, gt=0, le=3_600, description="Seconds that one answer may take")
    retries: int = Field(3, ge=0, le=20, description="Times that a failed request is sent again")
    budget: int = Field(
        500_000, ge=0, description="Tokens, read and written, that one run may use; then it stops (count)"
    )
    agreement: float = Field(
        0.80, ge=0.80, le=1, description="Agreement with labels by hand from which a judge's grades count"
    )

"""Setting groups of the rules: gate, reconsolidation, ranking, feedback, learning, evaluation, judge.

Policy parameters become settings by declaration, in the class of the policy.
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
    """Save gate (rule 1)."""

    mode: Literal["off", "warn", "enforce"] = Field(
        "warn",
        description="off: store every readable note; warn: for `warn_days` only record what the "
        "gate would refuse, then enforce; enforce: refuse at once",
    )
    echo_hours: float = Field(
        24.0,
        ge=0,
        le=8_760,
        description="Hours after a search in which a note that repeats its returned results is "
        "refused as an echo. 0: never",
    )


@with_parameters(Thresholds, unset=True)
class ReconsolidationSettings(PolicyGroup):
    """Merging or superseding memories that a new note resembles (rule 2)."""

    policy: Literal["off", "guarded", "literal"] = Field(
        "off",
        description="off: store each note as it is; guarded: merge only texts without a divergence,"
        " supersede only on the same subject; literal: decide by cosine alone",
    )
    neighbours: int = Field(
        3, ge=1, le=20, description="Number of most similar memories that a note is compared with"
    )


@with_parameters(RankingPolicy, unset=True)
class RankingSettings(PolicyGroup):
    """Candidates and ranking of a search (rule 3).

    Unset: the value of the policy file, else of the embedding model, else the default.
    """

    candidates: int = Field(100, ge=1, le=10_000, description="Chunks fetched per channel")
    policy_file: Path | None = Field(
        None,
        description="Ranking policy written by `slowwave tune`, relative to the home. Parameters "
        "that it leaves out come from the embedding model, else from the defaults",
    )


@with_parameters(UsagePolicy, FeedbackPolicy)
class FeedbackSettings(PolicyGroup):
    """Weights of feedback (rule 4)."""


@with_parameters(LearningPolicy, GateBounds)
class LearningSettings(PolicyGroup):
    """Learned terms (rule 5), and the learning gate (rule 6.7)."""

    enabled: bool = Field(
        False,
        description="Propose learned terms and search keys. Nothing is applied before the learning "
        "gate is open. false: no proposals and no effect",
    )
    words: bool = Field(True, description="If learning is enabled, propose and use learned terms")
    keys: bool = Field(True, description="If learning is enabled, propose and use search keys (rule 7)")
    interleave: float = Field(
        0.25, ge=0, le=1,
        description="Of the searches that learning changes, the share that interleaves results with"
        " and without it. 0: none",
    )  # fmt: skip


@with_parameters(KeyTeaching, KeyPolicy)
class SearchKeySettings(PolicyGroup):
    """Search keys (rule 7)."""


class EvaluationSettings(Group):
    """Evaluation of logged searches (rule 6)."""

    shadow: bool = Field(
        True,
        description="Replay past searches under other policies. false: only the returned results "
        "are measured",
    )
    shadow_policies: dict[str, Path] = Field(
        default_factory=dict,
        description="Shadow policies of your own: name = file written by `slowwave tune`, relative "
        "to the home",
    )
    ablations: bool = Field(
        True, description="Also replay baselines, and the policy in force without each channel and stage"
    )
    margin: float = Field(
        0.02, ge=0, le=1, description="Largest difference of a metric (0 to 1) that counts as equivalent"
    )
    cycle_searches: int = Field(
        100,
        ge=100,
        description="Minimum queries with a relevant judgment before a cycle closes. Each counts "
        "once a day and three times at most",
    )
    cycle_days: int = Field(14, ge=14, description="Minimum calendar days of a cycle")
    interleave: Path | None = Field(
        None,
        description="Policy file, relative to the home. Searches interleave its results with those "
        "of the policy in force. Unset: none",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_it_was_called(cls, given: Any) -> Any:  # noqa: ANN401 - not validated yet
        """Accept the legacy form of `shadow`, a mapping of own policies; now it is a switch."""
        if isinstance(given, dict) and isinstance(given.get("shadow"), dict):
            both = {**given["shadow"], **given.get("shadow_policies", {})}
            return {**given, "shadow": True, "shadow_policies": both}
        return given


class JudgeSettings(Group):
    """The judge that grades results (rule 6.2)."""

    kind: Literal["off", "default", "openai"] = Field(
        "default",
        description="off: no judge; default: the bundled cross-encoder and word overlap; openai: a "
        "model at `base_url`",
    )
    pairs: int = Field(
        25,
        ge=0,
        le=100_000,
        description="Maximum pairs of query and memory graded per day and namespace. 0: none",
    )
    anchors: int = Field(
        20,
        ge=0,
        le=1_000,
        description="Pairs graded again in every cycle, to detect drift of the judge. 0: none",
    )
    model: str = Field("", description="Name of the model, for kind openai")
    base_url: str = Field("", description="URL of the API, for kind openai. Empty: the default of the client")
    credential_variable: str = Field("OPENAI_API_KEY", description="Environment variable with the API key")
    timeout_seconds: float = Field(60.0, gt=0, le=3_600, description="Maximum seconds for one answer")
    retries: int = Field(3, ge=0, le=20, description="Retries of a failed request")
    budget: int = Field(
        500_000,
        ge=0,
        description="Maximum tokens, read and written, of one run. The run stops before it exceeds them",
    )
    agreement: float = Field(
        0.80,
        ge=0.80,
        le=1,
        description="Minimum share of equal grades with labels by hand before a judge's grades count",
    )

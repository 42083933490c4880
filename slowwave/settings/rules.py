"""Settings of the rules: the gate, reconsolidation, ranking, feedback, evaluation, judges.

Defaults of feedback are those of its policy, and stand there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.promised import require_rising
from slowwave.settings.groups import Group

_FEEDBACK = FeedbackPolicy()


class GateSettings(Group):
    """The save gate (rule 1)."""

    mode: Literal["off", "warn", "enforce"] = Field(
        "warn",
        description="off: everything readable enters; warn: for `warn_days` the gate only records what it "
        "would refuse, then it enforces; enforce: at once",
    )
    warn_days: float = Field(
        14.0, ge=0, le=36_500, description="Days from its first use in which a gate of mode warn only warns"
    )
    score: Literal["applicable", "seeds"] = Field(
        "applicable",
        description="applicable: a text has to state something and only what applies to a note is scored; "
        "seeds: 50 characters, and six weighted parts of which each counts for every note",
    )
    min_characters: int | None = Field(
        None,
        ge=0,
        description="Characters of content below which a note is refused; unset: 50 for `seeds`, else any "
        "length",
    )
    min_quality: float = Field(
        0.40, ge=0, le=1, description="Content score (L2, 0 to 1) below which a note is refused"
    )
    echo_hours: float = Field(
        24.0, ge=0, le=8_760, description="Hours in which repeating what a search showed is an echo; 0: never"
    )


class ReconsolidationSettings(Group):
    """What becomes of notes that say again, or say otherwise, what is known (rule 2)."""

    policy: Literal["off", "guarded", "literal"] = Field(
        "off",
        description="off: stored as they are; guarded: merged only if nothing differs, superseded only on "
        "the same subject; literal: by similarity alone",
    )
    neighbours: int = Field(3, ge=1, le=20, description="Most similar memories that are looked at (count)")
    duplicate: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Cosine above which a note is a duplicate; unset: the model's own",
    )
    merge: float | None = Field(
        None, ge=-1, le=1, description="Cosine from which notes are merged; unset: the model's own"
    )
    conflict: float | None = Field(
        None, ge=-1, le=1, description="Cosine from which notes may conflict; unset: the model's own"
    )

    @model_validator(mode="after")
    def _ordered(self) -> ReconsolidationSettings:
        require_rising(conflict=self.conflict, merge=self.merge, duplicate=self.duplicate)
        return self


class RankingSettings(Group):
    """Candidates and ranking of one search (rule 3). What is unset is the policy file's, else the default."""

    candidates: int = Field(100, ge=1, le=10_000, description="Chunks fetched per channel (count)")
    policy_file: Path | None = Field(
        None,
        description="A policy that `slowwave tune` wrote, relative to the home; what it leaves out, and "
        "all where this is unset: the defaults and the model's own",
    )
    fusion: Literal["convex", "rrf"] | None = Field(
        None, description="How channel scores become one score; unset: convex"
    )
    vector_weight: float | None = Field(
        None, ge=0, le=1, description="Weight of the vector channel; unset: the embedding model's own"
    )
    rrf_k: int | None = Field(
        None, ge=1, le=1_000, description="Constant of reciprocal rank fusion; unset: 10"
    )
    mpab: bool | None = Field(
        None, description="Whether the other chunks of a memory add to its best one; unset: they do"
    )
    negative_feedback: bool | None = Field(
        None, description="Whether not-useful votes lower a score; unset: they do"
    )
    sparse_recall: bool | None = Field(
        None, description="Whether a short memory that is very near is given a place; unset: it is"
    )
    abstention_floor: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Signal below which a search shows nothing; 0: never; unset: the embedding model's own",
    )
    rerank_weight: float | None = Field(
        None, ge=0, le=1, description="Share of the cross-encoder in a score; unset: 0, which is off"
    )
    rerank_top: int | None = Field(
        None, ge=0, le=1_000, description="Best memories that the cross-encoder reads (count); unset: 20"
    )
    bm25_reach: float | None = Field(
        None,
        ge=1,
        description="BM25 counts 1 from its bound over this; inf: from the query's best; unset: 1.5",
    )
    cosine_floor: float | None = Field(
        None, ge=-1, le=0.999, description="Cosine that counts as 0; unset: the embedding model's own"
    )
    title_weight: float | None = Field(
        None, ge=0, le=1, description="What a title adds that has all words of the query; unset: 0.1"
    )
    trigger_weight: float | None = Field(
        None, ge=0, le=1, description="What a trigger phrase adds that the query says whole; unset: 0.2"
    )
    neighbour_weight: float | None = Field(
        None, ge=0, le=1, description="Share that a memory gets of those before and after it; unset: 0.2"
    )
    mpab_coefficient: float | None = Field(
        None, ge=0, le=1, description="Coefficient of what the other chunks add; unset: 0.02"
    )
    mpab_cap: float | None = Field(
        None, ge=0, description="Most that the other chunks add; inf as in the seeds; unset: 0.005"
    )
    feedback_scope: Literal["question", "memory"] | None = Field(
        None,
        description="Whether feedback counts for questions like the one it was given for, or for the memory "
        "in every search (the preset seeds); unset: question",
    )
    effectiveness_weight: float | None = Field(
        None, ge=0, le=0.3, description="Share of effectiveness in a score; unset: 0.3"
    )
    effectiveness_from: int | None = Field(
        None,
        ge=3,
        le=1_000_000,
        description="Data points from which the effectiveness of a memory counts, and from which it is "
        "flagged (count); unset: 3",
    )
    highly_effective: float | None = Field(
        None, ge=0, le=1, description="Effectiveness from which a result is flagged; unset: 0.8"
    )
    learned_cap: float | None = Field(
        None, ge=0, le=0.15, description="Most that learned triggers add to a score; unset: 0.15"
    )
    key_weight: float | None = Field(
        None, ge=0, le=0.4, description="Most that search keys add to a score; 0 is off; unset: 0.3"
    )
    confidence_point: float | None = Field(
        None, ge=0, le=0.1, description="What one point of confidence adds to a score; unset: 0.01"
    )
    negative_step: float | None = Field(
        None, ge=0, le=0.1, description="Share of a score that a fresh not-useful vote takes; unset: 0.1"
    )
    negative_floor: float | None = Field(
        None, ge=0.3, le=1, description="Share that not-useful votes leave at least; unset: 0.3"
    )
    negative_half_life_days: float | None = Field(
        None, ge=0.001, le=100_000, description="Days after which a not-useful vote counts half; unset: 30"
    )
    sparse_chunks: int | None = Field(
        None, ge=0, le=1_000, description="Most chunks of a short memory (count); unset: 2"
    )
    sparse_top: int | None = Field(
        None,
        ge=0,
        le=100_000,
        description="Nearest chunks that are looked at for short memories, at least (count); unset: 20",
    )
    sparse_distance: float | None = Field(
        None,
        ge=0,
        le=2,
        description="Cosine distance up to which a short memory is very near; unset: the model's own",
    )
    sparse_keeps: int | None = Field(
        None, ge=3, le=1_000, description="First places that none takes for being short (count); unset: 5"
    )
    soft_from: float | None = Field(
        None, ge=0.5, le=1, description="Score from which one is squeezed toward 1; 1 cuts; unset: 0.9"
    )


class FeedbackSettings(Group):
    """What use teaches (rule 4)."""

    used_ratio: float = Field(
        0.30, ge=0, le=1, description="Share of a memory's words in an answer above which it was used"
    )
    half_life_days: float = Field(
        _FEEDBACK.half_life_days, gt=0, description="Days after which a vote counts half"
    )
    prior_weight: float = Field(
        _FEEDBACK.prior_weight, ge=1, description="Votes that the neutral beginning is worth"
    )
    question_prior_weight: float = Field(
        _FEEDBACK.question_prior_weight,
        ge=1,
        description="Votes that the neutral prior is worth for one question",
    )
    nearest_questions: int = Field(
        _FEEDBACK.nearest_questions,
        ge=1,
        le=10_000,
        description="Rated questions that a new one is compared with, the nearest (count)",
    )
    implicit_weight: float = Field(
        _FEEDBACK.implicit_weight, ge=0, le=1, description="Votes that one used or ignored result is worth"
    )
    implicit_cap: float = Field(
        _FEEDBACK.implicit_cap,
        ge=0,
        le=1,
        description="Votes that all implicit evidence on a memory is worth, at most",
    )
    principal_votes: int = Field(
        _FEEDBACK.principal_votes,
        ge=1,
        le=100,
        description="Votes of one principal on one memory that count, the newest (count)",
    )
    verdicts_per_day: int = Field(
        _FEEDBACK.verdicts_per_day,
        ge=1,
        description="Verdicts of one principal on a memory and day that move its strength (count)",
    )
    important_at: int = Field(
        _FEEDBACK.important_at,
        ge=1,
        description="Useful votes from which a normal memory becomes important (count)",
    )
    critical_at: int = Field(
        _FEEDBACK.critical_at,
        ge=1,
        description="Useful votes from which an important memory becomes critical (count)",
    )
    promotions: int = Field(
        _FEEDBACK.promotions,
        ge=0,
        le=3,
        description="Promotions that a namespace may have in `promotion_hours` (count)",
    )
    promotion_hours: float = Field(
        _FEEDBACK.promotion_hours, ge=8, description="Hours that this limit is about"
    )

    @model_validator(mode="after")
    def _ordered(self) -> FeedbackSettings:
        require_rising(important_at=self.important_at, critical_at=self.critical_at)
        return self


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

"""Baselines and ablations of a ranking policy (rule 6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from slowwave.scoring.evaluation.replay import Variant
from slowwave.scoring.parameters import parameters
from slowwave.scoring.ranking import SEEDS, RankingPolicy
from slowwave.scoring.ranking.candidates import BM25, KEYS, LEARNED, RATED, TRIGGER, VECTOR

STAGES: Final[Mapping[str, Mapping[str, Any]]] = {
    f"no {one.spec.stage}": {one.name: one.spec.off} for one in parameters(RankingPolicy) if one.spec.stage
}
"""Parameters that switch a stage off, by the name of the ablation."""

NO_RATINGS: Final = "without ratings"
NEVER_USED: Final = "never used"
"""Names of the policy without ratings, and without anything learned from use."""

OF_TEXT: Final = ("no MPAB", "no neighbours", "no titles", "no sparse recall")
"""Stages that apply to a test collection, which has no feedback."""


def off(stages: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that switch some stages off."""
    return {name: value for stage in stages for name, value in STAGES[stage].items()}


def seeds(policy: RankingPolicy) -> RankingPolicy:
    """Return the seeds' constants with the model's own weight and cosine floor."""
    return replace(SEEDS, vector_weight=policy.vector_weight, cosine_floor=policy.cosine_floor)


def baselines(policy: RankingPolicy) -> tuple[Variant, ...]:
    """Return the baselines: one channel alone, rank fusion, and the seeds."""
    fused = replace(policy, trigger_weight=0.0, learned_cap=0.0, **off(STAGES))
    others = {TRIGGER, LEARNED, KEYS}
    return (
        _named("BM25 alone", replace(fused, fusion="convex", vector_weight=0.0), {VECTOR, *others}),
        _named("vectors alone", replace(fused, fusion="convex", vector_weight=1.0), {BM25, *others}),
        _named("RRF", replace(fused, fusion="rrf"), others),
        _named("seeds", seeds(policy), {KEYS}),
    )


def _named(name: str, policy: RankingPolicy, without: Iterable[str] = ()) -> Variant:
    return Variant(name, replace(policy, name=name), frozenset(without))


def without_channels(policy: RankingPolicy, *, keys: bool = False) -> tuple[Variant, ...]:
    """Return the policy without each channel.

    None of these abstains, because the abstention signal is computed from the channels.

    Args:
        policy: complete policy.
        keys: whether search keys are a channel of it.
    """
    sure = policy.complete
    channels = (VECTOR, BM25, TRIGGER, LEARNED, *([KEYS] if keys else []))
    return tuple(Variant(f"without {name}", sure, frozenset({name})) for name in channels)


def without_use(policy: RankingPolicy) -> tuple[Variant, ...]:
    """Return the policy without ratings, and without any use (rule 8.3)."""
    return (
        Variant(NO_RATINGS, policy, frozenset({RATED})),
        Variant(NEVER_USED, policy, frozenset({RATED, LEARNED, KEYS})),
    )


def without_stages(policy: RankingPolicy) -> tuple[Variant, ...]:
    """Return the policy without each of its stages."""
    others = (Variant(name, replace(policy, **off([name]))) for name in STAGES)
    return tuple(variant for variant in others if variant.policy.version != policy.version)
